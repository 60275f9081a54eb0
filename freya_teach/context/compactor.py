"""What leaves a conversation that has become too large: plans, and nothing but plans. (chapter 7.3)

    numbered messages + sizes + budget ──▶ Plan ──▶ `History.replace`

There are three of them, in the order in which they are tried:

    plan_giants       a tool result that fills half of what may stay is shortened
    plan_summary      what lies before a cut becomes one summary: the plan lacks only its text
    plan_truncation   old results are shortened, oldest first; then what lies before a cut is
                      dropped; then the newest results are shortened; then the summary goes

The system prompt and the newest user request are in what every plan leaves, and a summary or a
remark stands where something is missing. Nothing here calls a model or changes a history.
"""

from __future__ import annotations

from dataclasses import dataclass

from freya_teach.context.draft import Draft
from freya_teach.context.numbered import Numbered, Plan, total
from freya_teach.context.shortening import shortened_to
from freya_teach.context.window import Cut, Size, cuts, kept_sizes
from freya_teach.llm.messages import Message

MIN_SUMMARY_TOKENS = 40
"""Where there is less room than this, a summary is not worth a call."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens that the messages of a history may have."""

    limit: int
    """More than this cannot be sent."""
    trigger: int
    """More than this, and the history is made smaller."""


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """What to summarise, and what to put around the summary."""

    revision: int
    through: int
    before: tuple[int, ...]
    behind: tuple[int, ...]
    material: tuple[Message, ...]
    """The earlier summary, if there is one, the request that was worked on, and what will leave."""
    max_tokens: int
    """Tokens that the summary may have: always fewer than what it stands for."""

    def by(self, summary: Message) -> tuple[int | Message, ...]:
        """What takes the place of the messages up to `through`."""
        return (*self.before, summary, *self.behind)


# ---- the three plans -----------------------------------------------------------------------


def plan_giants(now: Numbered, budget: Budget, size: Size) -> Plan | None:
    """Shorten each tool result that is larger than half of what should stay."""
    draft, most = Draft(now, size), goal_of(now, budget, size) // 2
    for place in draft.results(0, len(now.messages)):
        draft.shorten(place, lambda message: shortened_to(message, most, size))
    return draft.plan()


def plan_summary(
    now: Numbered, budget: Budget, size: Size, summary_tokens: int
) -> SummaryPlan | None:
    """Summarise what lies before the first cut behind which the rest has room beside a summary."""
    goal = goal_of(now, budget, size)
    most = min(summary_tokens, (goal - least(now, size)) // 2)
    system, start = now.places()
    cut = _first_fitting(now, start, size, goal - most - total(now.messages[:system], size))
    asked = () if cut.request is None else (cut.request,)
    gone = [m for i, m in enumerate(now.messages[: cut.at]) if i >= start and i not in asked]
    if not gone or most < MIN_SUMMARY_TOKENS:
        return None
    return SummaryPlan(
        now.revision,
        now.first + cut.at - 1,
        tuple(now.first + place for place in range(system)),
        tuple(now.first + place for place in asked),
        (*now.messages[system:start], *(now.messages[place] for place in asked), *gone),
        most,
    )


def plan_truncation(now: Numbered, budget: Budget, size: Size) -> Plan | None:
    """Make the history smaller without a model, and no smaller than it should be.

    The same history gives the same plan. None when nothing can go any more, or nothing must; a
    plan's `tokens` can be above the limit, when even the least that has to stay is.
    """
    draft, goal = Draft(now, size), goal_of(now, budget, size)
    for _ in draft.reductions():
        if draft.total <= goal:
            break
    return draft.plan()


def least(now: Numbered, size: Size) -> int:
    """Tokens of the least that truncation leaves."""
    draft = Draft(now, size)
    for _ in draft.reductions():
        pass
    return draft.total


def goal_of(now: Numbered, budget: Budget, size: Size) -> int:
    """Tokens that should be left: half of the way from the least to the trigger.

    With a goal at the trigger, the next message would set off the next compaction.
    """
    smallest = least(now, size)
    return smallest + (budget.trigger - smallest) // 2


def _first_fitting(now: Numbered, start: int, size: Size, limit: int) -> Cut:
    """The first cut that leaves at most `limit` tokens, else the last one."""
    found = cuts(now.messages, start)
    sizes = kept_sizes(now.messages, found, start, size)
    return next((c for c, left in zip(found, sizes, strict=True) if left <= limit), found[-1])
