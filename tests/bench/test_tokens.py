"""What an estimate costs against the source's, and a decision over messages counted before."""

import gc
import json
import time
from collections.abc import Callable, Iterator

import pytest

from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, user
from freya_teach.llm.protocol import ModelRequest
from freya_teach.llm.request_tokens import RememberingCounter, request_tokens
from freya_teach.llm.source_estimator import SourceEstimator
from freya_teach.llm.tokens import CalibratedCounter
from tests.bench.pairs import HEADING, measure
from tests.token_texts import TEXTS, pieces

PAIRS = 9
SPEED_AIM = 1 / 0.15
"""The source's estimate may be so many times faster."""
DECISION_AIM = 2.0
DECISIONS = 2_000
MESSAGES = 1_000
TYPICAL = (
    "en",
    "en_chat",
    "de",
    "zh",
    "zh_technical",
    "json calls",
    "html",
    "markdown table",
    "log",
)
Report = dict[str, list[str]]


@pytest.fixture(autouse=True)
def without_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def seconds(count: Callable[[str], int], texts: list[str]) -> float:
    started = time.process_time()
    for text in texts:
        count(text)
    return time.process_time() - started


@pytest.mark.bench
@pytest.mark.parametrize("known", [False, True], ids=["new words", "words met before"])
@pytest.mark.parametrize("kinds", [TYPICAL, tuple(TEXTS)], ids=["typical", "all kinds"])
def test_the_estimate_is_not_much_slower_than_the_sources(
    report: Report,
    kinds: tuple[str, ...],
    known: bool,  # noqa: FBT001 - a parameter
) -> None:
    texts = [piece for kind in kinds for piece in pieces(kind)]
    warm = CalibratedCounter()
    seconds(warm.count, texts)
    pairs = measure(
        lambda: seconds(SourceEstimator().count, texts),
        lambda: seconds((warm if known else CalibratedCounter()).count, texts),
        pairs=PAIRS,
    )
    what = f"{len(kinds)} kinds, {'words met before' if known else 'new words'}"
    characters = sum(map(len, texts)) / 1e6
    row = pairs.row(what, SPEED_AIM, units=1) + f"   {characters:.2f} M characters"
    report.setdefault(f"Estimating, against the source's estimate\n{HEADING}", []).append(row)
    assert pairs.ratio <= SPEED_AIM


def long_history() -> tuple[Message, ...]:
    """Questions, calls, results and answers: as many messages as `MESSAGES`."""
    history: list[Message] = []
    for number in range(MESSAGES // 4):
        call = ToolCall(f"call_{number}", "get_weather", json.dumps({"city": f"City {number}"}))
        history += [user(f"And number {number}?"), assistant(call)]
        history += [ToolMessage(call.id, f"{number} °C"), assistant(f"It is {number} °C there.")]
    return tuple(history)


@pytest.mark.bench
def test_a_decision_over_a_thousand_known_messages_costs_little_more_than_a_sum(
    report: Report,
) -> None:
    history = long_history()
    counter = RememberingCounter(CalibratedCounter())
    numbers = list(map(counter.message, history))
    total = request_tokens(ModelRequest(history), counter)
    copies = [ModelRequest((*history,)) for _ in range(2)]  # a history hands out copies

    def summed() -> float:
        started = time.process_time()
        for _ in range(DECISIONS):
            sum(numbers)
        return time.process_time() - started

    def decided() -> float:
        started = time.process_time()
        for number in range(DECISIONS):
            assert request_tokens(copies[number % 2], counter) == total
        return time.process_time() - started

    pairs = measure(summed, decided, pairs=PAIRS)
    row = pairs.row(f"{MESSAGES:,} messages, nothing new", DECISION_AIM, units=DECISIONS // 1000)
    report.setdefault(f"1,000 decisions, against sum() of {MESSAGES:,} ints\n{HEADING}", []).append(
        row
    )
    assert pairs.ratio <= DECISION_AIM
