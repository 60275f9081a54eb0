"""Section 10.1: foresee a square, take one out, remember without being wrong. (chapter 10.1)"""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.llm.messages import Json

# ---- 10.1-a, predict: twice the turns, how much more work ------------------------------------

Look = Callable[[str], None]
Piece = Callable[[list[str], Look], None]


def newest(history: list[str], look: Look) -> None:
    """Looks at the two newest messages."""
    for message in history[-2:]:
        look(message)


def side_by_side(history: list[str], look: Look) -> None:
    """Looks at each pair of the eight newest messages."""
    for one in history[-8:]:
        for other in history[-8:]:
            look(one)
            look(other)


def search(history: list[str], look: Look) -> None:
    """Goes back to the question."""
    for message in reversed(history):
        look(message)
        if message == "question":
            break


def now_and_then(history: list[str], look: Look) -> None:
    """Looks at everything, each tenth turn."""
    if len(history) % 10 == 0:
        for message in history:
            look(message)


def when_doubled(history: list[str], look: Look) -> None:
    """Looks at everything whenever there are twice as many messages: 1, 2, 4, 8 and so on."""
    if len(history).bit_count() == 1:  # a power of two
        for message in history:
            look(message)


PIECES: dict[str, Piece] = {
    "newest": newest,
    "side_by_side": side_by_side,
    "search": search,
    "now_and_then": now_and_then,
    "when_doubled": when_doubled,
}
"""As in the notebook; each is called once a turn, with the messages that there are by then."""
WHY = {
    "newest": "The work of a turn does not grow: there are two messages to look at in each.",
    "side_by_side": "Two loops, one in the other, and both end at eight: a turn's work is the same "
    "in the first hundred turns and in the last.",
    "search": "There is one question, at the very beginning. How far back is it in turn 100?",
    "now_and_then": "Ten times less often is ten times less work. It still grows the same way.",
    "when_doubled": "Add them up: 1 + 2 + 4 + … + 64. How much of it is the last one?",
}
TURNS = 100


def work(piece: Piece, turns: int) -> int:
    """How often a piece looks at a message, in a run of so many turns."""
    looks: list[str] = []
    for turn in range(turns):
        piece(["question", *["result"] * turn], looks.append)
    return len(looks)


async def check_factors(factors: Answer) -> None:
    """Run each piece for 100 and for 200 turns, and compare."""
    given = factors.for_each_of(PIECES, "2 or 4 for each piece")
    for name, value in given.items():
        expect(type(value) is int and value in (2, 4), f"`{name}`: write 2 or 4.", received=value)
    wrong = [name for name, value in given.items() if value != _factor(PIECES[name])]
    expect(not wrong, "\n".join(f"`{name}`: no. {WHY[name]}" for name in wrong))


def _factor(piece: Piece) -> int:
    return 4 if work(piece, 2 * TURNS) > 3 * work(piece, TURNS) else 2


FACTORS = {"newest": 2, "side_by_side": 2, "search": 4, "now_and_then": 4, "when_doubled": 2}

# ---- 10.1-b, repair: as many of the oldest as have to go -------------------------------------


class Size(int):
    """A number that notes in `tally` each sum and each difference that it is part of."""

    tally: Counter[str]

    def __new__(cls, value: int, tally: Counter[str] | None = None) -> Self:
        """Make one; a copy that Python makes by itself has a tally of its own."""
        size = super().__new__(cls, value)
        size.tally = Counter() if tally is None else tally
        return size

    def __add__(self, other: int) -> int:
        self.tally["sums"] += 1
        return int.__add__(self, other)

    def __sub__(self, other: int) -> int:
        self.tally["sums"] += 1
        return int.__sub__(self, other)

    def __radd__(self, other: int) -> int:
        self.tally["sums"] += 1
        return int.__radd__(self, other)

    def __rsub__(self, other: int) -> int:
        self.tally["sums"] += 1
        return int.__rsub__(self, other)


CASES: tuple[tuple[list[int], int, str], ...] = (
    ([9, 1, 1], 3, "the newest stay, and the oldest go."),
    ([3, 4, 5], 12, "together they are as many as the limit, and that is not over it."),
    (
        [5, 1, 1, 5, 1],
        3,
        "it has no holes: whatever is older than what goes, goes too.",
    ),
    ([2, 2, 9], 5, "the newest alone is over the limit. Then nothing can stay."),
    ([], 5, "there is nothing that could go."),
    ([2] * 50, 31, "twice 15 is 30, so 15 of the 50 stay."),
)
MANY = 60
MOST_SUMS_EACH = 4
"""Sums and differences that one message may cost; the solution needs two."""


async def check_drop(drop: Answer) -> None:
    """Right in the small, then counted with 60 and with 120 messages of which half may stay."""
    for sizes, limit, why in CASES:
        received = await drop.call([*sizes], limit)
        case = f"drop({sizes if len(sizes) < 9 else '50 times 2'}, {limit})"
        expect(type(received) is int, f"{case}: give back a number.", received=received)
        expect(received == drop_slowly(sizes, limit), f"{case}: {why}", received=received)
    counted = {number: await _sums(drop, number) for number in (MANY, 2 * MANY)}
    expect(
        all(sums <= MOST_SUMS_EACH * number for number, sums in counted.items()),
        "the numbers are right, and counted: "
        + ", ".join(f"{sums:,} sums for {number} messages" for number, sums in counted.items())
        + ". When one message goes, the sum of the others need not be made anew.",
    )


async def _sums(drop: Answer, number: int) -> int:
    tally: Counter[str] = Counter()
    await drop.call([Size(2, tally) for _ in range(number)], number)
    return tally["sums"]


def drop_slowly(sizes: list[int], limit: int) -> int:
    """As in the notebook: right, and a square."""
    gone = 0
    while sum(sizes[gone:]) > limit:
        gone += 1
    return gone


def drop(sizes: list[int], limit: int) -> int:
    """One way to write it."""
    left, gone = sum(sizes), 0
    while left > limit:
        left -= sizes[gone]
        gone += 1
    return gone


def drop_kept_slowly(sizes: list[int], limit: int) -> int:
    """The square from the other side."""
    kept = 0
    while kept < len(sizes) and sum(sizes[len(sizes) - kept - 1 :]) <= limit:
        kept += 1
    return len(sizes) - kept


def drop_stub(sizes: list[int], limit: int) -> None:
    """As it stands in the notebook."""
    return None


def drop_newest(sizes: list[int], limit: int) -> int:
    """Keeps what came first."""
    kept = used = 0
    for size in sizes:
        used += size
        if used > limit:
            break
        kept += 1
    return len(sizes) - kept


def drop_at_limit(sizes: list[int], limit: int) -> int:
    """Takes the limit for one too many."""
    left, gone = sum(sizes), 0
    while sizes[gone:] and left >= limit:
        left -= sizes[gone]
        gone += 1
    return gone


def drop_with_holes(sizes: list[int], limit: int) -> int:
    """Lets a large one out and takes those behind it."""
    kept = used = 0
    for size in reversed(sizes):
        if used + size <= limit:
            used += size
            kept += 1
    return len(sizes) - kept


def drop_but_one(sizes: list[int], limit: int) -> int:
    """Keeps the newest, whatever its size."""
    left, gone = sum(sizes), 0
    while left > limit and gone < len(sizes) - 1:
        left -= sizes[gone]
        gone += 1
    return gone


# ---- 10.1-c, extend: remember, and stay right ------------------------------------------------


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Said:
    """A message that never changes."""

    text: str


Make = Callable[[Said, str], Json]
Forms = Callable[[list[Said], str], list[Json]]
LONG, PASSING = 1_500, 300


class _Maker:
    """Makes the form of a message for a model, and counts."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, message: Said, model: str) -> Json:
        self.made += 1
        return {"content": message.text, "for": model}


async def check_remembering(remembering: Answer) -> None:
    """A conversation grows, changes its beginning, its model and its length."""
    make = _Maker()
    forms = await remembering.call(make)
    expect(callable(forms), "give back the function `forms`.", received=forms)
    asked = [Said(f"message {number}") for number in range(5)]

    async def expect_right(messages: list[Said], model: str, why: str) -> None:
        received = await remembering.run(forms, [*messages], model)
        wanted = [_Maker()(message, model) for message in messages]
        expect(received == wanted, why, received=received)

    await expect_right(
        asked[:3], "m1", "the forms, one for each message, in their order, as a list."
    )
    await expect_right(asked, "m1", "the conversation has grown, and all its forms are wanted.")
    expect(
        make.made <= len(asked),
        f"five messages, and {make.made} forms were made: those of the first three were known.",
    )
    new = [Said("summary"), *asked[3:]]
    await expect_right(
        new, "m1", "a summary has taken the place of three messages, and an old form came for it."
    )
    await expect_right(new, "m2", "the model has changed, and the forms are those of the old one.")
    for number in range(PASSING):
        await expect_right(
            [Said(f"passing {number}")],
            "m2",
            "an old form for a new message. The old message is gone, and Python gives its id to "
            "another object: an id is a name only as long as you hold the object.",
        )
    await _check_long_and_short(remembering, forms, make)


async def _check_long_and_short(remembering: Answer, forms: Forms, make: _Maker) -> None:
    messages = [Said(f"line {number}") for number in range(LONG)]
    before = make.made
    for _ in range(2):
        await remembering.run(forms, messages, "m2")
    expect(
        make.made - before <= LONG,
        f"{LONG:,} messages, twice: {make.made - before:,} forms were made. What is remembered is "
        "less than the conversation, so each form is thrown away before it is wanted again.",
    )
    living = [weakref.ref(message) for message in messages]
    messages.clear()
    for number in range(3):
        await remembering.run(forms, [Said(f"short {number}")], "m2")
    gc.collect()
    held = sum(ref() is not None for ref in living)
    expect(
        held <= 10,
        f"the conversation has one message now, and {held:,} that have left it are still held. "
        "In a server that never stops, that is a leak.",
    )


def remembering(make: Make) -> Forms:
    """One way to write it."""
    known: dict[Any, Any] = {}

    def forms(messages: list[Said], model: str) -> list[Json]:
        nonlocal known
        now: dict[Any, Any] = {}
        for message in messages:
            key = id(message), model
            now[key] = known.get(key) or (message, make(message, model))  # holds the message
        known = now  # what has left is forgotten
        return [now[id(message), model][1] for message in messages]

    return forms


def remembering_stub(make: Make) -> None:
    """As it stands in the notebook."""
    return None


def remembering_nothing(make: Make) -> Forms:
    """Makes all of it each time."""
    return lambda messages, model: [make(message, model) for message in messages]


def remembering_places(make: Make) -> Forms:
    """Knows a message by its place."""
    known: dict[tuple[int, str], Json] = {}

    def forms(messages: list[Said], model: str) -> list[Json]:
        for place, message in enumerate(messages):
            if (place, model) not in known:
                known[place, model] = make(message, model)
        return [known[place, model] for place in range(len(messages))]

    return forms


def remembering_ids(make: Make) -> Forms:
    """Knows a message by its id, and lets go of the message."""
    known: dict[tuple[int, str], Json] = {}

    def forms(messages: list[Said], model: str) -> list[Json]:
        for message in messages:
            if (id(message), model) not in known:
                known[id(message), model] = make(message, model)
        return [known[id(message), model] for message in messages]

    return forms


def remembering_one_model(make: Make) -> Forms:
    """Leaves out what else the form depends on."""
    known: dict[Said, Json] = {}

    def forms(messages: list[Said], model: str) -> list[Json]:
        for message in messages:
            if message not in known:
                known[message] = make(message, model)
        return [known[message] for message in messages]

    return forms


def remembering_some(make: Make) -> Forms:
    """Takes what the library has, as it is."""
    cached = lru_cache(maxsize=128)(make)
    return lambda messages, model: [cached(message, model) for message in messages]


def remembering_for_ever(make: Make) -> Forms:
    """Forgets nothing."""
    cached = lru_cache(maxsize=None)(make)
    return lambda messages, model: [cached(message, model) for message in messages]


FACTORS_HINTS = (
    """\
Ask of each piece: what does it cost in turn 10, and what in turn 100? If that is the same, twice
the turns are twice the work.""",
    """\
A piece whose turn 100 costs ten times its turn 10 has a square in it. How often it is called
changes the size of the square, and not its form.""",
    """\
when_doubled looks at 1 + 2 + 4 + … + n messages: all but the last together are fewer than the
last.""",
)

DROP_HINTS = (
    "How large is what is left, when one message of known size goes?",
    "Make the sum once, before the loop, and take off what goes.",
    "`left, gone = sum(sizes), 0`, then `while left > limit:` and two lines.",
)

REMEMBERING_HINTS = (
    """\
By what do you know a message again? Its place can be taken by another, and so can its id, once
the message is gone.""",
    """\
A dictionary from `(id(message), model)` to the message *and* its form: holding the message keeps
its id its own.""",
    """\
Build a new dictionary in each call, of what is in the conversation now, out of the old one where
it can be. What has left is then not in it.""",
)

EXERCISES = (
    Exercise(
        id="10.1-a",
        title="What counts is whether a turn's work grows, not how many loops there are.",
        name="factors",
        check=check_factors,
        hints=FACTORS_HINTS,
        solution=FACTORS,
        stub=dict.fromkeys(FACTORS),
        wrong=(
            Wrong(FACTORS | {"newest": 4}, "two messages to look at"),
            Wrong(FACTORS | {"side_by_side": 4}, "both end at eight"),
            Wrong(FACTORS | {"search": 2}, "one question, at the very beginning"),
            Wrong(FACTORS | {"now_and_then": 2}, "grows the same way"),
            Wrong(FACTORS | {"when_doubled": 4}, "How much of it is the last one"),
            Wrong(FACTORS | {"newest": 1}, "write 2 or 4."),
        ),
    ),
    Exercise(
        id="10.1-b",
        title="A sum that is known is kept up to date, and not made anew.",
        name="drop",
        check=check_drop,
        hints=DROP_HINTS,
        solution=drop,
        stub=drop_stub,
        wrong=(
            Wrong(drop_slowly, "need not be made anew"),
            Wrong(drop_newest, "the oldest go"),
            Wrong(drop_at_limit, "not over it"),
            Wrong(drop_with_holes, "has no holes"),
            Wrong(drop_but_one, "nothing can stay"),
            Wrong(drop_kept_slowly, "need not be made anew"),
        ),
    ),
    Exercise(
        id="10.1-c",
        title="What is remembered belongs to one message and one model, and leaves with them.",
        name="remembering",
        check=check_remembering,
        hints=REMEMBERING_HINTS,
        solution=remembering,
        stub=remembering_stub,
        wrong=(
            Wrong(remembering_nothing, "were known"),
            Wrong(remembering_places, "has taken the place"),
            Wrong(remembering_one_model, "the model has changed"),
            Wrong(remembering_ids, "gives its id to another object"),
            Wrong(remembering_some, "thrown away before"),
            Wrong(remembering_for_ever, "that is a leak"),
        ),
    ),
)
