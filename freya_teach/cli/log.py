"""`freya-teach log`: the last exchange with a model, as it went over the wire. (chapter 3.4)"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freya_teach.cli.words import fail, printable, said, short

if TYPE_CHECKING:
    from freya_teach.llm.messages import Json

NOT_SET = (
    "No log folder is named: give one with --dir, or set FREYA_LOG_DIR before your program runs, "
    "for example FREYA_LOG_DIR=~/.freya-teach/log"
)
NO_REPLY = "no reply is in the log: the program is still waiting, was ended, or could not write it"
MOST = 1_000
"""Characters of a message that are shown; `--json` has everything."""


def log(
    folder: Annotated[
        Path | None, typer.Option("--dir", help="The log's folder; otherwise FREYA_LOG_DIR.")
    ] = None,
    count: Annotated[
        int, typer.Option("-n", min=1, help="How many exchanges, the latest ones.")
    ] = 1,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show the last exchange in the request log: the prompt in full, and what came back."""
    from freya_teach.config import Settings
    from freya_teach.errors import ConfigError

    try:
        place = folder.expanduser() if folder else Settings.from_env().log_dir
    except ConfigError as problem:
        fail(str(problem))
    if place is None:
        fail(NOT_SET)
    exchanges = _latest(place, count)
    if not exchanges:
        fail(f"{place} holds no exchange yet. Run an agent with FREYA_LOG_DIR set to it.")
    for exchange in exchanges:
        if as_json:
            print(json.dumps(exchange))  # ASCII: any terminal, any file takes it
        else:
            print(printable("\n".join(told(exchange))))


def _latest(folder: Path, count: int) -> list[dict[str, Json]]:
    """The last exchanges in order of time; files of earlier days are read when they are needed."""
    from freya_teach.llm.request_log import read_log

    found: list[dict[str, Json]] = []
    if not folder.is_dir():
        fail(f"There is no folder {folder}. Run an agent with FREYA_LOG_DIR set to it first.")
    try:
        for path in sorted(folder.glob("llm-*.jsonl"), reverse=True):
            found = [*read_log(path), *found]
            if len(found) >= count:
                break
    except OSError as problem:
        fail(f"The log in {folder} cannot be read: {problem.strerror or problem}")
    return found[-count:]


def told(exchange: dict[str, Json]) -> list[str]:
    """One exchange for a reader."""
    from freya_teach.lab.understand import (
        answer_as_json,
        as_json,
        exchange_from_log,
        understand,
    )

    sent, reply = exchange["request"], exchange["reply"] or {}
    found = exchange_from_log(str(exchange["id"]), exchange)
    understood = understand(found)
    facts = as_json(understood)
    lines = [
        f"── {exchange['time']}  {exchange['id']}",
        f"→ {sent.get('method', 'a request that the log has lost')} {found.url}",
        f"Model: {_model(sent)}",
    ]
    for message in facts["messages"]:
        lines += _message(message)
    tools = [tool.name for tool in understood.request.tools]
    lines += [f"Tools: {', '.join(tools) or 'none'}", ""]
    if exchange["reply"] is None:
        return [*lines, f"← {NO_REPLY}", ""]
    return [*lines, *_reply(reply, facts, answer_as_json(understood)), ""]


def _model(sent: dict[str, Json]) -> str:
    """OpenAI's wire names it in the body, Gemini's in the address."""
    in_url = re.search(r"/models/([^/:?]+)", str(sent.get("url", "")))
    body = sent.get("body")
    named = body.get("model") if isinstance(body, dict) else None
    return str(named or (in_url[1] if in_url else "not named"))


def _message(message: dict[str, Json]) -> list[str]:
    """A message as a line for each part; the system prompt in full, it is what one looks for."""
    if message["role"] == "system":
        return [f"  system, {len(message['text']):,} characters:", _indented(message["text"])]
    words = [said(part, MOST) for part in message.get("parts", [message])]
    return [f"  {message['role']}{each}" for each in words if each]


def _reply(
    reply: dict[str, Json], told: dict[str, Json], answer: dict[str, Json] | None
) -> list[str]:
    """What came back, or what went wrong."""
    seconds = f"{reply.get('seconds', 0)} s"
    lines = [f"← HTTP {reply.get('status') or 'none: no answer came'}, {seconds}"]
    if reply.get("error"):
        lines.append(f"Error: {reply['error']}")
    if answer:
        lines += _message(answer)
        lines.append(f"Finish reason: {told['finish_reason']}")
    elif body := reply.get("body"):
        lines.append(f"  body: {short(str(body), MOST)}")
    usage = told["usage"]
    if usage["total_tokens"]:
        total = usage["total_tokens"]
        lines.append(f"Tokens: {usage['input_tokens']} in + {usage['output_tokens']} out = {total}")
    return lines


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
