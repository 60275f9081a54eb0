"""The record of a run, as a learner reads it."""

import json

import pytest

from freya_teach import Trace
from freya_teach.events import ToolState
from freya_teach.llm.messages import ToolCall
from freya_teach.llm.protocol import Usage
from freya_teach.trace import CallTrace
from tests.wire_answers import Answer, Model


async def test_a_turn_shows_the_packet_that_went_out_and_the_body_that_came_back() -> None:
    model = Model(Answer("Grüße, 北京."))
    kernel = model.kernel(base_url="https://example.org/v1", model="m", api_key="secret-but-no-key")
    (turn,) = (await kernel.agent(instructions="").run("Hi?")).trace.turns
    assert turn.packet == {
        "method": "POST",
        "url": "https://example.org/v1/chat/completions",
        "headers": {"content-type": "application/json", "authorization": "[redacted]"},
        "body": {"model": "m", "messages": [{"role": "user", "content": "Hi?"}]},
    }
    assert json.loads(turn.response_text)["choices"][0]["message"]["content"] == "Grüße, 北京."


async def test_a_streamed_body_is_kept_as_it_came() -> None:
    (turn,) = (await Model(Answer("Hi.")).kernel(stream=True).agent().run("?")).trace.turns
    assert turn.response_text.startswith('data: {"object": "chat.completion.chunk"')
    assert turn.response_text.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("state", "expected"), [("completed", False), ("failed", True), ("refused", True)]
)
def test_whatever_did_not_complete_is_an_error(state: ToolState, *, expected: bool) -> None:
    trace = CallTrace(ToolCall("1", "look", "{}"), "", state, 0.0)
    assert trace.is_error is expected


def test_a_run_without_turns_has_cost_nothing() -> None:
    assert (Trace().usage, Trace().calls) == (Usage(), ())
