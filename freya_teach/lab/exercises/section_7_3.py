"""Section 7.3: cut by turns, say where everything is, hide from an estimator. (chapter 7.3)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from freya_teach.agent.history import InMemoryHistory
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotDone, NotYet, Wrong, expect
from freya_teach.llm.messages import (
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    user,
)
from freya_teach.llm.source_estimator import SourceEstimator
from freya_teach.llm.tokens import CalibratedCounter

# ---- 7.3-a, repair: turns, not messages -------------------------------------------------------


def turn(name: str, rounds: int) -> list[Message]:
    """A request, so many rounds of two calls, and an answer."""
    messages: list[Message] = [user(f"Question {name}?")]
    for number in range(rounds):
        ids = [f"call_{name}_{number}_{i}" for i in range(2)]
        messages.append(assistant(*(ToolCall(each, "read", "{}") for each in ids)))
        messages += [ToolMessage(each, "A result.") for each in ids]
    return [*messages, assistant(f"Answer {name}.")]


async def check_cut_at(cut_at: Answer) -> None:
    """Cut histories of short and of long turns, and look at what is kept."""
    long = [*turn("a", 0), *turn("b", 3), *turn("c", 5)]
    for messages, keep in ((long, 1), (long, 2), (long, 3), (long[:-1], 1)):
        at = await cut_at.call(list(messages), keep)
        _check_place(at, messages)
        _check_kept(messages[at:], messages, keep)
    short = [*turn("a", 0), *turn("b", 0)]
    at = await cut_at.call(list(short), 6)
    expect(at == 0, "there are two turns, and six are to be kept: nothing is cut off.", received=at)


def _check_place(at: Any, messages: Sequence[Message]) -> None:
    if type(at) is not int or not 0 <= at <= len(messages):
        raise NotYet(
            f"give back a place in the list, from 0 to {len(messages) - 1}.\nReceived: {at!r:.60}"
        )


def _check_kept(kept: Sequence[Message], messages: Sequence[Message], keep: int) -> None:
    requests = [message for message in messages if isinstance(message, UserMessage)]
    expect(requests[-1] in kept, "the newest request of the user's is not in what stays.")
    expect(
        isinstance(kept[0], UserMessage),
        "what stays begins with somebody else than the user. Gemini refuses a call there.",
        received=[message.role for message in kept[:3]],
    )
    found = sum(isinstance(message, UserMessage) for message in kept)
    expect(
        found == keep or len(kept) < len(messages),
        f"nothing was cut off, and of {len(requests)} turns {keep} should stay.",
    )
    expect(found != keep + 1, f"one turn too many stays: {keep} should, of {len(requests)}.")
    expect(found == keep, f"of {len(requests)} turns, {keep} should stay.", received=found)


def cut_at(messages: Sequence[Message], keep_turns: int) -> int:
    """One way to write it."""
    starts = [i for i, message in enumerate(messages) if isinstance(message, UserMessage)]
    return starts[-keep_turns] if keep_turns <= len(starts) else 0


def cut_at_stub(messages: Sequence[Message], keep_turns: int) -> None:
    """As it stands in the notebook."""
    return None


def cut_at_messages(messages: Sequence[Message], keep_turns: int) -> int:
    """Takes two messages for a turn."""
    return max(len(messages) - 2 * keep_turns, 0)


def cut_at_rounds(messages: Sequence[Message], keep_turns: int) -> int:
    """Looks for the start of a turn, and stops one message too early."""
    starts = [i for i, message in enumerate(messages) if isinstance(message, UserMessage)]
    return max(starts[-keep_turns] - 1, 0) if keep_turns <= len(starts) else 0


def cut_at_one_too_many(messages: Sequence[Message], keep_turns: int) -> int:
    """Keeps a turn more than was asked for."""
    starts = [i for i, message in enumerate(messages) if isinstance(message, UserMessage)]
    return starts[-keep_turns - 1] if keep_turns < len(starts) else 0


def cut_at_nothing(_messages: Sequence[Message], _keep_turns: int) -> int:
    """Never cuts."""
    return 0


def cut_at_list(messages: Sequence[Message], _keep_turns: int) -> list[Message]:
    """Gives back the messages instead of the place."""
    return list(messages)


# ---- 7.3-b, predict: where everything is ------------------------------------------------------

KEYS = ("length", "first", "number_of_summary", "in_snapshot", "same_call_again")
WHY = {
    "length": "Seven messages, 0 to 6, make room for three; 7, 8 and 9 are not touched.",
    "first": "The last one of `by` gets the number `through`, and the others stand before it.",
    "number_of_summary": "Three messages end with number 6. The summary is the second of them.",
    "in_snapshot": "A number in `by` says what is kept. The others up to `through` have left.",
    "same_call_again": "The call names the revision that it was planned for. Which one is it now?",
}


async def check_afterwards(afterwards: Answer) -> None:
    """Carry the call out, and compare what was predicted with what holds."""
    given = afterwards.value
    if not isinstance(given, dict) or set(given) != set(KEYS):
        raise NotYet(f"keep the dict with its five keys: {', '.join(KEYS)}.")
    if open_ := [key for key in KEYS if given[key] in (None, ...)]:
        raise NotDone(f"not done yet: {', '.join(open_)}.")
    true = await _carried_out()
    for key in KEYS:
        value = sorted(given[key]) if isinstance(given[key], list) else given[key]
        expect(
            type(value) is type(true[key]) and value == true[key],
            f"{key} is something else. {WHY[key]}",
            received=given[key],
        )


async def _carried_out() -> dict[str, Any]:
    """What really holds after the call of the exercise."""
    old = [user(f"Question {i}?") if i % 2 == 0 else assistant(f"Answer {i}.") for i in range(10)]
    history, summary = InMemoryHistory(old), user("A summary.")
    await history.replace(6, (0, summary, 5), revision=0)
    place = next(i for i, message in enumerate(history.messages) if message is summary)
    return {
        "length": len(history.messages),
        "first": history.first,
        "number_of_summary": history.first + place,
        "in_snapshot": [i for i, message in enumerate(old) if message in history.snapshots[0]],
        "same_call_again": await history.replace(6, (4, summary, 6), revision=0),
    }


AFTERWARDS: dict[str, Any] = {
    "length": 6,
    "first": 4,
    "number_of_summary": 5,
    "in_snapshot": [1, 2, 3, 4, 6],
    "same_call_again": False,
}
"""What holds."""


# ---- 7.3-c, attack: the text that the source does not see -------------------------------------

MOST_CHARS, SEEN, TRUE = 2_000, 20, 400


async def check_unseen(unseen: Answer) -> None:
    """Estimate the text twice."""
    text = await unseen.call()
    expect(isinstance(text, str), "give back one text (str).", received=text)
    expect(
        len(text) <= MOST_CHARS,
        f"{MOST_CHARS:,} characters at most; yours has {len(text):,}.",
    )
    seen, calibrated = SourceEstimator().count(text), CalibratedCounter().count(text)
    if seen >= SEEN:
        why = "each character that is no letter, no digit and no _ costs a half."
        if " " in text:
            why = "words are what it sees best: 1.3 for each, and a half for each space."
        raise NotYet(f"the source's estimator sees {seen:,} tokens: {why}")
    if calibrated < TRUE:
        why = "there is more room: use the 2,000 characters."
        if len(text) > MOST_CHARS // 2:
            why = "a letter again and again is cheap, a tokenizer knows runs of it."
        raise NotYet(f"it has only {calibrated:,} tokens by the calibrated estimate: {why}")


def unseen() -> str:
    """One way to do it: digits and letters without an end, as a hash or a file in base64 has."""
    return "".join(f"{number * 7_919 % 65_536:04x}" for number in range(500))


def unseen_stub() -> None:
    """As it stands in the notebook."""
    return None


def unseen_run() -> str:
    """One letter, again and again."""
    return "A" * MOST_CHARS


def unseen_words() -> str:
    """Words, which the source counts too high."""
    return "A word follows a word. " * 80


def unseen_short() -> str:
    """Not seen, since there is hardly anything."""
    return "x"


def unseen_long() -> str:
    """Too many characters."""
    return "0123456789abcdef" * 1_000


def unseen_base64() -> str:
    """Base64 in lines: each line's end, and each + and /, counts."""
    return "\n".join("QUJD+2/ZGVm8J3+h/k" for _ in range(100))


CUT_AT_HINTS = (
    "A turn has as many messages as it needs. Look for where turns *begin*: `message.role`.",
    "Make a list of the places of all messages of the user's. Which of them is the one you want?",
    "`starts[-keep_turns]`, if there are so many; else 0.",
)

AFTERWARDS_HINTS = (
    "Messages up to number 6 are replaced by three: the old number 0, the summary, the old 5.",
    "Numbers behind 6 do not move: 7 is still 7. So the three get the numbers that end with 6.",
    "What was neither kept nor behind 6 is in the snapshot. And the revision has become 1.",
)

UNSEEN_HINTS = (
    "To the source, a run of letters and digits costs 1.3 tokens, however long it is.",
    "So write one run, without a space. Which long runs do you know that no tokenizer has learnt?",
    "A hash, a key, a file in base64: `''.join(f'{n * 7919 % 65536:04x}' for n in range(500))`.",
)

EXERCISES = (
    Exercise(
        id="7.3-a",
        title="A turn begins with the user, however many messages it has.",
        name="cut_at",
        check=check_cut_at,
        hints=CUT_AT_HINTS,
        solution=cut_at,
        stub=cut_at_stub,
        wrong=(
            Wrong(cut_at_messages, "the newest request"),
            Wrong(cut_at_rounds, "begins with somebody else"),
            Wrong(cut_at_one_too_many, "one turn too many"),
            Wrong(cut_at_nothing, "nothing was cut off"),
            Wrong(cut_at_list, "give back a place in the list"),
        ),
    ),
    Exercise(
        id="7.3-b",
        title="Numbers behind a plan do not move, so it can wait; a revision says for how long.",
        name="afterwards",
        check=check_afterwards,
        hints=AFTERWARDS_HINTS,
        solution=AFTERWARDS,
        stub=dict.fromkeys(KEYS, ...),
        wrong=(
            Wrong({**AFTERWARDS, "length": 4}, "make room for three"),
            Wrong({**AFTERWARDS, "first": 0}, "gets the number `through`"),
            Wrong({**AFTERWARDS, "number_of_summary": 1}, "the second of them"),
            Wrong({**AFTERWARDS, "in_snapshot": [1, 2, 3, 4, 5, 6]}, "says what is kept"),
            Wrong({**AFTERWARDS, "same_call_again": True}, "Which one is it now?"),
        ),
    ),
    Exercise(
        id="7.3-c",
        title="Whoever counts words does not see what is not made of words.",
        name="unseen",
        check=check_unseen,
        hints=UNSEEN_HINTS,
        solution=unseen,
        stub=unseen_stub,
        wrong=(
            Wrong(unseen_run, "is cheap"),
            Wrong(unseen_words, "what it sees best"),
            Wrong(unseen_short, "there is more room"),
            Wrong(unseen_long, "characters at most"),
            Wrong(unseen_base64, "no digit and no _"),
        ),
    ),
)
