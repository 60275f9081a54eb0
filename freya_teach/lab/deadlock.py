"""A compaction that was to save a conversation, and how it ends without its defences. (chapter 7.4)

    trace(Defences(), LARGE_RESULT)[-1].verdict        → "loops"
    trace(ALL_ON, LARGE_RESULT)[-1].verdict            → "fits"

A simulation: a turn is a number of tokens, and what the model writes is written down in the story.
So it asks no model, and the same defences and story always give the same steps. With all five
defences on it goes the way of `agent/compaction.py`, but for one thing: the kernel shortens a giant
result even before it asks for a summary, and here that comes last, so that there is a trap to see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal

Verdict = Literal["fits", "error", "loops", "too large", "crowded out", "forgets"]
GOOD: tuple[Verdict, ...] = ("fits", "error")
MOST_CALLS = 6
"""After so many calls for one request it is called a loop."""
GUIDANCE_TOKENS = 50
"""The instructions in a request for a summary."""
SHORT_RESULT = 50
"""Tokens that a shortened result keeps."""
KEPT_TURNS = 2
"""Older turns that a truncation keeps which does not look at tokens."""


@dataclass(frozen=True, slots=True)
class Defences:
    """What keeps a compaction from doing harm; each can be on or off."""

    one_summary: bool = False
    """At most one summary for each request."""
    cap: bool = False
    """A summary with more tokens than the cap is thrown away."""
    input_cut: bool = False
    """What is to be summarised is cut until it fits into a request."""
    fallback: bool = False
    """Without a usable summary (empty, too long, refused) old turns are dropped instead."""
    until_it_fits: bool = False
    """In the end, truncation goes on until it fits; where nothing helps, an error says so."""


ALL_ON = Defences(
    one_summary=True, cap=True, input_cut=True, fallback=True, until_it_fits=True
)  # fmt: skip
NAMES = tuple(each.name for each in fields(Defences))


@dataclass(frozen=True, slots=True)
class Story:
    """A conversation at the moment before a call, and what the model will write. All in tokens."""

    name: str
    says: str
    older: tuple[int, ...]
    """The turns before the newest one, oldest first."""
    request: int
    """The user's newest request, which nobody may drop."""
    result: int = 0
    """The tool result that came last; it can be shortened."""
    summaries: tuple[int, ...] = (100,)
    """What the model writes, call by call; the last one again and again. 0 is an empty summary."""
    window: int = 1_000
    trigger: int = 850
    """Over this the history is made smaller."""
    cap: int = 150


LARGE_RESULT = Story(
    "large result", "The newest tool result alone nearly fills the window.",
    older=(100, 100, 100), request=50, result=950, summaries=(100,),
)  # fmt: skip
TALKER = Story(
    "talker", "The model writes more than what it was to summarise.",
    older=(250, 300, 250), request=250, summaries=(600, 650, 700),
)  # fmt: skip
SMALLER_MODEL = Story(
    "smaller model", "The conversation goes on at a model with a smaller window.",
    older=(1_100, 300, 200), request=100, summaries=(120,),
)  # fmt: skip
EMPTY_SUMMARY = Story(
    "empty summary", "The model thinks until its limit, and the summary is empty.",
    older=(350, 300, 250), request=150, summaries=(0,),
)  # fmt: skip
LARGE_REQUEST = Story(
    "large request", "The newest request is larger than the window.",
    older=(100,), request=1_200, summaries=(60,),
)  # fmt: skip
STORIES = (LARGE_RESULT, TALKER, SMALLER_MODEL, EMPTY_SUMMARY, LARGE_REQUEST)


@dataclass(frozen=True, slots=True)
class Held:
    """What the history holds, in tokens."""

    older: tuple[int, ...]
    request: int
    result: int
    summary: int = 0
    left: int = 0
    """How many of the older turns have left."""

    @property
    def total(self) -> int:
        """Tokens of all of it."""
        return self.summary + sum(self.older) + self.request + self.result

    @property
    def least(self) -> int:
        """Tokens that stay whatever is dropped."""
        return self.request + min(self.result, SHORT_RESULT)

    def without(self, turns: int) -> Held:
        """Without so many of the oldest turns."""
        return replace(self, older=self.older[turns:], left=self.left + turns)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was done, what the history holds then, and how many calls it took so far."""

    act: Literal["check", "summary", "truncation", "end"]
    says: str
    held: Held
    calls: int
    verdict: Verdict | None = None
    """How it ended; only the last step has it."""


def trace(defences: Defences, story: Story) -> tuple[Step, ...]:
    """What happens before one call to the model, step by step; the last step has the verdict.

    >>> [step.held.total for step in trace(ALL_ON, LARGE_RESULT)]
    [1300, 1100, 200, 200]
    """
    return tuple(_Run(defences, story).steps())


def is_safe(defences: Defences, story: Story) -> bool:
    """Whether it ends well: it fits, or an error says why it cannot."""
    return trace(defences, story)[-1].verdict in GOOD


class _Run:
    """A compaction on its way."""

    def __init__(self, defences: Defences, story: Story) -> None:
        self.on = defences
        self.story = story
        self.now = self.first = Held(story.older, story.request, story.result)
        self.calls = 0
        self.harm: Verdict | None = None

    def steps(self) -> Iterator[Step]:
        """Check, summarise, check again; then truncate; then send."""
        yield self._step("check", self._checked())
        if self.on.until_it_fits and self.now.least > self.story.window:
            says = f"the least has {self.now.least:,}: an error, nothing is sent"
            yield self._step("end", says, "error")
            return
        yield from self._make_smaller()
        yield self._end()

    def _make_smaller(self) -> Iterator[Step]:
        usable = True
        while usable and self._wants_a_summary():
            if self.calls == MOST_CALLS:
                self.harm = "loops"
                return
            usable, says = self._summarise()
            yield self._step("summary", says)
            if usable and not self.on.one_summary:
                yield self._step("check", self._checked())
        if not usable and not self.on.fallback:
            return  # as if there had been nothing to do
        if self.on.until_it_fits or not usable:
            yield from self._truncate()

    def _wants_a_summary(self) -> bool:
        over = self.now.total > self.story.trigger
        return over and not (self.on.one_summary and self.calls)

    def _step(
        self,
        act: Literal["check", "summary", "truncation", "end"],
        says: str,
        verdict: Verdict | None = None,
    ) -> Step:
        return Step(act, says, self.now, self.calls, verdict)

    def _checked(self) -> str:
        total, trigger = self.now.total, self.story.trigger
        return f"{total:,} {'>' if total > trigger else '≤'} {trigger:,}"

    def _summarise(self) -> tuple[bool, str]:
        """Ask for a summary: whether there is one that can be used, and what happened."""
        story, turns = self.story, self._turns_to_summarise()
        replaced = self.now.summary + sum(self.now.older[:turns])
        if not replaced:
            return False, "there is nothing left to summarise"
        asked = f"summary of {replaced:,}"
        self.calls += 1
        if replaced + GUIDANCE_TOKENS > story.window:
            if not self.on.input_cut:
                self.harm = "forgets"
                return False, f"{asked}: refused, the window is {story.window:,}"
            asked = f"summary of {replaced:,}, cut to {story.window - GUIDANCE_TOKENS:,}"
        written = story.summaries[min(self.calls, len(story.summaries)) - 1]
        if not written:
            return False, f"{asked}: it is empty"
        if self.on.cap and written > story.cap:
            return False, f"{asked}: {written:,} > cap of {story.cap:,}, thrown away"
        # within the cap, a summary that is a little longer than a short turn does no harm
        self.harm = "crowded out" if written > max(replaced, story.cap) else None
        self.now = replace(self.now.without(turns), summary=written)
        return True, f"{asked}: {written:,}"

    def _turns_to_summarise(self) -> int:
        """As many of the oldest turns as it takes, if the summary is as long as it should be."""
        room = self.story.trigger - self.story.cap + self.now.summary - self.now.total
        for turns in range(1, len(self.now.older)):
            if sum(self.now.older[:turns]) + room >= 0:
                return turns
        return len(self.now.older)

    def _truncate(self) -> Iterator[Step]:
        """Drop old turns: a fixed number of them stays, or it goes on until it fits."""
        if not self.on.until_it_fits:
            self.now = self.now.without(max(0, len(self.now.older) - KEPT_TURNS))
            yield self._step("truncation", f"only the newest {KEPT_TURNS} older turns stay")
            return
        while self.now.total > self.story.trigger:
            before = self.now
            says = self._reduce()
            if self.now == before:
                return
            yield self._step("truncation", says)

    def _reduce(self) -> str:
        """The next thing that goes: the oldest turn, the length of the result, the summary."""
        now = self.now
        if now.older:
            self.now = now.without(1)
            return f"turn {now.left + 1} is dropped"
        if now.result > SHORT_RESULT:
            self.now = replace(now, result=SHORT_RESULT)
            return f"the newest result is shortened to {SHORT_RESULT:,}"
        self.now = replace(now, summary=0)
        return "the summary is dropped"

    def _end(self) -> Step:
        total, window = self.now.total, self.story.window
        if self.harm == "loops":
            return self._step("end", "and so on: this loop does not end by itself", "loops")
        if total > window:
            same = "as it was" if self.now == self.first else "all the same"
            says = f"{total:,} > {window:,}: sent {same}, and refused"
            return self._step("end", says, "too large")
        if self.harm == "crowded out":
            says = f"{total:,}: sent, the summary longer than what left"
            return self._step("end", says, "crowded out")
        if self.harm == "forgets" and self.now.left:
            says = f"{total:,}: sent, what was dropped has no summary"
            return self._step("end", says, "forgets")
        return self._step("end", f"{total:,} ≤ {window:,}: sent", "fits")
