"""A stored conversation as JSON, as Markdown, or as a provider wants it. (chapter 6.3)

`json` holds everything and is our own form. `openai` and `gemini` are what a request would carry:
what only another provider understands is not in them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import assert_never

from freya_teach.cli.sessions import Format
from freya_teach.config import MODELS
from freya_teach.lab.understand import message_as_json
from freya_teach.llm import gemini, openai, transcript
from freya_teach.llm.messages import Json, Message
from freya_teach.llm.protocol import ModelRequest, Route
from freya_teach.session.disk import Disk
from freya_teach.session.lines import Reading
from freya_teach.session.message_json import message_to_json
from freya_teach.session.models import FORMAT

SAID_BY_NOBODY = (gemini.start_with_user, gemini.end_with_user)
"""Steps that add words of their own, which a request needs and an export does not."""


def exported(reading: Reading, session_id: str, form: Format) -> str:
    """The conversation in this form. Raises `UnsupportedContent` for what a provider cannot take.

    Calls that a crash has left without a result get one for a provider, as the next run does it.
    """
    messages = reading.contents.messages
    match form:
        case Format.JSON:
            return _as_text(_everything(reading, session_id))
        case Format.MARKDOWN:
            return _markdown(reading, session_id)
        case Format.OPENAI:
            return _as_text({"messages": _body("openai", reading)["messages"]})
        case Format.GEMINI:
            body = _body("gemini", reading) if messages else {"contents": []}
            names = ("systemInstruction", "contents")
            return _as_text({name: body[name] for name in names if name in body})
        case _:
            assert_never(form)


def write(path: Path, text: str, *, force: bool) -> None:
    """Write a file whole or not at all, readable for the user only. Raises `OSError`."""
    data = f"{text}\n".encode("utf-8", "replace")
    if force:
        Disk().replace(path, data)
        return
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        try:
            file.write(data)
            file.flush()
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise


def _as_text(value: Json) -> str:
    return json.dumps(value, indent=2)  # ASCII: any terminal, any file takes it


def _everything(reading: Reading, session_id: str) -> dict[str, Json]:
    info = reading.contents.info(session_id, reading.size)._asdict()
    del info["bytes"], info["problem"]
    return {
        "v": FORMAT,
        **info,
        "first": reading.contents.first,
        "revision": reading.contents.revision,
        "messages": [message_to_json(message) for message in reading.contents.messages],
    }


def _body(provider: str, reading: Reading) -> dict[str, Json]:
    """The body of a request with these messages, to the model that answered last."""
    asked, _, model = reading.contents.state.model.partition("/")
    route = Route(provider, model if asked == provider else MODELS[provider], "")
    messages = reading.contents.messages
    request = ModelRequest((*messages, *transcript.close_open_calls(messages)))
    if provider == "openai":
        sent = openai.build_request(request, route)
    else:
        steps = [step for step in gemini.STEPS if step.apply not in SAID_BY_NOBODY]
        sent = gemini.build_request(request, route, steps)
    body: dict[str, Json] = json.loads(sent.body)
    return body


# ---- Markdown --------------------------------------------------------------------------------


def _markdown(reading: Reading, session_id: str) -> str:
    info = reading.contents.info(session_id, reading.size)
    about = [f"{info.messages:,} messages", *([info.model] if info.model else [])]
    title = " ".join(info.title.split()) or session_id
    blocks = [f"# {title}", f"{session_id}, {', '.join(about)}, last changed {info.updated}"]
    blocks += _blocks(reading.contents.messages, reading.contents.first)
    return "\n\n".join(blocks)


def _blocks(messages: Sequence[Message], first: int) -> list[str]:
    """A heading for each message, and its parts below it."""
    blocks = []
    for number, message in enumerate(messages, start=first):
        told = message_as_json(message)
        blocks.append(f"## {number} · {told['role']}")
        blocks += [block for part in told.get("parts", [told]) if (block := _block(part))]
    return blocks


def _block(part: dict[str, Json]) -> str:
    """One part. What is data stands in a fence; what somebody wrote is Markdown already."""
    match part:
        case {"role": "tool", "call_id": call_id, "text": text, "is_error": failed}:
            block = f"{'Error' if failed else 'Result'} for `{call_id}`:\n\n{_fenced(text)}"
        case {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}:
            block = f"Calls `{name}` (`{call_id}`):\n\n{_fenced(arguments, 'json')}"
        case {"type": "image", "url": url}:
            block = f"Image: <{url}>"
        case {"type": "image", "media_type": media_type, "bytes": size}:
            block = f"Image: {media_type}, {size:,} bytes"
        case {"type": "opaque", "kind": kind}:
            block = f"Part of the kind `{kind}`"
        case {"type": "reasoning", "text": text} if text:
            block = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        case {"text": text}:
            block = text
    return block


def _fenced(text: str, language: str = "") -> str:
    """The text in a fence that nothing in it can close."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
