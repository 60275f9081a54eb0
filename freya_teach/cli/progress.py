"""`freya-teach progress`: which exercises are passed, which are open, and a fresh start. (start)"""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freya_teach.cli.class_table import show_class
from freya_teach.cli.words import fail

if TYPE_CHECKING:
    from freya_teach.lab.progress import Pass


def progress(  # noqa: PLR0913 - options, each with a default
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Forget what was passed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a reset.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Copy your notes to this file, to hand them in.")
    ] = None,
    collect: Annotated[
        Path | None, typer.Option(help="For instructors: a folder with learners' progress files.")
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="With --collect: a line a learner.")
    ] = False,
) -> None:
    """Show per section how many exercises are passed, and which are still open."""
    if collect is not None:
        show_class(collect, as_json=as_json, as_csv=as_csv)
        return
    if as_csv:
        fail("--csv needs --collect FOLDER, a folder with learners' progress files.")
    try:
        if save is not None:
            _save(save.expanduser())
        elif reset:
            _start_anew(yes=yes)
        else:
            _show(as_json=as_json)
    except OSError as problem:
        typer.echo(f"The progress file cannot be used: {problem}", err=True)
        raise typer.Exit(1) from None


def _save(target: Path) -> None:
    from freya_teach.lab.progress import progress_file

    path = progress_file()
    if not path.exists():
        fail("Nothing has been noted yet: pass an exercise first.")
    if target.exists():
        fail(f"{target} is there already. Choose another name.")
    target.write_bytes(path.read_bytes())
    print(f"Your notes are in {target}, with the exercises that you passed and nothing else.")


def _start_anew(*, yes: bool) -> None:
    from freya_teach.lab.progress import forget_all, progress_file

    path = progress_file()
    if not path.exists():
        print("Nothing has been noted yet.")
        return
    if not yes:
        typer.confirm(f"Forget every passed exercise in {path}?", abort=True)
    kept = forget_all(path)
    print(f"Done. The old notes are kept as {kept}.")


def _show(*, as_json: bool) -> None:
    from freya_teach.lab.progress import Damaged, passed_exercises, progress_file

    try:
        passed = passed_exercises()
    except Damaged as problem:
        typer.echo(
            f"{problem}: {progress_file()}. The next passed exercise sets it aside and begins a "
            "new one.",
            err=True,
        )
        raise typer.Exit(1) from None
    sections = by_section(passed)
    if as_json:
        report = {"sections": sections, "passed": {name: asdict(p) for name, p in passed.items()}}
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print_table(sections)


def by_section(passed: dict[str, Pass]) -> list[dict[str, Any]]:
    """Return for each section the number of exercises, the passed ones and the open ones."""
    from freya_teach.lab.exercises import every_exercise

    sections = []
    for section, group in groupby(every_exercise(), key=lambda exercise: exercise.section):
        ids = [exercise.id for exercise in group]
        open_ids = [exercise_id for exercise_id in ids if exercise_id not in passed]
        done = len(ids) - len(open_ids)
        sections.append({"section": section, "done": done, "total": len(ids), "open": open_ids})
    return sections


def _print_table(sections: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("section", "passed", "open")
    for row in sections:
        table.add_row(row["section"], f"{row['done']} of {row['total']}", ", ".join(row["open"]))
    done = sum(row["done"] for row in sections)
    total = sum(row["total"] for row in sections)
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print(f"{done} of {total} exercises are passed.")
