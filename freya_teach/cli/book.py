"""`freya-teach book`: the static site, built from the notebooks' stored outputs. (start)"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from freya_teach.cli.words import fail
from freya_teach.paths import PACKAGE, in_checkout

NEEDS_CHECKOUT = (
    "The book is built from a checkout of the repository; an installed package has none."
)
NEEDS_EXTRA = (
    "The book needs Sphinx: `uv sync --extra book` in a checkout, "
    'or pip install -e ".[course,book]".'
)


def book(
    output: Annotated[
        Path | None, typer.Option("--output", help="Where to. Default: book/_build/html.")
    ] = None,
    lite: Annotated[
        Path | None,
        typer.Option(help="The browser edition, built by `make lite`: taken in and linked."),
    ] = None,
) -> None:
    """Build the course as a static site; nothing is run, and a warning fails the build."""
    if not in_checkout():
        fail(NEEDS_CHECKOUT)
    if any(importlib.util.find_spec(name) is None for name in ("myst_nb", "furo")):
        fail(NEEDS_EXTRA)
    command = [sys.executable, str(PACKAGE.parent / "book" / "build.py")]
    for option, folder in {"--output": output, "--lite": lite}.items():
        if folder is not None:
            command += [option, str(folder.expanduser().absolute())]
    raise typer.Exit(subprocess.run(command, check=False).returncode)
