"""What happens to a long conversation when the model's window is smaller than it, or unknown."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from freya_teach import InMemoryHistory, Settings, build_kernel
from freya_teach.ambient import Ambient
from freya_teach.errors import ContextOverflowError
from freya_teach.events import ContextCompacted, Event
from freya_teach.lab.gateway import Question, answer, gateway
from freya_teach.lab.gateway.faults import Trouble
from freya_teach.lab.gateway.question import Move
from freya_teach.lab.gateway.refusing import overloaded
from freya_teach.llm.messages import Message, assistant, user

ALWAYS = tuple(range(1, 99))
LOCAL = "http://127.0.0.1:8080"


async def no_time(_: float) -> None:
    """Wait for nothing."""


def model(question: Question) -> Move:
    """Answer shortly, and write a short summary when one is asked for."""
    return answer("They have met." if len(question.said) == 2 else "Maya.")


def met_long_ago(messages: int, words: int = 40) -> list[Message]:
    """A conversation of questions and answers that are a paragraph each."""
    text = "and so they went on, talking of this and that, " * (words // 10)
    pairs = [(user(f"{number}: {text}"), assistant(text)) for number in range(messages // 2)]
    return [message for pair in pairs for message in pair]


async def run(
    settings: dict[str, Any], session: InMemoryHistory, troubles: Sequence[Trouble] = ()
) -> tuple[str, list[Event], Any]:
    """One question at the end of this conversation; the answer, the events, the gateway."""
    other_end = gateway(model, troubles=troubles)
    events: list[Event] = []
    async with other_end.client() as http:
        chosen = Settings.model_validate({"api_key": "none", **settings})
        agent = build_kernel(chosen, http, Ambient(sleep=no_time)).agent(instructions="Be brief.")
        agent.events.subscribe(events.append)
        result = await agent.run("What is my name?", session=session)
        await agent.close()
    return str(result), events, other_end


async def test_a_failover_to_a_smaller_model_takes_the_conversation_along() -> None:
    session = InMemoryHistory(met_long_ago(200))
    settings = {
        "model": "gpt-4o",
        "fallbacks": [{"provider": "openai", "model": "llama-3-8b", "base_url": LOCAL}],
    }
    text, events, _ = await run(settings, session, [overloaded().on(*ALWAYS, model="gpt-4o")])
    assert (text, session.model) == ("Maya.", "openai/llama-3-8b")
    (compacted,) = [event for event in events if isinstance(event, ContextCompacted)]
    assert compacted.before > 8_192 > compacted.after
    assert len(session.snapshots) == session.revision


async def test_a_model_that_nobody_knows_is_asked_whatever_its_window_may_be(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its window is guessed at 8,192 tokens, and this question alone has more."""
    session = InMemoryHistory([user("word " * 12_000), assistant("I see.")])
    question = user("word " * 12_000)
    async with gateway(model).client() as http:
        settings = Settings(model="my-own", base_url=LOCAL, compact_after=None)
        agent = build_kernel(settings, http).agent()
        assert str(await agent.run(question, session=session)) == "Maya."
        assert str(await agent.run(question, session=session)) == "Maya."
    told = [record.getMessage() for record in caplog.records if "FREYA_MODELS" in record.msg]
    assert len(told) == 1
    assert told[0].startswith("nothing is known of openai/my-own, so its window is taken to be")


async def test_the_refusal_of_a_known_window_is_our_own_and_nothing_is_sent() -> None:
    async with gateway(model).client() as http:
        kernel = build_kernel(Settings(model="llama-3-8b", base_url=LOCAL), http)
        with pytest.raises(ContextOverflowError, match=r"Nothing was sent\. Shorten the message"):
            await kernel.agent().run("word " * 12_000)


async def test_a_server_that_counts_more_than_we_do_is_believed_from_its_first_answer() -> None:
    """The estimate of this text is low by a third; from the second question on, that is known."""
    counted: list[int] = []

    def answered(request: httpx.Request) -> httpx.Response:
        tokens = len(request.content) // 3
        counted.append(tokens)
        message = {"role": "assistant", "content": "Yes."}
        usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return httpx.Response(200, json={"choices": [choice], "usage": usage})

    session = InMemoryHistory(met_long_ago(30))
    async with httpx.AsyncClient(transport=httpx.MockTransport(answered)) as http:
        settings = Settings(model="llama-3-8b", base_url=LOCAL, compact_after=None)
        agent = build_kernel(settings, http).agent()
        for _ in range(60):
            await agent.run("And then? " + "word " * 100, session=session)
        assert agent.compaction is not None
        factor = agent.compaction.corrections.factors["openai/llama-3-8b"]
    assert factor > 1.2
    assert max(counted) <= 8_192
    assert session.revision > 0
