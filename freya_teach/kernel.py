"""The one place that wires objects together. (chapter 2.3)

    async with httpx.AsyncClient() as http:
        kernel = build_kernel(Settings.from_env(), http)
        agent = kernel.agent(tools=[get_current_weather, calculate])
        print(await agent.run("What is the weather in Beijing?"))

Who is at the other end is decided by the `httpx.AsyncClient` that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from freya_teach.agent.executor import Agent
from freya_teach.agent.turn import Approve
from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.llm.proxy import Proxy, route_from
from freya_teach.llm.request_log import RequestLog
from freya_teach.paths import course_folder
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Kernel:
    """Everything an agent is made of, for one model."""

    settings: Settings
    ambient: Ambient
    http: httpx.AsyncClient
    proxy: Proxy

    def agent(
        self,
        tools: Iterable[Tool | Callable[..., Any]] | ToolRegistry = (),
        *,
        instructions: str | None = None,
        approve: Approve | None = None,
    ) -> Agent:
        """An agent with these tools; its instructions default to the packaged prompt.

        Raises `ConfigError` for a tool that cannot be described to a model.
        """
        return Agent(
            client=self.proxy,
            issuer=self.settings.provider,
            registry=tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools),
            settings=self.settings,
            ambient=self.ambient,
            instructions=_prompt("identity") if instructions is None else instructions,
            closing_note=_prompt("max_turns"),
            approve=approve,
        )


def build_kernel(
    settings: Settings,
    http: httpx.AsyncClient,
    ambient: Ambient | None = None,
    *,
    log_file: Path | None = None,
) -> Kernel:
    """A kernel on these settings. `log_file` gets a line of JSON for each model call."""
    ambient = ambient or Ambient()
    log = RequestLog(log_file, ambient) if log_file else None
    proxy = Proxy((route_from(settings),), http, settings, ambient, log)
    return Kernel(settings, ambient, http, proxy)


def _prompt(name: str) -> str:
    path = course_folder("prompts") / f"core.prompt.{name}.md"
    return path.read_text(encoding="utf-8").strip()
