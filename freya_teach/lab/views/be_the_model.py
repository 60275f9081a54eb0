"""You are the model: read what it reads, and make its moves. (chapter 2.2)

    seat = lab.view.be_the_model("What is the weather in Beijing?", [get_current_weather])
    seat                                    # in a notebook: the request, and buttons to answer it
    await seat.play([call("get_current_weather", city="Beijing"), answer("Sunny, 15 °C.")])

The agent is a real one, and so are its packets and its tools; only the model is you.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from freya_teach.lab.gateway.question import Move
from freya_teach.lab.views import controls
from freya_teach.lab.views.form import WORDS
from freya_teach.lab.views.seat_controls import SeatControls
from freya_teach.lab.views.seat_picture import packet_html, picture
from freya_teach.lab.views.sitting import Run, Sitting
from freya_teach.lab.views.view import Picture
from freya_teach.trace import RunResult


@dataclass(eq=False)
class Seat:
    """The model's seat. Showing it in a notebook starts the run; so does `play`."""

    run: Run
    sitting: Sitting = field(init=False)
    shown: SeatControls | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.sitting = Sitting(self.run, self._update)

    @property
    def result(self) -> RunResult | None:
        """The run's result, once it is over."""
        return self.sitting.result

    @property
    def picture(self) -> Picture:
        """What is to be seen now."""
        return picture(self.sitting)

    @property
    def text(self) -> str:
        """What is to be seen now, in words."""
        return self.picture.text

    @property
    def html(self) -> str:
        """The picture, its words, and the packet itself, both folded."""
        return self.picture.html + packet_html(self.sitting)

    def send(self) -> None:
        """Send the move that has been filled in; a bad field is told and nothing is sent."""
        self.sitting.send()

    def add(self) -> None:
        """Put the call that has been filled in aside, to be sent with the next one."""
        self.sitting.add()

    def leave(self) -> None:
        """End the run if it is still going on."""
        self.sitting.leave()

    def again(self) -> None:
        """Start over with a new run."""
        self.sitting.leave()
        self.sitting = Sitting(self.run, self._update)
        self.sitting.start()
        self._update()

    async def play(self, moves: Sequence[Move]) -> Seat:
        """Fill in and send these moves, one for each request; then wait for what follows.

        Raises `ValueError` when the run is over before all moves are made.
        """
        sitting = self.sitting
        sitting.start()
        for number, move in enumerate(moves, start=1):
            await sitting.settled()
            if sitting.phase != "your move":
                raise ValueError(
                    f"Move {number} of {len(moves)} cannot be made: the run is {sitting.phase} "
                    f"after {len(sitting.moves)} moves. Play fewer moves, or call again() first."
                )
            self._fill(move)
            self.send()
        await sitting.settled()
        return self

    def _fill(self, move: Move) -> None:
        """Type the move as a person would."""
        form = self.sitting.form
        for each in move.calls:
            if form.choice != WORDS:
                self.add()
            form.fill(each)
        if move.text or not move.calls:
            if form.choice != WORDS:
                self.add()
            form.words = move.text

    def widget(self) -> Any:
        """The picture and the controls below it, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = SeatControls(self)
        return self.shown.all

    def _update(self) -> None:
        if self.shown is not None:
            self.shown.update()

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """What a notebook stores and shows; being shown is what starts the run."""
        with suppress(RuntimeError):  # a plain Python has no event loop to run it in
            self.sitting.start()
        bundle: dict[str, Any] = {"text/plain": self.text, "text/html": self.html}
        if controls.somebody_can_click():
            bundle[controls.WIDGET] = controls.mime(self.widget())
        return bundle
