"""The gateway lists its models and counts tokens, as both providers do."""

import pytest

from freya_teach.lab.gateway import gateway
from freya_teach.lab.gateway.generations import GEMINI, GENERATIONS, OPENAI, generation_of
from freya_teach.lab.gateway.wire import count_tokens
from tests.lab.gateway.rule_cases import Body, answers, send

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models"
TALK: Body = {"contents": [{"role": "user", "parts": [{"text": "Is it cold?"}]}]}


def test_every_listed_model_is_of_the_generation_that_lists_it() -> None:
    for generation in GENERATIONS:
        for model in generation.models:
            assert generation_of(model, generation.wire) is generation
        assert generation.source


@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("gpt-4o-mini-2024-07-18", "gpt-4o"),
        ("gpt-5-mini-2025-08-07", "gpt-5"),
        ("gpt-5.4-mini", "gpt-5.4-mini"),
        ("o3-mini", "o-series"),
        ("gpt-5.1-codex", "responses only"),
        ("gpt-oss-120b", "compatible"),
        ("Meta-Llama-3-8B-Instruct", "llama-3-8b"),
    ],
)
def test_a_name_with_a_date_or_a_size_belongs_to_its_generation(
    model: str, generation: str
) -> None:
    assert generation_of(model).name == generation


async def test_the_models_of_gemini_tell_their_limits() -> None:
    async with gateway(answers).client() as http:
        listed = (await http.get(GOOGLE)).json()["models"]
        assert [m["name"] for m in listed] == [f"models/{m}" for g in GEMINI for m in g.models]
        one = (await http.get(f"{GOOGLE}/gemini-3.8-flash")).json()
        assert one in listed
        assert (one["inputTokenLimit"], one["outputTokenLimit"]) == (1_048_576, 65_536)
        assert "generateContent" in one["supportedGenerationMethods"]
        unknown = await http.get(f"{GOOGLE}/gemini-9-xenon")
        assert (unknown.status_code, unknown.json()["error"]["status"]) == (404, "NOT_FOUND")


async def test_the_models_of_openai_are_names() -> None:
    url = "https://api.openai.com/v1/models"
    async with gateway(answers).client() as http:
        listed = (await http.get(url)).json()
        assert [m["id"] for m in listed["data"]] == [m for g in OPENAI for m in g.models]
        unknown = await http.get(f"{url}/gpt-9")
        assert unknown.status_code == 404
        assert unknown.json()["error"]["message"] == "The model 'gpt-9' does not exist"
        assert (await http.get("https://api.openai.com/v1/moods")).status_code == 404


async def test_contents_alone_count_no_tools_and_a_whole_request_counts_them() -> None:
    url = f"{GOOGLE}/gemini-3.8-flash:countTokens"
    whole = {**TALK, "model": "models/gemini-3.8-flash", "tools": [{"functionDeclarations": []}]}
    alone = await send(url, TALK)
    assert alone.json() == {"totalTokens": count_tokens(TALK["contents"])}
    counted = await send(url, {"generateContentRequest": whole})
    assert counted.json() == {"totalTokens": count_tokens(whole)}
    assert (await send(url, {})).status_code == 400
    assert (await send(f"{GOOGLE}/gemini-9-xenon:countTokens", TALK)).status_code == 404


async def test_a_list_of_models_is_for_those_with_a_key() -> None:
    async with gateway(answers, keys=["made-up"]).client() as http:
        assert (await http.get(GOOGLE)).status_code == 403
        good = {"x-goog-api-key": "made-up"}
        assert (await http.get(GOOGLE, headers=good)).status_code == 200
        assert (await http.get("https://api.openai.com/v1/models")).status_code == 401
