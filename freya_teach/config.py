"""One frozen settings object: the only place where a default value is written down. (chapter 2.3)

The kernel never reads the environment by itself; `Settings.from_env()` does, when asked.
A key is held in a `SecretStr`, so that printing or logging the settings shows stars.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from freya_teach.errors import ConfigError

Provider = Literal["openai", "gemini"]


def _at_home(path: Path) -> Path:
    """`~/prompts` → the folder in the user's home, which no shell has put in."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"{path} begins with ~, and no home folder is known") from None


Folder = Annotated[Path, AfterValidator(_at_home)]

BASE_URLS: Mapping[str, str] = {
    "openai": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
MODELS: Mapping[str, str] = {"openai": "gpt-5.6-terra", "gemini": "gemini-3.8-flash"}
KEY_VARIABLES: Mapping[str, str] = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}


class Settings(BaseModel):
    """What can be chosen about a kernel. Build one, or read one with `from_env()`.

    >>> Settings(provider="gemini").model_name
    'gemini-3.8-flash'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    provider: Provider = "openai"
    """Which wire is spoken; any OpenAI-compatible server is "openai" with another base_url."""
    model: str = ""
    """The provider's name for the model; empty means the course's default for that provider."""
    base_url: str = ""
    """Scheme and host, without /v1; empty means the provider's public address."""
    api_key: SecretStr = SecretStr("")
    """Sent as a header, never in a URL, and never logged."""
    stream: bool = False
    """Ask for the answer in pieces."""

    max_turns: int = Field(20, ge=1)
    """Model calls in one run; after that, one last call without tools closes it."""
    max_calls: int | None = Field(None, ge=1)
    """Tool calls in one run; None means no limit."""
    max_tokens: int | None = Field(None, ge=1)
    """Tokens in one run, input and output of all its model calls added up."""
    max_seconds: float | None = Field(None, gt=0)
    """Seconds that one run may take."""
    max_output_tokens: int | None = Field(None, ge=1)
    """Tokens of one answer; None leaves it to the provider."""

    parallel_tools: int = Field(8, ge=1)
    """How many tools of one turn run at the same time."""
    tool_seconds: float = Field(30.0, gt=0)
    """Seconds until a tool that has not returned is given up."""
    trace_packets: int = Field(100, ge=1)
    """Turns, the latest ones, whose packets stay in the trace; each packet holds all before it."""
    max_observation_chars: int = Field(20_000, ge=200)
    """Characters of one tool result that the model gets to see."""
    save_over_chars: int = Field(20_000, ge=200)
    """A longer tool result is saved in the workspace, if there is one, and the model told where."""
    loop_warn: int = Field(2, ge=2)
    """The same call with the same result for this many turns: the observation says so."""
    loop_stop: int = Field(4, ge=2)
    """The same call with the same result for this many turns: the run is stopped."""

    workspace_dir: Folder | None = None
    """The one folder in which tools may read and write; None means that no tool has files."""
    prompt_dir: Folder | None = None
    """A folder of your own prompts; each file in it takes the place of the packaged one."""
    time_zone: str = ""
    """The zone in which the model is told the time, such as Europe/Oslo; empty: the machine's."""
    time_granularity: Literal["second", "minute", "hour", "day"] = "minute"
    """How exactly the model is told the time: the finer, the less of a prompt can be cached."""
    log_dir: Folder | None = None
    """A folder in which every request and reply is logged, without keys; None means no log."""
    max_log_bytes: int | None = Field(None, ge=1024)
    """Bytes of one day's log; None means no limit."""

    connect_seconds: float = Field(5.0, gt=0)
    """Seconds to open a connection."""
    read_seconds: float = Field(120.0, gt=0)
    """Seconds of silence that are taken for a dead connection."""
    closing_seconds: float = Field(0.5, gt=0)
    """Seconds that a server has to close a stream whose last word has been said."""
    request_seconds: float = Field(600.0, gt=0)
    """Seconds for one model call from first to last byte, however steadily it drips."""
    max_response_bytes: int = Field(64 * 1024 * 1024, ge=1024)
    """Bytes of one answer; more than this is not read."""

    @property
    def model_name(self) -> str:
        """The model to ask for: the chosen one, or the course's default for the provider."""
        return self.model or MODELS[self.provider]

    @property
    def endpoint(self) -> str:
        """The base address without a trailing slash and without a trailing /v1 or /v1beta."""
        base = (self.base_url or BASE_URLS[self.provider]).rstrip("/")
        return base.removesuffix("/v1beta").removesuffix("/v1")

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
        """Read FREYA_<FIELD> variables; the key falls back to OPENAI_API_KEY or GEMINI_API_KEY.

        Keyword arguments win over the environment. Raises `ConfigError` that names the variable.
        """
        found = os.environ if environ is None else environ
        # subtle: a key that was read from a file ends with a newline, which no header can carry
        env = {name: value.strip() for name, value in found.items()}
        values: dict[str, object] = {
            name: env[variable]
            for name in cls.model_fields
            if env.get(variable := f"FREYA_{name.upper()}")
        }
        values |= overrides
        if not values.get("api_key"):
            variable = KEY_VARIABLES.get(str(values.get("provider", "openai")), "")
            values["api_key"] = env.get(variable, "")
        try:
            return cls.model_validate(values)
        except ValidationError as problem:
            raise ConfigError(_in_words(problem)) from None


def _in_words(problem: ValidationError) -> str:
    lines = [
        f"{'.'.join(map(str, e['loc']))} (FREYA_{str(e['loc'][0]).upper()}): {e['msg']}"
        for e in problem.errors(include_url=False, include_input=False)
    ]
    return "The settings make no sense:\n  " + "\n  ".join(lines)
