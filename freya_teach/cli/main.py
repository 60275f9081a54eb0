"""The door of the command line: says clearly what is missing, then hands over to typer. (start)

A command's module imports at its top only what `--help` needs; the rest is imported when it runs.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

NEEDS_EXTRA = 'freya-teach needs the course extra: pip install "freya-teach[course]"'


def main() -> None:
    """Run `freya-teach`; exits with 2 when typer or rich is not installed."""
    try:
        app = build_app()
    except ModuleNotFoundError as missing:
        if missing.name not in {"typer", "rich"}:
            raise
        print(NEEDS_EXTRA, file=sys.stderr)
        raise SystemExit(2) from None
    _never_fail_to_print()
    app()


def build_app() -> typer.Typer:
    """Register every command; raises ModuleNotFoundError without the course extra."""
    import rich  # noqa: F401 - asked for here, so that no command fails halfway
    import typer

    from freya_teach.cli import (
        book,
        chat,
        classroom,
        demo,
        doctor,
        gateway,
        inspect,
        key,
        kit,
        lab,
        local_model,
        log,
        progress,
        prompts,
        record,
        sessions,
        student,
        workshop,
    )

    app = typer.Typer(
        help="Learn how an LLM agent works by reading, running and breaking a small one.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.command()(lab.lab)
    app.command()(lab.reset)
    app.command()(progress.progress)
    app.add_typer(workshop.app, name="workshop")
    app.command()(demo.demo)
    app.command()(chat.chat)
    app.add_typer(key.app, name="key")
    app.command()(inspect.inspect)
    app.command()(log.log)
    app.add_typer(prompts.app, name="prompts")
    app.add_typer(sessions.app, name="sessions")
    app.command()(doctor.doctor)
    app.command(help=gateway.HELP)(gateway.gateway)
    app.command()(local_model.local_model)
    app.command()(kit.kit)
    app.command()(classroom.classroom)
    hub_arguments = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(hidden=True, context_settings=hub_arguments)(student.student)
    app.command()(record.record)
    app.command()(book.book)
    return app


def _never_fail_to_print() -> None:
    """Print a question mark where the terminal's encoding has no such character."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
