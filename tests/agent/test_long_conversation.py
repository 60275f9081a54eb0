"""Ten thousand turns on a window of 8,192 tokens: nothing is ever sent that does not fit."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from freya_teach import InMemoryHistory, Settings
from freya_teach.agent.compaction import Compaction
from freya_teach.agent.executor import Agent
from freya_teach.ambient import Ambient
from freya_teach.context.numbered import OMITTED
from freya_teach.errors import ServerFailed
from freya_teach.llm import transcript
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    UserMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.models import COMPATIBLE
from freya_teach.llm.protocol import Delta, Exchange, ModelRequest, Reply, Route, Usage, WireRequest
from freya_teach.llm.request_tokens import RememberingCounter, message_tokens, request_tokens
from freya_teach.llm.tokens import BytesCounter
from freya_teach.tools.registry import ToolRegistry
from tests.context.conversations import newest_request, text_of

GUIDANCE = "Summarise the conversation."
COUNTER = BytesCounter()
SMALL = Route("a", "model", "", facts=replace(COMPATIBLE, guessed=False))
LENGTHS = [0, 40, 300, 300, 300, 2_000, 20_000, 200_000]


@dataclass
class AnyModel:
    """Calls tools at random, answers at random, and fails at a third of the summaries."""

    chance: random.Random
    largest: int = 0
    """Tokens of the largest request, with what it keeps for the answer."""
    asked: int = 0
    summaries: int = 0
    since: int = 0
    """Summaries since the last request that was none."""
    most_since: int = 0
    messages: int = 0
    """Messages that went over the wire, as a measure of the work."""
    newest: list[Message | None] = field(default_factory=list)

    async def complete(self, request: ModelRequest, on_delta: Callable[[Delta], None]) -> Exchange:
        """Judge the request, and answer it."""
        del on_delta
        transcript.check(request.messages)
        kept = request.max_output_tokens or 1_024
        self.largest = max(self.largest, request_tokens(request, COUNTER) + kept)
        self.messages += len(request.messages)
        if request.messages[0] == system(GUIDANCE):
            return self._summary()
        self.asked, self.since = self.asked + 1, 0
        self.newest = [newest_request(request.messages)]
        calls = self._calls() if request.tools and self.chance.random() < 0.5 else ()
        return answer(assistant(text_of(self.chance.choice(LENGTHS[:5])), *calls))

    def _summary(self) -> Exchange:
        self.summaries, self.since = self.summaries + 1, self.since + 1
        self.most_since = max(self.most_since, self.since)
        match self.chance.randrange(9):
            case 0:
                raise ServerFailed("busy")
            case 1:
                return answer(assistant(""))
            case 2:
                return answer(assistant(text_of(9_000)))
            case _:
                return answer(assistant("What was said until now. " * 8))

    def _calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall("", "read", f'{{"chars": {self.chance.choice(LENGTHS)}}}')
            for _ in range(self.chance.randint(1, 4))
        )


def answer(message: AssistantMessage) -> Exchange:
    """Put a message into an exchange."""
    reply = Reply(message, "tool_calls" if message.tool_calls else "stop", "", Usage())
    return Exchange(WireRequest("", {}, b""), 200, b"", reply, 0.0)


async def read(chars: int) -> str:
    """Read so many characters."""
    return text_of(chars)


def agent_of(model: AnyModel) -> Agent:
    """Build an agent with one tool on a window of 8,192 tokens."""
    settings = Settings(max_turns=6, loop_warn=90, loop_stop=99)
    return Agent(
        client=model,
        issuer="a model",
        registry=ToolRegistry([read]),
        settings=settings,
        ambient=Ambient(),
        instructions="Be brief.",
        closing_note="Answer now.",
        compaction=Compaction(
            model, settings, GUIDANCE, lambda: RememberingCounter(COUNTER), lambda _: SMALL
        ),
    )


async def converse(turns: int, seed: int = 1) -> tuple[AnyModel, list[float]]:
    """Talk for so many turns; the processor's seconds for each half, whoever else uses it."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    model, history = AnyModel(chance), InMemoryHistory()
    agent, seconds = agent_of(model), list[float]()
    for _ in range(2):
        start = time.process_time()
        for _ in range(turns // 2):
            question = user(text_of(model.chance.choice(LENGTHS[1:6])))
            await agent.run(question, session=history)
            assert model.newest == [question]
        seconds.append(time.process_time() - start)
    await agent.close()
    check_nothing_is_lost(history, model)
    return model, seconds


def check_nothing_is_lost(history: InMemoryHistory, model: AnyModel) -> None:
    """Every message of the conversation is in the history or in exactly one snapshot."""
    everywhere = [*history.messages, *(m for part in history.snapshots for m in part)]
    said = [message for message in everywhere if message != OMITTED]
    assert len({id(message) for message in said}) == len(said)
    answers = sum(isinstance(message, AssistantMessage) for message in everywhere)
    assert answers == model.asked


async def test_two_hundred_turns_fit_with_one_summary_for_a_request_at_most() -> None:
    model, _ = await converse(200)
    assert model.largest <= COMPATIBLE.window
    assert model.most_since == 1
    assert model.summaries > 20


@pytest.mark.soak
async def test_ten_thousand_turns_fit_in_linear_time() -> None:
    model, (first, second) = await converse(10_000)
    assert model.largest <= COMPATIBLE.window
    assert model.most_since == 1
    assert second <= 1.5 * first, f"{second:.1f} s after {first:.1f} s"


def test_the_judge_counts_a_message_as_the_agent_does() -> None:
    counter = RememberingCounter(COUNTER)
    message: UserMessage = user(text_of(500))
    assert counter.message(message) == message_tokens(message, COUNTER)
