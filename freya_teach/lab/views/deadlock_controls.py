"""The deadlock trace's controls: each of them makes a click of the view. (chapter 7.4)"""

from __future__ import annotations

from typing import Any, Protocol

from freya_teach.lab.deadlock import NAMES
from freya_teach.lab.views import controls
from freya_teach.lab.views.deadlock_picture import CAPTIONS, Stage
from freya_teach.lab.views.view import Picture

APART = {"width": "auto", "margin": "2px 14px 2px 2px"}
LABEL = {"description_width": "initial"}


class Clickable(Protocol):
    """What the controls need of the view."""

    @property
    def now(self) -> Stage:
        """What is shown."""

    @property
    def picture(self) -> Picture:
        """Its picture."""

    def click(self, name: str) -> None:
        """Click this."""


class DeadlockControls:
    """A list of the stories, a box to tick for each defence, and two buttons for all of them."""

    def __init__(self, view: Clickable) -> None:
        made = controls.widgets()
        self.view = view
        self.boxes = {name: self._box(name) for name in NAMES}
        self.story = made.Dropdown(
            options=[each.name for each in view.now.stories],
            description="Story",
            tooltip="what the conversation is, and what the model writes",
        )
        self.story.style, self.story.layout = LABEL, APART
        self.story.observe(lambda change: view.click(f"story {change['new']}"), "value")
        self.all_on = controls.button("All on", "every defence on", lambda: view.click("all on"))
        self.all_off = controls.button("All off", "no defence", lambda: view.click("all off"))
        self.picture = made.HTML()
        rows = [
            made.HBox([self.story, self.all_on, self.all_off]),
            made.HBox(list(self.boxes.values())),
        ]
        for row in rows:
            row.layout.flex_flow = "row wrap"
        self.all = made.VBox([*rows, self.picture])
        self.update()

    def update(self) -> None:
        """Show the view as it is."""
        now = self.view.now
        self.story.value = now.story.name
        for name, box in self.boxes.items():
            box.value = getattr(now.defences, name)
        self.picture.value = self.view.picture.html

    def _box(self, name: str) -> Any:
        words = name.replace("_", " ")
        box = controls.widgets().Checkbox(description=words, tooltip=CAPTIONS[name], indent=False)
        box.layout = APART
        box.observe(self._ticked(name), "value")
        return box

    def _ticked(self, name: str) -> Any:
        def ticked(change: Any) -> None:
            # several boxes move at once after "all on": only the reader's own tick is a click
            if change["new"] != getattr(self.view.now.defences, name):
                self.view.click(f"{name.replace('_', ' ')} {'on' if change['new'] else 'off'}")

        return ticked
