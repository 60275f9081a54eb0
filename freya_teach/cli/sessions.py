"""`freya-teach sessions`: what is stored, to list, read, export and repair. (chapter 6.3)

Only `repair` takes the folder; the others read it, and may do so while a program writes in it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freya_teach.cli.words import fail, printable

if TYPE_CHECKING:
    from freya_teach.session.lines import Reading
    from freya_teach.session.models import SessionInfo
    from freya_teach.session.store import SessionStore

NONE_YET = (
    "There are no conversations yet. `freya-teach chat` begins one, and keeps it in {folder}; "
    "--folder looks somewhere else."
)


class Format(StrEnum):
    """What `export` can write."""

    JSON = "json"
    MARKDOWN = "markdown"
    OPENAI = "openai"
    GEMINI = "gemini"


app = typer.Typer(help="The stored conversations.", no_args_is_help=True)
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder", "--dir", help="Their folder; otherwise the one that `chat` keeps them in."
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="A session's id, or how it begins.")]


@app.command("list")
def list_(
    *,
    folder: Folder = None,
    count: Annotated[int, typer.Option("-n", min=1, help="How many, the latest ones.")] = 50,
    archived: Annotated[bool, typer.Option("--archived", help="The archived ones.")] = False,
    both: Annotated[bool, typer.Option("--all", help="The archived ones, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the sessions, the one last written to first."""
    from freya_teach.cli.session_words import table

    with _errors_in_words():
        store = _store(folder)
        stored = store.infos() if store.sessions.is_dir() else {}
        infos = [info for info in stored.values() if both or info.archived == archived]
        infos.sort(key=lambda info: info.updated, reverse=True)
        rows = [_looked_at(store, info) for info in infos[:count]]
        if as_json:
            for info, cut_off in rows:
                print(json.dumps({**info._asdict(), "cut_off": cut_off}))  # ASCII
            return
        none = "{folder} has none to list." if stored or folder else NONE_YET
        text = "\n".join(table(rows)) if rows else none.format(folder=store.folder)
        print(printable(text))
        if len(infos) > count:
            print(f"… and {len(infos) - count:,} more; -n says how many are shown.")


@app.command()
def show(
    session: Id,
    *,
    folder: Folder = None,
    last: Annotated[int | None, typer.Option("--last", min=1, help="How many messages.")] = None,
    snapshots: Annotated[
        bool, typer.Option("--snapshots", help="What a new beginning has taken out, too.")
    ] = False,
) -> None:
    """Show a conversation; long texts and arguments are folded."""
    from freya_teach.cli.session_words import about, conversation, snapshots_of

    with _errors_in_words():
        store = _store(folder)
        session_id = _the_one(store, session)
        reading = _read(store, session_id)
        lines = about(session_id, reading)
        if snapshots:
            lines += snapshots_of(store.journal(session_id))
        messages = reading.contents.messages
        skipped = max(0, len(messages) - last) if last else 0
        if skipped:
            lines.append(f"… {skipped:,} before these")
        lines += conversation(messages[skipped:], reading.contents.first + skipped)
        print(printable("\n".join(lines)))


@app.command()
def export(
    session: Id,
    *,
    folder: Folder = None,
    form: Annotated[Format, typer.Option("--format", help="How it is written.")] = Format.JSON,
    to: Annotated[Path | None, typer.Option("--to", help="A file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite that file.")] = False,
) -> None:
    """Write a conversation for other programs, or for readers."""
    from freya_teach.cli.session_export import exported, write
    from freya_teach.cli.session_words import notes

    with _errors_in_words():
        store = _store(folder)
        session_id = _the_one(store, session)
        reading = _read(store, session_id)
        text = exported(reading, session_id, form)
        for note in notes(reading):
            print(note, file=sys.stderr)
        if to is None:
            print(printable(text) if sys.stdout.isatty() else text)
            return
        try:
            write(to.expanduser(), text, force=force)
        except FileExistsError:
            fail(f"{to} is there already, and stays as it is. --force overwrites it.")
        except OSError as problem:
            fail(f"{to} cannot be written: {problem.strerror or problem}")
        print(printable(str(to)))


@app.command()
def repair(
    session: Id,
    *,
    folder: Folder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Make a damaged session usable: keep what comes before the damage."""
    with _errors_in_words():
        store = _store(folder)
        asyncio.run(_repair(store, _the_one(store, session), yes=yes))


async def _repair(store: SessionStore, session_id: str, *, yes: bool) -> None:
    """Take the folder first, so that nothing changes between the question and the answer."""
    from freya_teach.ambient import Ambient
    from freya_teach.cli.session_words import loss, notes
    from freya_teach.session.lines import read_records
    from freya_teach.session.manager import SessionManager

    journal = store.journal(session_id)
    async with SessionManager(store.folder, Ambient()) as sessions:
        reading = read_records(journal)
        if reading.damage is None:
            print("\n".join([f"{session_id} is not damaged: nothing to repair.", *notes(reading)]))
            return
        print(printable(loss(journal, reading, reading.damage.line)))
        if not yes:
            typer.confirm("Repair it?", abort=True)
        print(f"Done. The journal as it was: {await sessions.repair(session_id)}")


# ---- finding and reading ---------------------------------------------------------------------


def _store(folder: Path | None) -> SessionStore:
    """The folder's store. It is not made when it is not there: a slip of the pen would make it.

    Without a folder it is the chat's, and may not be there yet.
    """
    from freya_teach.session.disk import Disk
    from freya_teach.session.store import SessionStore

    if folder is None:
        return SessionStore(_folder_of_chats(), Disk())
    store = SessionStore(folder.expanduser(), Disk())
    if not store.folder.is_dir():
        fail(f"There is no folder {store.folder}. Without --folder, `chat`'s own is looked at.")
    if not store.sessions.is_dir():
        fail(f"{store.folder} holds no sessions: there is no folder named sessions in it.")
    return store


def _folder_of_chats() -> Path:
    """By the same settings that `chat` reads: the environment, the config file, the default."""
    from freya_teach.cli.configured import configured, default_session_dir

    settings = configured({}, keyring=lambda _: "").settings  # no key is needed here
    return settings.session_dir or default_session_dir()


def _the_one(store: SessionStore, given: str) -> str:
    """The id that is meant. Fails with those that come close."""
    import difflib

    if not store.sessions.is_dir():
        fail(NONE_YET.format(folder=store.folder))
    ids = sorted(path.name for path in store.sessions.iterdir() if not path.name.startswith("."))
    start = (given, f"session_{given}")
    found = [given] if given in ids else [each for each in ids if given and each.startswith(start)]
    if len(found) > 1:
        fail(f"{len(found)} sessions begin with {given[:80]!r}: {_some(found)}. Write more of it.")
    if not found:
        close = difflib.get_close_matches(given, ids, 3)
        hint = f"Did you mean {_some(close)}?" if close else "`sessions list --all` has them all."
        fail(f"There is no session {given[:80]!r} in {store.folder}. {hint}")
    return found[0]


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (", …" if len(ids) > 3 else "")


def _read(store: SessionStore, session_id: str) -> Reading:
    """All of a session; a write that has not ended is not in it. Fails where it is damaged."""
    from freya_teach.session.lines import read_records

    reading = read_records(store.journal(session_id))
    if reading.damage:
        fail(
            f"{reading.damage}. Nothing was changed. To go on with what comes before:\n"
            f'  freya-teach sessions repair {session_id} --folder "{store.folder}"'
        )
    return reading


def _looked_at(store: SessionStore, info: SessionInfo) -> tuple[SessionInfo, bool]:
    """The session's line by its journal, of whose damage the index may not know; is it cut off?"""
    from freya_teach.errors import SessionError
    from freya_teach.llm.transcript import open_calls
    from freya_teach.session.lines import read_records

    try:
        reading = read_records(store.journal(info.id))
    except (SessionError, OSError) as problem:
        return info._replace(problem=info.problem or str(problem)), False
    found = reading.contents.info(info.id, reading.size)
    cut_off = not reading.damage and bool(open_calls(reading.contents.messages))
    return found._replace(problem=str(reading.damage or "")), cut_off


@contextmanager
def _errors_in_words() -> Iterator[None]:
    from freya_teach.errors import FreyaError

    try:
        yield
    except FreyaError as problem:
        fail(str(problem))
    except OSError as problem:
        fail(f"{problem.filename or 'The sessions'} cannot be read: {problem.strerror or problem}")
