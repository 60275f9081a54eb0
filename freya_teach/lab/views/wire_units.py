"""One history, taken apart on both wires: which piece comes from which message. (chapter 5.2)

The bodies are what the kernel's adapters would send, read back from their bytes. The adapters
keep the order, so walking along a body and the history at once finds what belongs together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from freya_teach.lab.views.wire_fields import MOST_COLUMNS, ROLE_NOTES, field, lines_of
from freya_teach.lab.views.wire_pieces import Labels, Line, Piece, Unit
from freya_teach.lab.views.words import cut
from freya_teach.llm.messages import (
    AssistantMessage,
    AssistantPart,
    Json,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    UserPart,
)
from freya_teach.llm.wirejson import as_dict, as_list

# ---- the neutral column --------------------------------------------------------------------


def neutral_units(labels: Labels) -> Iterator[Unit]:
    """Each message as the harness keeps it."""
    for number, message in enumerate(labels.messages):
        title = Line(f"message {number}: {message.role}")
        yield Unit(title, tuple(_neutral_pieces(number, message, labels)))


def _neutral_pieces(number: int, message: Message, labels: Labels) -> Iterator[Piece]:
    """What was said, and then a piece for each call; a result is one piece."""
    if isinstance(message, ToolMessage):
        fields: dict[str, Json] = {"call_id": message.call_id, "text": message.text}
        told = fields | ({"is_error": True} if message.is_error else {})
        yield Piece((number,), labels.letter(message.call_id), tuple(lines_of("neutral", told)))
    elif isinstance(message, UserMessage | AssistantMessage):
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        said = [_neutral_part(part) for part in message.parts if not isinstance(part, ToolCall)]
        if said or not calls:
            yield Piece((number,), "", tuple(said))
        for call in calls:
            yield _neutral_call(number, labels.letter(call.id), call)
    else:
        yield Piece((number,), "", tuple(lines_of("neutral", {"text": message.text})))


def _neutral_part(part: object) -> Line:
    match part:
        case TextPart(text):
            return Line(field("text", text))
        case ReasoningPart(text):
            return Line(field("reasoning", text))
        case _:
            return Line(cut(f"a part of type {type(part).__name__}", MOST_COLUMNS))


def _neutral_call(number: int, letter: str, call: ToolCall) -> Piece:
    fields = {"id": call.id, "name": call.name, "arguments": call.arguments}
    signature = call.provider_data.data.get("signature")
    if signature:
        fields["signature"] = signature
    return Piece((number,), letter, (Line("call"), *lines_of("neutral", fields, "  ")))


# ---- OpenAI's column -----------------------------------------------------------------------


def openai_units(body: Json, labels: Labels) -> Iterator[Unit]:
    """Each message of the body; system messages at the start may have become one."""
    messages = [as_dict(each) for each in as_list(as_dict(body).get("messages"))]
    joined = len(labels.messages) - len(messages)
    letters = iter([letter for _, letter, _ in labels.calls])
    for place, message in enumerate(messages):
        number = place + joined
        numbers = tuple(range(number + 1)) if place == 0 else (number,)
        role = str(message.get("role"))
        title = Line(f'messages[{place}] role "{role}"', ROLE_NOTES.get(f"openai {role}", ""))
        others = {key: each for key, each in message.items() if key not in ("role", "tool_calls")}
        calls = enumerate(as_list(message.get("tool_calls")))
        letter = labels.letter(message["tool_call_id"]) if role == "tool" else ""
        yield Unit(
            title,
            (
                Piece(numbers, letter, tuple(lines_of("openai", others))),
                *(_wire_call(number, next(letters), n, call) for n, call in calls),
            ),
        )


def _wire_call(number: int, letter: str, place: int, call: Json) -> Piece:
    head = Line(f"tool_calls[{place}]")
    return Piece((number,), letter, (head, *lines_of("openai", call, "  ")))


# ---- Gemini's column -----------------------------------------------------------------------


def gemini_units(body: Json, labels: Labels) -> Iterator[Unit]:
    """The system instruction, and each content with the messages whose parts it holds."""
    leading = _leading_system(labels.messages)
    if "systemInstruction" in as_dict(body):
        yield _instruction(body["systemInstruction"], leading)
    finder = _Finder(labels, [number for number, _ in leading])
    for place, content in enumerate(map(as_dict, as_list(as_dict(body).get("contents")))):
        parts = [as_dict(part) for part in as_list(content.get("parts"))]
        role = str(content.get("role"))
        kind = "results" if any("functionResponse" in part for part in parts) else role
        title = Line(f'contents[{place}] role "{role}"', ROLE_NOTES.get(f"gemini {kind}", ""))
        yield Unit(title, tuple(finder.piece(n, part) for n, part in enumerate(parts)))


def _leading_system(messages: Iterable[Message]) -> list[tuple[int, str]]:
    found = []
    for number, message in enumerate(messages):
        if message.role != "system":
            break
        found.append((number, message.text))
    return found


def _instruction(instruction: Json, leading: list[tuple[int, str]]) -> Unit:
    numbers = [number for number, text in leading if text]
    pieces = [
        Piece((number,), "", tuple(lines_of("gemini", part)))
        for number, part in zip(numbers, as_list(as_dict(instruction).get("parts")), strict=True)
    ]
    return Unit(Line("systemInstruction", "≠ outside the list"), tuple(pieces))


class _Finder:
    """Finds the message that a part comes from: the adapter drops parts, but keeps their order.

    Results of one turn are put into the order of the calls, so they are counted by their call.
    """

    def __init__(self, labels: Labels, skipped: Iterable[int]) -> None:
        self.calls = iter([(number, letter) for number, letter, _ in labels.calls])
        self.results = iter([(labels.results[letter], letter) for _, letter, _ in labels.calls])
        self.said = list(_said(labels.messages, set(skipped)))

    def piece(self, place: int, part: dict[str, Json]) -> Piece:
        """The part as a piece, with its label."""
        lines = [Line(f"parts[{place}]"), *lines_of("gemini", part, "  ")]
        if "functionCall" in part:
            number, letter = next(self.calls)
            return Piece((number,), letter, tuple(lines))
        if "functionResponse" in part:
            number, letter = next(self.results)
            return Piece((number,), letter, tuple(lines))
        numbers = self._said_by(part.get("text"))
        if not numbers:
            lines[0] = Line(lines[0].text, "◆ added by the adapter")
        return Piece(numbers, "", tuple(lines))

    def _said_by(self, text: Json) -> tuple[int, ...]:
        """The next message with this text, or with something that is no text, if there is one."""
        for place, (number, said) in enumerate(self.said):
            if said == text:
                del self.said[: place + 1]
                return (number,)
        return ()


def _said(messages: Iterable[Message], skipped: set[int]) -> Iterator[tuple[int, str | None]]:
    """Every part that is sent and neither call nor result; None for what is no text."""
    for number, message in enumerate(messages):
        if isinstance(message, UserMessage | AssistantMessage):
            for part in message.parts:
                if not isinstance(part, ToolCall) and _is_sent(part):
                    yield number, getattr(part, "text", None)
        elif message.role == "system" and number not in skipped:
            yield number, message.text


def _is_sent(part: AssistantPart | UserPart) -> bool:
    """Gemini gets no empty texts, and no thoughts but those that it has signed."""
    match part:
        case TextPart(text, data):
            return bool(text or data.for_issuer("gemini").get("signature"))
        case ReasoningPart(_, data):
            return bool(data.for_issuer("gemini").get("signature"))
        case _:
            return True
