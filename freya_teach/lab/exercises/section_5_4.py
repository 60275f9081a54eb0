"""Section 5.4: tie results to calls, assign ids, break a scheme of ids. (chapter 5.4)"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.llm.messages import Json

Body = dict[str, Json]
Run = Callable[[Body], Awaitable[str]]

# ---- 5.4-a, repair: results that belong to their calls ---------------------------------------

CITIES = ("Oslo", "Rome", "Lima")
PATIENCE = 200
"""Rounds of the event loop that a call waits for the one behind it to begin."""


def _calls() -> list[Body]:
    return [
        {"id": f"call_{n}", "name": "weather", "arguments": {"city": city}}
        for n, city in enumerate(CITIES, 1)
    ]


class _Weather:
    """Runs the calls: each waits until the one behind it is done, so the last is the first."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.done: list[str] = []
        self.alone: list[str] = []

    async def __call__(self, call: Body) -> str:
        city: str = call["arguments"]["city"]
        place = CITIES.index(city)
        for _ in range(PATIENCE):
            if place + 1 == len(CITIES) or CITIES[place + 1] in self.done:
                break
            await asyncio.sleep(0)
        else:
            self.alone.append(city)
        self.done.append(city)
        if city == self.fails:
            raise ConnectionError(f"no line to {city}")
        return f"{city} is fine"


async def check_collect(collect: Answer) -> None:
    """The calls end in the opposite order, and once one of them fails."""
    weather = _Weather()
    found = await _collected(collect, weather)
    expect(
        not weather.alone,
        f"{weather.alone[:1]} waited for the call behind it, and that was not running: the calls "
        "do not run side by side.",
    )
    _check_texts(found)
    failing = await _collected(collect, _Weather(fails="Rome"))
    texts = {each["tool_call_id"]: str(each.get("content")) for each in failing}
    expect(
        texts["call_2"].startswith("error"),
        "the call for Rome failed. Its result should begin with `error`.",
        received=texts["call_2"],
    )
    expect(
        "Oslo" in texts["call_1"] and "Lima" in texts["call_3"],
        "Rome failed, and a neighbour's result is not what it was.",
        received=failing,
    )


async def _collected(collect: Answer, weather: _Weather) -> list[Body]:
    """What came back, once it has the right form. A failure of `run` must not come through."""
    found, raised = await collect.attempt(_calls(), weather)
    if raised is not None and isinstance(raised.problem, ConnectionError):
        raise NotYet("`run` failed for one call, and your function failed with it.")
    if raised is not None:
        raise raised
    expect(
        isinstance(found, list) and all(isinstance(each, dict) for each in found),
        "a list of tool messages is wanted.",
        received=found,
    )
    expect(
        all(each.get("role") == "tool" for each in found),
        'each message has `"role": "tool"`, `tool_call_id` and `content`.',
        received=found,
    )
    ids = [each.get("tool_call_id") for each in found]
    expect(
        sorted(map(str, ids)) == ["call_1", "call_2", "call_3"],
        "each call has one result, under its own id.",
        received=ids,
    )
    return found  # type: ignore[no-any-return]


def _check_texts(found: list[Body]) -> None:
    for each in found:
        city = CITIES[int(each["tool_call_id"][-1]) - 1]
        expect(
            city in str(each.get("content")),
            f"{each['tool_call_id']} asked for {city}. Lima was done first here, and Oslo last.",
            received=each.get("content"),
        )
    expect(
        [each["tool_call_id"] for each in found] == ["call_1", "call_2", "call_3"],
        "every result belongs to its call. Only the order of the calls is still wanted.",
        received=[each["tool_call_id"] for each in found],
    )


async def collect(calls: list[Body], run: Run) -> list[Body]:
    """One way to write it: whoever runs a call makes its message."""

    async def one(call: Body) -> Body:
        try:
            text = await run(call)
        except Exception as problem:  # noqa: BLE001 - whatever a tool raises, its call has a result
            text = f"error: {type(problem).__name__}"
        return {"role": "tool", "tool_call_id": call["id"], "content": text}

    return list(await asyncio.gather(*map(one, calls)))


async def collect_stub(calls: list[Body], run: Run) -> None:
    """As it stands in the notebook."""
    return None


async def collect_dealt_out(calls: list[Body], run: Run) -> list[Body]:
    """Deals the texts out by position, as they come."""
    waiting = [asyncio.ensure_future(run(call)) for call in calls]
    texts = [await done for done in asyncio.as_completed(waiting)]
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(calls, texts, strict=True)
    ]


async def collect_one_by_one(calls: list[Body], run: Run) -> list[Body]:
    """Right, and one after the other."""
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": await run(call)} for call in calls
    ]


async def collect_by_name(calls: list[Body], run: Run) -> list[Body]:
    """Keeps the texts under the tool's name, which is the same three times."""
    texts = await asyncio.gather(*map(run, calls))
    kept = {call["name"]: text for call, text in zip(calls, texts, strict=True)}
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": kept[call["name"]]}
        for call in calls
    ]


async def collect_as_it_comes(calls: list[Body], run: Run) -> list[Body]:
    """Every result has its id; the order is that of the ends."""

    async def one(call: Body) -> Body:
        return {"role": "tool", "tool_call_id": call["id"], "content": await run(call)}

    waiting = [asyncio.ensure_future(one(call)) for call in calls]
    return [await done for done in asyncio.as_completed(waiting)]


async def collect_and_fail(calls: list[Body], run: Run) -> list[Body]:
    """Lets the failure of one call through."""
    texts = await asyncio.gather(*map(run, calls))
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(calls, texts, strict=True)
    ]


async def collect_without_the_failed(calls: list[Body], run: Run) -> list[Body]:
    """Leaves the failed call without a result."""
    texts = await asyncio.gather(*map(run, calls), return_exceptions=True)
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(calls, texts, strict=True)
        if isinstance(text, str)
    ]


# ---- 5.4-b, extend: ids that hold ------------------------------------------------------------

MOST = 40
CASES: tuple[tuple[list[str], set[str], str], ...] = (
    (["call_a", "call_b"], set(), "two ids that serve"),
    (["", ""], set(), "two calls without an id"),
    (["search:0", "search:0"], set(), "one id for two calls"),
    (["search:0"], {"search:0"}, "an id that the history has"),
    (["x" * 45 + "1", "x" * 45 + "2"], set(), "two ids that are too long, and begin alike"),
    (["call_2", ""], {"call_1"}, "an id that you might give yourself, and then none"),
    (["call_3", "y" * 41, ""], {f"call_{n}" for n in range(9)} - {"call_3"}, "taken numbers"),
)


async def check_new_ids(new_ids: Answer) -> None:
    """Every case: one id per call, unique, short, kept where it serves, the same again."""
    for given, used, case in CASES:
        found = await new_ids.call(list(given), set(used))
        expect(
            isinstance(found, list) and all(isinstance(each, str) for each in found),
            f"{case}: a list of texts is wanted.",
            received=found,
        )
        expect(len(found) == len(given), f"{case}: one id for each call.", received=found)
        expect(all(found), f"{case}: an id is empty.", received=found)
        expect(
            max(map(len, found)) <= MOST, f"{case}: OpenAI refuses an id of more.", received=found
        )
        expect(len(set(found)) == len(found), f"{case}: two calls share an id.", received=found)
        expect(not used & set(found), f"{case}: the history has one already.", received=found)
        _check_kept(given, used, found, case)
        again = await new_ids.call(list(given), set(used))
        expect(again == found, f"{case}: asked the same again, it says something else.")


def _check_kept(given: list[str], used: set[str], found: list[str], case: str) -> None:
    """What serves is unchanged: not empty, short enough, and new."""
    for place, each in enumerate(given):
        serves = each and len(each) <= MOST and each not in used and each not in found[:place]
        expect(
            not serves or found[place] == each,
            f"{case}: {each!r} serves, and should stay as it is.",
            received=found,
        )


def new_ids(given: list[str], used: Collection[str]) -> list[str]:
    """One way to write it: keep what serves, count up for the rest."""
    found: list[str] = []
    for each in given:
        taken = {*used, *found}
        number = 1
        while f"call_{number}" in taken:
            number += 1
        serves = each and len(each) <= MOST and each not in taken
        found.append(each if serves else f"call_{number}")
    return found


def new_ids_stub(given: list[str], used: Collection[str]) -> None:
    """As it stands in the notebook."""
    return None


def new_ids_numbered(given: list[str], used: Collection[str]) -> list[str]:
    """Gives all of them new ids."""
    return [f"call_{len(used) + n}" for n, _ in enumerate(given, 1)]


def new_ids_random(given: list[str], used: Collection[str]) -> list[str]:
    """Draws what is missing."""
    kept = new_ids(given, used)
    return [each if each in given else f"call_{random.getrandbits(48):012x}" for each in kept]


def new_ids_by_place(given: list[str], _used: Collection[str]) -> list[str]:
    """Numbers by the place in the answer, and forgets the history."""
    seen: set[str] = set()
    found = []
    for place, each in enumerate(given):
        fits = each and len(each) <= MOST and each not in seen
        found.append(each if fits else f"{each or 'call'}#{place}"[:MOST])
        seen.add(each)
    return found


def new_ids_cut(given: list[str], used: Collection[str]) -> list[str]:
    """Cuts what is too long."""
    short = [each[:MOST] for each in given]
    return [
        cut if 0 < len(each) <= len(cut) or len(each) > MOST else new
        for each, cut, new in zip(given, short, new_ids(given, used), strict=True)
    ]


def new_ids_as_given(given: list[str], used: Collection[str]) -> list[str]:
    """Fills in what is missing, and trusts the rest."""
    return [each or f"call_{len(used) + n}" for n, each in enumerate(given)]


# ---- 5.4-c, attack: a scheme that cannot collide ----------------------------------------------

MOST_CALLS = 20


def made_id(name: str, answer_number: int, place: int) -> str:
    """The scheme under attack: name, number of the answer, place in it; both count from 0."""
    return f"{name}_{answer_number}{place}"


async def check_answers(answers: Answer) -> None:
    """Make every id of the conversation, and look for one that comes twice."""
    found = await answers.call()
    expect(
        isinstance(found, list) and all(isinstance(each, list) for each in found),
        "a list of answers is wanted, each a list of tool names.",
        received=found,
    )
    names = [name for each in found for name in each]
    expect(
        all(isinstance(name, str) and re.fullmatch("[A-Za-z]+", name) for name in names),
        "a tool's name is of plain letters here.",
        received=names,
    )
    longest = max(map(len, found), default=0)
    expect(longest <= MOST_CALLS, "no answer has more than 20 calls.", received=longest)
    ids = [
        made_id(name, number, place)
        for number, each in enumerate(found)
        for place, name in enumerate(each)
    ]
    expect(
        len(set(ids)) < len(ids),
        "all ids are different. Two numbers stand side by side: where does the one end?",
        received=f"{len(found)} answers, {len(ids)} calls, the last id is {ids[-1:] or 'none'}",
    )


def answers() -> list[list[str]]:
    """One way to do it: place 11 of answer 1, and place 1 of answer 11, are both `search_111`."""
    return [["search"] * 12 for _ in range(12)]


def answers_few() -> list[list[str]]:
    """Another one: only the two answers that matter have calls enough."""
    return [[], ["search"] * 11, *([["search"]] * 9)]


def answers_stub() -> None:
    """As it stands in the notebook."""
    return None


def answers_repeated() -> list[list[str]]:
    """Hopes for the same name in the same place."""
    return [["search"], ["search"], ["search", "search"]]


def answers_long() -> list[list[str]]:
    """One answer with very many calls."""
    return [["search"] * 200]


def answers_by_name() -> list[list[str]]:
    """Puts the digits into the name."""
    return [["search_1", "search"], ["search"]]


def answers_flat() -> list[Any]:
    """Names without answers around them."""
    return ["search", "search"]


COLLECT_HINTS = (
    "A text without its id can only be counted. Where, at the latest, do you still know the call?",
    "Write an inner `async def one(call)` that awaits `run(call)` and returns the whole message.",
    "`asyncio.gather` runs them side by side and keeps the order. Put the `try` into `one`.",
)

NEW_IDS_HINTS = (
    "Four reasons to give a new id: empty, too long, in `used`, or seen before in `given`.",
    "Go call by call, and keep what you have given so far: it is taken, like the ids in `used`.",
    "Count up from `call_1` until the id is not taken. No chance is needed.",
)

ANSWERS_HINTS = (
    "`search_111`: which answer is it, and which place? There are two ways to read it.",
    "An answer with more than ten calls has places of two digits.",
    "Place 10 of answer 1 is `search_110`. Which answer has a number of two digits, and place 0?",
)

EXERCISES = (
    Exercise(
        id="5.4-a",
        title="Each result is tied to its call where it is made, and a failure is a result, too.",
        name="collect",
        check=check_collect,
        hints=COLLECT_HINTS,
        solution=collect,
        stub=collect_stub,
        wrong=(
            Wrong(collect_dealt_out, "Lima was done first here"),
            Wrong(collect_one_by_one, "do not run side by side"),
            Wrong(collect_by_name, "Lima was done first here"),
            Wrong(collect_as_it_comes, "Only the order of the calls is still wanted"),
            Wrong(collect_and_fail, "your function failed with it"),
            Wrong(collect_without_the_failed, "each call has one result"),
        ),
    ),
    Exercise(
        id="5.4-b",
        title="Ids that are unique in the history, short, and the same in every run.",
        name="new_ids",
        check=check_new_ids,
        hints=NEW_IDS_HINTS,
        solution=new_ids,
        stub=new_ids_stub,
        wrong=(
            Wrong(new_ids_numbered, "serves, and should stay as it is"),
            Wrong(new_ids_random, "it says something else"),
            Wrong(new_ids_by_place, "the history has one already"),
            Wrong(new_ids_cut, "two calls share an id"),
            Wrong(new_ids_as_given, "two calls share an id"),
        ),
    ),
    Exercise(
        id="5.4-c",
        title="Two numbers side by side are one: a scheme needs something between its parts.",
        name="answers",
        check=check_answers,
        hints=ANSWERS_HINTS,
        solution=answers,
        stub=answers_stub,
        wrong=(
            Wrong(answers_repeated, "where does the one end?"),
            Wrong(answers_long, "no answer has more than 20 calls"),
            Wrong(answers_by_name, "of plain letters"),
            Wrong(answers_flat, "a list of answers is wanted"),
        ),
    ),
)
