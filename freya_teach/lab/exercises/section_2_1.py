"""Exercises on agency: predict what is decided, set a limit to it, ask for evidence. (chapter 2.1)

The traveller is a policy that can answer on every rung of the chapter's ladder.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from freya_teach.config import Settings
from freya_teach.errors import ToolError
from freya_teach.kernel import Kernel, build_kernel
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotDone, Wrong, expect
from freya_teach.lab.gateway import Move, Policy, Question, answer, call, gateway
from freya_teach.lab.policy import assistant, script
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.llm.messages import ToolCall
from freya_teach.trace import RunResult


def traveller(question: Question) -> Move:
    """Sort, word or act, by what the request asks for and by the tools that it offers."""
    told = next((said.text for said in question.said if said.role == "system"), "")
    asked = question.asked
    if "one word" in told:
        return answer("weather" if "weather" in asked else "other")
    if "one sentence" in told:
        return answer(f"Your weather today: {asked}.")
    results = " ".join(result.text for result in question.results)
    degrees = re.findall(r'"temperature_celsius": (-?\d+)', results)
    difference = " - ".join(degrees).replace("- -", "+ ")
    done = any(difference in str(made.arguments) for made in question.calls)
    if question.tools and "warmer" in asked and len(degrees) == 2 and not done:
        return call("calculate", expression=difference)
    spoken = tuple(said for said in question.said if said.role != "system")
    return assistant(replace(question, said=spoken))


def _kernel(policy: Policy) -> Kernel:
    return build_kernel(Settings.model_validate({}), gateway(policy).client())


# ---- 2.1-a: how many model calls? -----------------------------------------------------------

QUESTIONS = {
    "hello": "Hello, who are you?",
    "three": "What is the weather in Oslo and in Bergen, and how much is 15 * 8?",
    "both": "How much warmer is the weather in Lima than in Bergen, and how much is 15 * 8?",
}


async def check_model_calls(given: Answer) -> None:
    """Each prediction is what the run really takes."""
    predicted = given.value
    expect(isinstance(predicted, dict), "Keep it a dictionary.", received=predicted)
    if any(predicted.get(name) in (None, ...) for name in QUESTIONS):
        raise NotDone("not done yet: some of the predictions are missing.")
    for name, text in QUESTIONS.items():
        result = await _kernel(traveller).agent([get_current_weather, calculate]).run(text)
        models, tools = len(result.trace.turns), len(result.trace.calls)
        hint = MODEL_CALL_HINTS.get((models, predicted[name]), "It was run.")
        expect(
            predicted[name] == models,
            f"{name}: {hint} (It made {_many(tools, 'tool call')}.)",
            received=predicted[name],
        )


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


MODEL_CALL_HINTS = {
    (2, 3): "Those are the tool calls. One answer of the model can ask for several.",
    (2, 4): "That counts a model call for each tool call. One answer can ask for several.",
    (2, 1): "Somebody has to put the results into words, and has to see them first.",
    (3, 2): "Which arguments would the second sum have, before the weather is known?",
    (3, 4): "Three of the tools do not depend on each other. Must they be asked for in turn?",
    (3, 5): "Three of the tools do not depend on each other. Must they be asked for in turn?",
}


# ---- 2.1-b: a limit to what may be done -----------------------------------------------------

PAY_LIMIT = 100


async def check_approve(given: Answer) -> None:
    """Each call is let through, or refused with a text that helps the model on."""
    for name, arguments, may_run, hint in TRIED:
        received = await given.call(ToolCall("call_1", name, json.dumps(arguments)))
        clear = received is None or (isinstance(received, str) and received)
        expect(clear, "A hook gives back None (run it) or a text (why not).", received=received)
        expect((received is None) == may_run, f"{name}({arguments}): {hint}", received=received)
        if arguments == {"amount": 400}:
            expect(str(PAY_LIMIT) in str(received), TELL_THE_LIMIT, received=received)


TELL_THE_LIMIT = f"The model reads this text. Does it learn that {PAY_LIMIT} would be allowed?"
TRIED: tuple[tuple[str, dict[str, Any], bool, str], ...] = (
    ("get_current_weather", {"city": "Oslo"}, True, "Reading changes nothing. It may run."),
    ("pay", {"amount": 400}, False, f"That is more than {PAY_LIMIT}."),
    ("cancel_booking", {"number": "B7"}, False, "Nobody has allowed this one."),
    ("delete_everything", {}, False, "A tool that you had not thought of. Is it on your list?"),
    ("pay", {"amount": 40}, True, f"That is not more than {PAY_LIMIT}."),
    ("pay", {"amount": 100}, True, f"Exactly {PAY_LIMIT} is not more than {PAY_LIMIT}."),
)


async def approve(call: ToolCall) -> str | None:
    """What is listed may run; everything else, known or not, may not."""
    if call.name == "get_current_weather":
        return None
    if call.name == "pay":
        amount = json.loads(call.arguments)["amount"]
        return None if amount <= 100 else "at most 100 may be paid at once"
    return f"{call.name} is not allowed here; ask the user to do it"


async def approve_stub(call: ToolCall) -> str | None:
    """What stands in the notebook."""
    return None  # your code


async def approve_with_true(call: ToolCall) -> bool:
    """Answer yes and no, where None and a text are asked for."""
    return call.name == "get_current_weather"


async def approve_by_blacklist(call: ToolCall) -> str | None:
    """List what is forbidden, and forget tomorrow's tool."""
    if call.name == "cancel_booking":
        return "not allowed"
    if call.name == "pay" and json.loads(call.arguments)["amount"] > PAY_LIMIT:
        return f"at most {PAY_LIMIT}"
    return None


async def approve_without_reason(call: ToolCall) -> str | None:
    """Right, but the model learns nothing."""
    return None if await approve(call) is None else "no"


# ---- 2.1-c: did it happen? ------------------------------------------------------------------


async def check_did_it(given: Answer) -> None:
    """The evidence is in the trace, and not in the words of the answer."""
    for policy, happened, hint in STORIES:
        result = await _trip(policy)
        received = await given.call(result, "cancel_booking")
        expect(isinstance(received, bool), "Give back True or False.", received=received)
        expect(received == happened, hint, received=received)


async def _trip(moves: tuple[Move, ...]) -> RunResult:
    """A run in which these moves are made; only booking B7 can be cancelled, and B8 is refused."""

    def cancel_booking(number: str) -> str:
        """Cancel a booking."""
        if number != "B7":
            raise ToolError(f"There is no booking {number}.")
        return "cancelled"

    async def refuse_b8(call: ToolCall) -> str | None:
        return "this one stays" if "B8" in call.arguments else None

    kernel = _kernel(script(*moves))
    agent = kernel.agent([cancel_booking, get_current_weather], approve=refuse_b8)
    return await agent.run("Cancel my booking, please.")


def _cancel(number: str) -> Move:
    return call("cancel_booking", number=number)


STORIES: tuple[tuple[tuple[Move, ...], bool, str], ...] = (
    ((_cancel("B7"), answer("Anything else?")), True, "It was cancelled, and nobody said so."),
    ((answer("I have cancelled it with cancel_booking."),), False, "Words only: nothing was run."),
    ((_cancel("B8"), answer("Done!")), False, "It was asked for and refused: look at the state."),
    ((_cancel("B1"), answer("Done!")), False, "It was run and failed: look at the state."),
    ((call("get_current_weather", city="Oslo"), answer("Done!")), False, "Another tool was run."),
    ((_cancel("B1"), _cancel("B7"), answer("Done!")), True, "Its second try succeeded."),
)


def did_it(result: RunResult, name: str) -> bool:
    """Whether a call of this tool was completed."""
    return any(c.call.name == name and c.state == "completed" for c in result.trace.calls)


def did_it_stub(result: RunResult, name: str) -> None:
    """What stands in the notebook."""
    return


def did_it_by_words(result: RunResult, name: str) -> bool:
    """Believe the answer."""
    return "cancelled" in result.text or "Done" in result.text


def did_it_by_asking(result: RunResult, name: str) -> bool:
    """Take a request for a call for the deed."""
    return any(trace.call.name == name for trace in result.trace.calls)


def did_it_at_all(result: RunResult, name: str) -> bool:
    """Take whatever was completed."""
    return any(trace.state == "completed" for trace in result.trace.calls)


EXERCISES = (
    Exercise(
        id="2.1-a",
        title="A model call is a decision, and one decision can ask for several tools.",
        name="my_calls",
        check=check_model_calls,
        hints=(
            "For each question: what can be asked for at once, and what has to wait for a result?",
            "Every round of tools costs one model call, and the answer at the end one more.",
        ),
        solution={"hello": 1, "three": 2, "both": 3},
        stub={"hello": None, "three": None, "both": None},
        wrong=(
            Wrong({"hello": 1, "three": 4, "both": 3}, "One answer can ask for several"),
            Wrong({"hello": 1, "three": 2, "both": 2}, "before the weather is known"),
            Wrong({"hello": 1, "three": 1, "both": 1}, "has to see them first"),
        ),
    ),
    Exercise(
        id="2.1-b",
        title="What is listed may run, and a refusal says what would be allowed.",
        name="approve",
        check=check_approve,
        hints=(
            "Begin with the calls that may run. Everything else ends at the last return.",
            "call.arguments is the raw text that the model wrote: json.loads makes it a dict.",
        ),
        solution=approve,
        stub=approve_stub,
        wrong=(
            Wrong(approve_with_true, "None (run it) or a text"),
            Wrong(approve_by_blacklist, "A tool that you had not thought of"),
            Wrong(approve_without_reason, "The model reads this text"),
        ),
        none_is_an_answer=True,
    ),
    Exercise(
        id="2.1-c",
        title="What happened is in the trace; the answer only says something about it.",
        name="did_it",
        check=check_did_it,
        hints=(
            "result.trace.calls has one entry for each call that was asked for.",
            "Each entry has .call.name and .state: completed, failed or refused.",
        ),
        solution=did_it,
        stub=did_it_stub,
        wrong=(
            Wrong(did_it_by_words, "nobody said so"),
            Wrong(did_it_by_asking, "asked for and refused"),
            Wrong(did_it_at_all, "Another tool was run"),
        ),
    ),
)
