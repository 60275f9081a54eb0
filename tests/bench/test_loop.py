"""What the agent costs, against a loop of httpx and json that checks nothing."""

from collections.abc import Callable, Iterator
from math import ceil
from statistics import linear_regression, mean, median
from typing import Any

import pytest

from tests.bench.loopback_server import FINAL_TEXT
from tests.bench.pairs import HEADING, measure

PAIRS = 9
SAMPLE_SECONDS = 0.3
"""CPU that one sample of the bare loop takes at least."""
AIMS = {(20, 1): 1.2, (20, 8): 1.4, (100, 1): 1.2, (100, 8): 1.0}
"""Turns and calls in each → how often the bare loop's CPU we want; shown, not judged."""
LIMITS = {(20, 1): 1.5, (100, 8): 1.5}
"""What must hold, so that nothing that was won is lost; streaming is shown, not judged."""
FIFTY_AIM, FIFTY_LIMIT = 1.2, 2.0
"""For fifty sessions at once, no two in one pool; one pool for all of them is over the limit."""
GROWTH_LIMIT = 1.0
"""By how much more than the bare loop's a turn's cost may grow with each result."""

WIRES = pytest.mark.parametrize("wire", ["openai", "gemini"])
STREAMING = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])

RunSessions = Callable[..., dict[str, Any]]
Report = dict[str, list[str]]


@WIRES
@STREAMING
@pytest.mark.parametrize("client", ["bare", "freya"])
def test_both_loops_follow_the_script_to_its_end(
    run_sessions: RunSessions, client: str, wire: str, *, stream: bool
) -> None:
    answer = run_sessions(client, wire=wire, stream=stream, turns=4, calls=3, sessions=2)
    assert (answer["text"], answer["calls"]) == (FINAL_TEXT, 2 * 3 * 3)


@pytest.mark.bench
@WIRES
@STREAMING
@pytest.mark.parametrize(("turns", "calls"), AIMS)
def test_a_turn_costs_little_more_than_in_a_bare_loop(
    run_sessions: RunSessions, report: Report, wire: str, turns: int, calls: int, *, stream: bool
) -> None:
    order = {"wire": wire, "stream": stream, "turns": turns, "calls": calls}
    costs_by_turn: dict[str, list[list[float]]] = {"bare": [], "freya": []}

    def session(client: str) -> float:
        result = run_sessions(client, sessions=1, **order)
        costs_by_turn[client].append(result["per_turn"])
        return float(result["cpu"])

    one_session = min(session("bare") for _ in range(3))
    sessions = ceil(SAMPLE_SECONDS / one_session)
    pairs = measure(
        lambda: session("bare"), lambda: session("freya"), pairs=PAIRS, repeats=sessions
    )
    what = f"{wire} {'streamed' if stream else 'whole'}"
    row = pairs.row(f"{what}, {turns} turns × {calls}", AIMS[turns, calls], turns * sessions)
    report.setdefault(f"CPU per turn\n{HEADING}", []).append(row)
    if turns == 100:
        report.setdefault(GROWTH_HEADING, []).extend(growth_rows(what, costs_by_turn, calls))
    if not stream:
        assert pairs.ratio <= LIMITS.get((turns, calls), pairs.ratio)
    if (turns, calls) == (100, 8):
        bare, freya = (slope(samples) for samples in costs_by_turn.values())
        assert freya <= GROWTH_LIMIT * bare


@pytest.mark.bench
@WIRES
@pytest.mark.parametrize(
    ("pools", "client"),
    [(1, "1 pool"), (50, "50 pools"), (0, "Connections")],
    ids=["one pool", "a pool for each", "connections"],
)
def test_fifty_sessions_at_once_cost_little_more_where_no_two_share_a_pool(
    run_sessions: RunSessions, report: Report, wire: str, pools: int, client: str
) -> None:
    """All are compared with bare loops that have a pool for each, the best set-up found.

    `llm/connections.py` says why one pool for all is slow; `Connections` is as good as 50 pools.
    """
    order = {"wire": wire, "stream": False, "turns": 20, "calls": 1, "sessions": 1, "at_once": 50}
    pairs = measure(
        lambda: run_sessions("bare", pools=50, **order)["cpu"],
        lambda: run_sessions("freya", pools=pools, **order)["cpu"],
        pairs=5,
    )
    row = pairs.row(
        f"{wire}, 50 sessions, {client}", FIFTY_AIM if pools != 1 else None, units=20 * 50
    )
    report.setdefault(f"CPU per turn\n{HEADING}", []).append(row)
    assert pools == 1 or pairs.ratio <= FIFTY_LIMIT


GROWTH_HEADING = (
    "How a turn's cost grows with the tool results before it\n"
    f"{'ms per turn, by quarter of the run':36}{'1st':>8}{'2nd':>8}{'3rd':>8}{'4th':>8}"
    f"{'µs more per result':>21}{'× bare':>8}"
)


def growth_rows(what: str, samples_of: dict[str, list[list[float]]], calls: int) -> Iterator[str]:
    """A row for each client: a turn's cost is the median over its samples; then means, a slope."""
    slopes = []
    for client, samples in samples_of.items():
        costs = costs_of(samples)
        quarter = len(costs) // 4
        means = [mean(costs[i * quarter : (i + 1) * quarter]) for i in range(4)]
        slopes.append(slope(samples) * 1000 / calls)
        quarters = "".join(f"{value:8.2f}" for value in means)
        yield f"{what + ', ' + client:36}{quarters}{slopes[-1]:21.2f}{slopes[-1] / slopes[0]:8.2f}"


def costs_of(samples: list[list[float]]) -> list[float]:
    """Milliseconds of each turn, the median of all samples."""
    return [1000 * median(turn) for turn in zip(*samples, strict=True)]


def slope(samples: list[list[float]]) -> float:
    """By how many milliseconds a turn costs more than the one before."""
    costs = costs_of(samples)
    return linear_regression(range(len(costs)), costs).slope
