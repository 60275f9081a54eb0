"""Which routes to ask, and in which order. (chapter 5.3)

A route that has failed is asked after all others for a while, and never struck off: where all
have failed, the one that was failing may be the first to come back. What is known here is lost
with the process, which then finds out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from freya_teach.llm.protocol import Route


@dataclass(slots=True)
class Health:
    """The routes in the order of the settings, and until when each is to be left alone."""

    routes: tuple[Route, ...]
    clock: Callable[[], float]
    _cool_until: dict[int, float] = field(default_factory=dict)

    def order(self, prefer: str = "") -> Iterator[int]:
        """The places of the routes: the preferred one first, those that cool down last."""
        if len(self.routes) == 1:
            yield 0
            return
        now = self.clock()

        def rank(place: int) -> tuple[bool, bool]:
            is_cooling = self._cool_until.get(place, now) > now
            return is_cooling, self.routes[place].name != prefer

        yield from sorted(range(len(self.routes)), key=rank)

    def failed(self, place: int, cool_down: float) -> None:
        """Leave this route alone for so many seconds."""
        if cool_down > 0:
            until = self.clock() + cool_down
            self._cool_until[place] = max(until, self._cool_until.get(place, until))

    def answered(self, place: int) -> None:
        """The route is well."""
        self._cool_until.pop(place, None)
