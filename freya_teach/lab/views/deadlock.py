"""The deadlock trace: a compaction step by step, with defences to switch. (chapter 7.4)

    view = lab.view.deadlock()
    view.play(["one summary on", "story talker", "all on", "cap off"])

The steps are those of `lab/deadlock.py`, a simulation. Each has a bar for what the history holds,
against the window; below them stands how the other stories would end with the same defences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from freya_teach.lab.deadlock import ALL_ON, LARGE_RESULT, NAMES, STORIES, Defences, Story
from freya_teach.lab.views.deadlock_controls import DeadlockControls
from freya_teach.lab.views.deadlock_picture import Stage, draw
from freya_teach.lab.views.view import Click, View

Change = Callable[[Stage], Stage]


@dataclass(eq=False, slots=True)
class DeadlockView(View[Stage]):
    """A view whose steps are the clicks made so far."""

    @property
    def now(self) -> Stage:
        """What is shown."""
        return self.frames[self.step - 1]

    @property
    def changes(self) -> dict[str, Change]:
        """Every click that there is, by its name."""
        made: dict[str, Change] = {
            "all on": _defended(ALL_ON),
            "all off": _defended(Defences()),
        }
        for name in NAMES:
            for word, on in (("on", True), ("off", False)):
                made[f"{name.replace('_', ' ')} {word}"] = _switched(name, on=on)
        for story in self.now.stories:
            made[f"story {story.name}"] = _told(story)
        return made

    def click(self, name: str) -> None:
        """Click this. Raises `ValueError` for a click that there is not."""
        changes = self.changes
        if name not in changes:
            known = ", ".join(f'"{each}"' for each in changes)
            raise ValueError(f"There is no click {name!r}. There are: {known}.")
        following = changes[name](self.now)
        if following != self.now:
            self.frames = [*self.frames[: self.step], following]
            self.go(self.step + 1)

    def play(self, clicks: Sequence[Click]) -> DeadlockView:
        """Click for the reader; "prev", "next" and numbers go through the clicks made so far."""
        for each in clicks:
            if isinstance(each, int) or each in ("next", "prev"):
                View.play(self, [each])
            else:
                self.click(each)
        return self

    def widget(self) -> Any:
        """The picture below its controls, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = DeadlockControls(self)
        return self.shown.all


def _defended(defences: Defences) -> Change:
    return lambda stage: replace(stage, defences=defences)


def _switched(name: str, *, on: bool) -> Change:
    return lambda stage: replace(stage, defences=replace(stage.defences, **{name: on}))


def _told(story: Story) -> Change:
    return lambda stage: replace(stage, story=story)


def deadlock(
    story: Story | str = LARGE_RESULT, defences: Defences | Iterable[str] = ()
) -> DeadlockView:
    """A story, by itself or by its name, with these defences on; at first with none.

    Raises `ValueError` for a name that there is not.
    """
    names = {each.name: each for each in STORIES}
    if isinstance(story, str) and story not in names:
        raise ValueError(f"There is no story {story!r}. There are: {', '.join(names)}.")
    chosen = names[story] if isinstance(story, str) else story
    on = defences if isinstance(defences, Defences) else _named(list(defences))
    stories = STORIES if chosen in STORIES else (chosen, *STORIES)
    return DeadlockView([Stage(chosen, on, stories)], draw)


def _named(on: list[str]) -> Defences:
    chosen = [name.replace(" ", "_") for name in on]
    if unknown := [name for name in chosen if name not in NAMES]:
        raise ValueError(f"There is no defence {unknown[0]!r}. There are: {', '.join(NAMES)}.")
    return Defences(**dict.fromkeys(chosen, True))
