"""Recorded HTTP as the other end of the wire. (start)

A scenario is a folder of exchanges, played from its start each time a client for it is made, so a
cell can be run again. A request is matched by method, address and JSON body; equal requests are
answered in the order in which they were recorded; requests sent at the same time therefore find
their own answers. One that matches nothing raises `ReplayMismatch`, which shows what differs.
"""

from __future__ import annotations

import difflib
import json
import os
import textwrap
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
import respx
import respx.patterns

from freya_teach.errors import ConfigError
from freya_teach.lab import author
from freya_teach.lab.author import Handler
from freya_teach.lab.recording import Recording, body_of, canonical, load_recording
from freya_teach.llm.messages import Json
from freya_teach.paths import course_folder

UPDATE = "FREYA_UPDATE_AUTHORED"
"""Set to 1, the requests of authored exchanges are rewritten to what is sent (`author.py`)."""

MAX_DIFF_LINES = 30
MAX_LINE_CHARS = 120


class ReplayMismatch(Exception):
    """A request that no recording answers.

    It is no httpx error and no FreyaError, so that no retry, failover or tool takes it for a
    failing server; the lesson raises it again if somebody swallowed it.
    """

    def _render_traceback_(self) -> list[str]:
        """What Jupyter shows of it: the difference, and not the forty frames above it."""
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
        problem = ReplayMismatch(self._explain(request))
        self.scenario.mismatches.append(problem)
        raise problem

    def _explain(self, request: httpx.Request) -> str:
        sent = {
            "method": request.method,
            "url": str(request.url),
            "body": body_of(request.content),
        }
        key = canonical(sent["method"], sent["url"], sent["body"])
        name = self.scenario.name
        if key in self.left:
            return (
                f"scenario {name!r}: this very request was recorded, but has been sent more often "
                "than it was recorded. Make a new client to start from the beginning."
            )
        waiting = [recording for queue in self.left.values() for recording in queue]
        nearest = (waiting or self.scenario.recordings)[0]
        keys = ("method", "url", "body")
        recorded = {k: nearest.request[k] for k in keys}
        return (
            f"scenario {name!r} has no recording of this request.\n"
            f"What differs from {nearest.path.name} (- recorded, + sent):\n"
            f"{diff(recorded, sent)}\n"
            "A recording answers only the request that it was made for: undo the change, or set "
            "FREYA_LIVE=1 and a key to ask a real model."
        )


def diff(recorded: Json, sent: Json) -> str:
    """The lines in which two JSON values differ, with two lines around each."""
    lines = difflib.unified_diff(_short_lines(recorded), _short_lines(sent), n=2, lineterm="")
    shown = [line for line in list(lines)[2:] if not line.startswith("@@")]
    if len(shown) > MAX_DIFF_LINES:
        shown = [*shown[:MAX_DIFF_LINES], f"… and {len(shown) - MAX_DIFF_LINES} more lines"]
    return "\n".join(shown)


def _short_lines(value: Json) -> list[str]:
    """JSON with its keys in order and its long texts folded: a change inside one can be seen."""
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
    lines = text.replace("\\n", "\\n\n").split("\n")
    fold = textwrap.TextWrapper(MAX_LINE_CHARS, drop_whitespace=False, replace_whitespace=False)
    return [piece for line in lines for piece in fold.wrap(line)]
