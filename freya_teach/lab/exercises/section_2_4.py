"""Section 2.4: fool the guard, make a status comparable, stop by cost. (chapter 2.4)"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.kernel import build_kernel
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.lab.exercises.section_2_2 import policy_of
from freya_teach.lab.gateway import Call, Move, Policy, Question, answer, call, gateway
from freya_teach.lab.sample_tools import get_current_weather
from freya_teach.trace import RunResult

TURNS = 12
ASKED = "What is the weather in Oslo?"


async def weather(city: str) -> dict[str, str | int]:
    """Get the current weather of one city."""
    return get_current_weather(city)


async def run(policy: Policy, tools: list[Any], turns: int = TURNS) -> RunResult:
    """Let the kernel with its usual guard work for a model that follows this policy."""
    settings = Settings.model_validate({"api_key": "no-key-needed", "max_turns": turns})
    kernel = build_kernel(settings, gateway(policy).client(), Ambient())
    return await kernel.agent(tools).run(ASKED)


# ---- 2.4-a, attack: a loop that the guard does not see --------------------------------------


async def check_fool(fool: Answer) -> None:
    """Play it against the kernel: it has to call to the end, about Oslo, unnoticed."""
    result = await run(policy_of(fool), [weather])
    calls = result.trace.calls
    expect(
        result.stop_reason != "loop",
        "the guard saw it and stopped the run. What does it compare, besides the result?",
        received=result.detail,
    )
    expect(
        len(calls) >= TURNS,
        f"the run ended before the {TURNS} turns were used up. A model in a loop calls the tool "
        "every time, and never answers.",
        received=f"{len(calls)} calls, then {result.stop_reason}",
    )
    expect(
        {trace.state for trace in calls} == {"completed"},
        "a call failed. Call `weather` with a city that it knows.",
        received=next((t.observation for t in calls if t.state != "completed"), ""),
    )
    results = {json.loads(trace.observation.partition("\n")[0])["city"] for trace in calls}
    expect(
        results == {"Oslo"},
        "those are results about different cities: that is work, and no loop. Ask for Oslo only.",
        received=sorted(results),
    )


def fool(question: Question) -> Move:
    """One way to do it: a counter that the tool does not look at."""
    return call("weather", city=f"Oslo, try {len(question.calls) + 1}")


def fool_stub(question: Question) -> None:
    """As it stands in the notebook."""
    return None


def fool_constant(_: Question) -> Move:
    """Makes the very same call: just what the guard is for."""
    return call("weather", city="Oslo")


def fool_with_spaces(question: Question) -> Move:
    """Writes the same arguments with more and more spaces; the guard compares what they mean."""
    spaces = " " * len(question.calls)
    return Move(calls=(Call("weather", f'{{"city":{spaces}"Oslo"}}'),))


def fool_with_work(question: Question) -> Move:
    """Asks for one city after the other."""
    cities = ["Oslo", "Lima", "Bergen", "Beijing", "Shanghai"]
    number = len(question.calls)
    return call("weather", city=f"{cities[number % 5]}, try {number}")


def fool_briefly(question: Question) -> Move:
    """Has a counter, and gives up early."""
    number = len(question.calls)
    return answer("Snow.") if number > 2 else call("weather", city=f"Oslo, try {number}")


# ---- 2.4-b, repair: a status that can be compared -------------------------------------------

STATUS: dict[str, Any] = {
    "job": "build-7",
    "state": "running",
    "done": 3,
    "of": 10,
    "checked_at": "12:00:01",
}


async def check_status_text(status_text: Answer) -> None:
    """Equal while nothing happens, different when something does, and of use in a run."""
    first = await status_text.call(dict(STATUS))
    expect(isinstance(first, str), "return a text: the model reads nothing else.", received=first)
    later = await status_text.call({**STATUS, "checked_at": "12:00:09"})
    expect(
        first == later,
        "nothing has happened between two looks, only time has passed, and the texts differ. The "
        "guard will take this for news for ever.",
        received=later,
    )
    moved = await status_text.call({**STATUS, "done": 4})
    expect(
        moved != first,
        "the job has moved on by a step, and the text is the same. The guard will stop a job that "
        "is well on its way.",
        received=moved,
    )
    failed = await status_text.call({**STATUS, "state": "failed"})
    expect(
        failed != first,
        "the job has failed, and the model does not get to know.",
        received=failed,
    )
    await _check_in_a_run(status_text)


async def _check_in_a_run(status_text: Answer) -> None:
    """A job that moves is waited for, a job that does not is a loop."""
    moving = await _polled(status_text, range(1, 11))
    expect(
        moving.stop_reason == "answer",
        "a job that moved on in every turn was not waited for.",
        received=moving.detail,
    )
    stuck = await _polled(status_text, itertools.repeat(3))
    expect(stuck.stop_reason == "loop", "a job that stands still was polled on and on.")


async def _polled(status_text: Answer, progress: Iterable[int]) -> RunResult:
    """A model looks at the job until it is done; between two looks it moves on, or time passes."""
    now, steps, seconds = dict(STATUS), iter(progress), itertools.count()

    async def job_status(job: str) -> str:
        """Look how far a job is."""
        now.update(job=job, done=next(steps), checked_at=f"12:00:{next(seconds):02}")
        now["state"] = "done" if now["done"] == now["of"] else "running"
        text: str = await status_text.call(dict(now))
        return text

    def poll(_: Question) -> Move:
        done = now["state"] == "done"
        return answer("The job is done.") if done else call("job_status", job="build-7")

    return await run(poll, [job_status], turns=20)


def status_text(status: dict[str, Any]) -> str:
    """One way to write it."""
    return f"{status['job']} is {status['state']}: {status['done']} of {status['of']} steps."


def status_text_stub(status: dict[str, Any]) -> None:
    """As it stands in the notebook."""
    return None


def status_text_with_time(status: dict[str, Any]) -> str:
    """Hands on everything, with the time."""
    return str(status)


def status_text_without_progress(status: dict[str, Any]) -> str:
    """Leaves out too much: a job that moves looks like one that stands still."""
    return f"{status['job']} is {status['state']}."


def status_text_without_state(status: dict[str, Any]) -> str:
    """Nobody gets to know that the job has failed."""
    return f"{status['done']} of {status['of']} steps"


# ---- 2.4-c, extend: stop before the money is gone -------------------------------------------

LOOPS = ((1.0, 0.25), (2.0, 0.5), (0.5, 2.0), (4.0, 0.0))
"""The cost of the first turn, and how much more each further one costs, in cents."""
BUDGETS = (21.0, 50.0, 200.0)


async def check_may_go_on(may_go_on: Answer) -> None:
    """Never overdrawn, and not a turn too early, in loops that grow at different speeds."""
    expect(await may_go_on.call([], 21.0), "the first turn may be taken: nothing is spent yet.")
    for budget in BUDGETS:
        for first, more in LOOPS:
            await _check_loop(may_go_on, budget, first, more)


async def _check_loop(may_go_on: Answer, budget: float, first: float, more: float) -> None:
    costs = [first, first + more]
    while await may_go_on.call(list(costs), budget):
        costs.append(first + more * len(costs))
        expect(
            sum(costs) <= budget,
            f"more was spent than the {budget:g} cents of the budget. When you see what a turn "
            "cost, it is paid already: look ahead at the next one.",
            received=costs,
        )
    following = first + more * len(costs)
    expect(
        sum(costs) + following > budget,
        f"there was enough for another turn: {budget:g} cents, and it would have cost "
        f"{following:g}.",
        received=costs,
    )


def may_go_on(costs: list[float], budget: float) -> bool:
    """One way to write it: the next turn grows as the last one did."""
    if len(costs) < 2:
        return sum(costs) * 2 <= budget
    following = costs[-1] + (costs[-1] - costs[-2])
    return sum(costs) + following <= budget


def may_go_on_stub(costs: list[float], budget: float) -> None:
    """As it stands in the notebook."""
    return None


def may_go_on_looking_back(costs: list[float], budget: float) -> bool:
    """Sees that the money is gone when it is gone."""
    return sum(costs) < budget


def may_go_on_without_growth(costs: list[float], budget: float) -> bool:
    """Looks ahead, and takes the next turn to be as cheap as the last one."""
    return not costs or sum(costs) + costs[-1] <= budget


def may_go_on_by_turns(costs: list[float], _budget: float) -> bool:
    """A limit of turns, whatever they cost."""
    return len(costs) < 4


def may_go_on_without_first(costs: list[float], budget: float) -> bool:
    """Forbids the turns of which it knows nothing."""
    return len(costs) > 1 and may_go_on(costs, budget)


FOOL_HINTS = (
    """\
The guard looks at three things together: the tool, its arguments, its result. The result has to
stay the same. Which of the other two can change?""",
    "`weather` reads its argument up to the first comma. What comes after it is up to you.",
    "`len(question.calls)` counts the calls made so far. Put it after the comma.",
)

STATUS_HINTS = (
    "Go through the five fields. Which of them changes although nothing has happened?",
    """\
Write one sentence for the model from the job, its state and its progress. Leave the time out.""",
)

BUDGET_HINTS = (
    """\
The next turn resends all that the last one sent, and more. So it costs at least as much as the
last one.""",
    "By how much did the last turn cost more than the one before? Expect the same again.",
    """\
Go on while the sum so far plus last + (last - the one before) fits the budget. With one turn there
is no growth to be seen yet: expect it to cost the same again. With none, go on.""",
)

EXERCISES = (
    Exercise(
        id="2.4-a",
        title="The guard compares calls as text; a counter in them is always news.",
        name="fool",
        check=check_fool,
        hints=FOOL_HINTS,
        solution=fool,
        stub=fool_stub,
        wrong=(
            Wrong(fool_constant, "the guard saw it"),
            Wrong(fool_with_spaces, "the guard saw it"),
            Wrong(fool_with_work, "that is work, and no loop"),
            Wrong(fool_briefly, "ended before the 12 turns"),
        ),
    ),
    Exercise(
        id="2.4-b",
        title="What is no news to the model is not in the text.",
        name="status_text",
        check=check_status_text,
        hints=STATUS_HINTS,
        solution=status_text,
        stub=status_text_stub,
        wrong=(
            Wrong(status_text_with_time, "only time has passed"),
            Wrong(status_text_without_progress, "well on its way"),
            Wrong(status_text_without_state, "does not get to know"),
        ),
    ),
    Exercise(
        id="2.4-c",
        title="A budget that looks one turn ahead is never overdrawn.",
        name="may_go_on",
        check=check_may_go_on,
        hints=BUDGET_HINTS,
        solution=may_go_on,
        stub=may_go_on_stub,
        wrong=(
            Wrong(may_go_on_looking_back, "more was spent than"),
            Wrong(may_go_on_without_growth, "more was spent than"),
            Wrong(may_go_on_by_turns, "enough for another turn"),
            Wrong(may_go_on_without_first, "the first turn may be taken"),
        ),
    ),
)
