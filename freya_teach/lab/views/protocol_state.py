"""What lies on the bench: rows, the two models, and what is made of them. (chapter 5.1)"""

from __future__ import annotations

from dataclasses import dataclass, replace

from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.views.protocol_edits import EDITS, NotHere
from freya_teach.lab.views.protocol_rows import Body, Rows, gemini_body, openai_body
from freya_teach.lab.views.protocol_verdicts import KernelSays, Verdict, kernel_says, verdict
from freya_teach.llm.protocol import ToolSpec

MODELS_ON_THE_BENCH: dict[str, tuple[str, ...]] = {
    "openai": ("gpt-5.6-terra", "gpt-5.4", "gpt-4o", "o1-mini", "llama-3-8b"),
    "gemini": ("gemini-3.8-flash", "gemini-3.6-flash", "gemini-3-flash-preview",
               "gemini-2.5-flash", "gemini-1.5-flash"),
}  # fmt: skip
"""One of each generation that refuses something else; `llama-3-8b` stands for other servers."""
NO_ROW = "there is no row left; reset brings them back"
SWITCH = {"kernel on": True, "kernel off": False}


@dataclass(frozen=True, slots=True)
class Bench:
    """A history and the models that it is for. Rows count from 0, as in the error texts."""

    rows: Rows
    original: Rows
    openai: str
    gemini: str
    tools: tuple[ToolSpec, ...] = ()
    selected: int = 0
    kernel: bool = False
    """Whether it is told what the kernel would say."""
    click: str = ""
    problem: str = ""
    """Why the last click changed nothing."""

    def model(self, wire: Wire) -> str:
        """The model that this wire's body is for."""
        return self.openai if wire == "openai" else self.gemini

    def body(self, wire: Wire) -> Body:
        """The rows, translated as plainly as can be."""
        if wire == "openai":
            return openai_body(self.rows, self.openai, self.tools)
        return gemini_body(self.rows, self.tools)

    def verdict(self, wire: Wire) -> Verdict:
        """What the provider says to that body."""
        return verdict(wire, self.model(wire), self.body(wire))

    def kernel_says(self, wire: Wire) -> KernelSays:
        """What the kernel would do with the same rows."""
        return kernel_says(wire, self.model(wire), self.rows, self.tools, self.body(wire))

    def is_changed(self, place: int) -> bool:
        """Whether this row is none of those that were there at first."""
        return self.rows[place] not in self.original

    # ---- the next state --------------------------------------------------------------------

    def at(self, number: int) -> Bench:
        """Another row selected. Raises `ValueError` if there is no such row, `NotHere` if none."""
        if not self.rows:
            raise NotHere(NO_ROW)
        if number >= len(self.rows):
            raise ValueError(f"There is no row {number}: the rows are 0 to {len(self.rows) - 1}.")
        return replace(self, selected=number)

    def with_model(self, wire: str, name: str) -> Bench:
        """Another model for this wire, of any name."""
        return replace(self, openai=name) if wire == "openai" else replace(self, gemini=name)

    def edited(self, name: str) -> Bench:
        """An edit at the selected row. Raises `NotHere` if it has nothing to do there."""
        if not self.rows:
            raise NotHere(NO_ROW)
        rows = EDITS[name](self.rows, self.selected)
        if rows == self.rows:
            raise NotHere("it is so already")
        moved = {"up": -1, "down": 1}.get(name, 0)
        selected = max(0, min(self.selected + moved, len(rows) - 1))
        return replace(self, rows=rows, selected=selected)
