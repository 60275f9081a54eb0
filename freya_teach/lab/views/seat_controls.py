"""The controls of the model's seat: a choice, a field for each argument, and Send. (chapter 2.2)

Each control writes into the form or calls a function of the seat; nothing is decided here.
"""

from __future__ import annotations

from html import escape
from typing import Any, Protocol

from freya_teach.lab.views import controls, palette
from freya_teach.lab.views.fields import Field, typed
from freya_teach.lab.views.form import WORDS, Form
from freya_teach.lab.views.sitting import Sitting
from freya_teach.lab.views.words import cut, one_line

WIDE = {"width": "640px"}
LABEL = {"description_width": "140px"}


class HasSitting(Protocol):
    """What the controls need of a seat."""

    sitting: Sitting

    @property
    def html(self) -> str:
        """The picture."""

    def send(self) -> None:
        """Send the move."""

    def add(self) -> None:
        """Put the call aside."""

    def again(self) -> None:
        """Start over."""


class SeatControls:
    """The picture, and below it the form for the next move."""

    def __init__(self, seat: HasSitting) -> None:
        self.seat = seat
        self.made = controls.widgets()
        self.picture = self.made.HTML()
        self.area = self.made.VBox()
        self.all = self.made.VBox([self.picture, self.area])
        self.inputs: dict[str, Any] = {}
        """The inputs on show, by name: "move", "words", "raw", "arguments", or a field's."""
        self.problems: dict[str, Any] = {}
        self._built_for: tuple[object, ...] = ()
        self.update()

    @property
    def form(self) -> Form:
        """What has been typed for the next move."""
        return self.seat.sitting.form

    def update(self) -> None:
        """Show the seat as it is now; what has been typed stays where the form is the same."""
        self.picture.value = self.seat.html
        sitting, form = self.seat.sitting, self.form
        now = (sitting.phase, id(form), form.choice, form.raw, len(form.ready))
        if now != self._built_for:
            self._built_for = now
            self._build()
        for name, place in self.problems.items():
            place.value = _problem(form.problems.get(name, ""))

    def _build(self) -> None:
        self.inputs, self.problems = {}, {}
        phase = self.seat.sitting.phase
        if phase == "your move":
            self.area.children = self._whole_form()
        elif phase in ("over", "failed", "left"):
            self.area.children = (self._button("Again", "start a new run", self.seat.again),)
        else:
            self.area.children = ()

    def _whole_form(self) -> tuple[Any, ...]:
        add = self._button(
            "Add another call", "keep this call, and fill in one more", self.seat.add
        )
        send = self._button("Send", "send your move to the harness", self.seat.send, "primary")
        buttons = [send] if self.form.choice == WORDS else [send, add]
        return (*self._ready(), *self._choice(), *self._inputs(), self.made.HBox(buttons))

    def _ready(self) -> list[Any]:
        """The calls that wait to be sent together."""
        told = [cut(f"{call.name} {call.arguments}", 90) for call in self.form.ready]
        lines = "".join(f"<div>ready to send: {escape(line)}</div>" for line in told)
        return [self.made.HTML(lines)] if told else []

    def _button(self, caption: str, tip: str, handler: Any, style: str = "") -> Any:
        return controls.button(caption, tip, controls.at_home(handler), style)

    def _choice(self) -> list[Any]:
        options = self.form.choices
        if self.form.choice not in options:
            options = [*options, self.form.choice]
        choice = self.made.Dropdown(options=options, value=self.form.choice)
        return self._input(
            "move", "Your move", "what a model can do: talk, or call", choice, self._choose
        )

    def _choose(self, choice: str) -> None:
        self.form.choose(choice)
        self.update()

    def _inputs(self) -> list[Any]:
        form = self.form
        if form.choice == WORDS:
            words = self.made.Textarea(form.words)
            return self._input("words", "Your words", "the answer", words, self._say)
        raw = self.made.Checkbox(form.raw, indent=True)
        tick = self._input(
            "raw", "write raw text", "as a model does, valid JSON or not", raw, self._write_raw
        )
        if form.raw:
            text = self.made.Textarea(form.raw_text)
            about = "sent as it is, even when it is no JSON"
            return self._input("arguments", "Arguments", about, text, self._type_raw) + tick
        return [each for field in form.fields for each in self._field(field)] + tick

    def _say(self, words: str) -> None:
        self.form.words = words

    def _type_raw(self, text: str) -> None:
        self.form.raw_text = text

    def _write_raw(self, raw: bool) -> None:  # noqa: FBT001 - the value of a checkbox
        self.form.raw = raw
        self.update()

    def _field(self, field: Field) -> list[Any]:
        now = self.form.values.get(field.name, field.first)
        caption = cut(field.name, 24) + ("" if field.required else " (optional)")
        about = one_line(field.about) or field.kind

        def on_change(value: Any) -> None:
            self.form.values[field.name] = str(value).lower() if value in (True, False) else value

        return self._input(field.name, caption, about, self._control(field, now), on_change)

    def _control(self, field: Field, now: str) -> Any:
        if field.kind == "boolean":
            return self.made.Checkbox(now == "true", indent=True)
        if field.kind == "choice":
            left_out = [] if field.required else [("(left out)", "")]
            named = [(_caption(value), typed(field, value)) for value in field.choices]
            return self.made.Dropdown(options=left_out + named, value=now)
        if field.kind == "json":
            return self.made.Textarea(now, placeholder="JSON")
        return self.made.Text(now, placeholder=field.kind)

    def _input(
        self, name: str, caption: str, about: str, control: Any, on_change: Any
    ) -> list[Any]:
        """A labelled control that reports its value, and a place below it for what is wrong."""
        control.description, control.tooltip = caption, about
        control.style, control.layout = LABEL, WIDE
        changed = controls.at_home(on_change)
        control.observe(lambda change: changed(change["new"]), "value")
        self.inputs[name], self.problems[name] = control, self.made.HTML()
        return [control, self.problems[name]]


def _caption(value: object) -> str:
    return cut(value if isinstance(value, str) else repr(value), 60)


def _problem(words: str) -> str:
    """What is wrong with a field, in words and with a sign; on its own ground, for any theme."""
    if not words:
        return ""
    tone = palette.STOP
    style = f"background:{tone.pale};color:{tone.strong};padding:2px 8px"
    return f'<span role="alert" style="{style}">✗ {escape(one_line(words))}</span>'
