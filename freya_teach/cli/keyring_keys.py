"""Keys in the system's keyring, where there is one: read, set, delete. (chapter 8.1)

The library `keyring` knows the keychain of macOS, the credential locker of Windows and the secret
services of Linux. It is optional: without it, keys come from the environment alone.
"""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Callable
from typing import Any

from freya_teach.config import KEY_VARIABLES
from freya_teach.errors import ConfigError

SERVICE = "freya-teach"
"""The name under which the keyring keeps our keys, one for each provider."""
NEEDS_KEYRING = (
    "The system's keyring is reached through the library keyring, which is not installed: "
    'pip install "freya-teach[keyring]". Or set {variable} in the environment.'
)
NO_KEYRING = (
    "This system has no keyring that could be used: its service is not installed, or does not run. "
    "Set {variable} in the environment."
)


def key_variable(provider: str) -> str:
    """The variable of the environment that holds the key of a provider.

    >>> key_variable("gemini")
    'GEMINI_API_KEY'
    """
    return KEY_VARIABLES.get(provider, f"{provider.upper().replace('-', '_')}_API_KEY")


def key_in_keyring(provider: str) -> str:
    """The stored key; nothing where there is none, or no keyring on this system.

    Raises `ConfigError` for a keyring that is there and does not open.
    """
    library = _library()
    if library is None:
        return ""
    try:
        return library.get_password(SERVICE, provider) or ""
    except library.errors.NoKeyringError:
        return ""
    except library.errors.KeyringError as problem:
        raise _in_words(problem, provider) from None


def store_key(provider: str, key: str) -> None:
    """Put a key into the keyring. Raises `ConfigError`."""
    _with_keyring(provider, lambda library: library.set_password(SERVICE, provider, key))


def delete_key(provider: str) -> bool:
    """Take a key out of the keyring; whether there was one. Raises `ConfigError`."""

    def delete(library: Any) -> bool:
        there = library.get_password(SERVICE, provider) is not None
        if there:
            library.delete_password(SERVICE, provider)
        return there

    return bool(_with_keyring(provider, delete))


def _with_keyring(provider: str, work: Callable[[Any], Any]) -> Any:
    library = _library()
    if library is None:
        raise ConfigError(NEEDS_KEYRING.format(variable=key_variable(provider)))
    try:
        return work(library)
    except library.errors.NoKeyringError:
        raise ConfigError(NO_KEYRING.format(variable=key_variable(provider))) from None
    except library.errors.KeyringError as problem:
        raise _in_words(problem, provider) from None


def _library() -> Any:
    """The library, or None; it is imported by name because it need not be there."""
    try:
        importlib.import_module("keyring.errors")
        return importlib.import_module("keyring")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "keyring":
            raise
        return None


def _in_words(problem: Exception, provider: str) -> ConfigError:
    said = textwrap.shorten(str(problem), 200, placeholder=" …") or type(problem).__name__
    return ConfigError(
        f"The system's keyring cannot be used: {said.rstrip('.')}. Unlock it, or set "
        f"{key_variable(provider)} in the environment."
    )
