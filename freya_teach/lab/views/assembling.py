"""The stream assembler at work: event by event, into which buffer does each piece go? (chapter 4.2)

    lab.view.assembler(body)                        bytes, or a list of the network's pieces
    lab.view.assembler(chunks, wire="gemini")       the events, parsed
    lab.view.assembler(body, tools=["calculate"])   the names of the tools that were declared

Above stands the event as it came, and what it adds; below it a buffer for each call, and the text
so far. The last step is the end of the body: the finished message, or the error in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from freya_teach.lab import show
from freya_teach.lab.understand import message_as_json
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.drawing import ROW
from freya_teach.lab.views.pieces import Body, Moment, moments, quoted, state_of
from freya_teach.lab.views.view import Picture, View
from freya_teach.lab.views.words import cut, wrap
from freya_teach.llm.messages import ToolCall
from freya_teach.llm.protocol import Reply

WIDTH, LEFT, TOP = 888, 22, 40
COLUMNS = drawing.fits(WIDTH - 2 * LEFT)
EVENT_LINES, BUFFER_LINES, MESSAGE_LINES = 3, 2, 24
SIGNS = {
    "empty": "·",
    "not JSON yet": "…",
    "not JSON": "✗",
    "JSON, but no object": "!",
    "a JSON object": "✓",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A frame with a badge, a remark on its right, and lines in it."""

    tone: palette.Tone
    badge: str
    lines: tuple[str, ...]
    remark: str = ""
    is_new: bool = False


def assembler(body: Body, wire: str = "openai", tools: Iterable[str] = ()) -> View[Moment]:
    """Watch an answer being put together; the last step is shown first, as it holds the result.

    Raises `ValueError` for a wire that there is not; a fault of the body is its last step.
    """
    found = moments(body, wire, tools)
    return View(found, draw, step=len(found))


def draw(moment: Moment) -> Picture:
    """An event, what it adds, and the buffers behind it; at the end, what came of them."""
    parts, y = [drawing.heading((14, 25), _headline(moment))], float(TOP)
    for block in _blocks(moment):
        height = 36 + ROW * len(block.lines)
        parts += _block(block, y, height)
        y += height + 6
    svg = drawing.svg((WIDTH, y + 4), "The stream assembler", _headline(moment), parts)
    return Picture(svg, tell(moment))


def tell(moment: Moment) -> str:
    """The same in words."""
    lines = [_headline(moment)]
    for block in _blocks(moment):
        lines.append(f"[{block.badge}] {block.remark}".rstrip())
        lines += [f"    {line}" for line in block.lines]
    return "\n".join(lines)


def _headline(moment: Moment) -> str:
    if moment.is_end:
        events = "1 event" if moment.number == 1 else f"{moment.number} events"
        return f"The stream assembler: the end, after {events}"
    return f"The stream assembler: event {moment.number} of {moment.total}"


def _blocks(moment: Moment) -> Iterator[Block]:
    if not moment.is_end:
        yield Block(palette.HARNESS, "event", tuple(wrap(moment.event, COLUMNS, EVENT_LINES)))
        added = moment.added or ("nothing",)
        yield Block(palette.HARNESS, "adds", tuple(cut(line, COLUMNS) for line in added))
    for place, call in enumerate(moment.message.tool_calls):
        yield _buffer(place, call, moment)
    if moment.message.text:
        lines = wrap(quoted(moment.message.text), COLUMNS, BUFFER_LINES)
        yield Block(palette.MODEL, "text", tuple(lines))
    if moment.reply:
        yield _finished(moment.reply)
    if moment.error:
        text = f"{type(moment.error).__name__}: {moment.error}"
        lines = [*wrap(text, COLUMNS, MESSAGE_LINES), *_lost(moment)]
        yield Block(palette.STOP, "no message", tuple(lines))


def _buffer(place: int, call: ToolCall, moment: Moment) -> Block:
    """What is known of one call by now."""
    is_new, state = place in moment.touched, state_of(call.arguments, final=moment.is_end)
    known = cut(f"id {quoted(call.id)}, name {quoted(call.name)}", COLUMNS)
    lines = wrap(f"arguments {call.arguments}", COLUMNS, BUFFER_LINES)
    remark = f"{'changed · ' if is_new else ''}arguments: {state} {SIGNS[state]}"
    return Block(palette.TOOLS, f"call {place + 1}", (known, *lines), remark, is_new)


def _finished(reply: Reply) -> Block:
    message = show.packet(message_as_json(reply.message), width=COLUMNS)
    raw = quoted(reply.raw_finish_reason)
    remark = cut(f"finish reason {reply.finish_reason}, on the wire {raw}", COLUMNS - 12)
    return Block(palette.MODEL, "message", tuple(wrap(message, COLUMNS, MESSAGE_LINES)), remark)


def _lost(moment: Moment) -> Iterator[str]:
    if calls := len(moment.message.tool_calls):
        yield f"{'1 call is' if calls == 1 else f'{calls} calls are'} not run."


def _block(block: Block, y: float, height: float) -> Iterator[str]:
    thick = 3 if block.is_new else 1
    ground = block.tone.pale if block.is_new else palette.CARD
    yield drawing.rect((8, y, WIDTH - 16, height), ground, block.tone.strong, thick=thick)
    yield drawing.badge((16, y + 6), block.badge, block.tone)
    if block.remark:
        place = (WIDTH - LEFT, y + 19)
        yield drawing.text(place, block.remark, block.tone.strong, bold=True, anchor="end")
    yield drawing.paragraph((LEFT, y + 28), block.lines)
