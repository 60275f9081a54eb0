"""Recorded requests: their history becomes neutral messages and builds back to the same meaning."""

import json
from typing import Any

import pytest

from freya_teach.errors import UnsupportedContent
from freya_teach.lab.understand import ADAPTERS, READERS
from freya_teach.llm.protocol import Route
from tests import recordings
from tests.contract.plain import TURNS_OF_OURS, gemini_meaning, joined, openai_meaning
from tests.recordings import Recording

UNSUPPORTED = {
    "gemini/012-error_400": "a content has the role 'invalid_role'",
    "gemini/013-error_400": "a functionResponse with parts of its own",
}
"""All requests that are refused, and why; the server refused both of them too."""


def is_conversation(recording: Recording) -> bool:
    body = recording.request["body"]
    return isinstance(body, dict) and bool({"messages", "contents"} & set(body))


def built_again(recording: Recording) -> dict[str, Any]:
    """Read the request and build it for the model that was asked."""
    wire, body = recording.provider_wire, recording.request["body"]
    model = body.get("model") or recording.model
    wire_request = ADAPTERS[wire].build_request(
        READERS[wire](body), Route(wire, model, "http://127.0.0.1")
    )
    return dict(json.loads(wire_request.body))


def meaning(recording: Recording, body: dict[str, Any]) -> list[tuple[str, ...]]:
    if recording.provider_wire == "openai":
        return joined(openai_meaning(body))
    return [said for said in gemini_meaning(body) if said != TURNS_OF_OURS]


@recordings.each(lambda r: is_conversation(r) and r.name not in UNSUPPORTED)
def test_a_recorded_history_means_the_same_after_it_was_read_and_built(
    recording: Recording,
) -> None:
    before = meaning(recording, recording.request["body"])
    assert meaning(recording, built_again(recording)) == before


@recordings.each(lambda r: r.name in UNSUPPORTED)
def test_what_is_refused_is_refused_by_its_name(recording: Recording) -> None:
    with pytest.raises(UnsupportedContent) as refusal:
        READERS[recording.provider_wire](recording.request["body"])
    assert str(refusal.value) == UNSUPPORTED[recording.name]


@recordings.each(lambda r: is_conversation(r) and r.name not in UNSUPPORTED)
def test_reading_what_was_built_changes_nothing_more(recording: Recording) -> None:
    reader = READERS[recording.provider_wire]
    once = built_again(recording)
    again = ADAPTERS[recording.provider_wire].build_request(
        reader(once), Route(recording.provider_wire, recording.model or "m", "http://127.0.0.1")
    )
    assert json.loads(again.body).get("messages") == once.get("messages")
    assert reader(json.loads(again.body)).messages == reader(once).messages
