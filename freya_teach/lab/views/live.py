"""The live event view: what a screen shows of a run, event by event. (chapter 8.1)

    lab.view.live(events)                 events that have been collected: step through them
    view = lab.view.live()
    agent.events.subscribe(view.put)      or as they come; show `view` before the run starts

The screen is made of events alone. Several runs stand below each other, told apart by their
session and number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from freya_teach.events import Event
from freya_teach.lab.views.live_picture import draw
from freya_teach.lab.views.live_state import Moment, after
from freya_teach.lab.views.view import Controls, View


class LiveView(View[Moment]):
    """A view that grows by a step with each event; step 1 is before the first one."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.frames: list[Moment] = [Moment()]
        super().__init__(self.frames, draw)
        for event in events:
            self.put(event)

    def put(self, event: Event) -> None:
        """Take one more event: a listener. Who looks at the newest step stays at the newest."""
        follows = self.step == len(self.frames)
        self.frames.append(after(self.frames[-1], event))
        if follows:
            self.step = len(self.frames)
        if self.shown:
            self.shown.update()

    def widget(self) -> Any:
        """The picture behind its controls, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = LiveControls(self)
        return self.shown.all


class LiveControls(Controls):
    """The slider becomes longer while events come."""

    def update(self) -> None:
        """Show the view as it is."""
        self.slider.max = max(len(self.view.frames), 2)
        self.slider.disabled = len(self.view.frames) < 2
        super().update()


def live(events: Iterable[Event] = ()) -> LiveView:
    """Watch events, collected or coming; the newest is shown first. Raises no error."""
    return LiveView(events)
