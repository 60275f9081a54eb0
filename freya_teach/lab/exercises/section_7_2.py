"""Section 7.2: what a window keeps, where it may cut, and a ledger beside it. (chapter 7.2)"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from freya_teach.context.window import last_messages, last_turns, system_end
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.lab.scenarios.section_7_2 import FACTS, conversation, turns_between
from freya_teach.llm.messages import Message, assistant, system, user

# ---- 7.2-a, predict: which facts a window keeps ------------------------------------------------

TALK = conversation()
WINDOWS: dict[str, tuple[Message, ...]] = {
    "last_turns(TALK, 12)": last_turns(TALK, 12),
    "last_messages(TALK, 12)": last_messages(TALK, 12),
    "last_messages(TALK, 11)": last_messages(TALK, 11),
    "last_messages(TALK, 7)": last_messages(TALK, 7),
}
NEWEST = {"report", "approval", "deadline", "backup", "open task"}
KEPT: dict[str, set[str]] = {
    "last_turns(TALK, 12)": NEWEST,
    "last_messages(TALK, 12)": {"deadline", "backup", "open task"},
    "last_messages(TALK, 11)": {"backup", "open task"},
    "last_messages(TALK, 7)": {"open task"},
}


async def check_kept_facts(kept_facts: Answer) -> None:
    """Compare with what the kernel's windows hold."""
    given = kept_facts.for_each_of(WINDOWS, "a set of names for each window")
    names = {fact.name for fact in FACTS}
    for window, facts in given.items():
        is_set = isinstance(facts, set | frozenset | list | tuple)
        expect(is_set, f"{window}: give a set of names.", received=facts)
        unknown = sorted(set(map(str, facts)) - names)
        expect(not unknown, f"{window}: no fact has this name.", received=unknown)
        text = "\n".join(message.text for message in WINDOWS[window])
        held = {fact.name for fact in FACTS if fact.words in text}
        expect(set(facts) == held, f"{window}: {_why(window, set(facts), held)}")


def _why(window: str, facts: set[str], held: set[str]) -> str:
    if window.startswith("last_turns"):
        return "the last of 40 turns is number 40. Which is the first of twelve?"
    if facts > held and window.endswith("7)"):
        return "turn 38 has four messages, and seven are not enough for it and the two behind it."
    if facts > held:
        return "too many: a turn that does not fit as a whole is not kept in part."
    return "too few: count the messages of the last turns once more."


# ---- 7.2-b, repair: a window that cuts a pair --------------------------------------------------

LONG_TURN = (system("Be brief."), user("Hello."), assistant("Hello."), *turns_between(13, 13))
TWO_SYSTEMS = (system("Be brief."), system("Be kind."), *turns_between(37, 40))
BARE = (user("Is anybody there?"), assistant("Yes."), user("Good."))
HISTORIES: tuple[tuple[Message, ...], ...] = (TALK, TWO_SYSTEMS, LONG_TURN, BARE)


async def check_window(window: Answer) -> None:
    """Cut many histories at many places."""
    for messages in HISTORIES:
        for count in range(1, min(len(messages), 24) + 1):
            received = await window.call(messages, count)
            _check_cut(messages, count, received)


def _check_cut(messages: Sequence[Message], count: int, received: Any) -> None:
    expect(
        isinstance(received, list | tuple),
        "give back the messages that stay, as a list or a tuple.",
        received=received,
    )
    head = system_end(messages)
    kept, roles = list(received[head:]), [m.role for m in received]
    case = f"{count} of {len(messages)} messages"
    expect(
        list(received[:head]) == list(messages[:head]),
        f"{case}: the system prompt is gone, or only a part of it is left.",
        received=roles,
    )
    wanted = _whole_turns(messages[head:], count)
    if kept == wanted:
        return
    expect(kept, f"{case}: the newest turn stays in any case, whatever its size.", received=roles)
    expect(
        kept[0].role != "tool",
        f"{case}: it begins with a result whose call is gone.",
        received=roles,
    )
    expect(
        kept[0].role == "user",
        f"{case}: it begins with half of a turn: nobody has asked for that.",
        received=roles,
    )
    expect(
        len(kept) <= len(wanted),
        f"{case}: behind the system prompt there are more than {count}.",
        received=roles,
    )
    expect(
        len(kept) >= len(wanted),
        f"{case}: one more turn would have had room.",
        received=roles,
    )
    expect(kept == wanted, f"{case}: these are not the newest ones, in order.", received=roles)


def _whole_turns(messages: Sequence[Message], count: int) -> list[Message]:
    starts = [i for i, message in enumerate(messages) if message.role == "user"]
    fitting = [i for i in starts if len(messages) - i <= count]
    return list(messages[(fitting or starts[-1:])[0] :])


def window(messages: Sequence[Message], count: int) -> list[Message]:
    """One way to write it."""
    head = [message for message in messages if message.role == "system"]
    rest = list(messages[len(head) :])
    starts = [place for place, message in enumerate(rest) if message.role == "user"]
    fitting = [place for place in starts if len(rest) - place <= count]
    return head + rest[fitting[0] if fitting else starts[-1] :]


def window_stub(messages: Sequence[Message], count: int) -> None:
    """As it stands in the notebook."""
    return None


def window_slice(messages: Sequence[Message], count: int) -> list[Message]:
    """The one line."""
    return list(messages[-count:])


def window_from_user(messages: Sequence[Message], count: int) -> list[Message]:
    """Drops what has no question; a turn that is too long goes as a whole."""
    head = [message for message in messages if message.role == "system"]
    kept = list(messages[len(head) :][-count:])
    while kept and kept[0].role != "user":
        del kept[0]
    return head + kept


def window_no_orphans(messages: Sequence[Message], count: int) -> list[Message]:
    """Drops only results without a call."""
    head = [message for message in messages if message.role == "system"]
    kept = list(messages[len(head) :][-count:])
    while len(kept) > 1 and kept[0].role == "tool":
        del kept[0]
    return head + kept


def window_with_system(messages: Sequence[Message], count: int) -> list[Message]:
    """Keeps the system prompt, and cuts a pair."""
    others: list[Message] = [message for message in messages if message.role != "system"]
    rest = others[-count:]
    if rest[0].role == "assistant":
        rest = _whole_turns(others, count)
    return [message for message in messages if message.role == "system"] + rest


def window_backwards(messages: Sequence[Message], count: int) -> list[Message]:
    """Goes on to the next question in the wrong direction."""
    head = [message for message in messages if message.role == "system"]
    rest = list(messages[len(head) :])
    place = max(len(rest) - count, 0)
    while rest[place].role != "user":
        place -= 1
    return head + rest[place:]


def window_one_turn(messages: Sequence[Message], count: int) -> list[Message]:
    """Keeps the newest turn, and no more."""
    head = [message for message in messages if message.role == "system"]
    return head + _whole_turns(messages[len(head) :], 1)


# ---- 7.2-c, extend: a ledger that does not wear away -------------------------------------------

Told = list[tuple[int, str, Any]]
Ledger = dict[str, tuple[int, Any]]
ROUNDS: tuple[Told, ...] = (
    [(5, "port", "8080"), (2, "account", "AC-7731")],
    [(13, "address", "10.20.30.41"), (17, "no changes", "Friday")],
    [(24, "port", "9090"), (22, "port", "8081"), (28, "no changes", None)],
)
LEDGER: Ledger = {
    "port": (24, "9090"),
    "account": (2, "AC-7731"),
    "address": (13, "10.20.30.41"),
    "no changes": (28, None),
}


async def check_merge(merge: Answer) -> None:
    """The same ledger, in whatever order the rounds come in."""
    alone = await merge.call({}, ROUNDS[0])
    expect(isinstance(alone, dict), "give back a dictionary.", received=alone)
    expect(
        alone == {"port": (5, "8080"), "account": (2, "AC-7731")},
        "from an empty ledger: each name gets its (turn, value).",
        received=alone,
    )
    for order in permutations(ROUNDS):
        ledger: Ledger = {}
        for told in order:
            ledger = await merge.call(ledger, told)
        for name, (turn, value) in LEDGER.items():
            received = ledger.get(name)
            expect(received is not None, f"{name!r} is lost.", received=ledger)
            expect(
                received == (turn, value),
                _what_is_wrong(name, received, value),
                received=received,
            )


def _what_is_wrong(name: str, received: Any, value: Any) -> str:
    if value is None:
        return f"{name!r} was called off in turn 28, and something older has brought it back."
    return f"{name!r}: the later turn counts, not what came in last or first."


def merge(ledger: Ledger, told: Told) -> Ledger:
    """One way to write it."""
    merged = dict(ledger)
    for turn, name, value in told:
        if name not in merged or merged[name][0] <= turn:
            merged[name] = (turn, value)
    return merged


def merge_stub(ledger: Ledger, told: Told) -> None:
    """As it stands in the notebook."""
    return None


def merge_last_in(ledger: Ledger, told: Told) -> Ledger:
    """What comes in last counts."""
    return ledger | {name: (turn, value) for turn, name, value in told}


def merge_only_new(ledger: Ledger, told: Told) -> Ledger:
    """Forgets what was known."""
    return {name: (turn, value) for turn, name, value in sorted(told, key=lambda each: each[0])}


def merge_in_place(ledger: Ledger, told: Told) -> Ledger:
    """Changes the ledger that it was given."""
    for turn, name, value in sorted(told, key=lambda each: each[0]):
        ledger[name] = (turn, value)
    return ledger


def merge_deleting(ledger: Ledger, told: Told) -> Ledger:
    """Takes out what no longer holds."""
    merged = dict(ledger)
    for turn, name, value in told:
        if name not in merged or merged[name][0] <= turn:
            merged[name] = (turn, value)
            if value is None:
                del merged[name]
    return merged


def merge_keeping_values(ledger: Ledger, told: Told) -> Ledger:
    """A None never takes the place of a value."""
    merged = dict(ledger)
    for turn, name, value in told:
        known = merged.get(name, (0, None))
        if known[1] is None or (known[0] <= turn and value is not None):
            merged[name] = (turn, value)
    return merged


KEPT_HINTS = (
    "Write the last turns down with their numbers of messages: two each, and four in turn 38.",
    "40 → 2, 39 → 4, 38 → 8, 37 → 10, 36 → 12: so many messages the newest turns have together.",
)

WINDOW_HINTS = (
    "Part the system messages from the rest first. Then look for the places where a turn starts.",
    "A turn starts at the role `user`. From which start on are there at most `count` messages?",
    "Take the first of those places; if there is none, the last start of a turn.",
)

MERGE_HINTS = (
    "Begin with a copy of the ledger, so that nothing known is lost and nothing given is changed.",
    "Replace an entry only if the new turn is not older than the one in the ledger.",
    "Treat None like any other value. Who deletes the entry forgets when it was called off.",
)

EXERCISES = (
    Exercise(
        id="7.2-a",
        title="A window is a limit: a turn that does not fit as a whole is not kept.",
        name="kept_facts",
        check=check_kept_facts,
        hints=KEPT_HINTS,
        solution=KEPT,
        stub=dict.fromkeys(KEPT),
        wrong=(
            Wrong(KEPT | {"last_turns(TALK, 12)": NEWEST - {"report"}}, "first of twelve"),
            Wrong(KEPT | {"last_messages(TALK, 11)": NEWEST - {"report", "approval"}}, "too many"),
            Wrong(KEPT | {"last_messages(TALK, 7)": {"backup", "open task"}}, "seven are not"),
            Wrong(KEPT | {"last_messages(TALK, 12)": {"open task"}}, "too few"),
            Wrong(KEPT | {"last_messages(TALK, 7)": {"task"}}, "no fact has this name"),
        ),
    ),
    Exercise(
        id="7.2-b",
        title="Every cut stands before a question, and behind the system prompt.",
        name="window",
        check=check_window,
        hints=WINDOW_HINTS,
        solution=window,
        stub=window_stub,
        wrong=(
            Wrong(window_slice, "the system prompt is gone"),
            Wrong(window_from_user, "the newest turn stays in any case"),
            Wrong(window_no_orphans, "half of a turn"),
            Wrong(window_with_system, "whose call is gone"),
            Wrong(window_backwards, "there are more than"),
            Wrong(window_one_turn, "would have had room"),
        ),
    ),
    Exercise(
        id="7.2-c",
        title="A ledger gives the same in whatever order its rounds come in.",
        name="merge",
        check=check_merge,
        hints=MERGE_HINTS,
        solution=merge,
        stub=merge_stub,
        wrong=(
            Wrong(merge_last_in, "the later turn counts"),
            Wrong(merge_only_new, "is lost"),
            Wrong(merge_deleting, "is lost"),
            Wrong(merge_in_place, "changed what it was given"),
            Wrong(merge_keeping_values, "something older has brought it back"),
        ),
    ),
)
