"""`freya-teach inspect`: what the kernel understands of an exchange of your own. (chapter 4.2)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from freya_teach.lab.understand import Understood
    from freya_teach.llm.messages import Message


def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(help="Recordings, HAR files, or two files: a body sent, and the answer."),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Tell what the kernel understands of recorded HTTP exchanges."""
    from rich.console import Console

    from freya_teach.lab.exchange_files import UnreadableFile, read_files
    from freya_teach.lab.understand import as_json as to_json
    from freya_teach.lab.understand import understand

    console = Console(highlight=False, markup=False, soft_wrap=True)
    unreadable = False
    for found in read_files(files):
        if isinstance(found, UnreadableFile):
            typer.echo(str(found), err=True)
            unreadable = True
            continue
        for understood in map(understand, found):
            if as_json:
                print(json.dumps(to_json(understood), ensure_ascii=False))
            else:
                _tell(console, understood)
    if unreadable:
        raise typer.Exit(1)


def _tell(console: Console, understood: Understood) -> None:
    """One exchange for a reader: who said what, and what came back."""
    console.rule(understood.name, style="cyan")
    console.print(f"Wire: {understood.wire or 'unknown'}")
    for message in understood.request.messages:
        _tell_message(console, message)
    if understood.note:
        console.print(f"Note: {understood.note}", style="yellow")
    if understood.error:
        console.print(f"Error ({understood.error.kind}): {understood.error}", style="bold red")
    if reply := understood.reply:
        console.print(
            f"Answer, finish reason {reply.finish_reason} ({reply.raw_finish_reason!r}):",
            style="bold",
        )
        _tell_message(console, reply.message)
    usage = understood.usage
    console.print(
        f"Tokens: {usage.input_tokens} in + {usage.output_tokens} out = {usage.total_tokens}\n"
    )


def _tell_message(console: Console, message: Message) -> None:
    from freya_teach.lab.understand import message_as_json

    told = message_as_json(message)
    for part in told.get("parts", [told]):
        kind = part.get("type", "text")
        rest = {name: value for name, value in part.items() if name not in ("type", "role")}
        said = rest.get("text") if kind in ("text", "reasoning") else json.dumps(rest)
        label = told["role"] if kind == "text" else f"{told['role']} {kind}"
        console.print(f"  {label}: {_short(str(said))}")


def _short(text: str, limit: int = 400) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
