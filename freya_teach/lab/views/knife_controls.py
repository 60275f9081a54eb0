"""The knife's buttons: each of them makes a click of the view. (chapter 7.2)"""

from __future__ import annotations

from typing import Any, Protocol

from freya_teach.lab.views import controls
from freya_teach.lab.views.knife_state import Knife
from freya_teach.lab.views.view import Picture


class Clickable(Protocol):
    """What the controls need of the view."""

    @property
    def now(self) -> Knife:
        """What is shown."""

    @property
    def picture(self) -> Picture:
        """Its picture."""

    def click(self, name: str) -> None:
        """Click this."""


class KnifeControls:
    """Buttons that move the knife, a slider for its row, and a box for the summary."""

    def __init__(self, view: Clickable) -> None:
        made, now = controls.widgets(), view.now
        self.view = view
        self.buttons = [
            controls.button(caption, tip, self._clicked(name))
            for caption, tip, name in (
                ("▲ Earlier", "one row towards the oldest message", "earlier"),
                ("▼ Later", "one row towards the newest message", "later"),
                ("Source's cut", "where the source's algorithm cuts", "source"),
                ("Kernel's next cut", "the next place where the kernel would cut", "kernel"),
            )
        ]
        last = len(now.rows) - 1
        self.row = made.IntSlider(
            now.at,
            min=now.start,
            max=max(last, now.start + 1),
            disabled=last == now.start,
            description="Row",
            tooltip="the first row that stays; arrow keys move it",
        )
        self.row.observe(lambda change: self._moved(change["new"]), "value")
        self.summary = made.Checkbox(
            description="summary", tooltip="put a summary where rows have gone", indent=False
        )
        self.summary.observe(lambda change: self._ticked(on=change["new"]), "value")
        self.picture = made.HTML()
        rows = [made.HBox(self.buttons), made.HBox([self.row, self.summary])]
        for row in rows:
            row.layout.flex_flow = "row wrap"
        self.all = made.VBox([*rows, self.picture])
        self.update()

    def update(self) -> None:
        """Show the view as it is."""
        self.row.value = self.view.now.at
        self.summary.value = self.view.now.summary
        self.picture.value = self.view.picture.html

    def _clicked(self, name: str) -> Any:
        return lambda: self.view.click(name)

    # Each of these clicks unless it is the view that has moved the control.

    def _moved(self, row: int) -> None:
        if row != self.view.now.at:
            self.view.click(f"cut {row}")

    def _ticked(self, *, on: bool) -> None:
        if on != self.view.now.summary:
            self.view.click(f"summary {'on' if on else 'off'}")
