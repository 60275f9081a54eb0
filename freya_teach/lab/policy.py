"""Rules in the place of a model: readable, and the same on every machine. (chapter 2.2)

A policy looks at what was said and at the tools that are offered, and picks the next move. What
it does proves only what its author put in: a cell that shows one says "authored".

    lab.kernel("gateway", policy=assistant).agent([get_current_weather, calculate])
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from freya_teach.lab.gateway.question import Call, Move, Offered, Policy, Question, Said, answer

EXPRESSION = re.compile(r"\(*-?\d[\d.]*(?:[\s()]*(?:\*\*|//|[-+*/×÷%])[\s()]*\d[\d.]*\)*)+")
PLACE = re.compile(r"(?:\b(?:in|for|of|and|at)|,)\s+([A-Z][\w-]+)")
QUOTED = re.compile(r"""["'“]([^"'”]+)["'”]""")
FILE_NAME = re.compile(r"[\w/-]+\.\w{1,5}\b")
PLACE_FIELDS = {"city", "town", "place", "location"}
WEATHER_WORDS = re.compile(
    r"weather|temperature|rain|snow|sun|cold|warm|hot\b|umbrella", re.IGNORECASE
)
MY_NAME = re.compile(r"\b(?:[Mm]y name is|I am|I'm|[Cc]all me)\s+([A-Z]\w+)")

ASKS_MY_NAME = re.compile(r"(?i)\b(?:my name|who am i)\b.*\?")


# ---- the assistant: the course's first question, and whatever a learner makes of it ---------


def assistant(question: Question) -> Move:
    """Call every tool that the question needs, all at once; then answer from the results."""
    if results := _latest_turn(question)[1]:
        return answer(" ".join(_told(result) for result in results))
    if calls := [call for tool in question.tools for call in _needed(tool, question.asked)]:
        return Move(calls=tuple(calls))
    return answer(_from_memory(question))


def _needed(tool: Offered, asked: str) -> Iterator[Call]:
    """The calls of one tool that the question asks for: one per expression, one per place."""
    if "expression" in tool.fields:
        for found in EXPRESSION.findall(asked):
            yield Call(tool.name, {"expression": found.strip()})
    elif (place := _place_field(tool)) and WEATHER_WORDS.search(asked):
        for city in PLACE.findall(asked):
            yield Call(tool.name, {place: city})
    elif _mentions(asked, tool.name):
        yield Call(tool.name, {name: _guess(s, asked) for name, s in _required(tool)})


def _place_field(tool: Offered) -> str:
    return next((name for name in tool.fields if name in PLACE_FIELDS), "")


def _mentions(asked: str, name: str) -> bool:
    words = set(re.findall(r"[a-z]{3,}", name.lower())) - {"get", "current", "the", "list"}
    return bool(words & set(re.findall(r"[a-z]{3,}", asked.lower())))


def _required(tool: Offered) -> Iterator[tuple[str, dict[str, Any]]]:
    required = tool.parameters.get("required", [])
    return ((name, schema) for name, schema in tool.fields.items() if name in required)


def _guess(schema: dict[str, Any], asked: str) -> Any:
    """A value that the schema allows, taken from the question where it holds one."""
    if choices := schema.get("enum"):
        return next((c for c in choices if str(c).lower() in asked.lower()), choices[0])
    match schema.get("type"):
        case "integer" | "number":
            found = re.search(r"-?\d+", asked)
            return int(found[0]) if found else 1
        case "boolean":
            return True
        case "array":
            return []
        case "object":
            return {}
    found = QUOTED.search(asked) or PLACE.search(asked)
    return found[1] if found else asked


def _told(result: Said) -> str:
    """A sentence on one result."""
    try:
        value = json.loads(result.text)
    except ValueError:
        value = None
    match value:
        case {"city": city, "condition": condition, "temperature_celsius": degrees}:
            return f"In {city}: {condition}, {degrees} °C."
        case int() | float() if result.name == "calculate":
            return f"The calculation gives {result.text}."
        case _:
            return f"{result.name or 'The tool'} says: {result.text[:300]}"


def _from_memory(question: Question) -> str:
    """What can be said without a tool: mostly that there is none, and never an invention."""
    if (
        re.search(r"\bmy name\b|\bwho am i\b", question.asked, re.IGNORECASE)
        and "?" in question.asked
    ):
        said = [MY_NAME.search(said.text) for said in question.said if said.role == "user"]
        names = [found[1] for found in said if found]
        return f"Your name is {names[-1]}." if names else "You have not told me your name."
    if found := MY_NAME.search(question.asked):
        return f"Hello, {found[1]}."
    offered = ", ".join(tool.name for tool in question.tools) or "none"
    return (
        "I am a handful of rules in the place of a model, and none of them fits this question. "
        f"Tools that I was offered: {offered}."
    )


# ---- an agent that reads files ---------------------------------------------------------------


def file_reader(question: Question) -> Move:
    """Read the file that the question names, or list the folder first; answer from what is read.

    Wants two tools, `list_dir` and `read_file(path)`.
    """
    last = question.results[-1] if question.results else None
    if last is not None and last.name == "read_file":
        return answer(f"The file says: {_best_line(last.text, question.asked)}")
    names = FILE_NAME.findall(question.asked)
    if not names and last is not None:
        names = sorted(
            FILE_NAME.findall(last.text), key=lambda name: -_shared(name, question.asked)
        )
        if not names:
            return answer("There is no file that I could read.")
    if names:
        return Move(calls=(Call("read_file", {"path": names[0]}),))
    return Move(calls=(Call("list_dir", {}),))


def _best_line(text: str, asked: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return max(lines, key=lambda line: _shared(line, asked), default="(nothing)")


def _shared(text: str, asked: str) -> int:
    """How many words of the question the text has."""
    words = set(re.findall(r"\w{3,}", asked.lower()))
    return len(words & set(re.findall(r"[^\W_]{3,}", text.lower())))


# ---- models that go wrong --------------------------------------------------------------------


def repeats(name: str, /, **arguments: Any) -> Policy:
    """A model that makes the very same call for ever, whatever comes back.

    >>> stuck = repeats("get_current_weather", city="Oslo")
    """

    def stuck(_: Question) -> Move:
        return Move(calls=(Call(name, arguments),))

    return stuck


def careless(question: Question) -> Move:
    """Misspell the arguments' names; correct them once an observation says how they are called.

    An observation that does not guide ("error") changes nothing: the same mistake is made again.
    """
    right = [call for tool in question.tools for call in _needed(tool, question.asked)]
    wrong = [_misspelt(call) for call in right]
    tried, results = _latest_turn(question)
    if not tried:
        return Move(calls=tuple(wrong)) if wrong else assistant(question)
    if any(set(call.arguments) == set(good.arguments) for call in tried for good in right):
        return assistant(question)
    told = " ".join(result.text for result in results)
    return Move(calls=tuple(right if all(_names(told, call) for call in right) else wrong))


def _latest_turn(question: Question) -> tuple[tuple[Call, ...], tuple[Said, ...]]:
    """The newest calls since the question, and their results."""
    said = question.since_asked
    last = max((i for i, each in enumerate(said) if each.calls), default=None)
    if last is None:
        return (), ()
    return said[last].calls, tuple(each for each in said[last + 1 :] if each.role == "tool")


def _misspelt(call: Call) -> Call:
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    return Call(call.name, {f"the_{name}": value for name, value in arguments.items()})


def _names(told: str, call: Call) -> bool:
    """Whether a text holds the name of every argument of the call, as a word of its own."""
    return set(re.findall(r"\w+", told)).issuperset(call.arguments)


# ---- a script --------------------------------------------------------------------------------


def script(*moves: Move) -> Policy:
    """Play these moves in their order, whatever is asked; afterwards, say that the script is over.

    >>> policy = script(Move(calls=(Call("calculate", {"expression": "6 * 7"}),)), answer("42."))
    """
    left = iter(moves)

    def play(_: Question) -> Move:
        return next(left, answer("(The script has no further move.)"))

    return play
