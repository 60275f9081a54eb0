"""Who answers in a chat: a real model if one is configured, else rules. (chapter 8.1)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from freya_teach.ambient import Ambient
from freya_teach.cli.configured import Configured, configured
from freya_teach.cli.keyring_keys import key_variable
from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.kernel import Kernel, build_kernel
from freya_teach.lab.gateway import gateway
from freya_teach.lab.gateway.days import troubles_of
from freya_teach.lab.network import shut_network
from freya_teach.lab.policy import assistant
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.tools.files import file_tools

if TYPE_CHECKING:
    from freya_teach.agent.executor import Agent

TO_GO_LIVE = (
    f"To ask a real model: set {key_variable('openai')} or {key_variable('gemini')}, or give "
    "--base-url."
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user has asked for on the command line."""

    options: Mapping[str, object]
    """Settings by name; they count before everything else."""
    file: Path | None = None
    offline: bool = False
    trouble: str = ""
    """What goes wrong at the offline gateway, by name."""
    keep: bool = True
    """Whether the conversation is stored."""


@dataclass(frozen=True, slots=True)
class Answering:
    """A kernel, an agent with the course's tools, and who they talk to."""

    found: Configured
    kernel: Kernel
    agent: Agent
    is_live: bool

    @property
    def words(self) -> str:
        """Who answers, in a line."""
        if not self.is_live:
            return f"Offline: rules in the place of a model answer. {TO_GO_LIVE}"
        first, *others = self.kernel.proxy.routes
        key = f"key from {self.found.key_from}" if self.found.key_from else "no key"
        others_too = f"; if it fails: {', '.join(r.name for r in others)}" if others else ""
        return f"Live: {first.name} at {first.host} answers ({key}){others_too}."


def other_end(choice: Choice, found: Configured) -> tuple[httpx.AsyncClient, bool]:
    """The client whose other end answers, and whether that is a live one.

    Raises `ConfigError` for a trouble that does not exist, or one of somebody else's server.
    """
    if found.is_live and not choice.offline:
        if choice.trouble:
            raise ConfigError(
                "--trouble is something that happens at the offline gateway, and a real model is "
                "configured. Add --offline."
            )
        return httpx.AsyncClient(), True
    shut_network()
    troubles = troubles_of(choice.trouble) if choice.trouble else ()
    return gateway(assistant, troubles=troubles).client(), False


def read(choice: Choice) -> Configured:
    """The settings of a choice; offline, no keyring is opened. Raises `ConfigError`."""
    if choice.offline:
        return configured(choice.options, choice.file, keyring=lambda _: "")
    return configured(choice.options, choice.file)


def answering(
    choice: Choice, found: Configured, http: httpx.AsyncClient, *, is_live: bool
) -> Answering:
    """Build the kernel and the agent. Raises `ConfigError`."""
    settings = found.settings
    if is_live and not found.is_live:
        raise ConfigError(
            f"There is no key for {settings.provider}: set {key_variable(settings.provider)}, or "
            f"store one with `freya-teach key set {settings.provider}`."
        )
    if not choice.keep:
        settings = settings.model_copy(update={"session_dir": None})
    if not is_live:
        settings = _without_keys(settings)
    kernel = build_kernel(settings, http, Ambient())
    boxes = {"files": file_tools()} if kernel.workspace else {}
    agent = kernel.agent([get_current_weather, calculate], toolboxes=boxes, skills=True)
    return Answering(found, kernel, agent, is_live)


def _without_keys(settings: Settings) -> Settings:
    """Rules need no key, and a wrong address of the configuration does not matter to them."""
    blank = {"api_key": Settings.model_fields["api_key"].default, "base_url": ""}
    return settings.model_copy(
        update={**blank, "fallbacks": tuple(r.model_copy(update=blank) for r in settings.fallbacks)}
    )
