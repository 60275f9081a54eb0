"""`freya-teach workshop`: teach the course in a room, in whatever time there is. (start)"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freya_teach.cli.words import fail

if TYPE_CHECKING:
    from freya_teach.lab.workshop import Section

MINUTES = 180
FEWEST = 30
HELP = """Teach the course in a room: a schedule that fits the minutes, notes, slides, live coding.

freya-teach workshop --minutes 90              what fits into ninety minutes\n
freya-teach workshop --minutes 360 --from 2.1 --to 4.4 --markdown\n
freya-teach workshop --sections 2.3,4.2        choose yourself\n
freya-teach workshop --no-reveal --minutes 90  no solutions for ninety minutes"""

app = typer.Typer(help=HELP)
Choice = Annotated[str, typer.Argument(help="A section, for example 4.2.")]
Target = Annotated[Path, typer.Option("--to", help="The folder to write into.")]


@app.callback(invoke_without_command=True)
def workshop(  # noqa: PLR0913 - options, each with a default
    context: typer.Context,
    *,
    minutes: Annotated[int | None, typer.Option(min=FEWEST, help="The whole time.")] = None,
    first: Annotated[str, typer.Option("--from", help="The first section to choose from.")] = "",
    last: Annotated[str, typer.Option("--to", help="The last one.")] = "",
    chosen: Annotated[
        str, typer.Option("--sections", help="Choose from these only, as in 2.3,4.2.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    as_page: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
    no_reveal: Annotated[
        bool, typer.Option("--no-reveal", help="Show no solutions for so many minutes.")
    ] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show solutions again.")] = False,
) -> None:
    """Print a schedule made from the notebooks' own minutes, or shut the solutions for a class."""
    if context.invoked_subcommand:
        return
    if as_json and as_page:
        fail("--json and --markdown are two forms of one schedule: choose one.")
    if no_reveal or reveal:
        _solutions(minutes or MINUTES, shut=no_reveal, both=no_reveal and reveal)
        return
    from freya_teach.lab import workshop as room

    candidates = _between(first, last) if not chosen else _named(chosen, first or last)
    schedule = room.plan(candidates, minutes or MINUTES)
    if as_json:
        print(json.dumps(room.as_json(schedule), indent=2, ensure_ascii=False))
    else:
        print(room.as_markdown(schedule) if as_page else room.as_text(schedule))


@app.command()
def notes(section: Choice) -> None:
    """Print the instructor's notes of a section, and how its minutes are shared out."""
    from freya_teach.lab.workshop import notes_of, read_section
    from freya_teach.paths import course_folder

    path = _path_of(section)
    told = notes_of(_read(path))
    found = read_section(path, path.relative_to(course_folder("notebooks")).as_posix())
    print(f"{found.id} {found.name}\n\n{told or 'Nobody has written notes for it.'}\n")
    for piece in found.pieces:
        kind = "" if piece.kind == "core" else f"  ({piece.kind})"
        print(f"{piece.minutes:>4} min  {piece.title}{kind}")


@app.command()
def slides(section: Choice, to: Target) -> None:
    """Write a section's slides as one HTML file that needs no network and runs no script."""
    from freya_teach.lab.workshop.slides import slides as page

    path = _path_of(section)
    try:
        text = page(_read(path))
    except ModuleNotFoundError:
        fail('Slides need JupyterLab: pip install "freya-teach[course]"')
    _write(to / f"{path.stem}.html", text)


@app.command()
def clean(
    to: Target,
    sections: Annotated[
        list[str] | None, typer.Argument(help="Sections, as in 2.3 4.2; without any, all.")
    ] = None,
) -> None:
    """Write copies for live coding: without outputs, and without the code of the segments."""
    from freya_teach.lab.workshop.live import for_live_coding
    from freya_teach.lab.workshop.notes import encoded
    from freya_teach.paths import course_folder

    course = course_folder("notebooks")
    paths = [_path_of(each) for each in sections or [section.file for section in _every_section()]]
    for path in paths:
        notebook = encoded(for_live_coding(_read(path)))
        _write(to / path.relative_to(course), notebook.decode())


@cache
def _every_section() -> Sequence[Section]:
    from freya_teach.lab.workshop import read_sections
    from freya_teach.paths import course_folder

    return read_sections(course_folder("notebooks"))


def _between(first: str, last: str) -> list[Section]:
    """The numbered sections from the first to the last; a lab must be asked for by its name."""
    lessons = [section for section in _every_section() if section.id[:1].isdigit()]
    ids = [section.id for section in lessons]
    start, end = (_place(name, ids) if name else None for name in (first, last))
    found = lessons[start : None if end is None else end + 1]
    if not found:
        fail(f"{first} comes after {last}: exchange them.")
    return found


def _place(name: str, ids: list[str]) -> int:
    section = _id_of(name)
    if section not in ids:
        fail(f"{section} has no place in the row of sections: name it with --sections.")
    return ids.index(section)


def _named(chosen: str, between: str) -> list[Section]:
    if between:
        fail("--sections says which ones; --from and --to say where to look. Choose one way.")
    wanted = {_id_of(name) for name in re.split(r"[,\s]+", chosen) if name}
    return [section for section in _every_section() if section.id in wanted]


def _id_of(name: str) -> str:
    about: str = _read(_path_of(name))["metadata"]["freya"]["id"]
    return about


def _path_of(section: str) -> Path:
    from freya_teach.cli.working_copy import WorkingCopyError, find_section
    from freya_teach.paths import course_folder

    course = course_folder("notebooks")
    names = [section.file for section in _every_section()]
    try:
        return course / find_section(names, section)
    except WorkingCopyError as problem:
        fail(str(problem))


def _read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def _write(path: Path, text: str) -> None:
    """A file that is there and says something else is somebody's work."""
    path = path.expanduser()
    try:
        if path.exists() and path.read_text(encoding="utf-8") != text:
            fail(f"{path} is there already, and is another one. Choose another folder with --to.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, UnicodeDecodeError) as problem:
        fail(f"{path} cannot be written: {problem}")
    print(path)


def _solutions(minutes: int, *, shut: bool, both: bool) -> None:
    from freya_teach.lab.exercises.shut import FILE_VARIABLE, open_again, setting_file, shut_for

    if both:
        fail("--reveal and --no-reveal contradict each other.")
    path = setting_file()
    try:
        if shut:
            until = shut_for(minutes, path).astimezone().strftime("%H:%M on %d %B")
            print(f"lab.reveal shows no solution until {until}. This is noted in {path}.")
            same = f", with the same {FILE_VARIABLE}," if FILE_VARIABLE in os.environ else ""
            print(f"`freya-teach workshop --reveal`{same} ends it.")
        elif open_again(path):
            print("lab.reveal shows solutions again.")
        else:
            print(f"Solutions were not shut: there is no {path}.")
            print(f"If {FILE_VARIABLE} named another file then, set it for this command, too.")
    except OSError as problem:
        fail(f"{path} cannot be changed: {problem}. Set {FILE_VARIABLE} to another place.")
