"""What it costs to plan which messages leave, against counting them once."""

import time

import pytest

from freya_teach.context.compactor import Budget, plan_truncation
from freya_teach.context.numbered import Numbered
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, user
from freya_teach.llm.request_tokens import RememberingCounter
from freya_teach.llm.tokens import CalibratedCounter
from tests.bench.pairs import HEADING, measure

PAIRS = 11
GROWTH_AIM = 15.0
"""For ten times the messages."""


def conversation(messages: int) -> tuple[Message, ...]:
    """Turns of four messages: a question, a call, its result, an answer."""
    history: list[Message] = []
    for number in range(messages // 4):
        call = ToolCall(f"call_{number}", "get_weather", f'{{"city": "City {number}"}}')
        history += [user(f"And number {number}?"), assistant(call)]
        history += [ToolMessage(call.id, f"{number} °C"), assistant(f"It is {number} °C there.")]
    return tuple(history)


class Trimming:
    """A conversation whose messages are counted, and room for half of it."""

    def __init__(self, messages: int) -> None:
        self.now = Numbered(conversation(messages))
        self.size = RememberingCounter(CalibratedCounter()).message
        tokens = sum(map(self.size, self.now.messages))
        self.budget = Budget(tokens // 2, tokens // 2)

    def count(self) -> float:
        """Seconds to add up what is known of each message."""
        started = time.process_time()
        sum(map(self.size, self.now.messages))
        return time.process_time() - started

    def plan(self) -> float:
        """Seconds to find out what leaves."""
        started = time.process_time()
        plan = plan_truncation(self.now, self.budget, self.size)
        seconds = time.process_time() - started
        assert plan is not None
        assert 0 < plan.tokens <= self.budget.trigger
        return seconds


@pytest.mark.bench
def test_to_plan_what_leaves_grows_in_a_line(report: dict[str, list[str]]) -> None:
    few, many = Trimming(1_000), Trimming(10_000)
    against_counting = measure(many.count, many.plan, pairs=PAIRS)
    against_few = measure(few.plan, many.plan, pairs=PAIRS)
    report["Planning what leaves, against\n" + HEADING] = [
        against_counting.row("10,000, adding up their tokens", None),
        against_few.row("10,000, 1,000 of them", GROWTH_AIM),
    ]
    assert against_few.ratio <= GROWTH_AIM
