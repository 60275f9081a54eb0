"""What is recorded, section by section: each scenario is a small async function. (start)

A module `section_1_1.py` holds those of section 1.1, and names them in `SCENARIOS`:

    async def hello(stage: Stage) -> None:
        await stage.ask({"messages": [{"role": "user", "content": "Hello!"}]})

    SCENARIOS = {"hello": hello}

`freya-teach record 1.1 --scenario hello` runs it against a real server and keeps every exchange.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.kernel import Kernel, build_kernel
from freya_teach.lab.lesson import frozen_ambient
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict

WHO = ("provider", "model", "base_url", "api_key")
"""The settings that say who is asked; all others are the scenario's own."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What a scenario has: who is asked, and a client that listens."""

    settings: Settings
    http: httpx.AsyncClient

    async def ask(self, body: dict[str, Json]) -> dict[str, Json]:
        """Send a body over OpenAI's wire, with the model's name in front; return the answer.

        An error answer is returned like any other: it is what the server said.
        """
        url = f"{self.settings.endpoint}/v1/chat/completions"
        key = self.settings.api_key.get_secret_value()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        whole = {"model": self.settings.model_name, **body}
        response = await self.http.post(url, json=whole, headers=headers, timeout=600)
        return as_dict(response.json())

    def kernel(self, **settings: Any) -> Kernel:
        """A kernel as `lab.kernel(scenario, **settings)` makes it, on the real server."""
        who = {name: getattr(self.settings, name) for name in WHO}
        return build_kernel(Settings(**{**who, **settings}), self.http, frozen_ambient())


Scenario = Callable[[Stage], Awaitable[None]]


def scenarios_of(section: str) -> dict[str, Scenario]:
    """The scenarios of a section by name. Raises `ConfigError` when it has none."""
    name = "section_" + section.replace(".", "_")
    known = [module.name for module in pkgutil.iter_modules(__path__)]
    if name not in known:
        sections = ", ".join(n.removeprefix("section_").replace("_", ".") for n in sorted(known))
        raise ConfigError(f"Section {section!r} has no scenarios to record; there are: {sections}.")
    found: dict[str, Scenario] = importlib.import_module(f"{__name__}.{name}").SCENARIOS
    return found
