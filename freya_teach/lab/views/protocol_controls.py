"""The bench's buttons: each of them makes a click of the view. (chapter 5.1)"""

from __future__ import annotations

from typing import Any, Protocol

from freya_teach.lab.views import controls
from freya_teach.lab.views.protocol_edits import BREAKAGES, EDITS, ORDER, name_of
from freya_teach.lab.views.protocol_state import MODELS_ON_THE_BENCH, Bench
from freya_teach.lab.views.view import Picture

AUTO = {"width": "auto"}
LABEL = {"description_width": "initial"}
CAPTIONS = {"remove": "✕ Remove", "up": "▲ Up", "down": "▼ Down"}


class Clickable(Protocol):
    """What the controls need of the view."""

    @property
    def now(self) -> Bench:
        """What is shown."""

    @property
    def picture(self) -> Picture:
        """Its picture."""

    def click(self, name: str) -> None:
        """Click this."""


class BenchControls:
    """A list of the rows, buttons for what can be done to the selected one, and the models."""

    def __init__(self, view: Clickable) -> None:
        made = controls.widgets()
        self.view = view
        self.filling = False
        self.row = self._list("Row", "which row the buttons are for", [])
        self.row.observe(lambda change: self._choose(change["new"]), "value")
        self.order = [self._button(name_of(edit)) for edit in ORDER]
        self.undo = controls.button("↶ Undo", "one click back", lambda: view.click("undo"))
        self.reset = controls.button(
            "Reset", "the rows as they were at first", lambda: view.click("reset")
        )
        self.edits = [self._button(name_of(edit)) for edit in BREAKAGES]
        self.models = {
            wire: self._list(f"{name} model", "whose rules are asked", MODELS_ON_THE_BENCH[wire])
            for wire, name in (("openai", "OpenAI"), ("gemini", "Gemini"))
        }
        for wire, found in self.models.items():
            found.observe(self._pick(wire), "value")
        self.kernel = made.Checkbox(
            description="what the kernel says", tooltip="and what it would send", indent=False
        )
        self.kernel.observe(lambda change: self._switch(on=change["new"]), "value")
        self.picture = made.HTML()
        rows = [
            made.HBox([self.row, *self.order, self.undo, self.reset]),
            made.HBox(self.edits),
            made.HBox([*self.models.values(), self.kernel]),
        ]
        for row in rows:
            row.layout.flex_flow = "row wrap"
        self.all = made.VBox([*rows, self.picture])
        self.update()

    def update(self) -> None:
        """Show the view as it is."""
        now = self.view.now
        names = [(f"{n}: {row.role}", n) for n, row in enumerate(now.rows)]
        self.filling = True  # a list that gets other options jumps to the first of them
        if list(self.row.options) != names:
            self.row.options = names
        self.row.value = now.selected if names else None
        self.filling = False
        for wire, found in self.models.items():
            model = getattr(now, wire)
            if model not in found.options:
                found.options = (*found.options, model)
            found.value = model
        self.kernel.value = now.kernel
        self.picture.value = self.view.picture.html

    def _button(self, name: str) -> Any:
        tip = (EDITS[name].__doc__ or name).partition("\n")[0]
        made = controls.button(
            CAPTIONS.get(name, name.capitalize()), tip, lambda: self.view.click(name)
        )
        made.layout = AUTO
        return made

    def _list(self, caption: str, tip: str, options: Any) -> Any:
        made = controls.widgets().Dropdown(options=options, description=caption, tooltip=tip)
        made.style, made.layout = LABEL, AUTO
        return made

    # Each of these clicks unless it is the view that has moved the control.

    def _choose(self, number: int | None) -> None:
        if number not in (None, self.view.now.selected) and not self.filling:
            self.view.click(f"select {number}")

    def _pick(self, wire: str) -> Any:
        def picked(change: Any) -> None:
            if change["new"] != getattr(self.view.now, wire):
                self.view.click(f"{wire} {change['new']}")

        return picked

    def _switch(self, *, on: bool) -> None:
        if on != self.view.now.kernel:
            self.view.click(f"kernel {'on' if on else 'off'}")
