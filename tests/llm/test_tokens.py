"""The rule of thumb: a quarter of the UTF-8 bytes."""

import pytest
from hypothesis import given

from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import (
    ImagePart,
    Message,
    OpaquePart,
    ProviderData,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import ModelRequest, Route, ToolSpec
from freya_teach.llm.tokens import (
    TOKENS_PER_IMAGE,
    TOKENS_PER_MESSAGE,
    BytesCounter,
    message_tokens,
    request_tokens,
)
from tests.strategies import ANY_TEXT, valid_histories


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("北京", 2), ("\ud83c", 1)]
)
def test_four_bytes_are_a_token(text: str, tokens: int) -> None:
    assert BytesCounter().count(text) == tokens


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_costs_less_and_a_cut_costs_one_at_most(left: str, right: str) -> None:
    count = BytesCounter().count
    assert (count(left) > 0) == (left != "")
    assert max(count(left), count(right)) <= count(left + right) <= count(left) + count(right)
    assert count(left) + count(right) <= count(left + right) + 1


SOUND = OpaquePart("input_audio", ProviderData("openai", {"data": "x" * 18}))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (system("four"), 1),
        (user("four", "four"), 2),
        (assistant("four", ToolCall("id", "name", '{"n": 1}')), 1 + 1 + 2),
        (ToolMessage("id", "eight888"), 2),
        (user("four", ImagePart("image/png", b"x" * 100_000)), 1 + TOKENS_PER_IMAGE),
        (user(SOUND), 8),
    ],
    ids=["system", "user", "call", "result", "image", "opaque"],
)
def test_a_message_costs_what_is_in_it_and_its_frame(message: Message, words: int) -> None:
    assert message_tokens(message, BytesCounter()) == TOKENS_PER_MESSAGE + words


def test_tools_are_part_of_the_request() -> None:
    tool = ToolSpec("name", "Tell it.", {"type": "object", "properties": {}})
    without = request_tokens(ModelRequest((user("?"),)), BytesCounter())
    assert request_tokens(ModelRequest((user("?"),), (tool,)), BytesCounter()) > without + 10


@given(valid_histories())
def test_a_request_has_fewer_tokens_than_its_body_has_bytes_unless_an_image_is_tiny(
    history: list[Message],
) -> None:
    """Which is why a body that is shorter than the window is not counted at all."""
    images = sum(isinstance(p, ImagePart) for m in history for p in getattr(m, "parts", ()))
    request = ModelRequest(tuple(history))
    tokens = request_tokens(request, BytesCounter()) - images * TOKENS_PER_IMAGE
    for adapter in (openai.ADAPTER, gemini.ADAPTER):
        route = Route(adapter.name, "some-model", "https://api.example")
        assert tokens <= len(adapter.build_request(request, route).body)
