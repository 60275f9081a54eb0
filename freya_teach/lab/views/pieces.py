"""A streamed answer event by event: what each one adds to which part of the reply. (chapter 4.2)

Nothing is understood here. The kernel's decoder cuts the events, its adapter reads them, its
assembler puts them together; after each event we look at the reply that it would make by then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from freya_teach.errors import BadResponse, LLMError
from freya_teach.lab.understand import ADAPTERS
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.messages import AssistantMessage, Json, ToolCall
from freya_teach.llm.protocol import Adapter, Delta, FinishDelta, Reply, UsageDelta
from freya_teach.llm.sse import ChunkDecoder, parse_json
from freya_teach.llm.wirejson import encode

Event = dict[str, Json]
Body = bytes | Iterable[bytes | Event]
"""A body: whole, in the pieces that the network made of it, or as its events, parsed."""
NO_CALL = ToolCall("", "", "")


@dataclass(frozen=True, slots=True)
class Moment:
    """The reply as it stands behind one event; behind the last one, what became of it."""

    number: int
    total: int
    event: str
    added: tuple[str, ...]
    touched: frozenset[int]
    """The calls, counted from 0, that this event began or changed."""
    message: AssistantMessage
    reply: Reply | None = None
    error: LLMError | None = None

    @property
    def is_end(self) -> bool:
        """Whether nothing comes after this."""
        return self.reply is not None or self.error is not None


def moments(body: Body, wire: str, tools: Iterable[str]) -> tuple[Moment, ...]:
    """Every event of a body, and its end. Raises `ValueError` for a wire that there is not."""
    if wire not in ADAPTERS:
        raise ValueError(f"There is no wire {wire!r}: {' or '.join(map(repr, ADAPTERS))}.")
    assembler = Assembler(frozenset(tools))
    events, complete, failure = _cut(body)
    found: list[Moment] = []
    for number, (event, last) in enumerate(zip(events, [{}, *events], strict=False), 1):
        before = _so_far(assembler)
        deltas, refused = _take(event, ADAPTERS[wire], assembler)
        after = _so_far(assembler)
        touched = frozenset(_touched(before, after))
        added = tuple(_added(before, after, touched, deltas))
        found.append(Moment(number, len(events), folded(event, last), added, touched, after))
        if refused:  # an error inside a 200: what follows is not read
            failure = refused
            break
    return (*found, _end(assembler, len(found), complete=complete, failure=failure))


def folded(event: Event, last: Event) -> str:
    """The event as JSON; of what was the same in the last one, only the names.

    >>> folded({"id": "x1", "choices": [2]}, {"id": "x1", "choices": [1]})
    '{"choices":[2]} and as before: id'
    """
    same = [name for name in event if name in last and event[name] == last[name]]
    news = {name: value for name, value in event.items() if name not in same}
    return encode(news).decode() + (f" and as before: {', '.join(same)}" if same else "")


def _cut(body: Body) -> tuple[list[Event], bool, LLMError | None]:
    """The events, whether the body claims to be complete, and what the decoder raised."""
    pieces = [body] if isinstance(body, bytes) else list(body)
    if parsed := [piece for piece in pieces if isinstance(piece, dict)]:
        return parsed, False, None
    decoder, events = ChunkDecoder(), list[Event]()
    try:
        for piece in (piece for piece in pieces if isinstance(piece, bytes)):
            events += decoder.feed(piece)
        events += decoder.end()
    except LLMError as problem:
        return events, False, problem
    return events, decoder.finished, None


def _take(
    event: Event, adapter: Adapter, assembler: Assembler
) -> tuple[list[Delta], LLMError | None]:
    """What the event says, handed on to the assembler, and the error that it is, if it is one."""
    deltas: list[Delta] = []
    try:
        for delta in adapter.parse_chunk(event):
            assembler.add(delta)
            deltas.append(delta)
    except LLMError as problem:
        return deltas, problem
    return deltas, None


def _so_far(assembler: Assembler) -> AssistantMessage:
    """The message that would come of it if the stream ended here."""
    try:
        return assembler.finish(complete=True).message
    except BadResponse:  # nothing is there yet
        return AssistantMessage(())


def _end(assembler: Assembler, total: int, *, complete: bool, failure: LLMError | None) -> Moment:
    """The finished reply, or the error that takes its place."""
    reply = None
    message = _so_far(assembler)
    if failure is None:
        try:
            reply = assembler.finish(complete=complete)
        except LLMError as problem:
            failure = problem
    return Moment(total, total, "", (), frozenset(), message, reply, failure)


def _touched(before: AssistantMessage, after: AssistantMessage) -> Iterator[int]:
    for place, call in enumerate(after.tool_calls):
        if place >= len(before.tool_calls) or call != before.tool_calls[place]:
            yield place


def _added(
    before: AssistantMessage, after: AssistantMessage, touched: Iterable[int], deltas: list[Delta]
) -> Iterator[str]:
    """What is there now and was not before, in words."""
    for name in ("reasoning", "text"):
        if new := getattr(after, name)[len(getattr(before, name)) :]:
            yield f"{name}: + {quoted(new)}"
    for place in sorted(touched):
        is_new = place >= len(before.tool_calls)
        old = NO_CALL if is_new else before.tool_calls[place]
        yield f"call {place + 1}: {_call_added(old, after.tool_calls[place], is_new=is_new)}"
    for delta in deltas:
        if isinstance(delta, FinishDelta):
            yield f"finish reason: {quoted(delta.raw)}"
        elif isinstance(delta, UsageDelta):
            yield f"usage: {delta.usage.total_tokens:,} tokens"


def _call_added(old: ToolCall, call: ToolCall, *, is_new: bool) -> str:
    told = ["begins"] if is_new else []
    told += [
        f"{name} + {quoted(new)}"
        for name in ("id", "name", "arguments")
        if (new := getattr(call, name)[len(getattr(old, name)) :])
    ]
    return ", ".join(told) or "a note of the provider"


def quoted(text: str) -> str:
    """A text as JSON writes it, so that its quotation marks and line breaks are seen."""
    return json.dumps(text, ensure_ascii=False)


def state_of(arguments: str, *, final: bool) -> str:
    """What the arguments are by now, or in the end: an object, other JSON, no JSON, or nothing."""
    if not arguments.strip():
        return "empty"
    try:
        value = parse_json(arguments.encode("utf-8", "replace"))
    except BadResponse:
        return "not JSON" if final else "not JSON yet"
    return "a JSON object" if isinstance(value, dict) else "JSON, but no object"
