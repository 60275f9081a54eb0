"""A view: states, one function that draws a state, and controls that pick the state. (start)

    view            in a notebook: the picture with its controls; elsewhere the picture
    view.at(3)      one state as a plain picture
    view.play([…])  clicks the controls for you, and returns the view

The picture is HTML: an SVG, and the same in words below it, folded, because a notebook shows a
bare SVG as an image without words, and does not show it at all before the cell has been run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Generic, TypeVar

from freya_teach.lab.views import controls
from freya_teach.lab.views.words import visible

State = TypeVar("State")
Click = str | int


@dataclass(frozen=True, slots=True)
class Picture:
    """One state, drawn (in one SVG or two) and told; `text` names everything that `svg` shows."""

    svg: str
    text: str

    @property
    def html(self) -> str:
        """The picture with its words folded below it."""
        return figure(self.svg, self.text)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """What a notebook stores and shows."""
        return {"text/plain": self.text, "text/html": self.html}


def figure(svg: str, words: str) -> str:
    """An SVG, and below it, folded, its words."""
    told = escape(visible(words), quote=False)
    return (
        f'<figure class="freya-view" style="margin:0">{svg}'
        f"<details><summary>The same in words</summary><pre>{told}</pre></details></figure>"
    )


@dataclass(eq=False, slots=True)
class View(Generic[State]):
    """States to step through; `draw` makes a picture of one. Steps count from 1."""

    frames: Sequence[State]
    draw: Callable[[State], Picture]
    step: int = 1
    shown: Any = field(default=None, repr=False)
    """The controls, once they have been shown."""

    def at(self, step: int) -> Picture:
        """The picture of one step. Raises `ValueError` for a step that there is not."""
        if not 1 <= step <= len(self.frames):
            raise ValueError(f"There is no step {step}: the steps are 1 to {len(self.frames)}.")
        return self.draw(self.frames[step - 1])

    @property
    def picture(self) -> Picture:
        """The picture of the current step."""
        return self.at(self.step)

    @property
    def text(self) -> str:
        """The current step in words."""
        return self.picture.text

    @property
    def svg(self) -> str:
        """The current step as SVG."""
        return self.picture.svg

    def next(self) -> None:
        """One step on; at the last one nothing happens."""
        self.go(min(self.step + 1, len(self.frames)))

    def prev(self) -> None:
        """One step back; at the first one nothing happens."""
        self.go(max(self.step - 1, 1))

    def go(self, step: int) -> None:
        """Show this step. Raises `ValueError` for a step that there is not."""
        self.at(step)
        self.step = step
        if self.shown:
            self.shown.update()

    def play(self, clicks: Sequence[Click]) -> View[State]:
        """Click for the reader: "next", "prev", or the number of a step for the slider."""
        handlers = {"next": self.next, "prev": self.prev}
        for click in clicks:
            if isinstance(click, int):
                self.go(click)
            elif click in handlers:
                handlers[click]()
            else:
                raise ValueError(f'There is no button {click!r}: "next", "prev", or a step.')
        return self

    def widget(self) -> Any:
        """The picture behind its controls, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = Controls(self)
        return self.shown.all

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """What a notebook stores and shows: the current step, and the controls beside it."""
        picture = self.picture
        bundle: dict[str, Any] = {"text/plain": picture.text, "text/html": picture.html}
        if controls.somebody_can_click():
            bundle[controls.WIDGET] = controls.mime(self.widget())
        return bundle


class Controls:
    """Two buttons and a slider above the picture; each calls a handler of the view."""

    def __init__(self, view: View[Any]) -> None:
        made = controls.widgets()
        self.view = view
        self.back = controls.button("◀ Previous", "one step back", view.prev)
        self.on = controls.button("Next ▶", "one step on", view.next)
        self.slider = made.IntSlider(
            view.step,
            min=1,
            max=max(len(view.frames), 2),
            disabled=len(view.frames) < 2,
            description="Step",
            tooltip="which step is shown; arrow keys move it",
        )
        self.slider.observe(lambda change: view.go(change["new"]), "value")
        self.picture = made.HTML()
        self.all = made.VBox([made.HBox([self.back, self.on, self.slider]), self.picture])
        self.update()

    def update(self) -> None:
        """Show the view's current step."""
        self.picture.value = self.view.picture.html
        self.slider.value = self.view.step
