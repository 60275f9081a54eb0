"""`freya-teach inspect`: what the kernel understands of an exchange of your own. (chapter 4.2)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from freya_teach.llm.messages import Json


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
    from freya_teach.lab.understand import answer_as_json, understand
    from freya_teach.lab.understand import as_json as to_json

    console = Console(highlight=False, markup=False, soft_wrap=True)
    unreadable = False
    for found in read_files(files):
        if isinstance(found, UnreadableFile):
            typer.echo(_printable(str(found)), err=True)
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
    console.print(f"── {_printable(told['file'])}", style="cyan")
    if told["wire"]:
        console.print(f"Wire: {told['wire']}")
    for message in told["messages"]:
        _tell_message(console, message)
    if told["note"]:
        console.print(f"Note: {told['note']}", style="yellow")
    if error := told["error"]:
        console.print(f"Error ({error['kind']}): {_short(error['message'])}", style="bold red")
    if answer:
        reason = f"finish reason {told['finish_reason']}"
        raw = told["raw_finish_reason"]
        reason += f" (the server wrote {_printable(raw)!r})" if raw else " (the server gave none)"
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
        if said := _said(part):
            console.print(f"  {message['role']}{said}")


def _said(part: dict[str, Json]) -> str:
    """One part of a message in a reader's words; of a text that is empty, none."""
    match part:
        case {"role": "tool", "call_id": call_id, "text": text, "is_error": failed}:
            said = f" {'fails' if failed else 'answers'} {_short(call_id)}: {_short(text)}"
        case {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}:
            said = f" calls {_short(name)}({_short(arguments)})  id {_short(call_id) or 'none'}"
        case {"type": "image", "url": url}:
            said = f" image: {_short(url)}"
        case {"type": "image", "media_type": media_type, "bytes": size, "sha256": digest}:
            said = f" image: {_short(media_type)}, {size} bytes, SHA-256 {digest[:12]}…"
        case {"type": "opaque", "kind": kind}:
            said = f" part of the kind {_short(kind)}, kept as it is"
        case {"type": "reasoning", "text": text}:
            said = f" thinks: {_short(text) or '(not readable)'}"
        case {"text": text}:
            said = f": {_short(text)}" if text else ""
    return said


def _short(text: str, limit: int = 400) -> str:
    """The beginning of a long text, its further lines under the first."""
    text = _printable(text).replace("\n", "\n    ")
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def _printable(text: str) -> str:
    """The text without what would move the cursor or colour the terminal."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
