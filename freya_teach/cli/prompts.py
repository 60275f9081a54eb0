"""`freya-teach prompts`: which there are, and how to put your own in their place. (chapter 3.3)"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freya_teach.cli.words import fail

if TYPE_CHECKING:
    from freya_teach.prompt.composer import Row
    from freya_teach.prompt.registry import PromptRegistry

SUGGESTED = "~/.freya-teach/prompts"
NO_FOLDER = f"""\
No folder of your own is set, and a copy that no program reads would change nothing. Name one first:

  export FREYA_PROMPT_DIR={SUGGESTED}

On Windows: setx FREYA_PROMPT_DIR "%USERPROFILE%\\.freya-teach\\prompts", then a new terminal.
For this command alone: --dir {SUGGESTED}"""

app = typer.Typer(
    help="The prompts of the package, and your own that take their place.", no_args_is_help=True
)
Dir = Annotated[
    Path | None,
    typer.Option("--dir", help="Folder of your own prompts; otherwise FREYA_PROMPT_DIR."),
]
Key = Annotated[str, typer.Argument(help="Such as core.prompt.identity; `list` has them all.")]


@app.command("list")
def list_(folder: Dir = None) -> None:
    """List the prompts: origin, characters, estimated tokens."""
    from freya_teach.llm.tokens import BytesCounter

    with _errors_in_words():
        prompts = _registry(folder)
        found = [prompts.get(key) for key in prompts.keys()]  # noqa: SIM118 - no dict
        rows = [(each.key, each.origin, each.text) for each in found]
        rows += [(f"skills/{each.id}", each.origin, each.text) for each in prompts.skills()]
        width = max(len(key) for key, _, _ in rows)
        print(f"{'key':{width}}  {'origin':8}  {'characters':>10}  {'tokens':>6} (estimated)")
        for key, origin, text in rows:
            tokens = BytesCounter().count(text)
            print(f"{key:{width}}  {origin:8}  {len(text):10,}  {tokens:6,}")
        _tell_folder(prompts)


@app.command()
def show(
    key: Annotated[str, typer.Argument(help="A prompt's key, or skills/ID.")] = "",
    *,
    folder: Dir = None,
    composed: Annotated[
        bool, typer.Option("--composed", help="The whole system prompt, and a report of its parts.")
    ] = False,
) -> None:
    """Print a prompt as it counts now: your own, else the packaged one."""
    if composed == bool(key):
        raise typer.BadParameter("give the key of one prompt, or --composed for the whole")
    with _errors_in_words():
        prompts = _registry(folder)
        if composed:
            _show_composed(prompts)
            return
        text, path = _current(prompts, key)
        print(text)
        print(f"({path})", file=sys.stderr)


@app.command()
def override(key: Key, *, folder: Dir = None) -> None:
    """Copy a packaged prompt or skill into your own folder, where you can edit it."""
    with _errors_in_words():
        prompts = _registry(folder)
        if prompts.override is None:
            fail(NO_FOLDER)
        name, text = _packaged(prompts, key)
        path = prompts.override / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text + "\n")
        except FileExistsError:
            fail(f"{path} is there already, and stays as it is. `prompts diff {key}` compares it.")
        except OSError as problem:
            fail(f"{path} cannot be written: {problem.strerror or problem}")
        print(f"{path}\nEdit this file: it now takes the place of the packaged prompt.")
        if folder is not None:
            print(f"Your programs find it with FREYA_PROMPT_DIR={prompts.override}")


@app.command()
def diff(key: Key, *, folder: Dir = None) -> None:
    """Print what your own prompt changes, line by line."""
    import difflib

    with _errors_in_words():
        prompts = _registry(folder)
        name, packaged = _packaged(prompts, key)
        current, path = _current(prompts, key)
    if path == prompts.packaged / name:
        print(f"{key} is not overridden.")
        return
    lines = difflib.unified_diff(
        packaged.split("\n"), current.split("\n"), f"packaged/{name}", str(path), lineterm=""
    )
    print("\n".join(lines) or f"{path} says the same as the packaged prompt.")


def _show_composed(prompts: PromptRegistry) -> None:
    """The system prompt that an agent with skills and without tools would get now."""
    from freya_teach.ambient import Ambient, zone_of
    from freya_teach.config import Settings
    from freya_teach.prompt.composer import Composer

    settings = Settings.from_env()
    ambient = Ambient(zone=zone_of(settings.time_zone))
    prompt = Composer(prompts, ambient, settings.time_granularity).compose(offer_skills=True)
    print(prompt.text)
    print(f"\n{'part':18}{'origin':10}{'characters':>10}{'tokens':>8}{'share':>7}", file=sys.stderr)
    for row in prompt.report():
        print(_row(row), file=sys.stderr)


def _row(row: Row) -> str:
    return f"{row.name:18}{row.origin:10}{row.characters:10,}{row.tokens:8,}{row.share:7.0%}"


def _tell_folder(prompts: PromptRegistry) -> None:
    """Whose folder it is, and what in it does nothing."""
    if prompts.override is None:
        print("\nNo folder of your own is set; `prompts override KEY` says how to begin one.")
        return
    missing = "" if prompts.override.exists() else "  (not there, so nothing is overridden)"
    print(f"\nYour own: {prompts.override}{missing}")
    for name, meant in prompts.unused().items():
        hint = f"; did you mean {meant}?" if meant else ""
        print(f"  {name!r} overrides nothing{hint}")


def _registry(folder: Path | None) -> PromptRegistry:
    from freya_teach.config import Settings
    from freya_teach.paths import course_folder
    from freya_teach.prompt.registry import PromptRegistry

    own = folder.expanduser() if folder else Settings.from_env().prompt_dir
    return PromptRegistry(course_folder("prompts"), own)


def _current(prompts: PromptRegistry, key: str) -> tuple[str, Path]:
    """What counts for a key now, and its file; a skill with the fields at its top."""
    from freya_teach.prompt.files import read_text

    _check(prompts, key)
    if key.startswith("skills/"):
        path = prompts.skill(key.removeprefix("skills/")).path
        return read_text(path) or "", path
    return prompts.get(key).text, prompts.get(key).path


def _packaged(prompts: PromptRegistry, key: str) -> tuple[str, str]:
    """The packaged file's name and text."""
    from freya_teach.prompt.registry import PromptRegistry

    _check(prompts, key)
    defaults = PromptRegistry(prompts.packaged)
    if key not in _keys(defaults):
        fail(f"{key} is your own: the package has none of this name.")
    text, path = _current(defaults, key)
    return path.relative_to(prompts.packaged).as_posix(), text


def _check(prompts: PromptRegistry, key: str) -> None:
    """Refuse an unknown key, with the one that comes close."""
    import difflib

    known = _keys(prompts)
    if key in known:
        return
    names = {re.split(r"[./]", each)[-1]: each for each in known} | {each: each for each in known}
    close = difflib.get_close_matches(key, names, 1)
    hint = f"Did you mean {names[close[0]]}?" if close else "`prompts list` shows those there are."
    fail(f"There is no prompt {key[:80]!r}. {hint}")


def _keys(prompts: PromptRegistry) -> list[str]:
    return [*prompts.keys(), *(f"skills/{skill.id}" for skill in prompts.skills())]


@contextmanager
def _errors_in_words() -> Iterator[None]:
    from freya_teach.errors import FreyaError

    try:
        yield
    except FreyaError as problem:
        fail(str(problem))
