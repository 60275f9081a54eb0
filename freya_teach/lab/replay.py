"""Recorded HTTP as the other end of the wire. (start)

A scenario is a folder of exchanges, played from its start each time a client for it is made, so a
cell can be run again. A request is matched by method, address and JSON body; equal requests are
answered in the order in which they were recorded; requests sent at the same time therefore find
their own answers. One that matches nothing raises `ReplayMismatch`, which says in three lines what
differs and how to go on.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
import respx
import respx.patterns

from freya_teach.errors import ConfigError
from freya_teach.lab import author
from freya_teach.lab.author import Handler
from freya_teach.lab.difference import differences
from freya_teach.lab.recording import Recording, body_of, canonical, load_recording
from freya_teach.llm.messages import Json
from freya_teach.paths import course_folder

UPDATE = "FREYA_UPDATE_AUTHORED"
"""Set to 1, the requests of authored exchanges are rewritten to what is sent (`author.py`)."""

GATEWAY = "gateway"
"""In the place of a scenario's name: rules answer (`policy.py`), to any request."""


class ReplayMismatch(Exception):
    """A request that no recording answers; `recorded` is the nearest one, `sent` what was asked.

    It is no httpx error and no FreyaError, so that no retry, failover or tool takes it for a
    failing server; the lesson raises it again if somebody swallowed it.
    """

    def __init__(self, text: str, recorded: Json = None, sent: Json = None) -> None:
        super().__init__(text)
        self.recorded = recorded
        self.sent = sent
        self.seen = False

    def _render_traceback_(self) -> list[str]:
        """What Jupyter shows of it: the difference, and not the forty frames above it."""
        self.seen = True
        return [f"ReplayMismatch: {self}"]


class UnusedRecording(Exception):
    """A lesson ended, and a recording of a scenario that it opened was never asked for."""


@dataclass(slots=True)
class Scenario:
    """The exchanges of one folder, and which of them have been asked for."""

    name: str
    recordings: list[Recording]
    used: set[Path] = field(default_factory=set)
    mismatches: list[ReplayMismatch] = field(default_factory=list)

    @classmethod
    def load(cls, section: str, name: str) -> Scenario:
        """The scenario `fixtures/<section>/<name>`. Raises `ConfigError` when there is none."""
        folder = course_folder("fixtures") / section / name
        paths = sorted(folder.glob("*.json"))
        if not paths:
            others = sorted(p.name for p in folder.parent.glob("*") if p.is_dir())
            raise ConfigError(
                f"no recordings called {name!r} in section {section}; there are: "
                + (", ".join(others) or "none")
            )
        return cls(name, [load_recording(path) for path in paths])

    @property
    def unused(self) -> list[str]:
        """The files that no request has asked for."""
        return [r.path.name for r in self.recordings if r.path not in self.used]

    def client(self) -> httpx.AsyncClient:
        """A client whose other end is this scenario, from its start."""
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer()))

    def _answer(self) -> Handler:
        if os.environ.get(UPDATE) == "1":
            return author.rewriting(self.recordings, self.used)
        return _Replay(self).answer


class _Exactly(respx.patterns.Pattern):
    """Method, whole address and JSON body at once: respx's own patterns pass over a query."""

    key = "exchange"
    lookups = (respx.patterns.Lookup.EQUAL,)

    def parse(self, request: httpx.Request) -> str:
        return canonical(request.method, str(request.url), body_of(request.content))


class _Replay:
    """One run through a scenario: a respx route, and a queue behind it, per distinct request."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.router = respx.MockRouter(assert_all_called=False)
        self.left: dict[str, list[Recording]] = {}
        for recording in scenario.recordings:
            self.left.setdefault(recording.key, []).append(recording)
        for key, queue in self.left.items():
            self.router.route(_Exactly(key)).mock(side_effect=partial(self._next_of, queue))
        self.router.route().mock(side_effect=self._miss)

    async def answer(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return await self.router.async_handler(request)

    def _next_of(self, queue: list[Recording], request: httpx.Request) -> httpx.Response:
        if not queue:
            return self._miss(request)
        recording = queue.pop(0)
        self.scenario.used.add(recording.path)
        return recording.answer()

    def _miss(self, request: httpx.Request) -> httpx.Response:
        problem = self._explain(request)
        self.scenario.mismatches.append(problem)
        raise problem

    def _explain(self, request: httpx.Request) -> ReplayMismatch:
        sent = {
            "method": request.method,
            "url": str(request.url),
            "body": body_of(request.content),
        }
        name = self.scenario.name
        if canonical(sent["method"], sent["url"], sent["body"]) in self.left:
            return ReplayMismatch(
                f"scenario {name!r}: this very request was recorded, but has been sent more often "
                "than it was recorded. Make a new client to start from the beginning."
            )
        waiting = [recording for queue in self.left.values() for recording in queue]
        nearest = min(waiting or self.scenario.recordings, key=lambda r: _distance(r, sent))
        recorded = {key: nearest.request[key] for key in sent}
        found = list(differences(recorded, sent))
        places = "one place" if len(found) == 1 else f"{len(found)} places"
        return ReplayMismatch(
            f"no recording of {name!r} answers this. The nearest, {nearest.path.name}, differs in "
            f"{places}:\n  {found[0]}\n"
            f'Undo the change, or write "{GATEWAY}" for "{name}": then rules answer. '
            "(All that differs: lab.diff())",
            recorded,
            sent,
        )


def _distance(recording: Recording, sent: dict[str, Json]) -> int:
    """In how many places this recording's request differs from what was sent."""
    return sum(1 for _ in differences({key: recording.request[key] for key in sent}, sent))
