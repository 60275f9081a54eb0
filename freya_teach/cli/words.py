"""What the commands share: parts of a message in words, text that is safe to print. (start)"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from freya_teach.llm.messages import Json


def fail(text: str) -> NoReturn:
    """End the command with 1 and this text."""
    typer.echo(printable(text), err=True)
    raise typer.Exit(1) from None


def said(part: dict[str, Json], limit: int = 400) -> str:
    """One part of a message in a reader's words; of a text that is empty, none."""
    match part:
        case {"role": "tool", "call_id": call_id, "text": text, "is_error": failed}:
            words = f" {'fails' if failed else 'answers'} {short(call_id)}: {short(text, limit)}"
        case {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}:
            words = (
                f" calls {short(name)}({short(arguments, limit)})  id {short(call_id) or 'none'}"
            )
        case {"type": "image", "url": url}:
            words = f" image: {short(url)}"
        case {"type": "image", "media_type": media_type, "bytes": size, "sha256": digest}:
            words = f" image: {short(media_type)}, {size} bytes, SHA-256 {digest[:12]}…"
        case {"type": "opaque", "kind": kind}:
            words = f" part of the kind {short(kind)}, kept as it is"
        case {"type": "reasoning", "text": text}:
            words = f" thinks: {short(text, limit) or '(not readable)'}"
        case {"text": text}:
            words = f": {short(text, limit)}" if text else ""
    return words


def short(text: str, limit: int = 400) -> str:
    """The beginning of a long text, its further lines under the first."""
    text = printable(text).replace("\n", "\n    ")
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def printable(text: str) -> str:
    """The text without what would move the cursor or colour the terminal."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
