"""The race timeline: tasks beside each other, turn by turn, with the lock on and off. (chapter 6.4)

    view = lab.view.race({"lock off": off, "lock on": on})
    view.play(["lock on", 1, "next"])

Each case is a run of `freya_teach.lab.races`. A button picks the case; the others step through it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from freya_teach.lab.races.orders import Run
from freya_teach.lab.views import controls
from freya_teach.lab.views.race_moment import Moment
from freya_teach.lab.views.race_picture import draw
from freya_teach.lab.views.view import Click, Controls, View


class RaceView(View[Moment]):
    """A view whose steps are the turns of the case that is picked; its last turn comes first."""

    def __init__(self, cases: Mapping[str, Run]) -> None:
        self.cases = dict(cases)
        self.case = next(iter(self.cases))
        frames = _frames(self.cases[self.case], self.case)
        super().__init__(frames, draw, step=len(frames))

    def pick(self, case: str) -> None:
        """Show another case at the same turn, or at its end if the end is shown.

        Raises `ValueError` for one that there is not.
        """
        if case not in self.cases:
            known = ", ".join(f'"{each}"' for each in self.cases)
            raise ValueError(f"There is no case {case!r}. There are: {known}.")
        at_end = self.step == len(self.frames)
        self.case, self.frames = case, _frames(self.cases[case], case)
        self.go(len(self.frames) if at_end else min(self.step, len(self.frames)))

    def play(self, clicks: Sequence[Click]) -> RaceView:
        """Click for the reader: the name of a case, "next", "prev", or the number of a turn."""
        for each in clicks:
            if isinstance(each, int) or each in ("next", "prev"):
                super().play([each])
            else:
                self.pick(each)
        return self

    def widget(self) -> Any:
        """The picture behind its controls, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = RaceControls(self)
        return self.shown.all


class RaceControls(Controls):
    """A button for each case, above the buttons that step."""

    def __init__(self, view: RaceView) -> None:
        made = controls.widgets()
        self.race = view
        self.case = made.ToggleButtons(
            options=list(view.cases), value=view.case, description="Case"
        )
        self.case.tooltips = [f"show the run: {case}" for case in view.cases]
        super().__init__(view)
        self.case.observe(self._picked, "value")
        if len(view.cases) > 1:
            self.all.children = (self.case, *self.all.children)

    def update(self) -> None:
        """Show the view as it is; a control that had moved ahead of it goes back."""
        self.case.value = self.race.case
        self.slider.max = max(len(self.race.frames), 2)
        self.slider.disabled = len(self.race.frames) < 2
        super().update()

    def _picked(self, change: Mapping[str, Any]) -> None:
        """Pick, unless it is the view that has moved the button."""
        if change["new"] != self.race.case:
            self.race.pick(change["new"])


def race(cases: Run | Mapping[str, Run]) -> RaceView:
    """Step through a run, or through several beside each other, each under its name.

    Raises `ValueError` without a run.
    """
    if isinstance(cases, Run):
        cases = {"": cases}
    if not cases:
        raise ValueError("There is no run to draw: give one, or several by name.")
    return RaceView(cases)


def _frames(run: Run, case: str) -> list[Moment]:
    turns = len(run.events)
    return [Moment(run, case, now) for now in range(min(1, turns), turns + 1)]
