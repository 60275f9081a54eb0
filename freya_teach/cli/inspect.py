"""`freya-teach inspect`: what the kernel understands of an exchange of your own. (chapter 4.2)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freya_teach.cli.words import printable, said, short

if TYPE_CHECKING:
    from rich.console import Console

    from freya_teach.llm.messages import Json


def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Recordings, HAR files, request logs, or two files: a body sent, and the answer."
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Tell what the kernel understands of recorded HTTP exchanges."""
    from rich.console import Console

    from freya_teach.lab.exchange_files import UnreadableFile, read_files
    from freya_teach.lab.understand import answer_as_json, understand
    from freya_teach.lab.understand import as_json as to_json

    console = Console(highlight=False, markup=False, soft_wrap=True)
    unreadable = False
    for found in read_files(files):
        if isinstance(found, UnreadableFile):
            typer.echo(printable(str(found)), err=True)
            unreadable = True
            continue
        for understood in map(understand, found):
            if as_json:
                print(json.dumps(to_json(understood)))  # ASCII: any terminal, any file takes it
            else:
                _tell(console, to_json(understood), answer_as_json(understood))
    if unreadable:
        raise typer.Exit(1)


def _tell(console: Console, told: dict[str, Json], answer: dict[str, Json] | None) -> None:
    """One exchange for a reader: who said what, and what came back."""
    console.print(f"── {printable(told['file'])}", style="cyan")
    if told["wire"]:
        console.print(f"Wire: {told['wire']}")
    for message in told["messages"]:
        _tell_message(console, message)
    if told["note"]:
        console.print(f"Note: {told['note']}", style="yellow")
    if error := told["error"]:
        console.print(f"Error ({error['kind']}): {short(error['message'])}", style="bold red")
    if answer:
        reason = f"finish reason {told['finish_reason']}"
        raw = told["raw_finish_reason"]
        reason += f" (the server wrote {printable(raw)!r})" if raw else " (the server gave none)"
        console.print(f"Answer, {reason}:", style="bold")
        _tell_message(console, answer)
    usage = told["usage"]
    if usage["total_tokens"]:
        into, out = usage["input_tokens"], usage["output_tokens"]
        console.print(f"Tokens: {into} in + {out} out = {usage['total_tokens']}")
    elif answer:
        console.print("Tokens: the server did not tell")
    console.print()


def _tell_message(console: Console, message: dict[str, Json]) -> None:
    for part in message.get("parts", [message]):
        if words := said(part):
            console.print(f"  {message['role']}{words}")
