"""Section 7.1: what fits, who cuts, and where the line is. (chapter 7.1)"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from freya_teach.context.room import room_for
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.lab.gateway import answer, gateway
from freya_teach.lab.gateway.wire import count_tokens
from freya_teach.llm.messages import Json
from freya_teach.llm.models import facts_for

# ---- 7.1-a, predict: which requests fit ------------------------------------------------------

REQUESTS: dict[str, tuple[str, int, int | None]] = {
    "a": ("gpt-4o", 120_000, None),
    "b": ("gpt-4o", 120_000, 10_000),
    "c": ("gpt-5.2", 265_000, 20_000),
    "d": ("llama-3-8b", 8_000, 1_000),
    "e": ("llama-3-8b", 8_300, None),
}
"""As in the notebook: the model, tokens of the messages, tokens that the answer may have."""
WHY = {
    "a": "120,000 tokens are fewer than 128,000, and nothing else is asked for.",
    "b": "The prompt fits, and with the answer it asks for it has 130,000.",
    "c": "Together they are 285,000; but which of the two does this window limit?",
    "d": "This server looks at the prompt alone. It will see later how much it can write.",
    "e": "Compare 8,300 with this model's window.",
}


async def check_statuses(statuses: Answer) -> None:
    """Send the five requests, and compare."""
    given = statuses.for_each_of(REQUESTS, "200 or 400 for each request")
    for name, value in given.items():
        is_status = type(value) is int and value in (200, 400)
        expect(is_status, f"`{name}`: a status is the number 200 or 400.", received=value)
    wrong = [name for name, value in given.items() if value != await _status(name)]
    expect(not wrong, "\n".join(f"`{name}`: no. {WHY[name]}" for name in wrong))


async def _status(name: str) -> int:
    model, tokens, limit = REQUESTS[name]
    body: dict[str, Json] = {"model": model, "messages": _messages(tokens)}
    if limit is not None:
        body["max_completion_tokens"] = limit
    async with gateway(lambda _: answer("Good.")).client() as http:
        url = "https://api.openai.com/v1/chat/completions"
        return (await http.post(url, json=body)).status_code


def _messages(tokens: int) -> Json:
    """One message that the gateway counts as so many tokens."""
    empty = [{"role": "user", "content": ""}]
    marks = count_tokens(empty)
    return [{"role": "user", "content": "word" * (tokens - marks)}]


STATUSES = {"a": 200, "b": 400, "c": 200, "d": 200, "e": 400}

# ---- 7.1-b, find: from which turn on something did not arrive --------------------------------

Turns = list[tuple[int, int]]
STEADY: Turns = [(100, 85), (200, 172), (300, 252), (400, 344), (500, 425)]
SPARSE: Turns = [(100, 104), (200, 0), (300, 309), (400, 0), (500, 520)]
SILENT: Turns = [(100, 0), (200, 0), (300, 0)]
FLAT: Turns = [(100, 101), (200, 203), (300, 300), (400, 298), (500, 305), (600, 296)]
RISING: Turns = [(100, 100), (200, 205), (300, 310), (400, 312), (500, 330), (600, 350)]
DENSE: Turns = [(100, 140), (200, 283), (300, 425), (400, 430), (500, 428), (600, 433)]


async def check_cut_since(cut_since: Answer) -> None:
    """Conversations with and without a knife, with other tokenizers and with gaps."""

    async def found(turns: Turns) -> object:
        return await cut_since.call([*turns])

    received = await found(FLAT)
    expect(
        received != 3,
        "turns are counted from 1, and the answer is the turn in which it happens.",
        received=received,
    )
    expect(received == 4, f"{FLAT}: something is missing from turn 4 on.", received=received)
    received = await found(STEADY)
    expect(
        received == 0,
        f"{STEADY}: all of it arrived. This is another tokenizer, below ours in each turn.",
        received=received,
    )
    received = await found(SPARSE)
    expect(
        received == 0,
        f"{SPARSE}: a server that reports 0 has not told anything.",
        received=received,
    )
    received = await found(SILENT)
    expect(received == 0, f"{SILENT}: no turn tells anything.", received=received)
    received = await found(RISING)
    expect(
        received == 4,
        f"{RISING}: the number still rises, since a short message was dropped for a longer one. "
        "It rises by less than what was added.",
        received=received,
    )
    received = await found(DENSE)
    expect(
        received == 4,
        f"{DENSE}: this tokenizer is above ours by 1.4. Compare with what this conversation began "
        "with, not with 1.",
        received=received,
    )


def cut_since(turns: Turns) -> int:
    """One way to write it."""
    told = [(n, true / ours) for n, (ours, true) in enumerate(turns, start=1) if true]
    return next((n for n, ratio in told if ratio < 0.8 * told[0][1]), 0)


def cut_since_stub(turns: Turns) -> None:
    """As it stands in the notebook."""
    return None


def cut_since_fewer(turns: Turns) -> int:
    """Alarm whenever the server counts fewer."""
    return next((n for n, (ours, true) in enumerate(turns, 1) if true < ours * 0.95), 0)


def cut_since_zero(turns: Turns) -> int:
    """Takes a missing number for a number."""
    ratios = [true / ours for ours, true in turns]
    return next((n for n, ratio in enumerate(ratios, 1) if ratio < 0.8 * ratios[0]), 0)


def cut_since_no_growth(turns: Turns) -> int:
    """Alarm when the number does not rise."""
    told = [(n, true) for n, (_, true) in enumerate(turns, 1) if true]
    pairs = pairwise(told)
    return next((n for (_, before), (n, now) in pairs if now <= before), 0)


def cut_since_absolute(turns: Turns) -> int:
    """Compares with 1, whatever the tokenizer."""
    told = [(n, true / ours) for n, (ours, true) in enumerate(turns, 1) if true]
    return next((n for n, ratio in told if ratio < 0.8), 0)


def cut_since_index(turns: Turns) -> int:
    """Counts from 0."""
    told = [(n, true / ours) for n, (ours, true) in enumerate(turns) if true]
    return next((n for n, ratio in told if ratio < 0.8 * told[0][1]), 0)


# ---- 7.1-c, extend: the line, from the model that will answer ----------------------------------

CASES = (
    ("gpt-4o", 0, 8_000),
    ("gpt-4o", 3_000, 8_000),
    ("llama-3-8b", 3_000, 1_024),
    ("nobody-knows-it", 500, 1_024),
    ("llama-3-8b", 1_000, 8_000),
    ("llama-3-8b", 7_500, 1_024),
)


async def check_line(line: Answer) -> None:
    """Compare with the kernel's own line, model by model."""
    for model, fixed, kept in CASES:
        received = await line.call(model, fixed, kept)
        facts = facts_for(model)
        wanted = max(room_for(facts, fixed, kept).budget(0.85).trigger, 0)
        is_number = isinstance(received, int | float) and not isinstance(received, bool)
        expect(is_number, "give back a number of tokens.", received=received)
        case = f"line({model!r}, {fixed:,}, {kept:,}), with a window of {facts.window:,}"
        expect(received >= 0, f"{case}: fewer than 0 tokens cannot be had.", received=received)
        expect(
            abs(received - wanted) <= 1,
            f"{case}: {_why(model, fixed, kept, received)}",
            received=received,
        )


def _why(model: str, fixed: int, kept: int, received: Any) -> str:
    window = facts_for(model).window
    if kept > window // 2:
        return "an answer that may have nearly the whole window leaves no conversation. Half of it."
    if abs(received - (window * 0.85 - fixed)) <= 1 or abs(received - window * 0.85) <= 1:
        return "and where is the answer to be written?"
    if abs(received - max((window - kept - fixed) * 0.85, 0)) <= 1:
        return "the share is of what the input may have; what is fixed goes off behind that."
    return "take the window of the model that will answer."


def line(model: str, fixed: int, answer: int) -> int:
    """One way to write it."""
    window = facts_for(model).window
    room = window - min(answer, window // 2)
    return max(int(room * 0.85) - fixed, 0)


def line_stub(model: str, fixed: int, answer: int) -> None:
    """As it stands in the notebook."""
    return None


def line_for_ever(model: str, fixed: int, answer: int) -> int:
    """The same line for each model."""
    return 50_000


def line_of_source(model: str, fixed: int, answer: int) -> int:
    """Only the window counts."""
    return int(facts_for(model).window * 0.85)


def line_share_of_rest(model: str, fixed: int, answer: int) -> int:
    """Takes the share at the end."""
    return max(int((facts_for(model).window - answer - fixed) * 0.85), 0)


def line_without_half(model: str, fixed: int, answer: int) -> int:
    """Gives the answer whatever it asks for."""
    return max(int((facts_for(model).window - answer) * 0.85) - fixed, 0)


def line_below_zero(model: str, fixed: int, answer: int) -> int:
    """Forgets the end of the scale."""
    window = facts_for(model).window
    return int((window - min(answer, window // 2)) * 0.85) - fixed


STATUSES_HINTS = (
    "For each request ask two things: what does this window limit, and is the answer part of it?",
    "Only gpt-4o adds the answer to the prompt here. For the others, compare the messages alone.",
)

CUT_SINCE_HINTS = (
    "Two numbers that differ say little: each tokenizer counts in its way. What does a cut change?",
    "Take the ratio of the second to the first in each turn, and leave out turns that report 0.",
    "The first ratio is that of a whole request. Alarm when one is below 0.8 of it.",
)

LINE_HINTS = (
    "Begin with the window: `facts_for(model).window`. What of it can the input have?",
    "The input has the window without the answer, and the answer has half of the window at most.",
    "`max(int((window - answer) * 0.85) - fixed, 0)`, with the answer limited before.",
)

EXERCISES = (
    Exercise(
        id="7.1-a",
        title="A window may limit the prompt alone, or prompt and answer together.",
        name="statuses",
        check=check_statuses,
        hints=STATUSES_HINTS,
        solution=STATUSES,
        stub=dict.fromkeys(STATUSES),
        wrong=(
            Wrong(STATUSES | {"b": 200}, "130,000"),
            Wrong(STATUSES | {"c": 400}, "which of the two does this window limit"),
            Wrong(STATUSES | {"d": 400}, "looks at the prompt alone"),
            Wrong(STATUSES | {"e": 200}, "Compare 8,300"),
            Wrong(STATUSES | {"a": True}, "the number 200 or 400"),
        ),
    ),
    Exercise(
        id="7.1-b",
        title="A ratio that falls while the history grows tells that somebody cuts.",
        name="cut_since",
        check=check_cut_since,
        hints=CUT_SINCE_HINTS,
        solution=cut_since,
        stub=cut_since_stub,
        wrong=(
            Wrong(cut_since_fewer, "another tokenizer"),
            Wrong(cut_since_zero, "reports 0"),
            Wrong(cut_since_no_growth, "still rises"),
            Wrong(cut_since_absolute, "not with 1"),
            Wrong(cut_since_index, "counted from 1"),
        ),
    ),
    Exercise(
        id="7.1-c",
        title="The line moves with the model, and leaves room for the answer.",
        name="line",
        check=check_line,
        hints=LINE_HINTS,
        solution=line,
        stub=line_stub,
        wrong=(
            Wrong(line_for_ever, "the model that will answer"),
            Wrong(line_of_source, "where is the answer to be written"),
            Wrong(line_share_of_rest, "goes off behind that"),
            Wrong(line_without_half, "Half of it"),
            Wrong(line_below_zero, "fewer than 0"),
        ),
    ),
)
