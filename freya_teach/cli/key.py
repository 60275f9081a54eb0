"""`freya-teach key`: a provider's key in the system's keyring. (chapter 8.1)"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from freya_teach.cli.words import fail

app = typer.Typer(help="A provider's key in the system's keyring.", no_args_is_help=True)
Provider = Annotated[
    str, typer.Argument(metavar="PROVIDER", help="openai, gemini, or another wire's name.")
]


@app.command("set")
def set_(provider: Provider) -> None:
    """Store a key; it is asked for and not shown, or read from a pipe."""
    from freya_teach.cli.keyring_keys import store_key

    _checked_and_known(provider)
    asked = f"Key for {provider} (it is not shown)"
    if sys.stdin.isatty():
        key = str(typer.prompt(asked, hide_input=True)).strip()
    else:
        key = sys.stdin.readline().strip()
    if not key.isascii() or not key.isprintable() or not key or " " in key:
        fail("That is no key: it is empty, or holds a space or a character that no header can.")
    with _errors_in_words():
        store_key(provider, key)
    print(f"The key for {provider} is in the keyring. `freya-teach chat` finds it there.")


@app.command()
def delete(provider: Provider) -> None:
    """Take a key out of the keyring."""
    from freya_teach.cli.keyring_keys import delete_key

    with _errors_in_words():
        there = delete_key(_checked(provider))
    print(f"The key for {provider} {'is deleted' if there else 'was not in the keyring'}.")


@app.command()
def show(provider: Provider) -> None:
    """Say where the key would come from; the key itself is never printed."""
    from freya_teach.cli.keyring_keys import key_in_keyring, key_variable

    variable = key_variable(_checked_and_known(provider))
    with _errors_in_words():
        places = {
            "the variable FREYA_API_KEY": bool(os.environ.get("FREYA_API_KEY")),
            f"the variable {variable}": bool(os.environ.get(variable)),
            "the system's keyring": bool(key_in_keyring(provider)),
        }
    first = next((place for place, there in places.items() if there), "")
    for place, there in places.items():
        used = "  (this one is used)" if place == first else ""
        print(f"{place}: {'a key is set' if there else 'none'}{used}")


def _checked(provider: str) -> str:
    """A provider's name is a word; whoever pastes the key here is told before it is kept."""
    if not provider.isascii() or not provider.replace("-", "").isalnum() or len(provider) > 20:
        fail("PROVIDER is a name such as openai or gemini. The key itself is asked for afterwards.")
    return provider


def _checked_and_known(provider: str) -> str:
    """One of the kernel's own, or one that the settings name: nobody looks for another one's key.

    `delete` does not ask for this: what a slip of the pen has stored can be taken out.
    """
    from freya_teach.cli.configured import configured
    from freya_teach.config import KEY_VARIABLES

    if _checked(provider) in KEY_VARIABLES:
        return provider
    with _errors_in_words():
        settings = configured({}, keyring=lambda _: "").settings
    if provider not in [route.provider for route in (settings, *settings.fallbacks)]:
        fail(
            f"No provider is called {provider!r}. There are: {', '.join(KEY_VARIABLES)}. "
            "A wire of your own is named first in FREYA_PROVIDER, FREYA_FALLBACKS or your config "
            "file."
        )
    return provider


@contextmanager
def _errors_in_words() -> Iterator[None]:
    from freya_teach.errors import ConfigError

    try:
        yield
    except ConfigError as problem:
        fail(str(problem))
