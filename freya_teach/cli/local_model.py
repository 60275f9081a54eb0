"""`freya-teach local-model`: a small real model on this machine. (start)"""

from __future__ import annotations

import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

HOW_TO_USE = """
{model} answers at {url}, over OpenAI's wire. In another terminal:

  {variables}freya-teach lab

It is very small: it invents freely, and calls a tool only after it was shown how.
Stop it with Ctrl-C."""


def local_model(
    port: Annotated[int, typer.Option(min=1, max=65535, help="On this machine only.")] = 18181,
    download_only: Annotated[
        bool, typer.Option("--download-only", help="Fetch the model and start nothing.")
    ] = False,
) -> None:
    """Fetch a small real model (130 MB, once) and let it answer on this machine."""
    from freya_teach.errors import FreyaError
    from freya_teach.lab.local_model import MODEL, model_folder
    from freya_teach.lab.local_model.running import serving

    models = model_folder()
    try:
        _fetch(models)
        print(f"The model is in {models}.", flush=True)
        if download_only:
            return
        print("Loading it, which takes a few seconds.", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped
        with serving(models, port) as url:
            variables = _variables(FREYA_LIVE="1", FREYA_BASE_URL=url, FREYA_MODEL=MODEL)
            print(HOW_TO_USE.format(url=url, model=MODEL, variables=variables), flush=True)
            threading.Event().wait()
    except FreyaError as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from problem
    except KeyboardInterrupt:
        print("\nStopped.")


def _variables(**values: str) -> str:
    """The beginning of a command that sets variables, for PowerShell or a POSIX shell."""
    if sys.platform == "win32":
        return "".join(f"$env:{name}='{value}'; " for name, value in values.items())
    return "".join(f"{name}={value} " for name, value in values.items())


def _fetch(models: Path) -> None:
    """Bring what is not there yet, with a bar for each package."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from freya_teach.lab.local_model import PACKAGES
    from freya_teach.lab.local_model.fetch import fetch, installer, is_whole

    missing = [package for package in PACKAGES if not is_whole(package.folder(models))]
    if not missing:
        return
    tool = installer()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=False)) as bars:
        for package in missing:
            size = package.unpacked_megabytes * 1_000_000
            bar = bars.add_task(f"{package.name} {package.version}", total=size)
            fetch(package, models, tool, partial(_show, bars, bar, size))
            bars.update(bar, completed=size)


def _show(bars: Progress, bar: TaskID, size: int, arrived: int) -> None:
    """Move a bar; pip also writes the packed file, so that more may arrive than is kept."""
    bars.update(bar, completed=min(arrived, size))
