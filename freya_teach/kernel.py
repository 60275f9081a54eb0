"""The one place that wires objects together. (chapter 2.3)

    async with httpx.AsyncClient() as http:
        kernel = build_kernel(Settings.from_env(), http)
        agent = kernel.agent(tools=[get_current_weather, calculate])
        print(await agent.run("What is the weather in Beijing?"))

Who is at the other end is decided by the `httpx.AsyncClient` that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import httpx

from freya_teach.agent.compaction import Compaction
from freya_teach.agent.executor import Agent
from freya_teach.agent.history import History
from freya_teach.agent.turn import Approve
from freya_teach.ambient import Ambient, zone_of
from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.llm.protocol import Adapter
from freya_teach.llm.proxy import Proxy, routes_from
from freya_teach.llm.request_log import RequestLog
from freya_teach.llm.request_tokens import RememberingCounter
from freya_teach.llm.tokens import MARGIN
from freya_teach.paths import PACKAGE, course_folder
from freya_teach.prompt.composer import Composer
from freya_teach.prompt.registry import PromptRegistry
from freya_teach.session.manager import SessionManager
from freya_teach.tools.meta import ACTIVATE_SKILL, skill_tools, toolbox_tools
from freya_teach.tools.registry import ALWAYS_ACTIVE, ToolRegistry
from freya_teach.tools.tool import Tool
from freya_teach.tools.workspace import Limits, Workspace


@dataclass(frozen=True, slots=True)
class Kernel:
    """Everything an agent is made of, for one model and those that stand in for it."""

    settings: Settings
    ambient: Ambient
    http: httpx.AsyncClient
    proxy: Proxy
    prompts: PromptRegistry
    workspace: Workspace | None = None
    sessions: SessionManager | None = None
    """The stored conversations of `settings.session_dir`; close it when the program ends."""

    def agent(
        self,
        tools: Iterable[Tool | Callable[..., Any]] | ToolRegistry = (),
        *,
        toolboxes: Mapping[str, Iterable[Tool | Callable[..., Any]]] | None = None,
        instructions: str | None = None,
        skills: bool = False,
        approve: Approve | None = None,
    ) -> Agent:
        """An agent with these tools; without instructions, each turn's prompt is composed.

        With `toolboxes` (tools by the id of their box) the model may switch these on, with `skills`
        what lies under `skills/`. Raises `ConfigError` for a tool that cannot be described to a
        model or whose name is taken, `PromptError` for a prompt that cannot be read.
        """
        registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
        if not isinstance(toolboxes, Mapping | None):
            raise ConfigError(
                'toolboxes= takes the tools of each box by its id, as in {"math": [calculate]}; '
                f"this is of the type {type(toolboxes).__name__}"
            )
        if toolboxes is not None or skills:
            registry = registry.copy()
        for toolbox, content in (toolboxes or {}).items():
            registry.add(toolbox, content)
        if toolboxes is not None:
            registry.add(ALWAYS_ACTIVE, toolbox_tools(registry))
        if skills:
            registry.add(ALWAYS_ACTIVE, skill_tools(self.prompts))
        composer = Composer(self.prompts, self.ambient, self.settings.time_granularity)
        return Agent(
            client=self.proxy,
            issuer=self.settings.provider,
            registry=registry,
            settings=self.settings,
            ambient=self.ambient,
            instructions=partial(_composed, composer) if instructions is None else instructions,
            closing_note=self.prompts.get("core.prompt.max_turns").text,
            approve=approve,
            workspace=self.workspace,
            compaction=self._compaction(),
        )

    def _compaction(self) -> Compaction:
        return Compaction(
            self.proxy,
            self.settings,
            guidance=self.prompts.get("core.prompt.summarize_guidance").text,
            new_counter=lambda: RememberingCounter(self.proxy.counter),
            next_route=self.proxy.next_route,
            margin=MARGIN,
        )


def build_kernel(
    settings: Settings,
    http: httpx.AsyncClient,
    ambient: Ambient | None = None,
    *,
    adapters: Mapping[str, Adapter] | None = None,
) -> Kernel:
    """A kernel on these settings. A time zone of the settings counts before that of the ambient.

    `adapters` are wires beside the two that the kernel speaks, by the name of their provider.
    Raises `ConfigError` for a provider without an adapter, a fact of a model that makes no sense, a
    time zone that does not exist, or a workspace that cannot be used.
    """
    if ambient is None or settings.time_zone:
        ambient = replace(ambient or Ambient(), zone=zone_of(settings.time_zone))
    log = None
    if settings.log_dir:
        log = RequestLog(settings.log_dir, ambient, settings.max_log_bytes)
    proxy = Proxy(routes_from(settings), http, settings, ambient, log, adapters or {})
    prompts = PromptRegistry(course_folder("prompts"), settings.prompt_dir)
    sessions = SessionManager(settings.session_dir, ambient) if settings.session_dir else None
    return Kernel(settings, ambient, http, proxy, prompts, _workspace(settings), sessions)


def _workspace(settings: Settings) -> Workspace | None:
    """The folder of the settings; to read only, the kernel's own source and the notebooks."""
    if settings.workspace_dir is None:
        return None
    # A slice has to fit into an observation: a larger one would be saved, and read again, for ever.
    fitting = min(settings.save_over_chars, settings.max_observation_chars) * 3 // 4
    limits = Limits(read_chars=min(Limits().read_chars, fitting))
    notebooks = course_folder("notebooks")
    return Workspace(settings.workspace_dir, src=PACKAGE, doc=notebooks, limits=limits)


def _composed(composer: Composer, history: History, tools: Mapping[str, Tool]) -> str:
    """The system prompt for a session as it stands, and the tools that are active in it."""
    return composer.compose(
        tool_instructions=[tool.instructions for tool in tools.values() if tool.instructions],
        offer_skills=ACTIVATE_SKILL in tools,
        active_skill=history.active_skill,
    ).text
