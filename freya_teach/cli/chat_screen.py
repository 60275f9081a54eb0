"""What a chat shows of a run: the answer, the tools at work, what else happens. (chapter 8.1)

In a terminal, whoever is waited for turns as a spinner below the text and leaves no trace. Anywhere
else the same things are told in plain lines, without a control code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from freya_teach import events
from freya_teach.cli.words import printable

if TYPE_CHECKING:
    from rich.progress import TaskID

    from freya_teach.cli.chat_context import Filling
    from freya_teach.errors import FreyaError
    from freya_teach.trace import RunResult, TurnTrace

MODEL = "the model"
"""Who is waited for when it is not a tool."""
MARKS = {"completed": ("✓", "green"), "failed": ("✗", "red"), "refused": ("✗", "yellow")}
SHOWN = 60
"""Characters of a call's arguments, and of what a failed one says."""
BAR = 20
"""Width of the gauge in characters."""

Kind = Literal["answer", "thinking", ""]


class Screen:
    """Shows one event after the other, and the lines between."""

    def __init__(self, console: Console, *, animated: bool) -> None:
        self._console = console
        self._animated = animated
        self._open: Kind = ""
        """What the unfinished line at the bottom is a part of."""
        self._progress: Progress | None = None
        self._at_work: dict[str, TaskID] = {}

    # ---- events ----------------------------------------------------------------------------

    def show(self, event: events.Event) -> None:
        """Show what has happened."""
        match event:
            case events.TurnStarted():
                self._start(MODEL, f"waiting for {MODEL}")
            case events.TextDelta():
                self._write(event.text, "answer")
            case events.ReasoningDelta():
                self._write(event.text, "thinking")
            case events.ToolStatus():
                self._tool(event)
            case events.TurnDone():
                self._turn(event.turn)
            case events.ContextCompacted():
                self.note(self.compacted(event))
            case events.RunDone():
                self._end(event.result)
            case _:
                assert_never(event)

    def compacted(self, event: events.ContextCompacted) -> str:
        """The words for it that the model does not see all of the conversation any more."""
        how = "older messages are summarised" if event.summarised else "older messages are left out"
        cost = f"; the summary cost {event.usage.total_tokens:,}" if event.summarised else ""
        return f"context compacted: {how}, {event.before:,} → {event.after:,} tokens{cost}"

    def _write(self, text: str, kind: Kind) -> None:
        self._stop()
        if self._open != kind:
            self._finish_line()
            if kind == "thinking":
                self._console.out("(thinks) ", style="dim", end="")
        self._open = kind
        if kind == "thinking":
            self._console.out(printable(text), style="dim italic", end="")
        else:  # not through rich, which would turn tabs into spaces
            print(printable(text), end="", file=self._console.file, flush=True)

    def _tool(self, event: events.ToolStatus) -> None:
        call = event.call
        told = f"{call.name} {_one_line(call.arguments, SHOWN)}"
        if event.state == "running":
            self._start(call.id, told)
            if not self._animated:
                self._line(f"  … {told}", "dim")
            return
        self._remove(call.id)
        mark, style = MARKS[event.state]
        size = f"{event.seconds:.1f} s, {len(event.observation):,} characters"
        said = "" if event.state == "completed" else f": {_one_line(event.observation, 2 * SHOWN)}"
        self._line(f"  {mark} {told}  {event.state}, {size}{said}", style)

    def _turn(self, turn: TurnTrace) -> None:
        """A route that stood in for another one is named."""
        self._stop()
        failed = [attempt for attempt in turn.attempts if attempt.error]
        if failed and failed[0].route != turn.exchange.route:
            self.note(f"answered by {turn.exchange.route}, because {failed[0].route} failed")

    def _end(self, result: RunResult) -> None:
        self._stop()
        self._finish_line()
        if result.stop_reason == "cancelled":
            self.note("stopped. What was still being written is not kept; the question is.")
        elif result.stop_reason != "answer":
            self.note(f"ended ({result.stop_reason}): {result.detail}")

    # ---- lines -----------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Lines as they are."""
        self._line(text, None)

    def note(self, text: str) -> None:
        """A line about the talk, which is no part of it."""
        self._line(f"· {text}", "dim")

    def failure(self, problem: FreyaError, what_helps: str) -> None:
        """What went wrong, and what to do."""
        self._stop()
        self._line(f"✗ {problem}", "bold red")
        if what_helps:
            self._line(f"  {what_helps}", None)

    def gauge(self, filling: Filling) -> None:
        """How full the model's window is."""
        share = min(1.0, filling.tokens / filling.window)
        about = "about " if filling.is_estimated else ""
        guess = ", a guess" if filling.is_guessed else ""
        numbers = f"{share:.1%} of the context: {about}{filling.tokens:,} of {filling.window:,}"
        full = round(share * BAR)
        bar = f"{'█' * full}{'░' * (BAR - full)} " if self._animated else ""
        self._line(f"  {bar}{numbers} tokens{guess}", "yellow" if share > 0.85 else "dim")

    def reset(self) -> None:
        """Leave the terminal in order, whatever was going on."""
        self._stop()
        self._finish_line()

    def _line(self, text: str, style: str | None) -> None:
        self._finish_line()
        self._console.out(printable(text), style=style, highlight=False)

    def _finish_line(self) -> None:
        if self._open:
            self._console.out("")
            self._open = ""

    # ---- who is waited for -----------------------------------------------------------------

    def _start(self, name: str, told: str) -> None:
        if not self._animated:
            return
        self._finish_line()
        if self._progress is None:
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
            self._progress = Progress(
                *columns,
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._progress.start()
        self._remove(MODEL)
        self._at_work[name] = self._progress.add_task(printable(told), total=None)

    def _remove(self, name: str) -> None:
        if self._progress is not None and name in self._at_work:
            self._progress.remove_task(self._at_work.pop(name))

    def _stop(self) -> None:
        """Take the spinners away."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None
        self._at_work.clear()


def _one_line(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[:limit]}…"
