"""The truncation knife: move it along a history, and see what each cut leaves. (chapter 7.2)

    view = lab.view.knife(history)
    view.play(["earlier", "later", "source", "kernel", "cut 7", "summary on"])

Rows count from 0; "cut 7" puts the knife before row 7, so that row 7 is the first that stays. What
stays is translated to both wires as plainly as can be, and nothing is repaired in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from freya_teach.config import MODELS
from freya_teach.lab.views.knife_controls import KnifeControls
from freya_teach.lab.views.knife_picture import draw
from freya_teach.lab.views.knife_state import Knife, bench
from freya_teach.lab.views.view import Click, View
from freya_teach.llm.messages import Message

CLICKS = ("earlier", "later", "source", "kernel", "summary on", "summary off", "cut N")


class KnifeView(View[Knife]):
    """A view whose steps are the places of the knife, from the oldest to the newest."""

    def __init__(self, first: Knife) -> None:
        super().__init__(first.places(), draw, step=1 + first.at - first.start)

    @property
    def now(self) -> Knife:
        """What is shown."""
        return self.frames[self.step - 1]

    def cut(self, row: int) -> None:
        """Put the knife before this row. Raises `ValueError` where it cannot stand."""
        self.now.check(row)
        self.go(1 + row - self.now.start)

    def click(self, name: str) -> None:
        """Click this. Raises `ValueError` for a click that there is not."""
        word, _, value = name.partition(" ")
        now = self.now
        if name == "earlier":
            self.prev()
        elif name == "later":
            self.next()
        elif name == "source":
            self.cut(now.source_at)
        elif name == "kernel":
            later = [cut.at for cut in now.kernel_cuts if cut.at > now.at]
            self.cut(min(later, default=min(cut.at for cut in now.kernel_cuts)))
        elif word == "summary" and value in ("on", "off"):
            self.frames = [replace(each, summary=value == "on") for each in self.frames]
            self.go(self.step)
        elif word == "cut" and value.isdecimal():
            self.cut(int(value))
        else:
            known = ", ".join(f'"{each}"' for each in CLICKS)
            raise ValueError(f"There is no click {name!r}. There are: {known}.")

    def play(self, clicks: Sequence[Click]) -> KnifeView:
        """Click for the reader; a number is a row, and the knife stands before it."""
        for each in clicks:
            if isinstance(each, int):
                self.cut(each)
            else:
                self.click({"prev": "earlier", "next": "later"}.get(each, each))
        return self

    def widget(self) -> Any:
        """The picture below its controls, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = KnifeControls(self)
        return self.shown.all


def knife(
    history: Sequence[Message],
    *,
    at: int | None = None,
    keep_turns: int = 6,
    openai: str = MODELS["openai"],
    gemini: str = MODELS["gemini"],
) -> KnifeView:
    """Lay a history under the knife; at first it stands where the source would cut.

    `keep_turns` is what the source's algorithm is given. System messages at the beginning always
    stay. Raises `ValueError` for a history without any other message, and for a row `at` before
    which the knife cannot stand.
    """
    first = bench(history, keep_turns, openai, gemini)
    if at is not None:
        first.check(at)
    return KnifeView(replace(first, at=first.source_at if at is None else at))
