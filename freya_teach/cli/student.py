"""`freya-teach student`: what a classroom's hub starts for each student. (start)

JupyterHub starts a server with a home folder and a port. Before it does, the student's own copy
of the notebooks is made or brought up to date in that home, as `freya-teach lab` does it: the
course is fresh on the first day, and what was edited is kept on all others.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from freya_teach.cli import working_copy
from freya_teach.cli.jupyter_setup import course_options, lab_environment
from freya_teach.cli.lab import DEFAULT_COPY
from freya_teach.cli.trust import sign_untouched
from freya_teach.cli.working_copy import WorkingCopyError
from freya_teach.errors import ConfigError
from freya_teach.paths import course_folder


def student(context: typer.Context) -> None:
    """Make the copy in the home folder, then become the server that JupyterHub asked for."""
    copy = DEFAULT_COPY.expanduser()
    try:
        working_copy.bring_up_to_date(course_folder("notebooks"), copy)
        sign_untouched(course_folder("notebooks"), copy)
    except (WorkingCopyError, ConfigError) as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from problem
    command = server_command(copy, context.args)
    os.chdir(copy)
    os.execve(command[0], command, lab_environment(os.environ))  # noqa: S606 - no shell is meant


def server_command(root: Path, arguments: list[str]) -> list[str]:
    """The single-user server on a folder, with the course's settings and the hub's arguments."""
    return [sys.executable, "-m", "jupyterhub.singleuser", *course_options(root), *arguments]
