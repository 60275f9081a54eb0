"""The protocol bench: break a history, and read what both providers say. (chapter 5.1)

    bench = lab.view.protocol()
    bench.play(["remove 4", "undo", "down 3", "gemini gemini-1.5-flash", "kernel on"])

A click is the name of an edit and the number of a row; without a number it is for the selected
row. Rows count from 0, as in the providers' texts. They are translated to both wires as plainly
as can be, so nothing is repaired in silence. With "kernel on" it is told, too, what the kernel
would have said before sending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from freya_teach.config import MODELS
from freya_teach.lab.gateway.gemini_wire import signature
from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.views.protocol_controls import BenchControls
from freya_teach.lab.views.protocol_edits import EDITS, NotHere
from freya_teach.lab.views.protocol_picture import draw
from freya_teach.lab.views.protocol_rows import Body, rows_of
from freya_teach.lab.views.protocol_state import MODELS_ON_THE_BENCH, SWITCH, Bench
from freya_teach.lab.views.view import Click, View
from freya_teach.lab.views.wires import Tools, specs
from freya_teach.llm.messages import (
    Message,
    ProviderData,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)

TWO_TOOLS: tuple[Message, ...] = (
    system("Be brief."),
    user("What is the weather in Beijing, and how much is 15 * 8?"),
    assistant(
        ToolCall(
            "call_1",
            "get_current_weather",
            '{"city": "Beijing"}',
            ProviderData("gemini", {"signature": signature("call_1")}),
        ),
        ToolCall("call_2", "calculate", '{"expression": "15 * 8"}'),
    ),
    ToolMessage("call_1", "sunny, 15 °C"),
    ToolMessage("call_2", "120"),
)
"""Two calls of one turn and their results: the request that both providers then answer."""


class BenchView(View[Bench]):
    """A view whose steps are the clicks made so far."""

    def __init__(self, first: Bench) -> None:
        super().__init__([first], draw)

    @property
    def now(self) -> Bench:
        """What is shown."""
        return self.frames[self.step - 1]

    def body(self, wire: Wire) -> Body:
        """The body that is judged, for `lab.packet`."""
        return self.now.body(wire)

    def click(self, name: str) -> None:
        """Click this. Raises `ValueError` for a click or a row that there is not.

        An edit that has nothing to do at its row is told in the picture, and changes nothing.
        """
        if name == "undo":
            self.prev()
            return
        before = replace(self.now, problem="", click=name)
        try:
            following = self._after(name, before)
        except NotHere as problem:
            told = replace(self.now, problem=f"{name}: {problem}")
            self.frames = [*self.frames[: self.step - 1], told, *self.frames[self.step :]]
            self.go(self.step)
            return
        if replace(following, click=self.now.click) != self.now:
            self.frames = [*self.frames[: self.step], following]
            self.go(self.step + 1)

    def _after(self, name: str, before: Bench) -> Bench:
        """The state that this click leads to."""
        word, _, value = name.rpartition(" ")
        if name == "reset":
            first = self.frames[0]
            return replace(before, rows=first.rows, selected=first.selected)
        if name in SWITCH:
            return replace(before, kernel=SWITCH[name])
        if word in MODELS_ON_THE_BENCH:
            return before.with_model(word, value)
        if value.isdecimal():
            before = before.at(int(value))
        else:
            word = name
        if word == "select":
            return before
        if word not in EDITS:
            known = ", ".join(f'"{each}"' for each in [*EDITS, "select", "reset", "undo", *SWITCH])
            raise ValueError(f"There is no click {name!r}. There are: {known}.")
        return before.edited(word)

    def play(self, clicks: Sequence[Click]) -> BenchView:
        """Click for the reader; "prev", "next" and numbers go through the clicks made so far."""
        for each in clicks:
            if isinstance(each, int) or each in ("next", "prev"):
                super().play([each])
            else:
                self.click(each)
        return self

    def widget(self) -> Any:
        """The picture below its controls, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = BenchControls(self)
        return self.shown.all


def protocol(
    messages: Sequence[Message] = TWO_TOOLS,
    tools: Tools = (),
    *,
    openai: str = MODELS["openai"],
    gemini: str = MODELS["gemini"],
) -> BenchView:
    """Lay a history on the bench, a broken one, too; the last row is selected."""
    rows = rows_of(messages)
    last = max(0, len(rows) - 1)
    return BenchView(Bench(rows, rows, openai, gemini, specs(tools), last))
