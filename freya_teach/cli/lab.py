"""`freya-teach lab` and `freya-teach reset`: the learner's copy, opened and restored. (start)"""

from __future__ import annotations

import errno
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from freya_teach.cli import working_copy
from freya_teach.cli.jupyter_setup import lab_command, lab_environment
from freya_teach.cli.trust import sign_untouched
from freya_teach.cli.working_copy import WorkingCopyError
from freya_teach.errors import ConfigError
from freya_teach.paths import course_folder, in_checkout

DEFAULT_COPY = Path("~/freya-course")
"""Where the learner's notebooks are unless --dir says otherwise."""

CopyFolder = Annotated[
    Path, typer.Option("--dir", help="The folder of your own copy of the notebooks.")
]


def lab(
    folder: CopyFolder = DEFAULT_COPY,
    here: Annotated[
        bool, typer.Option("--here", help="Open the checkout's own notebooks, for authors.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Default: 8888 or the next free one.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open nothing.")
    ] = False,
) -> None:
    """Open the course in JupyterLab, in your own copy of the notebooks."""
    if here and folder != DEFAULT_COPY:
        raise typer.BadParameter(
            "--here opens the checkout's own notebooks and --dir a copy of your own: choose one."
        )
    _require_jupyterlab()
    if port is not None:
        _require_free(port)
    root = _checkout_notebooks() if here else _make_copy(folder.expanduser().absolute())
    print("Opening JupyterLab; stop it with Ctrl-C.", flush=True)
    command = lab_command(root, port=port, browser=not no_browser)
    raise typer.Exit(_run_until_it_ends(command, lab_environment(os.environ)))


def reset(
    section: Annotated[str, typer.Argument(help="For example 2.3.")],
    folder: CopyFolder = DEFAULT_COPY,
) -> None:
    """Restore one notebook of your copy; the edited one is kept beside it."""
    copy = folder.expanduser().absolute()
    try:
        restored, kept = working_copy.restore(course_folder("notebooks"), copy, section)
        sign_untouched(course_folder("notebooks"), copy)
    except (WorkingCopyError, ConfigError) as problem:
        raise _failure(problem) from problem
    print(f"{restored.relative_to(copy)} is as it came with the course.")
    if kept:
        print(f"Your version of it is kept as {kept.relative_to(copy)}.")


def _make_copy(copy: Path) -> Path:
    try:
        report = working_copy.bring_up_to_date(course_folder("notebooks"), copy)
        sign_untouched(course_folder("notebooks"), copy)
    except (WorkingCopyError, ConfigError) as problem:
        raise _failure(problem) from problem
    print(f"Your notebooks are in {copy}.")
    for name in report.added:
        print(f"  new: {name}")
    for name in report.updated:
        print(f"  updated: {name}")
    for name in report.kept:
        print(f"  kept as you edited it, though there is a newer version: {name}")
    if report.kept:
        print("  (`freya-teach reset SECTION` brings the newer version and keeps yours beside it)")
    return copy


def _checkout_notebooks() -> Path:
    if not in_checkout():
        raise _failure("--here is for authors: it needs a checkout of the repository.")
    return course_folder("notebooks")


def _require_jupyterlab() -> None:
    if importlib.util.find_spec("jupyterlab") is None:
        raise _failure('JupyterLab is not installed: pip install "freya-teach[course]"')


def _require_free(port: int) -> None:
    """Say what is wrong with a port before anything is made; Jupyter would say it in its log."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as problem:
        taken = problem.errno == errno.EADDRINUSE
        state = "is in use" if taken else f"cannot be used ({problem.strerror})"
        raise _failure(
            f"Port {port} {state}. Choose another one with --port, or leave --port out: "
            "then a free one is found."
        ) from problem


def _run_until_it_ends(command: list[str], environment: dict[str, str]) -> int:
    """Wait for JupyterLab; Ctrl-C reaches it directly, and it may take its time to close."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `finally` ends JupyterLab
    process = subprocess.Popen(command, env=environment)
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
    finally:
        if process.poll() is None:
            process.terminate()


def _failure(problem: object) -> typer.Exit:
    typer.echo(str(problem), err=True)
    return typer.Exit(1)
