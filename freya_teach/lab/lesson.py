"""What a notebook holds in its hands: the other end of the wire, a kernel, and a tidy end. (start)

    from freya_teach.lab import lesson; lab = lesson("2.3")
    agent = lab.kernel("weather-openai").agent([get_current_weather, calculate])
    await agent.run("What is the weather in Beijing today, and how much is 15 * 8?")
    lab.close()

`lesson` shuts the network, freezes the clock and the ids, and says who answers. With FREYA_LIVE=1
a real API answers instead of the recordings, and the clock runs.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.kernel import Kernel, build_kernel
from freya_teach.lab import show
from freya_teach.lab.network import open_network, shut_network
from freya_teach.lab.recording import Recording, load_recording
from freya_teach.lab.replay import ReplayMismatch, Scenario, UnusedRecording
from freya_teach.llm.messages import Json
from freya_teach.paths import course_folder

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
    )


@dataclass(slots=True)
class Lesson:
    """One section's lab. Use `lesson(section)` to make one."""

    section: str
    ambient: Ambient
    live: bool
    _scenarios: list[Scenario] = field(default_factory=list)
    _mismatches: list[ReplayMismatch] = field(default_factory=list)

    def http(self, scenario: str) -> httpx.AsyncClient:
        """A client whose other end plays this scenario from its start (or is live).

        Raises `ConfigError` when the section has no such scenario.
        """
        self._raise_what_was_swallowed()
        if self.live:
            return httpx.AsyncClient()
        return self._open(scenario).client()

    def kernel(self, scenario: str, **settings: Any) -> Kernel:
        """A kernel that talks to this scenario, over the wire that it was recorded on."""
        http = self.http(scenario)
        if self.live:
            return build_kernel(Settings.from_env(**settings), http, self.ambient)
        first = self._scenarios[-1].recordings[0]
        chosen = {
            "provider": first.provider,
            "model": first.model,
            "base_url": _address(first),
            "api_key": "no-key-needed",
            **settings,
        }
        return build_kernel(Settings.model_validate(chosen), http, self.ambient)

    def packet(self, value: Json) -> None:
        """Print a request or an answer as JSON that a person can read; long strings are folded."""
        print(show.packet(value))

    def show(self, thing: Any) -> None:
        """Print the source of a function or class of the kernel, and where it stands."""
        print(show.source(thing))

    @property
    def other_end(self) -> str:
        """Who answers, in a few words that do not call an authored answer recorded."""
        if self.live:
            return "a live model"
        return _replayed(self.section)

    def close(self) -> None:
        """End the lesson. In CI a recording that nobody asked for is an error, else a remark."""
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
        if self._mismatches:
            problem = self._mismatches[0]
            self._mismatches.clear()
            raise problem


def _address(recording: Recording) -> str:
    """Where a real server was recorded; an authored answer has the provider's address."""
    if recording.provenance["kind"] != "recorded":
        return ""
    return str(recording.request["url"]).partition("/v1")[0]


def _replayed(section: str) -> str:
    paths = (course_folder("fixtures") / section).glob("*/*.json")
    kinds = sorted({load_recording(path).provenance["kind"] for path in paths})
    return f"replayed answers ({' and '.join(kinds) or 'none'})"


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
