"""One frozen settings object: the only place where a default value is written down. (chapter 2.3)

The kernel never reads the environment by itself; `Settings.from_env()` does, when asked.
A key is held in a `SecretStr`, so that printing or logging the settings shows stars.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError, from_json

from freya_teach.errors import ConfigError


def _at_home(path: Path) -> Path:
    """`~/prompts` → the folder in the user's home, which no shell has put in."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"{path} begins with ~, and no home folder is known") from None


def _with_host(address: str) -> str:
    """`http://127.0.0.1:8080` → the same. The words repeat nothing: it may hold a password."""
    try:
        parts = urlsplit(address)
        is_whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is no number
        is_whole = False
    if address and not is_whole:
        raise PydanticCustomError(
            "address",
            "An address begins with http:// or https:// and a host, "
            "for example http://127.0.0.1:8080",
        )
    return address


Folder = Annotated[Path, AfterValidator(_at_home)]
Address = Annotated[str, AfterValidator(_with_host)]

BASE_URLS: Mapping[str, str] = {
    "openai": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
MODELS: Mapping[str, str] = {"openai": "gpt-5.6-terra", "gemini": "gemini-3.8-flash"}
KEY_VARIABLES: Mapping[str, str] = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}


ROUTE_WORDS = re.compile(r"(?P<provider>[\w-]+):(?P<model>[^@]+)(?:@(?P<base_url>.+))?")
"""A route in a word: `gemini:gemini-3.8-flash`, `openai:my-llama@http://127.0.0.1:8080`."""


class RouteSettings(BaseModel):
    """Where a model is asked. As a fallback, it stands in when those before it have failed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    provider: str = "openai"
    """Which wire is spoken; any OpenAI-compatible server is "openai" with another base_url."""
    model: str = ""
    """The provider's name for the model; empty means the course's default for that provider."""
    base_url: Address = ""
    """Scheme and host, without /v1; empty means the provider's public address."""
    api_key: SecretStr = SecretStr("")
    """Sent as a header, never in a URL, and never logged."""

    @property
    def model_name(self) -> str:
        """The model to ask for: the chosen one, or the course's default for the provider."""
        return self.model or MODELS[self.provider]

    @property
    def endpoint(self) -> str:
        """The base address without a trailing slash and without a trailing /v1 or /v1beta."""
        base = (self.base_url or BASE_URLS[self.provider]).rstrip("/")
        return base.removesuffix("/v1beta").removesuffix("/v1")

    @model_validator(mode="after")
    def _is_known_or_whole(self) -> Self:
        """A wire that the kernel does not bring has no model and no address of its own."""
        if self.provider not in MODELS and not (self.model and self.base_url):
            raise PydanticCustomError(
                "provider",
                "provider (FREYA_PROVIDER): Input should be 'openai' or 'gemini'; "
                "an adapter of your own needs model and base_url too",
            )
        return self


def _from_json(value: object) -> object:
    """A variable holds JSON; an object is what it is."""
    return from_json(value) if isinstance(value, str) else value


def _routes_in_words(value: object) -> object:
    """A JSON array, or `provider:model[@base_url]` with commas between."""
    if not isinstance(value, str) or value.lstrip().startswith("["):
        return _from_json(value)
    routes = []
    for number, word in enumerate(filter(None, map(str.strip, value.split(","))), 1):
        match = ROUTE_WORDS.fullmatch(word)
        if match is None:  # the word is not repeated: an address may hold a password
            raise ValueError(f"route {number} is not of the form provider:model[@base_url]")
        routes.append({name: text for name, text in match.groupdict().items() if text})
    return tuple(routes)


Routes = Annotated[tuple[RouteSettings, ...], BeforeValidator(_routes_in_words)]
Facts = Annotated[Mapping[str, Mapping[str, Any]], BeforeValidator(_from_json)]


class Settings(RouteSettings):
    """What can be chosen about a kernel. Build one, or read one with `from_env()`.

    >>> Settings(provider="gemini").model_name
    'gemini-3.8-flash'
    """

    fallbacks: Routes = ()
    """Who is asked, in this order, when the route above has failed."""
    models: Facts = Field(default_factory=dict)
    """What the kernel knows wrongly or not at all of a model: `{"my-llama": {"window": 32768}}`.

    The beginning of a model's name, or `@host:port`, to the fields of `llm.models.ModelFacts`.
    """
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

    compact_before: float = Field(0.85, gt=0, le=1)
    """Share of what a request may hold; over this, the history is made smaller before a call."""
    compact_after: float | None = Field(0.65, gt=0, le=1)
    """The same share after a reply: over this, it is summarised in the background; None: never."""
    summary_tokens: int = Field(1_000, ge=1)
    """Tokens of one summary; a longer one is not used."""
    summary_reasoning_tokens: int = Field(2_000, ge=0)
    """Tokens that the model may spend on thinking before it writes a summary."""
    summary_seconds: float = Field(60.0, gt=0)
    """Seconds until a summary that has not come is given up."""

    workspace_dir: Folder | None = None
    """The one folder in which tools may read and write; None means that no tool has files."""
    prompt_dir: Folder | None = None
    """A folder of your own prompts; each file in it takes the place of the packaged one."""
    session_dir: Folder | None = None
    """A folder in which conversations are kept; None means that they end with the program."""
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
    retry_seconds: float = Field(60.0, ge=0)
    """Seconds that one model call may wait in all before it asks again; with 0 it never does."""
    max_response_bytes: int = Field(64 * 1024 * 1024, ge=1024)
    """Bytes of one answer; more than this is not read."""

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
            values["api_key"] = _key_for(str(values.get("provider", "openai")), env)
        try:
            settings = cls.model_validate(values)
        except ValidationError as problem:
            raise ConfigError(_in_words(problem)) from None
        fallbacks = tuple(_with_key(route, settings, env) for route in settings.fallbacks)
        return settings.model_copy(update={"fallbacks": fallbacks}) if fallbacks else settings


def _with_key(route: RouteSettings, first: RouteSettings, env: Mapping[str, str]) -> RouteSettings:
    """A fallback without a key: its provider's, or the first route's at the same address."""
    if route.api_key.get_secret_value():
        return route
    key = SecretStr(_key_for(route.provider, env))
    if (route.provider, route.endpoint) == (first.provider, first.endpoint):
        key = first.api_key
    return route.model_copy(update={"api_key": key})


def _key_for(provider: str, env: Mapping[str, str]) -> str:
    variable = KEY_VARIABLES.get(provider, f"{provider.upper().replace('-', '_')}_API_KEY")
    return env.get(variable, "")


def _in_words(problem: ValidationError) -> str:
    lines = []
    for error in problem.errors(include_url=False, include_input=False):
        place = ".".join(map(str, error["loc"]))
        variable = str(error["loc"][0]).upper() if place else ""
        lines.append(f"{place} (FREYA_{variable}): {error['msg']}" if place else error["msg"])
    return "The settings make no sense:\n  " + "\n  ".join(lines)
