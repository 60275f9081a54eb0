"""Section 8.1: the order of events, a screen made of them, an orderly end. (chapter 8.1)"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any

from freya_teach.agent.feed import Feed
from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.events import Event, RunDone, TextDelta, ToolStatus, TurnDone, TurnStarted
from freya_teach.kernel import build_kernel
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.lab.gateway import Call, Move, Question, answer, gateway
from freya_teach.llm.messages import ToolCall
from freya_teach.tools.tool import Tool, tool
from freya_teach.trace import RunResult, StopReason, ToolState, Trace

# ---- 8.1-a, predict: the order in which a run tells -------------------------------------------

LABELS = (
    "calculate completed",
    "calculate running",
    "run done",
    "text of turn 1",
    "text of turn 2",
    "turn 1 done",
    "turn 1 started",
    "turn 2 done",
    "turn 2 started",
    "weather completed",
    "weather running",
)
"""The events of the run, in the order of the alphabet; pieces of a text count as one."""


async def check_order_of_events(order_of_events: Answer) -> None:
    """Make the run, and compare."""
    given = await order_of_events.call()
    expect(isinstance(given, list | tuple), "give back a list of the labels.", received=given)
    missing = [label for label in LABELS if label not in given]
    expect(
        not missing and len(given) == len(LABELS),
        f"each of the {len(LABELS)} labels is there once. Missing: {', '.join(missing) or '–'}.",
        received=len(given),
    )
    real = await _order()
    before = {label: real[: real.index(label)] for label in real}
    for first, second, hint in ORDERS:
        is_so = given.index(first) < given.index(second)
        expect(is_so or first not in before[second], hint)
    expect(list(given) == real, "two of the events still stand in another order.")


ORDERS = (
    (
        "text of turn 1",
        "weather running",
        (
            "a tool has started before the text came. Can a call begin while the answer may still "
            "change? Its arguments are whole when the answer is."
        ),
    ),
    (
        "calculate running",
        "weather completed",
        (
            "the weather has ended before the sum began. They run side by side, and the weather "
            "*waits* for the sum."
        ),
    ),
    (
        "weather running",
        "calculate running",
        "calls are started in the order in which they stand in the answer.",
    ),
    (
        "calculate completed",
        "weather completed",
        (
            "events come when something happens, and not in call order: the weather waits until "
            "the sum has ended."
        ),
    ),
    (
        "weather completed",
        "turn 1 done",
        "a turn is over when its last tool has ended.",
    ),
    ("turn 2 done", "run done", "`run:done` is the last event: it holds the result."),
    (
        "turn 1 done",
        "turn 2 started",
        "a turn begins when the one before is over: the next packet has its results in it.",
    ),
)
"""What comes before what, and what to say to whoever has it the other way round."""


async def _order() -> list[str]:
    """The events of the real run, as labels."""
    other_end = gateway(_two_tools)
    settings = Settings.model_validate({"api_key": "no-key-needed", "stream": True})
    async with other_end.client() as http:
        agent = build_kernel(settings, http, Ambient()).agent(_waiting_tools())
        labels, turn = list[str](), 0
        async for event in agent.stream("?"):
            turn = event.number if isinstance(event, TurnStarted) else turn
            label = _label(event, turn)
            if label not in labels:
                labels.append(label)
    return labels


def _label(event: Event, turn: int) -> str:
    match event:
        case ToolStatus():
            return f"{event.call.name} {event.state}"
        case TextDelta():
            return f"text of turn {turn}"
        case RunDone():
            return "run done"
        case _:
            return f"turn {turn} {event.name.partition(':')[2]}"


def _two_tools(question: Question) -> Move:
    if question.results:
        return answer("It is sunny, and 15 * 8 is 120.")
    calls = (Call("weather", {"city": "Oslo"}), Call("calculate", {"expression": "15 * 8"}))
    return Move("Let me look.", calls)


def _waiting_tools() -> list[Tool]:
    ended = asyncio.Event()

    @tool(name="weather")
    async def weather(city: str) -> str:
        """Get the weather of a city, after the sum."""
        await ended.wait()
        await asyncio.sleep(0)  # the sum's own event comes first
        return f"sunny in {city}"

    @tool(name="calculate")
    async def calculate(expression: str) -> str:
        """Work out an expression."""
        ended.set()
        return f"{expression} is 120"

    return [weather, calculate]


def order_of_events() -> list[str]:
    """One way to say it."""
    return [
        "turn 1 started",
        "text of turn 1",
        "weather running",
        "calculate running",
        "calculate completed",
        "weather completed",
        "turn 1 done",
        "turn 2 started",
        "text of turn 2",
        "turn 2 done",
        "run done",
    ]


def order_of_events_stub() -> None:
    """As it stands in the notebook."""
    return None


def _moved(label: str, behind: str) -> list[str]:
    order = order_of_events()
    order.remove(label)
    order.insert(order.index(behind) + 1, label)
    return order


def order_one_after_the_other() -> list[str]:
    """The first tool ends before the second one begins."""
    return _moved("weather completed", "weather running")


def order_of_the_calls() -> list[str]:
    """The results come in the order of the calls."""
    return _moved("calculate completed", "weather completed")


def order_with_eager_tools() -> list[str]:
    """The tools start while the answer comes."""
    return _moved("text of turn 1", "calculate running")


def order_with_a_turn_of_words() -> list[str]:
    """The turn is over when the model has spoken."""
    return _moved("turn 1 done", "text of turn 1")


def order_with_a_hole() -> list[str]:
    """Forgets that the run ends."""
    return order_of_events()[:-1]


# ---- 8.1-b, extend: lines from events ---------------------------------------------------------


async def check_lines(lines: Answer) -> None:
    """A whole run, the same for a slow reader, tools that fail, and a run that is cancelled."""
    for limit, why in (
        (256, "a whole run with one tool"),
        (1, "the same run for a slow reader: the pieces of its text are joined"),
    ):
        received = await lines.call(_feed(WHOLE, limit))
        _check_lines(received, WHOLE_LINES, why)
    _check_lines(
        await lines.call(_feed(FAILED)),
        ["… weather", "✗ weather", "⊘ delete", "I could not.", "■ answer"],
        "a tool that failed (✗), and one that was refused (⊘)",
    )
    _check_lines(
        await lines.call(_feed(CANCELLED)),
        ["It is sun", "■ cancelled"],
        "a run that was cancelled: its turn has never ended, and what was shown was shown",
    )


def _check_lines(received: object, wanted: list[str], why: str) -> None:
    expect(
        received == wanted,
        f"this was {why}. The screen has to show {wanted}.",
        received=received,
    )


def _status(name: str, state: ToolState) -> ToolStatus:
    return ToolStatus(ToolCall(name, name, "{}"), state)


def _over(reason: StopReason) -> RunDone:
    return RunDone(RunResult("", reason, "", Trace(())))


WHOLE: tuple[Event, ...] = (
    TurnStarted(1),
    TextDelta("Let me "),
    TextDelta("look."),
    _status("weather", "running"),
    _status("weather", "completed"),
    TurnStarted(2),
    TextDelta("It is "),
    TextDelta("sunny."),
    _over("answer"),
)
WHOLE_LINES = ["Let me look.", "… weather", "✓ weather", "It is sunny.", "■ answer"]
FAILED: tuple[Event, ...] = (
    TurnStarted(1),
    _status("weather", "running"),
    _status("weather", "failed"),
    _status("delete", "refused"),
    TurnStarted(2),
    TextDelta("I could not."),
    _over("answer"),
)
CANCELLED: tuple[Event, ...] = (
    TurnStarted(1),
    TextDelta("It is "),
    TextDelta("sun"),
    _over("cancelled"),
)


def _feed(events: Iterable[Event], limit: int = 256) -> Feed:
    feed = Feed(limit)
    for event in events:
        feed.put(event)
    feed.close()
    return feed


SIGNS = {"running": "…", "completed": "✓", "failed": "✗", "refused": "⊘"}


async def lines(events: AsyncIterator[Event]) -> list[str]:
    """One way to write it."""
    shown, text = list[str](), ""
    async for event in events:
        if isinstance(event, TextDelta):
            text += event.text
            continue
        if text:
            shown.append(text)
            text = ""
        if isinstance(event, ToolStatus):
            shown.append(f"{SIGNS[event.state]} {event.call.name}")
        elif isinstance(event, RunDone):
            shown.append(f"■ {event.result.stop_reason}")
    return shown


async def lines_stub(events: AsyncIterator[Event]) -> None:
    """As it stands in the notebook."""
    return None


async def lines_for_each_piece(events: AsyncIterator[Event]) -> list[str]:
    """A line for each piece: the network decides where a line ends."""
    shown = []
    async for event in events:
        if isinstance(event, TextDelta):
            shown.append(event.text)
        elif isinstance(event, ToolStatus):
            shown.append(f"{SIGNS[event.state]} {event.call.name}")
        elif isinstance(event, RunDone):
            shown.append(f"■ {event.result.stop_reason}")
    return shown


async def lines_of_turns(events: AsyncIterator[Event]) -> list[str]:
    """Shows the words when the next thing comes, and forgets the last ones."""
    shown, text = list[str](), ""
    async for event in events:
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, ToolStatus):
            shown += [text] if text else []
            shown.append(f"{SIGNS[event.state]} {event.call.name}")
            text = ""
        elif isinstance(event, TurnDone):
            shown += [text] if text else []
    return shown


async def lines_of_success(events: AsyncIterator[Event]) -> list[str]:
    """Takes every end of a tool for a good one."""
    shown, text = list[str](), ""
    async for event in events:
        if isinstance(event, TextDelta):
            text += event.text
            continue
        shown += [text] if text else []
        text = ""
        if isinstance(event, ToolStatus):
            shown.append(f"{'…' if event.state == 'running' else '✓'} {event.call.name}")
        elif isinstance(event, RunDone):
            shown.append(f"■ {event.result.stop_reason}")
    return shown


async def lines_of_answers(events: AsyncIterator[Event]) -> list[str]:
    """Throws the words of a cancelled run away."""
    found = await lines(events)
    return found if found[-1] != "■ cancelled" else found[-1:]


# ---- 8.1-c, repair: a cancelled loop leaves no open call --------------------------------------

Message = dict[str, Any]
RunTool = Callable[[Message], Awaitable[str]]
URL = "https://api.openai.com/v1/chat/completions"
PASSES = 20
"""Passes of the event loop in which a cancelled task is over."""


async def check_run_calls(run_calls: Answer) -> None:
    """All three tools end; then it is cancelled in each of them, and the history goes on."""
    history, started = _asked(), list[str]()
    await run_calls.call(history, _calls(history), _tool(started, stuck=""))
    _check_answered(history, done=3)
    for number in (1, 2, 3):
        await _check_cancelled(run_calls, number)


async def _check_cancelled(run_calls: Answer, number: int) -> None:
    history, started = _asked(), list[str]()
    run_tool = _tool(started, stuck=f"call_{number}")
    task = asyncio.ensure_future(run_calls.call(history, _calls(history), run_tool))
    await _passes()
    task.cancel()
    await _passes()
    swallowed = task.done() and not task.cancelled()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    expect(
        len(started) == number,
        f"it was cancelled in call {number} of 3, and then another tool was started.",
        received=started,
    )
    expect(
        not swallowed,
        "it was cancelled, and ended as if nothing had happened: whoever cancels waits for the "
        "CancelledError, and a loop around yours would go on. Raise it again.",
    )
    _check_answered(history, done=number - 1)
    await _check_provider(history)


def _check_answered(history: Sequence[Message], done: int) -> None:
    """Each call has one result; those that ended have their own, no other one claims to have."""
    ids = [message["tool_call_id"] for message in history if message["role"] == "tool"]
    expect(
        len(set(ids)) == len(ids),
        "a call is answered twice. Close those that have no result, and no others.",
        received=ids,
    )
    wanted = ["call_1", "call_2", "call_3"]
    missing = [each for each in wanted if each not in ids]
    expect(
        not missing or done < len(wanted),
        f"nobody has cancelled, and there is no result of {', '.join(missing)}.",
        received=ids,
    )
    expect(
        done == len(wanted) or wanted[done] not in missing,
        f"the call that was interrupted, {wanted[min(done, 2)]}, has no result: the provider "
        "refuses every question that comes after it.",
        received=ids,
    )
    expect(
        not missing,
        "a call that never started needs a result as well as the one that was interrupted. "
        f"Without one: {', '.join(missing)}.",
        received=ids,
    )
    said = {
        message["tool_call_id"]: message.get("content")
        for message in history
        if message["role"] == "tool"
    }
    for place, each in enumerate(wanted):
        own = said[each] == f"result of {each}"
        expect(
            own == (place < done) and said[each],
            "a call that has ended keeps its own result, and one that has not gets a text that "
            "says so.",
            received=said,
        )


async def _check_provider(history: list[Message]) -> None:
    """The next question is sent with this history."""
    body = {"model": "gpt-4o", "messages": [*history, {"role": "user", "content": "And now?"}]}
    async with gateway(lambda _: answer("On we go.")).client() as http:
        response = await http.post(URL, json=body)
    text = response.json().get("error", {}).get("message", "")
    expect(response.status_code == 200, f"the provider refuses the next question: {text}")


def _asked() -> list[Message]:
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "save", "arguments": "{}"},
        }
        for number in (1, 2, 3)
    ]
    return [
        {"role": "user", "content": "Save all three."},
        {"role": "assistant", "content": None, "tool_calls": calls},
    ]


def _calls(history: list[Message]) -> list[Message]:
    found: list[Message] = history[-1]["tool_calls"]
    return list(found)


def _tool(started: list[str], stuck: str) -> RunTool:
    """A tool that notes who calls, and never ends for the call `stuck`."""

    async def run_tool(call: Message) -> str:
        started.append(call["id"])
        if call["id"] == stuck:
            await asyncio.Event().wait()
        return f"result of {call['id']}"

    return run_tool


async def _passes() -> None:
    for _ in range(PASSES):
        await asyncio.sleep(0)


def _result(call: Message, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


async def run_calls(history: list[Message], calls: list[Message], run_tool: RunTool) -> None:
    """One way to write it."""
    try:
        for call in calls:
            text = await run_tool(call)
            history.append(_result(call, text))
    except asyncio.CancelledError:
        answered = {message.get("tool_call_id") for message in history}
        still_open = [call for call in calls if call["id"] not in answered]
        history += [
            _result(call, "The user has stopped it; it may have run.") for call in still_open
        ]
        raise


async def run_calls_stub(history: list[Message], calls: list[Message], run_tool: RunTool) -> None:
    """As it stands in the notebook."""
    return None


async def run_calls_as_it_was(
    history: list[Message], calls: list[Message], run_tool: RunTool
) -> None:
    """The loop that is to be mended."""
    for call in calls:
        text = await run_tool(call)
        history.append(_result(call, text))


async def run_calls_and_swallow(
    history: list[Message], calls: list[Message], run_tool: RunTool
) -> None:
    """Closes all calls, and keeps the cancellation to itself."""
    with contextlib.suppress(asyncio.CancelledError):
        await run_calls(history, calls, run_tool)


async def run_calls_and_close_one(
    history: list[Message], calls: list[Message], run_tool: RunTool
) -> None:
    """Closes the call that was interrupted, and forgets those behind it."""
    for call in calls:
        try:
            text = await run_tool(call)
        except asyncio.CancelledError:
            history.append(_result(call, "Stopped."))
            raise
        history.append(_result(call, text))


async def run_calls_and_close_all(
    history: list[Message], calls: list[Message], run_tool: RunTool
) -> None:
    """Closes those that have a result as well."""
    try:
        for call in calls:
            text = await run_tool(call)
            history.append(_result(call, text))
    except asyncio.CancelledError:
        history += [_result(call, "Stopped.") for call in calls]
        raise


async def run_calls_and_go_on(
    history: list[Message], calls: list[Message], run_tool: RunTool
) -> None:
    """Takes the cancellation for a failure of this one tool."""
    for call in calls:
        try:
            text = await run_tool(call)
        except asyncio.CancelledError:
            text = "Stopped."
        history.append(_result(call, text))


async def run_calls_beforehand(
    history: list[Message], calls: list[Message], run_tool: RunTool
) -> None:
    """Writes a result before there is one, and never mends it."""
    for call in calls:
        history.append(_result(call, "Running."))
        await run_tool(call)


ORDER_HINTS = (
    "Begin and end with what you are sure of: a turn starts, a turn is done, the run is done.",
    "A call is told to run when the *whole* answer is there. So where does the text stand?",
    "Both tools are started before one of them ends. The weather waits until the sum has ended.",
)

LINES_HINTS = (
    "Collect the pieces of a text in a variable. It is complete when anything else comes.",
    (
        "`event.name` tells what it is: `text:delta` has `.text`, `tool:status` has `.call.name` "
        "and `.state`, `run:done` has `.result.stop_reason`. Let all others pass."
    ),
    (
        "Write the text that has been collected before any other line, also before the last one: a "
        "cancelled run has no `turn:done`."
    ),
)

RUN_CALLS_HINTS = (
    "Put a try around the whole loop, and catch asyncio.CancelledError.",
    "In it, find out which calls have no message with their `tool_call_id` in the history yet.",
    "Append a result for each of them that says that it was stopped, and then `raise`.",
)

EXERCISES = (
    Exercise(
        id="8.1-a",
        title="Calls begin when the answer is whole, end when they end, and the run ends last.",
        name="order_of_events",
        check=check_order_of_events,
        hints=ORDER_HINTS,
        solution=order_of_events,
        stub=order_of_events_stub,
        wrong=(
            Wrong(order_one_after_the_other, "They run side by side"),
            Wrong(order_of_the_calls, "not in call order"),
            Wrong(order_with_eager_tools, "Its arguments are whole"),
            Wrong(order_with_a_turn_of_words, "its last tool has ended"),
            Wrong(order_with_a_hole, "Missing: run done"),
        ),
    ),
    Exercise(
        id="8.1-b",
        title="A screen made of events shows the same however the text was cut into pieces.",
        name="lines",
        check=check_lines,
        hints=LINES_HINTS,
        solution=lines,
        stub=lines_stub,
        wrong=(
            Wrong(lines_for_each_piece, "a whole run with one tool"),
            Wrong(lines_of_turns, "a whole run with one tool"),
            Wrong(lines_of_success, "one that was refused"),
            Wrong(lines_of_answers, "what was shown was shown"),
        ),
    ),
    Exercise(
        id="8.1-c",
        title="Each call is answered for, whenever the loop is cancelled.",
        name="run_calls",
        check=check_run_calls,
        hints=RUN_CALLS_HINTS,
        solution=run_calls,
        stub=run_calls_stub,
        wrong=(
            Wrong(run_calls_and_swallow, "Raise it again"),
            Wrong(run_calls_as_it_was, "refuses every question"),
            Wrong(run_calls_and_close_one, "a call that never started needs a result"),
            Wrong(run_calls_and_close_all, "answered twice"),
            Wrong(run_calls_and_go_on, "another tool was started"),
            Wrong(run_calls_beforehand, "keeps its own result"),
        ),
        may_change_arguments=True,
        none_is_an_answer=True,
    ),
)
