"""The composer's controls: each of them makes a click of the view. (chapter 3.3)"""

from __future__ import annotations

from typing import Any, Protocol

from freya_teach.lab.views import controls
from freya_teach.lab.views.composition import LATER, Change, Choice, Composition
from freya_teach.lab.views.view import Picture

LABEL = {"description_width": "initial"}
APART = {"width": "auto", "margin": "2px 14px 2px 2px"}


class Clickable(Protocol):
    """What the controls need of the view."""

    changes: dict[str, Change]
    """The clicks that there are."""

    @property
    def now(self) -> Composition:
        """What is shown."""

    @property
    def picture(self) -> Picture:
        """Its picture."""

    def click(self, name: str) -> None:
        """Make a change."""


class ComposerControls:
    """Two boxes to tick, two lists to choose from, and a button, above the picture."""

    def __init__(self, view: Clickable) -> None:
        made = controls.widgets()
        self.view = view
        self.override = made.Checkbox(description="override", tooltip="read your own files first")
        self.tools = made.Checkbox(
            description="tools", tooltip="what the active tools add to the prompt"
        )
        self.skills = self._list("Skills", "which skill is on", ("skill", "no skill"))
        self.time = self._list("Time by", "how finely the time is told", ("time by",))
        self.later = controls.button("A minute later", LATER, lambda: view.click(LATER))
        self.picture = made.HTML()
        for name, box in (("override", self.override), ("tools", self.tools)):
            box.disabled = f"{name} on" not in view.changes
            box.indent, box.layout = False, APART
            box.observe(self._ticked(name), "value")
        row = made.HBox([self.override, self.tools, self.skills, self.time, self.later])
        row.layout.flex_flow = "row wrap"
        self.all = made.VBox([row, self.picture])
        self.update()

    def update(self) -> None:
        """Show the view as it is; a control that had moved ahead of it goes back."""
        choice = self.view.now.choice
        self.override.value, self.tools.value = choice.override, choice.tools
        self.skills.value, self.time.value = _skill(choice), f"time by {choice.granularity}"
        self.picture.value = self.view.picture.html

    def _list(self, caption: str, tip: str, beginnings: tuple[str, ...]) -> Any:
        """A list of the clicks whose names begin so."""
        options = [name for name in self.view.changes if name.startswith(beginnings)]
        found = controls.widgets().Dropdown(options=options, description=caption, tooltip=tip)
        found.style, found.layout = LABEL, APART
        found.observe(lambda change: self._make(change["new"]), "value")
        return found

    def _ticked(self, name: str) -> Any:
        return lambda change: self._make(f"{name} {'on' if change['new'] else 'off'}")

    def _make(self, name: str) -> None:
        """Click, unless it is the view that has moved the control."""
        choice = self.view.now.choice
        if self.view.changes[name](choice) != choice:
            self.view.click(name)


def _skill(choice: Choice) -> str:
    if not choice.skills:
        return "skills off"
    return f"skill {choice.active}" if choice.active else "no skill"
