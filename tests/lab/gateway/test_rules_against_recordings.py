"""The gateway says yes and no where the real servers did, or it is written here why not."""

from typing import Any

import httpx
import pytest

from freya_teach.lab.gateway import gateway
from tests import recordings
from tests.lab.gateway.rule_cases import answers, send
from tests.recordings import Recording

ACCEPTED_BY_THE_SERVER = {
    "gemini/001-blocked": "Vertex has a field that the Gemini API has not, modelArmorConfig",
    "gemini/035-reasoning": "Vertex has a field that the Gemini API has not, modelArmorConfig",
    "gemini/117-tool_result_turn": "gemini-2.5-flash took three results in three contents, for "
    "which other clients were refused (cloudwego/eino-ext#572): the gateway stays strict",
}
REFUSED_BY_THE_SERVER = {
    "gemini/013-error_400": "the picture behind a URL could not be fetched",
    "gemini/014-error_403": "no key was sent; the gateway asks for one if it is told which",
    "gemini/018-error_429": "a quota was used up",
    "openai-compatible/004-error_429": "a rate limit was reached",
    "openai-compatible/037-error_403": "the key had no right to it",
    "openai-compatible/048-error_404": "which models a compatible server has, only it knows",
    "openai-compatible/068-error_500": "a picture could not be fetched",
    "openai-compatible/089-error_400": "the texts were cut out of the recording",
    "openai-compatible/126-error_401": "the key was wrong",
}
IN_OTHER_WORDS = {
    "gemini/017-error_404": "Vertex words it otherwise: Publisher Model … not found.",
}
NOT_OURS = ["signature.foreign"]
"""The recorded signatures are Google's; the gateway can only know those that it gave itself."""


def asked(recording: Recording) -> bool:
    return recording.is_model_call


async def answer_to(recording: Recording, **options: Any) -> httpx.Response:
    request = recording.request
    return await send(request["url"], request["body"], leave_out=NOT_OURS, **options)


@recordings.each(asked)
async def test_the_gateway_accepts_what_was_accepted_and_refuses_what_was_refused(
    recording: Recording,
) -> None:
    response = await answer_to(recording)
    if recording.name in ACCEPTED_BY_THE_SERVER:
        assert (recording.status, response.status_code) == (200, 400)
    elif recording.name in REFUSED_BY_THE_SERVER:
        assert recording.status >= 400
        assert response.status_code == 200
    else:
        assert response.status_code == recording.status, response.text


def refused(recording: Recording) -> bool:
    explained = {**REFUSED_BY_THE_SERVER, **IN_OTHER_WORDS}
    return asked(recording) and recording.status >= 400 and recording.name not in explained


@recordings.each(refused)
async def test_a_refusal_has_the_words_of_the_real_one(recording: Recording) -> None:
    told, real = (await answer_to(recording)).json()["error"], recording.body["error"]
    assert {"details": [], **told} == {"details": [], **real}


@recordings.each(lambda recording: recording.name == "gemini/014-error_403")
async def test_a_request_without_a_key_is_refused_in_the_recorded_words(
    recording: Recording,
) -> None:
    response = await answer_to(recording, keys=["made-up"])
    assert (response.status_code, response.json()) == (403, recording.body)


@recordings.each(lambda recording: recording.name in IN_OTHER_WORDS)
async def test_other_words_for_the_same_refusal(recording: Recording) -> None:
    told, real = (await answer_to(recording)).json()["error"], recording.body["error"]
    assert (told["code"], told["status"]) == (real["code"], real["status"])
    assert told["message"] != real["message"]


@pytest.mark.skipif(not recordings.load(), reason="there are no recordings")
def test_every_explained_difference_is_a_recording() -> None:
    names = {recording.name for recording in recordings.load()}
    assert names >= {*ACCEPTED_BY_THE_SERVER, *REFUSED_BY_THE_SERVER, *IN_OTHER_WORDS}


# ---- what is asked of no model -------------------------------------------------------------


@recordings.each(lambda recording: "count_tokens" in recording.kind)
async def test_tokens_are_counted_where_the_real_server_counts(recording: Recording) -> None:
    told = await answer_to(recording)
    assert told.status_code == recording.status
    assert told.json().keys() <= recording.body.keys()
    assert told.json()["totalTokens"] > 0


@recordings.each(lambda recording: recording.name == "openai/016-models_list")
async def test_the_models_are_listed_in_the_recorded_shape(recording: Recording) -> None:
    async with gateway(answers).client() as http:
        told = (await http.get(recording.request["url"])).json()
        assert told.keys() == recording.body.keys()
        assert told["data"][0].keys() <= recording.body["data"][0].keys()
        for entry in told["data"]:
            one = await http.get(f"{recording.request['url']}/{entry['id']}")
            assert one.json() == entry
