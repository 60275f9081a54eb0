"""Section 7.4: repair the loop, find faults, build what cannot fit. (chapter 7.4)"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from freya_teach.agent.compaction import Compaction
from freya_teach.agent.history import InMemoryHistory
from freya_teach.config import Settings
from freya_teach.context.room import Room
from freya_teach.errors import ContextOverflowError, ServerFailed, TranscriptError
from freya_teach.events import Event
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.llm import transcript
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    user,
)
from freya_teach.llm.protocol import Delta, Exchange, ModelRequest
from freya_teach.llm.request_tokens import RememberingCounter
from freya_teach.llm.tokens import CalibratedCounter

# ---- 7.4-a, repair: no loop around a model ----------------------------------------------------

Summarise = Callable[[Sequence[Message]], Awaitable[str]]
LIMIT, SHORT, LONG = 100, "A short summary.", "A summary that does not end. " * 40


def chars(message: Message) -> int:
    """A size that anybody can check: ten characters are a token."""
    return len(getattr(message, "text", "")) // 10


@dataclass
class Writer:
    """A summariser that writes this text, or fails, and counts how often it is asked."""

    text: str | None
    given: list[tuple[Message, ...]] = field(default_factory=list)

    async def write(self, messages: Sequence[Message]) -> str:
        """Write the summary. Raises `RuntimeError` when there is none."""
        self.given.append(tuple(messages))
        if len(self.given) > 20:
            raise RuntimeError("asked more than twenty times")
        if self.text is None:
            raise RuntimeError("the model is busy")
        return self.text


def notes(count: int) -> list[Message]:
    """So many notes of ten tokens each, and a short request."""
    return [*(user(f"Note {i:3}. ".ljust(100, "n")) for i in range(count)), user("When?")]


async def check_make_room(make_room: Answer) -> None:
    """Try it with writers that write well, badly and not at all."""
    left, writer = await _made(make_room, notes(5), SHORT)
    expect(left == notes(5), "five notes fit, and are to be left alone.", received=left)
    expect(not writer.given, "what fits needs no summary. A call was made all the same.")
    await _check_too_large(make_room)
    for text in (SHORT, "", " \n", LONG, None):
        await _check_over(make_room, text)


async def _check_over(make_room: Answer, text: str | None) -> None:
    told = {SHORT: "a good summary", LONG: "a summary that is too long", None: "no summary"}
    case = f"With {told.get(text, 'an empty summary')}: "
    left, writer = await _made(make_room, notes(30), text)
    calls = len(writer.given)
    expect(calls <= 1, f"{case}the model was asked {calls} times for one request.")
    expect(user("When?") in left, f"{case}the newest request is gone.")
    tokens = sum(map(chars, left))
    expect(tokens <= LIMIT, f"{case}it has {tokens:,} tokens, and {LIMIT} is the limit.")
    newest = any(user("When?") in given for given in writer.given)
    expect(not newest, f"{case}the newest request was given away to be summarised.")
    first = getattr(left[0], "text", "")
    if text == SHORT:
        expect(SHORT in first, f"{case}it does not stand first.", received=first)
    expect(first.strip(), f"{case}an empty message stands where the old ones were.")


async def _check_too_large(make_room: Answer) -> None:
    """The newest request alone is over the limit."""
    writer, messages = Writer(SHORT), [*notes(3)[:-1], user("x" * 2_000)]
    left, raised = await make_room.attempt(messages, LIMIT, chars, writer.write)
    if raised is None:
        raise NotYet(
            f"the newest request alone has 200 tokens, too many by {200 - LIMIT}. Nothing helps, "
            f"and nobody was told.\nReceived: {len(left)} messages"
        )
    expect(
        isinstance(raised.problem, ContextOverflowError),
        "raise ContextOverflowError when the newest request alone is too large.",
        received=type(raised.problem).__name__,
    )
    expect(not writer.given, "the model was asked for a summary that could not help.")


async def _made(
    make_room: Answer, messages: list[Message], text: str | None
) -> tuple[list[Message], Writer]:
    writer = Writer(text)
    left, raised = await make_room.attempt(messages, LIMIT, chars, writer.write)
    if raised is not None and isinstance(raised.problem, RuntimeError):
        raise NotYet("the summariser failed, and so did you. The user still wants an answer.")
    if raised is not None:
        raise raised
    expect(isinstance(left, list | tuple), "give back a list of messages.", received=left)
    return list(left), writer


async def make_room(
    messages: Sequence[Message],
    limit: int,
    size: Callable[[Message], int],
    summarise: Summarise,
) -> list[Message]:
    """One way to write it."""
    *old, request = messages
    if size(request) > limit:
        raise ContextOverflowError("the newest request alone is too large; nothing was sent")
    if sum(map(size, messages)) <= limit:
        return list(messages)
    try:
        text = await summarise(old)
    except RuntimeError:
        text = ""
    head = [user(text)] if text.strip() else []
    if sum(map(size, head)) + size(request) > limit:
        head = []
    while sum(map(size, [*head, *old, request])) > limit:
        old = old[1:]
    return [*head, *old, request]


async def make_room_stub(
    messages: Sequence[Message], limit: int, size: Callable[[Message], int], summarise: Summarise
) -> None:
    """As it stands in the notebook."""
    return None


async def make_room_loop(
    messages: Sequence[Message], limit: int, size: Callable[[Message], int], summarise: Summarise
) -> list[Message]:
    """Summarises for as long as it is too large."""
    if size(messages[-1]) > limit:
        raise ContextOverflowError("too large")
    kept = list(messages)
    for _ in range(6):
        if sum(map(size, kept)) <= limit:
            break
        kept = [user(await summarise(kept[:-1]) or LONG), kept[-1]]
    return kept


async def make_room_once(
    messages: Sequence[Message], limit: int, size: Callable[[Message], int], summarise: Summarise
) -> list[Message]:
    """One pass, and an empty summary is nothing to do: as the source."""
    if size(messages[-1]) > limit:
        raise ContextOverflowError("too large")
    if sum(map(size, messages)) <= limit:
        return list(messages)
    text = await summarise(messages[:-1])
    return [user(text), messages[-1]] if text.strip() else list(messages)


async def make_room_silent(
    messages: Sequence[Message], limit: int, size: Callable[[Message], int], summarise: Summarise
) -> list[Message]:
    """Says nothing when nothing helps."""
    kept = list(messages)
    while len(kept) > 1 and sum(map(size, kept)) > limit:
        kept = kept[1:]
    return kept


async def make_room_eager(
    messages: Sequence[Message], limit: int, size: Callable[[Message], int], summarise: Summarise
) -> list[Message]:
    """Asks for a summary whether it is needed or not."""
    text = await summarise(messages[:-1])
    if sum(map(size, messages)) <= limit:
        return list(messages)
    return [user(text), messages[-1]]


async def make_room_trusting(
    messages: Sequence[Message], limit: int, size: Callable[[Message], int], summarise: Summarise
) -> list[Message]:
    """Lets the summariser's failure through."""
    if size(messages[-1]) > limit:
        raise ContextOverflowError("too large")
    if sum(map(size, messages)) <= limit:
        return list(messages)
    text = (await summarise(messages[:-1]))[: limit * 5].strip()
    return [user(text), messages[-1]] if text else [messages[-1]]


# ---- 7.4-b, extend: a detector of faults ------------------------------------------------------

GOOD = (("Maya's train leaves at nine.", "stop", 8, 100), ("x", "stop", 100, 100))
BAD = (
    (("", "stop", 0, 100), "an empty text is no summary."),
    ((" \n", "stop", 1, 100), "a text of blanks is an empty one."),
    (("", "length", 0, 100), "an empty text is no summary."),
    (("Maya's train lea", "length", 4, 100), "it was cut off in the middle of a word."),
    (("I cannot", "content_filter", 2, 100), "the provider's filter has ended it."),
    (("word " * 120, "stop", 120, 100), "it has more tokens than it may have."),
)


async def check_fault(fault: Answer) -> None:
    """Hand it good summaries and bad ones."""
    for case in GOOD:
        found = await fault.call(*case)
        _check_text(found)
        expect(not found, f"fault{case!r}: there is nothing wrong with it.", received=found)
    for case, why in BAD:
        found = await fault.call(*case)
        _check_text(found)
        expect(found.strip(), f"fault({case[0][:20]!r}, {case[1]!r}, …): {why}", received=found)


def _check_text(found: Any) -> None:
    expect(isinstance(found, str), "give back a text (str), empty if all is well.", received=found)


def fault(text: str, finish_reason: str, tokens: int, allowed: int) -> str:
    """One way to write it."""
    if finish_reason != "stop":
        return f"it ended with {finish_reason!r}"
    if not text.strip():
        return "it is empty"
    return f"it has {tokens} tokens; {allowed} were allowed" if tokens > allowed else ""


def fault_stub(text: str, finish_reason: str, tokens: int, allowed: int) -> None:
    """As it stands in the notebook."""
    return None


def fault_empty_only(text: str, _finish_reason: str, _tokens: int, _allowed: int) -> str:
    """Looks for an empty text only."""
    return "" if text.strip() else "it is empty"


def fault_not_blank(text: str, finish_reason: str, tokens: int, allowed: int) -> str:
    """Takes blanks for a text."""
    return "" if text and finish_reason == "stop" and tokens <= allowed else "no good"


def fault_length_only(text: str, finish_reason: str, tokens: int, allowed: int) -> str:
    """Knows one bad end and not the others."""
    bad = finish_reason == "length" or not text.strip() or tokens > allowed
    return "no good" if bad else ""


def fault_any_size(text: str, finish_reason: str, _tokens: int, _allowed: int) -> str:
    """Does not look at the size."""
    return "" if text.strip() and finish_reason == "stop" else "no good"


def fault_strict(text: str, finish_reason: str, tokens: int, allowed: int) -> str:
    """Refuses what has just as many tokens as it may have."""
    return "" if text.strip() and finish_reason == "stop" and tokens < allowed else "no good"


def fault_bool(text: str, finish_reason: str, tokens: int, allowed: int) -> bool:
    """Says that something is wrong, and not what."""
    return bool(fault(text, finish_reason, tokens, allowed))


# ---- 7.4-c, attack: a conversation that cannot fit --------------------------------------------

ROOM = Room(window=1_000, answer=125, fixed=50, route="my-small-model")
MOST_CHARS, SHORT_REQUEST = 20_000, 100


class Busy:
    """A model that writes no summary, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request: ModelRequest, on_delta: Callable[[Delta], None]) -> Exchange:
        """Fail. Raises `ServerFailed`."""
        del request, on_delta
        self.asked += 1
        raise ServerFailed("busy")


async def check_cannot_fit(cannot_fit: Answer) -> None:
    """Let the kernel try to make it fit."""
    messages = await cannot_fit.call()
    _check_history(messages)
    history, model = InMemoryHistory(messages), Busy()
    compaction = Compaction(
        model,
        Settings.model_validate({}),
        "Summarise.",
        lambda: RememberingCounter(CalibratedCounter()),
    )
    try:
        await compaction.before_call(history, ROOM, _nobody)
    except ContextOverflowError:
        return
    raise NotYet(_how_it_was_done(history, messages))


def _check_history(messages: Any) -> None:
    kinds = (SystemMessage, UserMessage, AssistantMessage, ToolMessage)
    if not isinstance(messages, list) or not all(isinstance(each, kinds) for each in messages):
        raise NotYet(f"give back a list of messages.\nReceived: {str(messages)[:60]}")
    length = sum(map(_length, messages))
    expect(length <= MOST_CHARS, f"{MOST_CHARS:,} characters at most; yours has {length:,}.")
    requests = [each for each in messages if isinstance(each, UserMessage)]
    expect(requests, "there is no message of the user's in it. Somebody must have asked.")
    expect(
        len(requests[-1].text) <= SHORT_REQUEST,
        f"the user's newest message has {len(requests[-1].text):,} characters. That would do it, "
        f"and {SHORT_REQUEST} are allowed here. What else is never touched?",
    )
    expect(
        not isinstance(messages[0], SystemMessage) or len(messages[0].text) < SHORT_REQUEST,
        "the system prompt is not part of a conversation: keep it out.",
    )
    try:
        transcript.check(messages)
    except TranscriptError as problem:
        raise NotYet(f"no provider would take this history: {problem}") from None


def _length(message: Message) -> int:
    if isinstance(message, AssistantMessage):
        return len(message.text) + sum(len(call.arguments) for call in message.tool_calls)
    return len(message.text)


def _how_it_was_done(history: InMemoryHistory, messages: Sequence[Message]) -> str:
    """What the kernel did to make it fit."""
    results = [each for each in history.messages if isinstance(each, ToolMessage)]
    if not history.snapshots:
        return "it fits as it is. Make it larger."
    if any(each not in messages for each in results):
        return "it fits: a long result was shortened. What of a round is not a result?"
    return "it fits: old messages were dropped. What is in the newest round stays."


def _nobody(_: Event) -> None:
    """Watch nothing."""


def cannot_fit() -> list[Message]:
    """One way to do it: what the model wrote into its newest call stays as it is."""
    call = ToolCall("call_1", "write_file", '{"text": "' + "All the timetables. " * 400 + '"}')
    return [user("Copy the timetables."), assistant(call), ToolMessage("call_1", "Written.")]


def cannot_fit_stub() -> None:
    """As it stands in the notebook."""
    return None


def cannot_fit_old() -> list[Message]:
    """Large, but old."""
    return [user("All the timetables. " * 400), assistant("Noted."), user("When?")]


def cannot_fit_result() -> list[Message]:
    """A large result, which is shortened."""
    call = ToolCall("call_1", "read", "{}")
    result = ToolMessage("call_1", "All the timetables. " * 400)
    return [user("Read the timetables."), assistant(call), result]


def cannot_fit_request() -> list[Message]:
    """The request itself, which the task rules out."""
    return [user("All the timetables. " * 400)]


def cannot_fit_broken() -> list[Message]:
    """A call without a result."""
    call = ToolCall("call_1", "write_file", '{"text": "' + "All the timetables. " * 400 + '"}')
    return [user("Copy the timetables."), assistant(call)]


def cannot_fit_small() -> list[Message]:
    """Fits."""
    return [user("When?")]


def cannot_fit_too_much() -> list[Message]:
    """Too many characters."""
    return [user("All the timetables. " * 4_000), assistant("Noted."), user("When?")]


MAKE_ROOM_HINTS = (
    "Begin with what needs no model: is the newest request too large? Does everything fit?",
    """\
One `try` around one `await summarise(...)`; a failure is an empty text. Then look whether the
summary and the newest request fit together; if not, do without the summary.""",
    """\
At last, drop the oldest of the other messages, one by one, for as long as it is too large. That
loop ends: each step makes the list shorter.""",
)

FAULT_HINTS = (
    'Three questions: did it come to its end ("stop"), is there a text, and is it short enough?',
    '`text.strip()` is empty for blanks too. Whatever is not "stop" is no good end.',
    "As many tokens as allowed are still allowed: `tokens > allowed`.",
)

CANNOT_FIT_HINTS = (
    "Old turns are dropped, and results are shortened, the newest too. What is left of a round?",
    "A call and its result belong together, and a call's *arguments* are what the model wrote.",
    "A request, one call with arguments of 8,000 characters, and a short result.",
)

EXERCISES = (
    Exercise(
        id="7.4-a",
        title="One call at most, and an end that depends on no model.",
        name="make_room",
        check=check_make_room,
        hints=MAKE_ROOM_HINTS,
        solution=make_room,
        stub=make_room_stub,
        wrong=(
            Wrong(make_room_loop, "times for one request"),
            Wrong(make_room_once, "100 is the limit"),
            Wrong(make_room_silent, "and nobody was told"),
            Wrong(make_room_eager, "what fits needs no summary"),
            Wrong(make_room_trusting, "and so did you"),
        ),
    ),
    Exercise(
        id="7.4-b",
        title="A summary is used when it is whole, there, and short enough.",
        name="fault",
        check=check_fault,
        hints=FAULT_HINTS,
        solution=fault,
        stub=fault_stub,
        wrong=(
            Wrong(fault_empty_only, "in the middle of a word"),
            Wrong(fault_not_blank, "a text of blanks"),
            Wrong(fault_length_only, "filter has ended it"),
            Wrong(fault_any_size, "more tokens than it may have"),
            Wrong(fault_strict, "nothing wrong with it"),
            Wrong(fault_bool, "give back a text"),
        ),
    ),
    Exercise(
        id="7.4-c",
        title="What nobody may touch can be too large, and then somebody must say so.",
        name="cannot_fit",
        check=check_cannot_fit,
        hints=CANNOT_FIT_HINTS,
        solution=cannot_fit,
        stub=cannot_fit_stub,
        wrong=(
            Wrong(cannot_fit_old, "old messages were dropped"),
            Wrong(cannot_fit_result, "a long result was shortened"),
            Wrong(cannot_fit_request, "What else is never touched?"),
            Wrong(cannot_fit_broken, "no provider would take"),
            Wrong(cannot_fit_small, "Make it larger"),
            Wrong(cannot_fit_too_much, "characters at most"),
        ),
    ),
)
