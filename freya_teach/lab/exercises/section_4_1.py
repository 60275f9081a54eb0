"""Section 4.1: which tokens may come next, masking, describing a tool. (chapter 4.1)"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from freya_teach.errors import ConfigError
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.lab.masks import SPECIAL, vocabulary
from freya_teach.tools.lint import lint_schema
from freya_teach.tools.tool import Tool, tool

# ---- 4.1-a, extend: a mask of your own ------------------------------------------------------

FIRST_TOKENS = 1000
SCOPES = ("workspace", "src", "doc")
UNITS = ("celsius", "fahrenheit", "kelvin")


async def check_next_tokens(next_tokens: Answer) -> None:
    """Over a real vocabulary, at every point of every value."""
    for values in (SCOPES, UNITS):
        tokens = _tokens_for(values)
        points = sorted({value[:end] for value in values for end in range(len(value) + 1)})
        for so_far in sorted(points, key=len):
            received = await next_tokens.call(so_far, tokens, list(values))
            expect(
                isinstance(received, Collection) and not isinstance(received, str),
                "give back the tokens that may come next, in a list or a set.",
                received=received,
            )
            _compare(set(received), so_far, tokens, values)


def _tokens_for(values: Sequence[str]) -> list[str]:
    """Real tokens: the first ones, and all that stand somewhere in a value."""
    texts = (vocabulary().text(token) for token in range(SPECIAL, len(vocabulary())))
    whole = " ".join(values)
    return [text for place, text in enumerate(texts) if place < FIRST_TOKENS or text in whole]


def _compare(received: set[Any], so_far: str, tokens: Sequence[str], values: Sequence[str]) -> None:
    right = set(next_tokens(so_far, tokens, values))
    where = f"After {so_far!r}, with the values {', '.join(values)}: "
    expect(
        not (extra := sorted(map(str, received - right))),
        f"{where}these tokens lead to none of the values.",
        received=extra[:5],
    )
    expect(
        not (missed := sorted(right - received)),
        f"{where}some tokens are missing. A token may be a part of a value, it need not end it.",
        received=f"without {missed[:5]}",
    )


def next_tokens(so_far: str, tokens: Sequence[str], values: Sequence[str]) -> list[str]:
    """One way to write it: what there is and the token together begin one of the values."""
    return [token for token in tokens if any(v.startswith(so_far + token) for v in values)]


def next_tokens_stub(so_far: str, tokens: Sequence[str], values: Sequence[str]) -> None:
    """As it stands in the notebook."""
    return None


def next_tokens_whole(so_far: str, tokens: Sequence[str], values: Sequence[str]) -> list[str]:
    """Allows whole values only; most values are no single token."""
    return [token for token in tokens if so_far + token in values]


def next_tokens_anywhere(so_far: str, tokens: Sequence[str], values: Sequence[str]) -> list[str]:
    """Allows a token that is somewhere in a value."""
    return [token for token in tokens if any(token in value for value in values)]


def next_tokens_forgetful(so_far: str, tokens: Sequence[str], values: Sequence[str]) -> list[str]:
    """Forgets what has been written already."""
    return [token for token in tokens if any(value.startswith(token) for value in values)]


# ---- 4.1-b, repair: nothing is left for what is forbidden -----------------------------------

LOGITS = {"workspace": 5.0, "source": 3.0, "doc": 2.5, "src": 1.0, "root": -2.0}


async def check_held(held: Answer) -> None:
    """Zero for what is forbidden, one in all, the odds kept, wherever the logits lie."""
    allowed = ["workspace", "doc", "src"]
    for shift in (0.0, -40.0, 40.0, 2000.0):
        logits = {token: logit + shift for token, logit in LOGITS.items()}
        received = await held.call(dict(logits), list(allowed))
        expect(
            isinstance(received, Mapping) and set(received) == set(LOGITS),
            "give back a probability for each token, the forbidden ones too.",
            received=received,
        )
        _check_odds(received, allowed, shift)


def _check_odds(received: Mapping[str, float], allowed: Sequence[str], shift: float) -> None:
    lies = f"With {shift:+g} added to all logits, which changes nothing for a model: "
    left = sum(chance for token, chance in received.items() if token not in allowed)
    expect(left == 0, f"{lies}forbidden tokens keep some probability.", received=left)
    total = sum(received.values())
    expect(
        math.isclose(total, 1),
        f"{lies}the probabilities do not add up to 1. What was taken from the forbidden ones has "
        "to go to the others.",
        received=total,
    )
    odds = received["workspace"] / received["doc"]
    expect(
        math.isclose(odds, math.exp(2.5)),
        f"{lies}among the allowed tokens the odds have changed.",
        received=odds,
    )


def held(logits: Mapping[str, float], allowed: Collection[str]) -> dict[str, float]:
    """One way to write it: minus infinity first, softmax last."""
    masked = {token: x if token in allowed else -math.inf for token, x in logits.items()}
    most = max(masked.values())
    weights = {token: math.exp(x - most) for token, x in masked.items()}
    total = sum(weights.values())
    return {token: weight / total for token, weight in weights.items()}


def held_stub(logits: Mapping[str, float], allowed: Collection[str]) -> None:
    """As it stands in the notebook."""
    return None


def _softmax(logits: Mapping[str, float]) -> dict[str, float]:
    most = max(logits.values())
    total = sum(math.exp(x - most) for x in logits.values())
    return {token: math.exp(x - most) / total for token, x in logits.items()}


def held_by_zero(logits: Mapping[str, float], allowed: Collection[str]) -> dict[str, float]:
    """Sets the logits to zero, as the tutorial says."""
    return _softmax({token: x if token in allowed else 0.0 for token, x in logits.items()})


def held_by_a_lot(logits: Mapping[str, float], allowed: Collection[str]) -> dict[str, float]:
    """Takes off a number that is large, but not infinite."""
    return _softmax({token: x if token in allowed else x - 10 for token, x in logits.items()})


def held_after(logits: Mapping[str, float], allowed: Collection[str]) -> dict[str, float]:
    """Clears the probabilities afterwards, and gives the rest to nobody."""
    return {token: p if token in allowed else 0.0 for token, p in _softmax(logits).items()}


def held_flat(logits: Mapping[str, float], allowed: Collection[str]) -> dict[str, float]:
    """Treats all allowed tokens alike: the model has no say any more."""
    return {token: 1 / len(allowed) if token in allowed else 0.0 for token in logits}


# ---- 4.1-c, repair: a tool that a model can use ---------------------------------------------

REPEATS = {"once", "daily", "weekly"}


async def check_set_reminder(set_reminder: Answer) -> None:
    """It works, the model cannot invent a repetition, and the lint has nothing to say."""
    said = await set_reminder.call("water the plants", "2026-12-24", "weekly")
    expect(isinstance(said, str), "return a text: the model reads nothing else.", received=said)
    described = _tool_of(set_reminder.value)
    properties = described.parameters["properties"]
    expect(
        set(properties) == {"text", "date", "repeat"},
        "keep the three parameters text, date and repeat.",
        received=list(properties),
    )
    expect(
        described.parameters.get("required") == ["text", "date"],
        'repeat may be left out, the other two may not: keep its default "once".',
        received=described.parameters.get("required"),
    )
    expect(
        set(properties["repeat"].get("enum", ())) == REPEATS,
        'a model can still write repeat="every Monday". Which annotation makes an enum?',
        received=properties["repeat"],
    )
    findings = lint_schema(described)
    expect(not findings, "the lint has something to say.", received=findings and str(findings[0]))


def _tool_of(function: Callable[..., Any]) -> Tool:
    try:
        return tool(function)
    except ConfigError as problem:
        raise NotYet(f"no tool can be made of it: {problem}") from problem


def set_reminder(text: str, date: str, repeat: Literal["once", "daily", "weekly"] = "once") -> str:
    """Set a reminder for the user.

    Args:
        text: What to remind of, in the user's words.
        date: The first day, for example "2026-12-24"; never "tomorrow".
        repeat: Leave it out unless the user asks for a repetition; then it is "once".
    """
    return f"Reminder set for {date} ({repeat}): {text}"


def set_reminder_stub(text: str, date: str, repeat: str = "once") -> None:
    """Set a reminder.

    Args:
        text: The text.
        date: The date.
        repeat: One of once, daily, weekly.
    """
    return None


def set_reminder_in_words(text: str, date: str, repeat: str = "once") -> str:
    """Set a reminder for the user.

    Args:
        text: What to remind of.
        date: The first day, for example "2026-12-24"; never "tomorrow".
        repeat: One of once, daily, weekly; leave it out for once.
    """
    return f"{date} {repeat} {text}"


def set_reminder_without_example(
    text: str, date: str, repeat: Literal["once", "daily", "weekly"] = "once"
) -> str:
    """Set a reminder for the user.

    Args:
        text: What to remind of.
        date: The date of the first day.
        repeat: Leave it out for a reminder that comes once.
    """
    return f"{date} {repeat} {text}"


def set_reminder_without_default(
    text: str, date: str, repeat: Literal["once", "daily", "weekly"]
) -> str:
    """Set a reminder for the user.

    Args:
        text: What to remind of.
        date: The first day, for example "2026-12-24"; never "tomorrow".
        repeat: How often.
    """
    return f"{date} {repeat} {text}"


def set_reminder_bare(
    text: str, date: str, repeat: Literal["once", "daily", "weekly"] = "once"
) -> str:
    """Set a reminder for the user."""
    return f"{date} {repeat} {text}"


MASK_HINTS = (
    "Put what there is and the token together. When is that on its way to `value`?",
    "`value.startswith(so_far + token)` is the question; one value that says yes is enough.",
)

HELD_HINTS = (
    """\
Softmax turns logits into probabilities: e to the power of each, divided by the sum of all of them.
Which logit gives a power of exactly zero?""",
    """\
Replace the logits of forbidden tokens by `-math.inf`, then do the softmax as before. Whatever is
left adds up to 1 by itself.""",
    """\
e to the power of 2000 is too large for a computer. Take the largest logit off all of them first:
that changes no probability.""",
)

REMINDER_HINTS = (
    "`lint_schema(tool(set_reminder))` is the list of what is weak, and where. Print it.",
    """\
`from typing import Literal`, and the annotation `Literal["once", "daily", "weekly"]` makes an
enum.""",
    """\
For the date: a good example in quotes, and a bad one after "never". For repeat: when to leave it
out, and what happens then.""",
)

EXERCISES = (
    Exercise(
        id="4.1-a",
        title="A token is allowed if the text with it still leads to a value.",
        name="next_tokens",
        check=check_next_tokens,
        hints=MASK_HINTS,
        solution=next_tokens,
        stub=next_tokens_stub,
        wrong=(
            Wrong(next_tokens_whole, "it need not end it"),
            Wrong(next_tokens_anywhere, "lead to none of the values"),
            Wrong(next_tokens_forgetful, "lead to none of the values"),
        ),
    ),
    Exercise(
        id="4.1-b",
        title="Minus infinity before softmax leaves exactly nothing.",
        name="held",
        check=check_held,
        hints=HELD_HINTS,
        solution=held,
        stub=held_stub,
        wrong=(
            Wrong(held_by_zero, "keep some probability"),
            Wrong(held_by_a_lot, "keep some probability"),
            Wrong(held_after, "do not add up to 1"),
            Wrong(held_flat, "the odds have changed"),
        ),
    ),
    Exercise(
        id="4.1-c",
        title="What a model must not guess stands in the schema.",
        name="set_reminder",
        check=check_set_reminder,
        hints=REMINDER_HINTS,
        solution=set_reminder,
        stub=set_reminder_stub,
        wrong=(
            Wrong(set_reminder_in_words, "makes an enum"),
            Wrong(set_reminder_without_example, "(format)"),
            Wrong(set_reminder_without_default, "keep its default"),
            Wrong(set_reminder_bare, "(missing)"),
        ),
    ),
)
