"""Settings for a command: option, then environment, then config file, then default. (chapter 8.1)

    # ~/.config/freya-teach/config.toml
    provider = "openai"
    model = "my-llama"
    base_url = "http://127.0.0.1:8080"

The names are the fields of `Settings`. A key has no place in a file that gets copied, shown and put
into git: one that is found there is refused.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from freya_teach.cli.keyring_keys import key_in_keyring, key_variable
from freya_teach.config import Settings
from freya_teach.errors import ConfigError

VARIABLE = "FREYA_CONFIG_FILE"
APP = "freya-teach"
IN_ADDRESS = re.compile(r"://[^/@,\s]+@")
"""A name and a password before the host."""


@dataclass(frozen=True, slots=True)
class Configured:
    """The settings that count, and where they came from."""

    settings: Settings
    file: Path | None
    """The config file that was read."""
    key_from: str
    """Where the key came from: "the environment", "the system's keyring", or nothing."""

    @property
    def is_live(self) -> bool:
        """Whether somebody can be asked: a key is there, or the address of a server."""
        return bool(self.key_from or self.settings.base_url)


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """FREYA_CONFIG_FILE, or `config.toml` in the user's config folder on this system."""
    if chosen := environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return platformdirs.user_config_path(APP, appauthor=False) / "config.toml"


def default_session_dir() -> Path:
    """Where a chat keeps its conversations when nobody has named a folder."""
    return platformdirs.user_data_path(APP, appauthor=False) / "sessions"


def configured(
    options: Mapping[str, object],
    file: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    keyring: Callable[[str], str] = key_in_keyring,
) -> Configured:
    """Read all there is. A chat streams and keeps its sessions unless told otherwise.

    Raises `ConfigError` that names the variable, or the file and what is wrong in it.
    """
    path, found = _read(file, environ)
    below: dict[str, object] = {"stream": True, "session_dir": default_session_dir(), **found}
    above = {name: value for name, value in below.items() if not environ.get(_variable(name))}
    given = {**above, **options}
    try:
        settings = Settings.from_env(environ, **given)
        env, stored = dict(environ), False
        for route in (settings, *settings.fallbacks):
            variable = key_variable(route.provider)
            if not route.api_key.get_secret_value() and not env.get(variable):
                env[variable] = keyring(route.provider)
                stored |= route is settings and bool(env[variable])
        settings = Settings.from_env(env, **given)
    except ConfigError as problem:
        raise ConfigError(f"{problem}\n(read from {path}, too)" if path else str(problem)) from None
    source = "the system's keyring" if stored else "the environment"
    return Configured(settings, path, source if settings.api_key.get_secret_value() else "")


def _variable(name: str) -> str:
    return f"FREYA_{name.upper()}"


def _read(file: Path | None, environ: Mapping[str, str]) -> tuple[Path | None, dict[str, Any]]:
    """The file and its values; a file that was named has to be there."""
    path = file.expanduser() if file else config_file(environ)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if file or environ.get(VARIABLE):
            raise ConfigError(f"There is no config file {path}.") from None
        return None, {}
    except OSError as problem:
        raise ConfigError(
            f"The config file {path} cannot be read: {problem.strerror or problem}"
        ) from None
    except ValueError as problem:  # not UTF-8, or not TOML: the message names line and column
        raise ConfigError(f"The config file {path} is not TOML: {problem}") from None
    _check(values, path)
    return path, values


def _check(values: Mapping[str, Any], path: Path) -> None:
    """Refuse keys, wherever they stand, and names that mean nothing. No value is repeated."""
    if name := _key_in(values):
        raise ConfigError(
            f"The config file {path} holds a key ({name}). Keys do not belong in a file: take it "
            "out, and consider it known to others. Set it in the environment "
            f"({key_variable('openai')}, {key_variable('gemini')}), or store it with "
            "`freya-teach key set PROVIDER`."
        )
    for name in values:
        if name not in Settings.model_fields:
            close = difflib.get_close_matches(name, Settings.model_fields, 1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ConfigError(f"The config file {path} sets {name!r}, which is no setting.{hint}")


def _key_in(value: Any) -> str:
    """The name of the first field that holds a key, at any depth; a URL may carry one, too."""
    if isinstance(value, list):
        return next(filter(None, map(_key_in, value)), "")
    if not isinstance(value, dict):
        return ""
    for name, held in value.items():
        last = name.lower().replace("-", "_").rpartition("_")[2]
        if last in {"key", "apikey", "secret", "password"}:
            return str(name)
        if isinstance(held, str) and IN_ADDRESS.search(held):
            return f"the address in {name}"
        if inner := _key_in(held):
            return inner
    return ""
