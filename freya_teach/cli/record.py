"""`freya-teach record`: ask a real server, and keep every exchange as a file. (start)

With `--compare` it is asked again and nothing is kept (`record_compare.py`); `--table` lists what
is kept already (`record_table.py`).
"""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from freya_teach.config import Settings
    from freya_teach.lab.record import Heard
    from freya_teach.lab.scenarios import Scenario
    from freya_teach.llm.messages import Json

NOBODY = """Nobody to ask. Say who is at the other end, for example
  FREYA_BASE_URL=http://127.0.0.1:18181 FREYA_MODEL=smollm2-135m-instruct freya-teach record 1.1
(`freya-teach local-model` starts that server), or set OPENAI_API_KEY or GEMINI_API_KEY."""


def record(  # noqa: PLR0913 - the options of a command
    section: Annotated[str, typer.Argument(help="For example 1.1.")] = "",
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", help="Only this one; may be repeated.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what was recorded before.")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--to", help="Instead of the checkout's fixtures folder.")
    ] = None,
    *,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Write nothing: ask again, and show what is answered differently today. "
            "Ends with 1 when the shape of an answer differs, with 2 when nothing was compared.",
        ),
    ] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Ask nobody: list what is recorded, and its age.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --compare or --table: one JSON object a line.")
    ] = False,
) -> None:
    """Record a section's scenarios from a real server. For authors."""
    _check_options(section, overwrite=overwrite, compare=compare, table=table, as_json=as_json)
    if table:
        from freya_teach.cli.record_table import show_table

        show_table(folder, section, scenario, as_json=as_json)
    elif compare:
        from freya_teach.cli.record_compare import compare_section

        compare_section(folder, section, scenario, as_json=as_json)
    else:
        _record_section(section, scenario, folder, overwrite=overwrite)


def _check_options(
    section: str, *, overwrite: bool, compare: bool, table: bool, as_json: bool
) -> None:
    """Raise typer's error for options that say two things at once, or too little."""
    if compare and table:
        raise typer.BadParameter("--compare asks a server and --table asks nobody: choose one.")
    if overwrite and (compare or table):
        raise typer.BadParameter("--overwrite belongs to recording; --compare, --table only read.")
    if as_json and not (compare or table):
        raise typer.BadParameter("--json goes with --compare or --table.")
    if not section and not table:
        raise typer.BadParameter("Name a section, for example 1.1.")


def _record_section(
    section: str, scenario: list[str] | None, folder: Path | None, *, overwrite: bool
) -> None:
    from freya_teach.config import Settings
    from freya_teach.errors import FreyaError
    from freya_teach.lab.record import check_replaceable

    try:
        chosen = _chosen(section, scenario)
        settings = Settings.from_env()
        if not settings.base_url and not settings.api_key.get_secret_value():
            raise _failure(NOBODY)
        target = (folder or _fixtures()) / section
        for name in chosen:
            check_replaceable(target / name, overwrite=overwrite)
    except FreyaError as problem:
        raise _failure(problem) from problem
    done = [_record(target / n, run, settings, overwrite=overwrite) for n, run in chosen.items()]
    if not all(done):
        raise typer.Exit(1)


def _chosen(section: str, names: list[str] | None) -> dict[str, Scenario]:
    from freya_teach.lab.scenarios import scenarios_of

    known = scenarios_of(section)
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise _failure(f"Section {section} has no scenario {unknown[0]!r}: {', '.join(known)}.")
    return {name: known[name] for name in names or known}


def _fixtures() -> Path:
    from freya_teach.paths import course_folder, in_checkout

    if not in_checkout():
        raise _failure("Recording into the course needs a checkout; else use --to FOLDER.")
    return course_folder("fixtures")


def _record(folder: Path, scenario: Scenario, settings: Settings, *, overwrite: bool) -> bool:
    """Run one scenario, write its files, and say what happened; False if nothing was written."""
    from freya_teach.lab.record import as_file, write_scenario

    section, name = folder.parent.name, folder.name
    key = settings.api_key.get_secret_value()
    try:
        heard, server = asyncio.run(_listen(scenario, settings))
        provenance = server | {"date": datetime.now(UTC).date().isoformat()}
        provenance["command"] = _command(section, name)
        who = (settings.provider, settings.model_name)
        files = [
            as_file(exchange, f"{section}-{name}-{number:02}", *who, provenance)
            for number, exchange in enumerate(heard, start=1)
        ]
        write_scenario(folder, files, (key,), overwrite=overwrite)
    except Exception as problem:  # noqa: BLE001 - whatever a scenario raises, nothing is written
        text = str(problem).replace(key, "[key]") if key else str(problem)
        typer.echo(f"{section} {name}: nothing written. {type(problem).__name__}: {text}", err=True)
        return False
    states = ", ".join(str(file["response"]["status"]) for file in files)
    print(f"{section} {name}: {len(files)} exchanges written (HTTP {states})")
    return True


async def _listen(scenario: Scenario, settings: Settings) -> tuple[list[Heard], dict[str, Json]]:
    """Run a scenario on a real connection; return what was exchanged, and who answered."""
    import httpx

    from freya_teach.lab.local_model.running import about_server
    from freya_teach.lab.record import Listening
    from freya_teach.lab.scenarios import Stage

    listening = Listening(httpx.AsyncHTTPTransport())
    async with httpx.AsyncClient(transport=listening) as http:
        await scenario(Stage(settings, http))
    return listening.exchanges, about_server(settings.endpoint)


def _command(section: str, name: str) -> str:
    """The command that records this again, without the key."""
    chosen = [
        f"{variable}={os.environ[variable]}"
        for variable in ("FREYA_PROVIDER", "FREYA_BASE_URL", "FREYA_MODEL")
        if os.environ.get(variable)
    ]
    return " ".join([*chosen, "freya-teach record", section, "--scenario", name])


def _failure(problem: object) -> typer.Exit:
    typer.echo(str(problem), err=True)
    return typer.Exit(1)
