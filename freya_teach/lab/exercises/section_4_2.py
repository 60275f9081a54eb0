"""Section 4.2: predict the buffers, repair an assembler, break another one. (chapter 4.2)"""

from __future__ import annotations

import json
from typing import Any

from freya_teach.errors import LLMError
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotDone, Raised, Wrong, expect
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.messages import Json
from freya_teach.llm.openai_reply import parse_chunk

TOOLS = frozenset({"read_file", "list_dir", "now"})
Event = dict[str, Json]
Called = tuple[str, dict[str, Json]]
"""The name of a tool, and its arguments."""


def piece(
    index: int | None = None,
    id: str = "",  # noqa: A002 - as the wire calls it
    name: str = "",
    arguments: str = "",
) -> Event:
    """An event with one piece of a call; what is not given is not in it."""
    said = {"name": name, "arguments": arguments}
    part: Event = {"function": {key: value for key, value in said.items() if value}}
    if id:
        part["id"] = id
    if index is not None:
        part["index"] = index
    return {"choices": [{"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": None}]}


def end(reason: str = "tool_calls") -> Event:
    """The event that closes an answer."""
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def by_kernel(events: list[Event]) -> list[tuple[str, str]]:
    """Name and arguments of each call, as the kernel assembles them. Raises `LLMError`."""
    assembler = Assembler(TOOLS)
    for event in events:
        for delta in parse_chunk(event):
            assembler.add(delta)
    calls = assembler.finish(complete=True).message.tool_calls
    return [(call.name, call.arguments) for call in calls]


# ---- 4.2-a: what is in the buffers by then? -------------------------------------------------

EVENTS = [
    piece(0, "a", "read_file", '{"path":'),
    piece(1, "b", "read_file", '{"path":'),
    piece(0, arguments='"notes'),
    piece(1, arguments='"config'),
    piece(0, "a", "read_file", '.txt"}'),
    piece(2, "c", "now"),
]
STEPS = (2, 4, 6)


async def check_buffers(given: Answer) -> None:
    """Each prediction is what the kernel's buffers hold after so many events."""
    predicted = given.value
    expect(isinstance(predicted, dict), "Keep it a dictionary.", received=predicted)
    if any(predicted.get(step) in (None, ...) for step in STEPS):
        raise NotDone("not done yet: some of the predictions are missing.")
    for step in STEPS:
        answer, right = predicted[step], [text for _, text in by_kernel(EVENTS[:step])]
        expect(
            isinstance(answer, list) and all(isinstance(text, str) for text in answer),
            f"after {step} events: give a list of strings. A buffer holds text until the stream is "
            "over; nothing is parsed before.",
            received=answer,
        )
        expect(
            len(answer) == len(right),
            f"after {step} events: count the calls that have begun. A call has a buffer from its "
            "first piece on, even when that piece brings no arguments.",
            received=answer,
        )
        expect(
            answer == right,
            f"after {step} events: a piece goes into the buffer that its label names, and not to "
            "the call that spoke last. It is appended as it is.",
            received=answer,
        )


BUFFERS = {
    2: ['{"path":', '{"path":'],
    4: ['{"path":"notes', '{"path":"config'],
    6: ['{"path":"notes.txt"}', '{"path":"config', ""],
}
BUFFERS_STUB = {2: None, 4: None, 6: None}
TO_THE_LATEST = {**BUFFERS, 4: ['{"path":', '{"path":"notes"config']}
WITHOUT_THE_EMPTY = {**BUFFERS, 6: ['{"path":"notes.txt"}', '{"path":"config']}
ALL_IN_ONE = {**BUFFERS, 2: ['{"path":{"path":']}
PARSED = {**BUFFERS, 6: [{"path": "notes.txt"}, '{"path":"config', ""]}


# ---- 4.2-b, repair: a piece finds its call --------------------------------------------------

NOTES: Called = ("read_file", {"path": "notes.txt"})
SOURCES: Called = ("list_dir", {"path": "src"})
IN_PIECES = [
    piece(0, "a", "read_file"),
    piece(0, arguments='{"path":'),
    piece(0, arguments='"notes.txt"}'),
    piece(1, "b", "list_dir"),
    piece(1, arguments='{"path":"src"}'),
]
USAGE: Event = {"choices": [], "usage": {"total_tokens": 90}}
CASES: tuple[tuple[str, list[Event], list[Called]], ...] = (
    ("as OpenAI sends it", [*IN_PIECES, end(), USAGE], [NOTES, SOURCES]),
    (
        "two calls interleaved, and only their first pieces have an id",
        [*(IN_PIECES[at] for at in (0, 3, 1, 4, 2)), end()],
        [NOTES, SOURCES],
    ),
    (
        "no piece has an index",
        [
            piece(None, "a", "read_file", '{"path":'),
            piece(None, arguments='"notes.txt"}'),
            piece(None, "b", "list_dir", '{"path":"src"}'),
            end(),
        ],
        [NOTES, SOURCES],
    ),
    (
        "every index is 0, and each call has an id of its own",
        [
            piece(0, "a", "read_file", '{"path":"notes.txt"}'),
            piece(0, "b", "list_dir", '{"path":"src"}'),
            end(),
        ],
        [NOTES, SOURCES],
    ),
    (
        "id and name are in every piece",
        [
            piece(0, "a", "read_file", '{"path":'),
            piece(0, "a", "read_file", '"notes.txt"}'),
            end(),
        ],
        [NOTES],
    ),
    ("a call without arguments", [piece(0, "a", "now"), end()], [("now", {})]),
)


async def check_assemble(assemble: Answer) -> None:
    """Six streams, each with one habit of a real server; the result is what was meant."""
    for habit, events, meant in CASES:
        received, raised = await assemble.attempt(events)
        expect(raised is None, f"{habit}: your function raises {_kind(raised)}.")
        expect(
            _as_calls(received) == meant,
            f"{habit}: this is not what the model meant. Look at how a piece finds its call, and "
            "at what is appended to it.",
            received=received,
        )


def _kind(raised: Raised | None) -> str:
    return type(raised.problem).__name__ if raised else ""


def _as_calls(received: Any) -> Any:
    """The learner's list, whether its entries are tuples or lists."""
    entries = received if isinstance(received, list | tuple) else []
    return [tuple(entry) if isinstance(entry, list) else entry for entry in entries]


def assemble(events: list[Event]) -> list[Called]:
    """One way to write it: by the id, else by the index, else the latest; a new id is new."""
    calls: list[dict[str, Any]] = []
    for event in events:
        for choice in event["choices"]:
            for part in choice["delta"].get("tool_calls", []):
                label, index = part.get("id"), part.get("index")
                mine = [call for call in calls if label and call["id"] == label]
                if not mine and not label:
                    mine = [call for call in calls if index in (None, call["index"])]
                if not mine:
                    mine = [{"id": label, "index": index, "name": "", "arguments": ""}]
                    calls += mine
                call, said = mine[-1], part["function"]
                call["name"] = call["name"] or said.get("name", "")
                call["arguments"] += said.get("arguments", "")
    return [(call["name"], json.loads(call["arguments"] or "{}")) for call in calls]


def assemble_stub(events: list[Event]) -> None:
    """As it stands in the notebook."""
    return None


def naive(events: list[Event]) -> list[Called]:
    """The first assembler of the notebook: by the index, and everything is appended."""
    calls: dict[int, dict[str, str]] = {}
    for event in events:
        for choice in event["choices"]:
            for part in choice["delta"].get("tool_calls", []):
                call = calls.setdefault(part["index"], {"name": "", "arguments": ""})
                for field in call:
                    call[field] += part["function"].get(field, "")
    return [(call["name"], json.loads(call["arguments"])) for call in calls.values()]


def by_latest_id(events: list[Event]) -> list[Called]:
    """The second one: by the id, and a piece without one belongs to the latest call."""
    calls: dict[str | None, dict[str, str]] = {}
    latest = None
    for event in events:
        for choice in event["choices"]:
            for part in choice["delta"].get("tool_calls", []):
                latest = part.get("id") or latest
                call = calls.setdefault(latest, {"name": "", "arguments": ""})
                call["name"] = call["name"] or part["function"].get("name", "")
                call["arguments"] += part["function"].get("arguments", "")
    return [(call["name"], json.loads(call["arguments"] or "{}")) for call in calls.values()]


def by_index_or_zero(events: list[Event]) -> list[Called]:
    """Takes a missing index for 0, which merges what has nothing to do with each other."""
    filled = json.loads(json.dumps(events))
    for event in filled:
        for choice in event["choices"]:
            for part in choice["delta"].get("tool_calls", []):
                part.setdefault("index", 0)
    return naive(filled)


def without_empty(events: list[Event]) -> list[Called]:
    """Right but for the call without arguments, which it leaves out."""
    return [(name, arguments) for name, arguments in assemble(events) if arguments]


# ---- 4.2-c, attack: a stream that the second one gets wrong ---------------------------------

WANTED: list[Called] = [NOTES, ("read_file", {"path": "config.json"})]
MOST_EVENTS = 40


async def check_hostile(hostile: Answer) -> None:
    """The kernel reads the two calls from it, the second assembler of the notebook does not."""
    events = await hostile.call()
    expect(
        isinstance(events, list) and all(isinstance(event, dict) for event in events),
        "give back a list of events, as `piece` makes them.",
        received=events,
    )
    expect(0 < len(events) <= MOST_EVENTS, f"1 to {MOST_EVENTS} events will do.")
    try:
        whole = json.loads(json.dumps([*events, end()]))
    except (TypeError, ValueError):
        expect(holds=False, hint="an event has to be JSON: it is to come over a wire.")
    read = _kernel_reads(whole)
    expect(
        read == WANTED,
        "the kernel does not find the two calls in it either. The stream may be odd, but it has to "
        "say which piece belongs to which call.",
        received=read,
    )
    expect(
        _second_reads(whole) != WANTED,
        "`by_latest_id` reads it without a fault. What does it take for granted: about pieces "
        "without an id? about names? about arguments?",
    )


def _kernel_reads(events: list[Event]) -> Any:
    try:
        return [(name, json.loads(arguments or "{}")) for name, arguments in by_kernel(events)]
    except (LLMError, ValueError) as problem:
        return type(problem).__name__


def _second_reads(events: list[Event]) -> Any:
    try:
        return by_latest_id(events)
    except Exception as problem:  # noqa: BLE001 - to break it in any way is what is asked for
        return type(problem).__name__


def hostile() -> list[Event]:
    """One way to do it: the pieces take turns, and only the index says whose they are."""
    return [
        piece(0, "a", "read_file", '{"path":'),
        piece(1, "b", "read_file", '{"path":'),
        piece(0, arguments='"notes.txt"}'),
        piece(1, arguments='"config.json"}'),
    ]


def hostile_stub() -> None:
    """As it stands in the notebook."""
    return None


def hostile_and_harmless() -> list[Event]:
    """One call after the other, each with its id: nothing goes wrong."""
    return [
        piece(0, "a", "read_file", '{"path":"notes.txt"}'),
        piece(1, "b", "read_file", '{"path":"config.json"}'),
    ]


def hostile_without_labels() -> list[Event]:
    """Takes turns without saying whose turn it is: nobody can read that."""
    return [
        piece(None, "a", "read_file", '{"path":'),
        piece(None, "b", "read_file", '{"path":'),
        piece(None, arguments='"notes.txt"}'),
        piece(None, arguments='"config.json"}'),
    ]


def hostile_and_half() -> list[Event]:
    """Only one of the two calls."""
    return hostile_and_harmless()[:1]


def hostile_text() -> Any:
    """The stream as it looks on the wire, and not as a list of events."""
    return "\n\n".join(f"data: {json.dumps(event)}" for event in hostile())


BUFFER_HINTS = (
    "Take a sheet of paper with a column for each index, and write each piece under its own.",
    """\
Event 5 brings an id and a name that are known already. Only its arguments are news. Event 6 begins
a third call, and brings no arguments: its buffer is the empty string.""",
)
ASSEMBLE_HINTS = (
    """\
Keep a list of calls, each with its id and its index. For each piece ask: which call is meant? By
the id, if the piece has one; else by the index; else it is the latest call.""",
    """\
An id that no call has yet begins a new call, even if the index is known. And the name: set it once,
do not append it.""",
    'No arguments are no JSON. `json.loads(text or "{}")` reads them as an empty object.',
)
HOSTILE_HINTS = (
    """\
`by_latest_id` appends a piece without an id to the call that spoke last. Who else could be
meant?""",
    """\
Begin both calls first, each with its index and its id. Then send the rest of each, with the index
alone, in the order that you like.""",
)

EXERCISES = (
    Exercise(
        id="4.2-a",
        title="A piece goes where its label says, and a buffer is text until the end.",
        name="buffers",
        check=check_buffers,
        hints=BUFFER_HINTS,
        solution=BUFFERS,
        stub=BUFFERS_STUB,
        wrong=(
            Wrong(TO_THE_LATEST, "the buffer that its label names"),
            Wrong(WITHOUT_THE_EMPTY, "count the calls that have begun"),
            Wrong(ALL_IN_ONE, "count the calls that have begun"),
            Wrong(PARSED, "a list of strings"),
        ),
    ),
    Exercise(
        id="4.2-b",
        title="A piece finds its call by its id, else by its index, else it is the latest one.",
        name="assemble",
        check=check_assemble,
        hints=ASSEMBLE_HINTS,
        solution=assemble,
        stub=assemble_stub,
        wrong=(
            Wrong(naive, "no piece has an index"),
            Wrong(by_latest_id, "two calls interleaved"),
            Wrong(by_index_or_zero, "no piece has an index"),
            Wrong(without_empty, "a call without arguments"),
        ),
    ),
    Exercise(
        id="4.2-c",
        title="What an assembler takes for granted, some server does not.",
        name="hostile",
        check=check_hostile,
        hints=HOSTILE_HINTS,
        solution=hostile,
        stub=hostile_stub,
        wrong=(
            Wrong(hostile_and_harmless, "reads it without a fault"),
            Wrong(hostile_without_labels, "which piece belongs to which call"),
            Wrong(hostile_and_half, "which piece belongs to which call"),
            Wrong(hostile_text, "a list of events"),
        ),
    ),
)
