"""What a notebook holds in its hands: the other end of the wire, a kernel, and a tidy end. (start)

    from freya_teach.lab import lesson; lab = lesson("2.3")
    agent = lab.kernel("weather-openai").agent([get_current_weather, calculate])
    await agent.run("What is the weather in Beijing today, and how much is 15 * 8?")
    lab.close()

`lesson` shuts the network, freezes the clock and the ids, and says who answers. Recordings answer
the requests that they were made for; `lab.kernel("gateway")` answers any other one by rules. With
FREYA_LIVE=1 a real API answers instead, and the clock runs.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.kernel import Kernel, build_kernel
from freya_teach.lab import difference, show
from freya_teach.lab.gateway import Gateway, Policy
from freya_teach.lab.network import open_network, shut_network
from freya_teach.lab.policy import assistant as default_policy
from freya_teach.lab.recording import Recording, load_recording
from freya_teach.lab.replay import GATEWAY, ReplayMismatch, Scenario, UnusedRecording
from freya_teach.llm.messages import Json
from freya_teach.paths import course_folder

if TYPE_CHECKING:
    from freya_teach.lab.views import Views

FROZEN_TIME = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def is_live() -> bool:
    """Whether the learner asked for the real API."""
    return os.environ.get("FREYA_LIVE") == "1"


def frozen_ambient() -> Ambient:
    """A world in which it is always noon, no time passes, and ids are counted."""
    counter = itertools.count(1)
    return Ambient(
        now=FROZEN_TIME.astimezone,
        monotonic=lambda: 0.0,
        new_id=lambda prefix: f"{prefix}_{next(counter)}",
        random=lambda: 0.5,
        sleep=lambda _: asyncio.sleep(0),
    )


@dataclass(slots=True)
class Lesson:
    """One section's lab. Use `lesson(section)` to make one."""

    section: str
    ambient: Ambient
    live: bool
    _scenarios: list[Scenario] = field(default_factory=list)
    _mismatches: list[ReplayMismatch] = field(default_factory=list)
    _at_close: list[Callable[[], None]] = field(default_factory=list)
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _views: Views | None = None

    # ---- the other end of the wire ---------------------------------------------------------

    def http(self, scenario: str, *, policy: Policy | None = None) -> httpx.AsyncClient:
        """A client whose other end plays this scenario from its start (or is live).

        "gateway" is no scenario: a fake of both providers answers, and `policy` in it picks the
        moves. Raises `ConfigError` when the section has no such scenario.
        """
        self._raise_what_was_swallowed()
        if scenario == GATEWAY and (policy or not self.live):
            return self.gateway(policy).client()
        if self.live:
            return httpx.AsyncClient()
        return self._open(scenario).client()

    def gateway(self, policy: Policy | None = None) -> Gateway:
        """A fake of both providers; the default policy knows weather, arithmetic and names."""
        return Gateway(policy or default_policy)

    def kernel(self, scenario: str, *, policy: Policy | None = None, **settings: Any) -> Kernel:
        """A kernel that talks to this scenario, over the wire that it was recorded on.

        Over the "gateway" it speaks OpenAI's wire unless `provider="gemini"` is asked for.
        """
        http = self.http(scenario, policy=policy)
        if self.live and not policy:
            return build_kernel(Settings.from_env(**settings), http, self.ambient)
        chosen: dict[str, Any] = {"api_key": "no-key-needed"}
        if scenario != GATEWAY:
            first = self._scenarios[-1].recordings[0]
            chosen |= {"provider": first.provider, "model": first.model}
            # a recording has one answer for a request, and none for the same one once more
            chosen |= {"base_url": _address(first), "retry_seconds": 0}
        return build_kernel(Settings.model_validate(chosen | settings), http, self.ambient)

    # ---- looking ---------------------------------------------------------------------------

    def packet(self, value: Json) -> None:
        """Print a request or an answer as JSON that a person can read; long strings are folded."""
        print(show.packet(value))

    def show(self, thing: Any) -> None:
        """Print the source of a function or class of the kernel, and where it stands."""
        print(show.source(thing))

    def diff(self, first: Json = None, second: Json = None) -> None:
        """Print what differs between two packets; without any, that of the newest miss."""
        if first is None and second is None:
            if not self._mismatches:
                print("No request has missed its recording, so there is nothing to compare.")
                return
            first, second = self._mismatches[-1].recorded, self._mismatches[-1].sent
            self._mismatches[-1].seen = True
        print(difference.diff(first, second) or "They are equal.")

    @property
    def view(self) -> Views:
        """The pictures: `lab.view.stepper(result)` and others."""
        from freya_teach.lab.views import Views  # noqa: PLC0415 - no lesson pays for unseen views

        if self._views is None:  # one for the lesson: a new seat takes the place of the last one
            self._views = Views(self)
        return self._views

    # ---- exercises -------------------------------------------------------------------------

    async def check(self, exercise: str, answer: Any) -> None:
        """Say whether the answer to an exercise is right, and if not, what to look at."""
        from freya_teach.lab import exercises  # noqa: PLC0415 - imported when first used

        print((await exercises.check(exercise, answer)).text)

    def hint(self, exercise: str) -> None:
        """Print the next hint for an exercise."""
        from freya_teach.lab import exercises  # noqa: PLC0415 - imported when first used

        print(exercises.hint(exercise))

    def reveal(self, exercise: str) -> None:
        """Print one way to solve an exercise, unless solutions are shut for a class."""
        from freya_teach.lab import exercises  # noqa: PLC0415 - imported when first used

        solution = exercises.reveal(exercise)
        print(exercises.why_shut(exercise) or solution)

    # ---- the rest --------------------------------------------------------------------------

    @property
    def tmp(self) -> Path:
        """An empty folder of this lesson's own; `close` removes it."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="freya-", ignore_cleanup_errors=True)
        return Path(self._folder.name)

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call this when the lesson ends."""
        self._at_close.append(callback)

    @property
    def other_end(self) -> str:
        """Who answers, in a few words that do not call an authored answer recorded."""
        if self.live:
            return "a live model"
        return _replayed(self.section)

    def close(self) -> None:
        """End the lesson. In CI a recording that nobody asked for is an error, else a remark."""
        while self._at_close:
            self._at_close.pop()()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self._raise_what_was_swallowed()
        unused = sorted({f"{s.name}/{name}" for s in self._scenarios for name in s.unused})
        if not unused:
            print(f"Lesson {self.section} is closed; every exchange was used.")
            return
        remark = f"Lesson {self.section} is closed; not asked for: {', '.join(unused)}"
        if os.environ.get("CI", "").lower() not in ("", "0", "false"):
            raise UnusedRecording(remark)
        print(remark)

    def _open(self, name: str) -> Scenario:
        """The scenario from its start; what has been used of it before stays counted."""
        scenario = Scenario.load(self.section, name)
        scenario.mismatches = self._mismatches
        for other in self._scenarios:
            if other.name == name:
                scenario.used = other.used
        self._scenarios.append(scenario)
        return scenario

    def _raise_what_was_swallowed(self) -> None:
        """Raise the first miss that nobody has seen: a tool or a retry may have caught it."""
        for problem in self._mismatches:
            if not problem.seen:
                for each in self._mismatches:
                    each.seen = True
                raise problem


def _address(recording: Recording) -> str:
    """Where a real server was recorded; an authored answer has the provider's address."""
    if recording.provenance["kind"] != "recorded":
        return ""
    return str(recording.request["url"]).partition("/v1")[0]


def _replayed(section: str) -> str:
    paths = (course_folder("fixtures") / section).glob("*/*.json")
    kinds = sorted({load_recording(path).provenance["kind"] for path in paths})
    return f"replayed answers ({' and '.join(kinds)})" if kinds else "rules answer (the gateway)"


def lesson(section: str) -> Lesson:
    """Open the lab of a section, and say in one line who is at the other end of the wire."""
    live = is_live()
    if live:
        open_network()
        settings = Settings.from_env()
        print(f"Lesson {section}: LIVE. {settings.model_name} at {settings.endpoint} answers.")
    else:
        shut_network()
        print(f"Lesson {section}: {_replayed(section)}, no key, no network.")
    return Lesson(section, Ambient() if live else frozen_ambient(), live)
