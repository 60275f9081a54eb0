"""Section 2.3: ends of a call, ends of a run, and calls that run side by side. (chapter 2.3)"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from freya_teach.lab.exercises.answer import Answer, is_blank
from freya_teach.lab.exercises.exercise import Exercise, NotDone, Wrong, expect
from freya_teach.lab.gateway.question import Move, answer, call
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.scripted import ScriptedClient

# ---- 2.3-a: every end of a call becomes a text ------------------------------------------------

FUNCTIONS: dict[str, Any] = {"get_current_weather": get_current_weather, "calculate": calculate}
"""As in the notebook."""


def observe(call: dict[str, Any]) -> str:
    """One way to write it."""
    name = call["function"]["name"]
    if name not in FUNCTIONS:
        return f"There is no tool {name}. Tools: {', '.join(FUNCTIONS)}."
    try:
        arguments = json.loads(call["function"]["arguments"] or "{}")
        return str(FUNCTIONS[name](**arguments))
    except json.JSONDecodeError:
        return f"The arguments of {name} are not valid JSON. Send one JSON object."
    except Exception as problem:  # noqa: BLE001 - whatever a tool raises, the model reads it
        return f"{name} failed: {problem} Correct the arguments and call it again."


@dataclass(frozen=True)
class Case:
    """One call, what its text has to tell (one of these words), and the hint if it does not."""

    tool: str
    arguments: str
    tells: tuple[str, ...]
    hint: str


CASES = (
    Case("calculate", '{"expression": "15 * 8"}', ("120",), "A call that works gives its value."),
    Case(
        "get_wether",
        "{}",
        tuple(FUNCTIONS),
        "The model asked for a tool that does not exist. Which names could it have used?",
    ),
    Case(
        "calculate",
        '{"expression": "15 *',
        ("JSON", "json"),
        "The arguments are a text, and a text can be cut. What should the model send instead?",
    ),
    Case(
        "get_current_weather",
        '{"town": "Beijing"}',
        ("town", "city"),
        "The arguments are JSON, but not those of this tool. Which one is wrong?",
    ),
    Case("calculate", "", ("expression",), "Some servers send an empty text for no arguments."),
    Case(
        "calculate",
        '{"expression": "1 / 0"}',
        ("zero",),
        "Here the tool itself fails, and it says why. Does the model get to read that?",
    ),
)


async def check_observe(answer: Answer) -> None:
    """Every case gives a text, and the text tells the model what it needs."""
    for case in CASES:
        call = {"id": "call_1", "function": {"name": case.tool, "arguments": case.arguments}}
        text, raised = await answer.attempt(call)
        asked = f"The call: {case.tool}({case.arguments})"
        expect(not raised, f"{case.hint}\n{asked}\nNow {raised}")
        expect(isinstance(text, str), "An observation is a text (str).", received=text)
        expect(any(word in text for word in case.tells), f"{case.hint}\n{asked}", received=text)


def not_written(call: dict[str, Any]) -> None:
    """As it stands in the notebook."""
    return None


def trusts_the_name(call: dict[str, Any]) -> str:
    """Looks a tool up without asking whether there is one."""
    function = FUNCTIONS[call["function"]["name"]]
    try:
        return str(function(**json.loads(call["function"]["arguments"])))
    except (TypeError, ValueError) as problem:
        return f"JSON, please: {problem}"


def says_only_that_it_failed(call: dict[str, Any]) -> str:
    """Raises never, and tells nothing that the model could act on."""
    try:
        if call["function"]["name"] not in FUNCTIONS:
            return f"Unknown tool. Tools: {', '.join(FUNCTIONS)}"
        arguments = json.loads(call["function"]["arguments"])
        return str(FUNCTIONS[call["function"]["name"]](**arguments))
    except Exception:  # noqa: BLE001 - the mistake is what it says next
        return "Error: the tool could not be run."


def hands_back_the_value(call: dict[str, Any]) -> Any:
    """Gives the tool's own value, which is no text."""
    name = call["function"]["name"]
    value = observe(call)
    return {"name": name, "result": value}


def forgets_that_a_tool_can_fail(call: dict[str, Any]) -> str:
    """Catches what is wrong with the arguments, and nothing else."""
    name = call["function"]["name"]
    if name not in FUNCTIONS:
        return f"There is no tool {name}. Tools: {', '.join(FUNCTIONS)}."
    try:
        return str(FUNCTIONS[name](**json.loads(call["function"]["arguments"] or "{}")))
    except json.JSONDecodeError:
        return "Send the arguments as one JSON object."
    except TypeError as problem:
        return f"{name} was not run: {problem}"


HINTS = (
    """\
Three things can go wrong before the tool runs: its name, the JSON of its arguments, and the names
in that JSON. A fourth goes wrong inside it. Write down what you would want to read after each.""",
    """\
Ask `name not in FUNCTIONS` first, and answer with the names there are. Put json.loads and the call
of the function into one `try`, with an `except` for each kind of text.""",
    """\
json.JSONDecodeError tells you that the arguments are no JSON, and TypeError that they are not those
of the tool. What a tool raises has a text too: hand it on.""",
)

# ---- 2.3-b: which end is it? ------------------------------------------------------------------

SUM, OTHER_SUM = call("calculate", expression="1 + 1"), call("calculate", expression="2 + 2")
RUNS: dict[str, tuple[tuple[Move, ...], dict[str, Any]]] = {
    "says hello": ((answer("Hello."),), {}),
    "wants a third turn": ((SUM, OTHER_SUM, answer("4.")), {"max_turns": 2}),
    "repeats itself": ((SUM, SUM, SUM), {"loop_stop": 3}),
    "wants a second call": ((SUM, answer("2.")), {"max_calls": 1}),
    "says nothing": ((answer(""),), {}),
}
"""What the model does, and the run in which it does it: its moves, and the settings."""

ends = {
    "says hello": "answer",
    "wants a third turn": "max_turns",
    "repeats itself": "loop",
    "wants a second call": "budget",
    "says nothing": "empty",
}
NO_ENDS = dict.fromkeys(RUNS)


async def check_ends(answer: Answer) -> None:
    """Each run is made, and its end is compared with what was predicted."""
    predicted = answer.value
    expect(isinstance(predicted, dict), "The prediction is a dict.", received=predicted)
    if all(is_blank(predicted.get(what)) for what in RUNS):
        raise NotDone("not done yet: no end is predicted.")
    for what, (moves, settings) in RUNS.items():
        result = await ScriptedClient(*moves).agent([calculate], **settings).run("Go on.")
        expect(
            predicted.get(what) == result.stop_reason,
            f"{what!r} ends in another way. It took {len(result.trace.turns)} turns and "
            f"{len(result.trace.calls)} tool calls, and said of it: {result.detail or 'nothing'}.",
            received=predicted.get(what),
        )


# ---- 2.3-c: side by side, in order ------------------------------------------------------------

Run = Callable[[str], Awaitable[str]]


async def side_by_side(run: Run, calls: list[str]) -> list[str]:
    """One way to write it."""

    async def observed(one: str) -> str:
        try:
            return await run(one)
        except Exception as problem:  # noqa: BLE001 - one failure must not cost the others
            return f"{one} failed: {problem}"

    return list(await asyncio.gather(*[observed(each) for each in calls]))


async def check_side_by_side(answer: Answer) -> None:
    """Calls that wait for each other end; the results are in call order; a failure is a text."""
    await _check_that_they_run_together(answer)
    await _check_the_order(answer)
    await _check_a_failure(answer)


async def _check_that_they_run_together(answer: Answer) -> None:
    """The first call ends only after the last one has begun."""
    begun = asyncio.Event()
    alone: list[str] = []

    async def run(one: str) -> str:
        if one == "last":
            begun.set()
        for _ in range(100):  # turns of the event loop: plenty for all to begin, and no clock
            if begun.is_set():
                return one
            await asyncio.sleep(0)
        alone.append(one)
        return one

    received = await answer.call(run, ["first", "middle", "last"])
    expect(
        not alone,
        "They run one after the other: the first call had to wait for the last one to begin, and "
        "waited for ever.",
    )
    expect(
        isinstance(received, list | tuple) and len(received) == 3,
        "For three calls there are three results, in a list.",
        received=received,
    )


async def _check_the_order(answer: Answer) -> None:
    """The later a call is in the list, the sooner it is finished."""
    calls = ["slow", "middling", "quick"]

    async def run(one: str) -> str:
        for _ in range(10 * (len(calls) - calls.index(one))):
            await asyncio.sleep(0)
        return f"result of {one}"

    received = await answer.call(run, list(calls))
    expect(
        list(received) == [f"result of {one}" for one in calls],
        "The results are in the order in which they came. "
        "The history wants the order of the calls.",
        received=received,
    )


async def _check_a_failure(answer: Answer) -> None:
    async def run(one: str) -> str:
        if one == "broken":
            raise ValueError("no such city")
        return one

    received, raised = await answer.attempt(run, ["fine", "broken"])
    expect(not raised, "One call failed, and it took the results of the others with it.")
    expect(
        received[0] == "fine" and "no such city" in str(received[1]),
        "The call that failed has a result too: a text that says what went wrong.",
        received=received,
    )


async def not_side_by_side(run: Run, calls: list[str]) -> None:
    """As it stands in the notebook."""
    return None  # your code


async def one_after_the_other(run: Run, calls: list[str]) -> list[str]:
    """Waits for each before it begins the next."""
    return [await run(each) for each in calls]


async def as_they_come(run: Run, calls: list[str]) -> list[str]:
    """Takes each result when it is there."""
    return [await each for each in asyncio.as_completed([run(one) for one in calls])]


async def all_or_nothing(run: Run, calls: list[str]) -> list[str]:
    """Lets the first failure out."""
    return list(await asyncio.gather(*[run(each) for each in calls]))


async def exceptions_as_results(run: Run, calls: list[str]) -> list[Any]:
    """Drops what failed."""
    results = await asyncio.gather(*[run(each) for each in calls], return_exceptions=True)
    return ["?" if isinstance(result, Exception) else result for result in results]


EXERCISES = (
    Exercise(
        id="2.3-a",
        title="Every end of a call is now a text that the model can act on.",
        name="observe",
        check=check_observe,
        hints=HINTS,
        solution=observe,
        stub=not_written,
        wrong=(
            Wrong(trusts_the_name, earns="Which names could it have used?"),
            Wrong(says_only_that_it_failed, earns="What should the model send instead?"),
            Wrong(hands_back_the_value, earns="An observation is a text (str)."),
            Wrong(forgets_that_a_tool_can_fail, earns="Here the tool itself fails"),
        ),
    ),
    Exercise(
        id="2.3-b",
        title="You know the ends of a run by heart.",
        name="ends",
        check=check_ends,
        hints=(
            "Section 6 has shown most of them. Ask of each run: did the model end it, or a limit?",
            (
                "A limit on turns is `max_turns`. Limits on calls, tokens and seconds share one "
                "word, because each of them is something that can be used up."
            ),
        ),
        solution=ends,
        stub=NO_ENDS,
        wrong=(
            Wrong(ends | {"wants a second call": "max_turns"}, earns="'wants a second call' ends"),
            Wrong(ends | {"repeats itself": "budget"}, earns="'repeats itself' ends"),
            Wrong(ends | {"says nothing": "answer"}, earns="'says nothing' ends"),
        ),
    ),
    Exercise(
        id="2.3-c",
        title="They run side by side, and nobody can tell from the results which one was faster.",
        name="side_by_side",
        check=check_side_by_side,
        hints=(
            (
                "`await` in a loop waits for one call before it begins the next. asyncio has a "
                "function that takes several awaitables at once."
            ),
            (
                "asyncio.gather gives the results in the order in which it got the awaitables, "
                "whichever ends first. What does it do when one of them raises?"
            ),
            (
                "Put run(call) into an async function of your own that catches the exception and "
                "returns a text about it. Give gather one of these per call."
            ),
        ),
        solution=side_by_side,
        stub=not_side_by_side,
        wrong=(
            Wrong(one_after_the_other, earns="They run one after the other"),
            Wrong(as_they_come, earns="The history wants the order of the calls"),
            Wrong(all_or_nothing, earns="it took the results of the others with it"),
            Wrong(exceptions_as_results, earns="The call that failed has a result too"),
        ),
    ),
)
