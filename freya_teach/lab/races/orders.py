"""An accident in one order, and in every order that there is. (chapter 6.4)

await run(accident, "A B A B")     whose turn it is: A's first step, B's first step, …
await all_orders(accident)         every order, each of them run
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from freya_teach.lab.races.stage import Event, Stage

MOST_TURNS = 200
MOST_ORDERS = 2_000

Verdict = Callable[[], str]
"""Says afterwards what went wrong; empty where nothing did."""
Accident = Callable[..., Verdict]
"""Puts its tasks on a stage, the first argument."""


@dataclass(frozen=True, slots=True)
class Run:
    """An accident played in one order."""

    title: str
    order: tuple[str, ...]
    """Whose turn it was."""
    events: tuple[Event, ...] = field(repr=False)
    wrong: str
    """What went wrong, in words; empty where nothing did."""

    def __str__(self) -> str:
        return f"{' '.join(self.order)}: {self.wrong or 'no accident'}"


async def run(accident: Accident, order: str = "", **choices: Any) -> Run:
    """Play an accident, as `accident(stage, **choices)`; `order` names whose turn it is.

    The turn of a task that has ended is left out. After the last turn of `order`, the first task
    that can move does so, until none can. Raises `ValueError` for a task that there is not, and
    after `MOST_TURNS`.
    """
    stage, turns = Stage(), order.split()
    verdict = accident(stage, **choices)
    try:
        while turns or stage.able:
            await stage.turn(turns.pop(0) if turns else stage.able[0])
            if len(stage.events) > MOST_TURNS:
                raise ValueError(f"After {MOST_TURNS} turns the tasks still have steps to take.")
        wrong = stage.stuck() or verdict()
    finally:
        await stage.clear()
    events = tuple(stage.events)
    return Run(stage.title, tuple(event.who for event in events), events, wrong)


async def all_orders(accident: Accident, **choices: Any) -> list[Run]:
    """Play an accident in every order that there is; a task that waits is given no turn.

    Raises `ValueError` where there are more than `MOST_ORDERS`.
    """
    runs: list[Run] = []
    beginnings: list[tuple[str, ...]] = [()]
    while beginnings:
        if len(runs) == MOST_ORDERS:
            raise ValueError(f"There are more than {MOST_ORDERS:,} orders: take fewer steps.")
        given = beginnings.pop()
        played = await run(accident, " ".join(given), **choices)
        runs.append(played)
        # behind the given beginning, somebody else could have moved at each place
        for place in range(len(given), len(played.order)):
            taken, could = played.order[:place], played.events[place].could
            beginnings += [(*taken, name) for name in could if name != played.order[place]]
    return sorted(runs, key=lambda each: each.order)
