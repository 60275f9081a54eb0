"""The run: two ways to follow it, every way it can end, and a history that is valid after each."""

import asyncio
import contextlib
import gc
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from freya_teach import Ambient, InMemoryHistory, RunResult, tool
from freya_teach.agent.executor import Agent
from freya_teach.agent.turn import NOT_BEGUN
from freya_teach.errors import ConfigError, ResponseCut, ServerFailed, SessionBusy
from freya_teach.events import Event, ReasoningDelta, RunDone, TextDelta, ToolStatus
from freya_teach.llm import transcript
from freya_teach.llm.messages import ToolCall, ToolMessage, assistant, user
from freya_teach.llm.protocol import Usage
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

every_wire = pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)


async def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


async def fail() -> None:
    """Fail."""
    raise ValueError("as always")


FAILED = (
    "fail failed (ValueError: as always). Try it with other arguments, "
    "or tell the user what did not work."
)


def counted_clock() -> Ambient:
    """Make a clock that moves on by a second each time somebody looks at it."""
    seconds = itertools.count()
    return Ambient(monotonic=lambda: float(next(seconds)))


async def followed(events: AsyncIterator[Event]) -> tuple[RunResult, list[Event]]:
    """Read a stream to its end."""
    seen = [event async for event in events]
    last = seen[-1]
    assert isinstance(last, RunDone)
    return last.result, seen


def words(history: InMemoryHistory) -> list[str]:
    """Say who said what, in short."""
    return [f"{message.role}: {getattr(message, 'text', '')}" for message in history.messages]


# ---- one run, two ways to follow it --------------------------------------------------------


def two_turns() -> Model:
    """Script a model that calls two tools at once and then answers."""
    return Model(
        Answer("Let me see.", [("double", {"number": 4}), ("fail", {})], usage=(100, 20)),
        Answer("It is 8.", usage=(150, 7)),
    )


@every_wire
async def test_run_and_stream_give_the_same_result_with_the_same_trace(
    spoken: dict[str, Any],
) -> None:
    model, other = two_turns(), two_turns()
    awaited = await model.kernel(counted_clock(), **spoken).agent([double, fail]).run("4?")
    agent = other.kernel(counted_clock(), **spoken).agent([double, fail])
    streamed, _ = await followed(agent.stream("4?"))
    assert awaited == streamed
    assert model.bodies == other.bodies


@every_wire
async def test_the_trace_holds_every_packet_call_duration_and_token(spoken: dict[str, Any]) -> None:
    model = two_turns()
    result = await model.kernel(counted_clock(), **spoken).agent([double, fail]).run("4?")
    assert (str(result), result.stop_reason, result.detail) == ("It is 8.", "answer", "")
    first, second = result.trace.turns
    assert [turn.number for turn in result.trace.turns] == [1, 2]
    assert [turn.packet["body"] for turn in result.trace.turns] == model.bodies
    assert first.reply.message.text == "Let me see."
    assert first.reply.message.tool_calls == tuple(trace.call for trace in first.calls)
    assert [(t.call.name, t.state, t.observation) for t in first.calls] == [
        ("double", "completed", "8"),
        ("fail", "failed", FAILED),
    ]
    assert all(trace.seconds > 0 for trace in first.calls)
    assert all(turn.exchange.seconds > 0 for turn in result.trace.turns)
    assert (second.calls, second.reply.finish_reason) == ((), "stop")
    assert result.trace.calls == first.calls
    assert [turn.reply.usage for turn in result.trace.turns] == [
        Usage(100, 20, 120),
        Usage(150, 7, 157),
    ]
    assert result.trace.usage == Usage(250, 27, 277)


@every_wire
async def test_no_key_is_in_what_the_trace_shows(spoken: dict[str, Any]) -> None:
    model = two_turns()
    agent = model.kernel(api_key="no-key-but-secret", **spoken).agent([double, fail])
    result = await agent.run("4?")
    sent = str(model.requests[0].headers.raw)
    assert "no-key-but-secret" in sent
    assert "no-key-but-secret" not in repr(result)
    assert "no-key-but-secret" not in json.dumps([turn.packet for turn in result.trace.turns])


@every_wire
async def test_the_events_tell_the_run_in_order(spoken: dict[str, Any]) -> None:
    agent = two_turns().kernel(**spoken).agent([double, fail])
    heard: list[Event] = []
    agent.events.subscribe(heard.append)
    result, seen = await followed(agent.stream("4?"))
    assert heard == seen
    told = [
        e.name + (f" {e.call.name} {e.state}" if isinstance(e, ToolStatus) else "") for e in seen
    ]
    assert [name for name in told if name != "text:delta"] == [
        "turn:started",
        "tool:status double running",
        "tool:status fail running",
        "tool:status double completed",
        "tool:status fail failed",
        "turn:done",
        "turn:started",
        "turn:done",
        "run:done",
    ]
    texts = [event.text for event in seen if isinstance(event, TextDelta)]
    assert texts == (
        ["Let m", "e see.", "It i", "s 8."] if spoken["stream"] else ["Let me see.", "It is 8."]
    )
    assert seen[-1] == RunDone(result)


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        (
            "openai",
            {
                "choices": [
                    {
                        "message": {"reasoning_content": "Hm.", "content": "Yes."},
                        "finish_reason": "stop",
                    }
                ]
            },
        ),
        (
            "gemini",
            {
                "candidates": [
                    {
                        "content": {"parts": [{"text": "Hm.", "thought": True}, {"text": "Yes."}]},
                        "finishReason": "STOP",
                    }
                ]
            },
        ),
    ],
)
async def test_thinking_is_told_as_thinking_and_is_no_part_of_the_answer(
    provider: str, answer: Any
) -> None:
    agent = Model(httpx.Response(200, json=answer)).kernel(provider=provider).agent()
    result, seen = await followed(agent.stream("?"))
    assert [e for e in seen if isinstance(e, TextDelta | ReasoningDelta)] == [
        ReasoningDelta("Hm."),
        TextDelta("Yes."),
    ]
    assert (result.text, result.trace.turns[0].reply.message.reasoning) == ("Yes.", "Hm.")


@every_wire
async def test_a_listener_that_raises_fails_nothing(spoken: dict[str, Any]) -> None:
    one_by_one = {"parallel_tools": 1, **spoken}  # the clock is looked at in one order only
    agent = two_turns().kernel(counted_clock(), **one_by_one).agent([double, fail])

    def raise_always(event: Event) -> None:
        raise RuntimeError(event.name)

    agent.events.subscribe(raise_always)
    heard: list[Event] = []
    agent.events.subscribe(heard.append)
    undisturbed = two_turns().kernel(counted_clock(), **one_by_one).agent([double, fail])
    assert await agent.run("4?") == await undisturbed.run("4?")
    assert heard[-1].name == "run:done"


async def test_a_question_may_hold_more_than_text() -> None:
    model = Model(Answer("Yes."))
    await model.kernel().agent(instructions="").run(user("Is this ", "it?"))
    assert model.bodies[0]["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Is this "}, {"type": "text", "text": "it?"}],
        }
    ]


# ---- the conversation ----------------------------------------------------------------------


@every_wire
async def test_a_session_remembers_and_a_run_without_one_forgets(spoken: dict[str, Any]) -> None:
    model = Model(*[Answer("Yes."), Answer("No."), Answer("Who?")])
    agent = model.kernel(**spoken).agent()
    session = InMemoryHistory()
    await agent.run("First?", session=session)
    await agent.run("Second?", session=session)
    await agent.run("Third?")
    assert words(session) == ["user: First?", "assistant: Yes.", "user: Second?", "assistant: No."]
    sent = [json.dumps(body) for body in model.bodies]
    assert ["First?" in body for body in sent] == [True, True, False]


class EmptyIsFalse(InMemoryHistory):
    """A history of somebody who gave it a length."""

    def __len__(self) -> int:
        return len(self.messages)


async def test_an_empty_session_is_a_session() -> None:
    session = EmptyIsFalse()
    agent = Model(Answer("Yes."), Answer("No.")).kernel().agent()
    await agent.run("First?", session=session)
    await followed(agent.stream("Second?", session=session))
    assert words(session) == ["user: First?", "assistant: Yes.", "user: Second?", "assistant: No."]


@every_wire
@pytest.mark.parametrize("results", [0, 1])
async def test_a_gap_left_by_a_crash_is_closed_before_the_next_question(
    spoken: dict[str, Any], results: int
) -> None:
    calls = [ToolCall(f"id_{n}", "double", json.dumps({"number": n})) for n in (1, 2)]
    kept = [ToolMessage("id_1", "2")][:results]
    session = InMemoryHistory([user("4?"), assistant(*calls), *kept])
    model = Model(Answer("Sorry."))
    await model.kernel(**spoken).agent([double]).run("And?", session=session)
    transcript.check(session.messages)
    lost = [(m.call_id, m.text[:36]) for m in session.messages if isinstance(m, ToolMessage)]
    error = "error: the result of this call was lost"[:36]
    assert lost == [("id_1", "2" if results else error), ("id_2", error)]
    assert words(session)[-2:] == ["user: And?", "assistant: Sorry."]
    assert (
        json.dumps(model.bodies[0]).count("was lost, because the run was interrupted")
        == 2 - results
    )


async def test_a_session_says_which_toolboxes_are_on() -> None:
    model = Model(Answer("Yes."), Answer("No."))
    agent = model.kernel().agent([double])
    agent.registry.register("other", [fail])
    await agent.run("?", session=InMemoryHistory(active_toolboxes=["other"]))
    assert [t["function"]["name"] for t in model.bodies[0]["tools"]] == ["fail"]
    session = InMemoryHistory(active_toolboxes=["gone"])
    with pytest.raises(ConfigError, match="no toolbox 'gone'; there are: default, other"):
        await agent.run("?", session=session)
    transcript.check(session.messages)


@pytest.mark.parametrize("given", ["session_1", 42, {"id": "session_1"}])
async def test_a_session_that_is_none_is_refused_with_where_one_comes_from(given: Any) -> None:
    agent = Model().kernel().agent()
    said = f"this is of the type {type(given).__name__}: give what `await kernel.sessions.open"
    with pytest.raises(ConfigError, match=said):
        await agent.run("Hi", session=given)
    with pytest.raises(ConfigError, match=said):
        agent.start("Hi", session=given)
    with pytest.raises(ConfigError, match=said):
        await anext(agent.stream("Hi", session=given))


# ---- every end of a run --------------------------------------------------------------------


def again(number: int) -> Answer:
    """Call a tool once more, each time with another argument."""
    return Answer(calls=[("double", {"number": number})])


async def end_of(
    model: Model, session: InMemoryHistory | None = None, **settings: Any
) -> tuple[RunResult, InMemoryHistory]:
    """Run to the end, both ways, and check that the history is valid and can be gone on with."""
    session = session or InMemoryHistory()
    agent = model.kernel(**settings).agent([double, wait_for_ever])
    result, events = await followed(agent.stream("?", session=session))
    assert events[-1] == RunDone(result)
    transcript.check(session.messages)
    assert not model.answers, "the run ended before the script did"
    model.answers.append(Answer("On we go."))
    assert (await agent.run("And?", session=session)).stop_reason == "answer"
    return result, session


async def wait_for_ever() -> None:
    """Never return."""
    await asyncio.Event().wait()


@every_wire
@pytest.mark.parametrize(
    ("answer", "stop_reason", "detail"),
    [
        (Answer("Yes."), "answer", ""),
        (Answer("Yes.", finish="unknown"), "answer", ""),
        (Answer(""), "empty", "the answer has no text (finish reason '{stop}')"),
        (Answer("Ye", finish="length"), "length", "the provider ended the answer: {length}"),
        (Answer("", finish="length"), "length", "the provider ended the answer: {length}"),
        (
            Answer("Y", finish="content_filter"),
            "content_filter",
            "the provider ended the answer: {f}",
        ),
        (Answer("Y", finish="error"), "error", "the provider ended the answer: {error}"),
    ],
    ids=lambda value: f"{value.finish or 'stop'}-{value.text}" if isinstance(value, Answer) else "",
)
async def test_an_answer_without_calls_ends_the_run_with_its_reason(
    spoken: dict[str, Any], answer: Answer, stop_reason: str, detail: str
) -> None:
    result, session = await end_of(Model(answer), **spoken)
    gemini = spoken["provider"] == "gemini"
    theirs = {
        "stop": "STOP" if gemini else "stop",
        "length": "MAX_TOKENS" if gemini else "length",
        "f": "SAFETY" if gemini else "content_filter",
        "error": "MALFORMED_FUNCTION_CALL" if gemini else "error",
    }
    assert (result.text, result.stop_reason) == (answer.text, stop_reason)
    assert result.detail == detail.format(**theirs)
    told = [f"assistant: {answer.text}"] if answer.text else []
    assert words(session)[:-2] == ["user: ?", *told]


@every_wire
async def test_calls_in_an_answer_that_was_cut_off_are_not_run_and_the_model_is_told(
    spoken: dict[str, Any],
) -> None:
    cut = Answer("Hm", [("double", {"number": 4})], finish="length")
    result, session = await end_of(Model(cut, Answer("Then not.")), **spoken)
    assert (result.text, result.stop_reason) == ("Then not.", "answer")
    (trace,) = result.trace.calls
    assert (trace.state, trace.observation[:40]) == (
        "refused",
        "Not run: your answer was cut off at its ",
    )
    assert isinstance(session.messages[2], ToolMessage)
    assert session.messages[2].text == trace.observation


@every_wire
@pytest.mark.parametrize("finish", ["error", "content_filter"])
@pytest.mark.parametrize("text", ["Hm", ""])
async def test_calls_in_a_broken_answer_are_neither_run_nor_kept(
    spoken: dict[str, Any], finish: str, text: str
) -> None:
    broken = Answer(text, [("wait_for_ever", {})], finish=finish)
    result, session = await end_of(Model(broken), **spoken)
    assert (result.text, result.stop_reason, result.trace.calls) == (text, finish, ())
    assert words(session)[:-2] == ["user: ?", *([f"assistant: {text}"] if text else [])]


@every_wire
async def test_at_the_limit_of_turns_the_model_is_asked_once_more_without_tools(
    spoken: dict[str, Any],
) -> None:
    model = Model(again(1), again(2), Answer("That is all I have.", [("double", {"number": 3})]))
    result, session = await end_of(model, max_turns=2, **spoken)
    assert (result.text, result.stop_reason) == ("That is all I have.", "max_turns")
    assert result.detail == "the limit of turns is reached: 2"
    assert [len(turn.calls) for turn in result.trace.turns] == [1, 1, 0]
    assert ["tools" in body for body in model.bodies] == [True, True, False, True]
    note = "You have reached the limit of this task and can call no more tools."
    assert [note in json.dumps(body) for body in model.bodies] == [False, False, True, False]
    assert result.detail in json.dumps(model.bodies[2])
    assert words(session)[-3] == "assistant: That is all I have."


@every_wire
async def test_when_the_calls_are_used_up_the_rest_of_the_turn_is_refused(
    spoken: dict[str, Any],
) -> None:
    many = Answer(calls=[("double", {"number": n}) for n in (2, 3, 4)])
    model = Model(again(1), many, Answer("2, 4, 6."))
    result, _ = await end_of(model, max_calls=3, **spoken)
    assert (result.text, result.stop_reason) == ("2, 4, 6.", "budget")
    assert result.detail == "the limit of tool calls is reached: 3"
    assert [(trace.state, trace.observation) for trace in result.trace.calls] == [
        ("completed", "2"),
        ("completed", "4"),
        ("completed", "6"),
        (
            "refused",
            "Not run: the tool calls allowed for this task are used up. Answer with what you have.",
        ),
    ]
    assert ["tools" in body for body in model.bodies] == [True, True, False, True]


@every_wire
async def test_when_the_tokens_are_used_up_the_model_is_not_asked_again(
    spoken: dict[str, Any],
) -> None:
    model = Model(
        Answer(calls=[("double", {"number": 1})], usage=(600, 30)),
        Answer("Hm.", calls=[("double", {"number": 2})], usage=(900, 70)),
    )
    result, _ = await end_of(model, max_tokens=1_600, **spoken)
    assert (result.text, result.stop_reason) == ("Hm.", "budget")
    assert result.detail == "1,600 tokens are used; 1,600 were allowed"
    assert [trace.observation for trace in result.trace.calls] == ["2", "4"]


@every_wire
async def test_an_answer_that_uses_the_last_token_is_an_answer(spoken: dict[str, Any]) -> None:
    result, _ = await end_of(Model(Answer("Yes.", usage=(900, 100))), max_tokens=10, **spoken)
    assert (result.text, result.stop_reason) == ("Yes.", "answer")


@every_wire
async def test_when_the_seconds_are_used_up_a_tool_is_ended_and_the_trace_keeps_its_turn(
    spoken: dict[str, Any],
) -> None:
    model = Model(again(1), Answer("Wait.", [("wait_for_ever", {})], usage=(50, 5)))
    result, session = await end_of(model, max_seconds=0.2, **spoken)
    assert (result.text, result.stop_reason) == ("Wait.", "budget")
    assert result.detail == "the run was ended after 0.2 seconds"
    assert [(trace.call.name, trace.state) for trace in result.trace.calls] == [
        ("double", "completed"),
        ("wait_for_ever", "failed"),
    ]
    told = [m.text for m in session.messages if isinstance(m, ToolMessage)]
    assert [trace.observation for trace in result.trace.calls] == told
    assert result.trace.usage.total_tokens == 70


async def never(_: httpx.Request) -> httpx.Response:
    """Be a model that does not answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_when_the_seconds_are_used_up_a_silent_model_is_not_waited_for() -> None:
    result, session = await end_of(Model(never), max_seconds=0.2)
    assert (result.text, result.stop_reason) == ("", "budget")
    assert result.detail == "the run was ended after 0.2 seconds"
    assert words(session)[0] == "user: ?"
    assert result.trace.turns == ()


@every_wire
async def test_a_turn_that_was_over_before_the_seconds_were_is_in_the_trace_once(
    spoken: dict[str, Any],
) -> None:
    result, _ = await end_of(Model(again(4), never), max_seconds=0.2, **spoken)
    assert [trace.observation for trace in result.trace.calls] == ["8"]
    assert result.stop_reason == "budget"


class Stuck(InMemoryHistory):
    """A history whose store gives up when it is to write an answer."""

    async def append(self, *messages: Any) -> None:
        if any(message.role == "assistant" for message in messages):
            raise TimeoutError("the disk does not answer")
        await super().append(*messages)


async def test_a_time_out_of_something_else_is_not_taken_for_the_end_of_the_budget() -> None:
    agent = Model(Answer("Yes.")).kernel(max_seconds=1_000).agent()
    with pytest.raises(TimeoutError, match="the disk does not answer"):
        await agent.run("?", session=Stuck())


# ---- going in circles ----------------------------------------------------------------------


@every_wire
async def test_the_same_call_with_the_same_result_is_warned_of_and_then_stopped(
    spoken: dict[str, Any],
) -> None:
    model = Model(again(1), again(1), again(1))
    result, _ = await end_of(model, loop_warn=2, loop_stop=3, **spoken)
    assert result.stop_reason == "loop"
    assert result.detail == (
        'double({"number": 1}) was called in 3 turns with the same result each time'
    )
    told = [trace.observation for trace in result.trace.calls]
    assert told[0] == "2"
    assert told[1].startswith("2\n\n[Note: this is turn 2 in which you make this very call, and ")
    assert told[2].startswith("2\n\n[Note: this is turn 3 in which you make this very call, and ")


@every_wire
async def test_polling_is_no_loop_while_the_result_changes(spoken: dict[str, Any]) -> None:
    seconds = itertools.count(10)

    def progress() -> str:
        """Say how far it is."""
        return f"{next(seconds)} %"

    model = Model(*[Answer(calls=[("progress", {})])] * 6, Answer("It goes on."))
    result = await model.kernel(loop_stop=2, **spoken).agent([progress]).run("?")
    assert (result.stop_reason, len(result.trace.calls)) == ("answer", 6)
    assert all("Note" not in trace.observation for trace in result.trace.calls)


# ---- one run at a time ---------------------------------------------------------------------


class Gate:
    """A tool that says when it has started and waits until it is let through."""

    def __init__(self) -> None:
        self.started, self.opened, self.cancelled = (
            asyncio.Event(),
            asyncio.Event(),
            asyncio.Event(),
        )

    async def __call__(self) -> str:
        self.started.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "through"

    def agent(self, *answers: Any, **settings: Any) -> Agent:
        """Build an agent that has this tool, called `gate`."""
        return Model(*answers).kernel(**settings).agent([tool(name="gate")(self), double])


CALL_GATE = Answer(calls=[("gate", {})])


@every_wire
async def test_a_second_run_on_the_same_session_is_refused_and_changes_nothing(
    spoken: dict[str, Any],
) -> None:
    gate, session = Gate(), InMemoryHistory(session_id="s1")
    agent = gate.agent(CALL_GATE, Answer("Done."), Answer("Again."), **spoken)
    first = asyncio.ensure_future(agent.run("?", session=session))
    await gate.started.wait()
    before = session.messages
    with pytest.raises(SessionBusy, match="session 's1' has a run in progress"):
        await agent.run("Me too!", session=session)
    with pytest.raises(SessionBusy):
        await followed(agent.stream("And me!", session=session))
    assert session.messages == before
    gate.opened.set()
    assert str(await first) == "Done."
    assert str(await agent.run("Now?", session=session)) == "Again."


@every_wire
async def test_two_sessions_of_one_agent_run_side_by_side(spoken: dict[str, Any]) -> None:
    gate = Gate()
    agent = gate.agent(CALL_GATE, Answer("Quick."), Answer("Done."), **spoken)
    first = asyncio.ensure_future(agent.run("?", session=InMemoryHistory()))
    await gate.started.wait()
    assert str(await agent.run("?", session=InMemoryHistory())) == "Quick."
    gate.opened.set()
    assert str(await first) == "Done."


@every_wire
async def test_after_a_failure_the_session_is_free_and_its_history_valid(
    spoken: dict[str, Any],
) -> None:
    refusal = httpx.Response(500, json={"error": {"message": "overloaded"}})
    session = InMemoryHistory()
    agent = Model(again(4), refusal, Answer("Better.")).kernel(**spoken).agent([double])
    with pytest.raises(ServerFailed, match="overloaded"):
        await agent.run("?", session=session)
    assert words(session) == ["user: ?", "assistant: ", "tool: 8"]
    transcript.check(session.messages)
    assert str(await agent.run("And now?", session=session)) == "Better."
    transcript.check(session.messages)


@every_wire
async def test_the_stream_of_a_failing_run_raises_what_the_run_raises(
    spoken: dict[str, Any],
) -> None:
    refusal = httpx.Response(500, json={"error": {"message": "overloaded"}})
    agent = Model(again(4), refusal).kernel(**spoken).agent([double])
    heard: list[Event] = []
    agent.events.subscribe(heard.append)
    with pytest.raises(ServerFailed, match="overloaded"):
        await followed(agent.stream("?"))
    assert [event.name for event in heard[-2:]] == ["turn:done", "turn:started"]


@pytest.mark.parametrize("provider", ["openai", "gemini"])
async def test_the_calls_of_an_answer_that_breaks_off_are_not_run(provider: str) -> None:
    def cut(request: httpx.Request) -> httpx.Response:
        whole = Answer("Hm", [("gate", {})]).to(request)
        return httpx.Response(200, headers=whole.headers, content=without_end(whole))

    gate, session = Gate(), InMemoryHistory()
    agent = gate.agent(cut, Answer("Better."), provider=provider, stream=True)
    with pytest.raises(ResponseCut):
        await agent.run("?", session=session)
    assert (gate.started.is_set(), words(session)) == (False, ["user: ?"])
    assert str(await agent.run("And now?", session=session)) == "Better."


async def without_end(response: httpx.Response) -> AsyncIterator[bytes]:
    """Read an event stream, and stop where it would say why the answer ends."""
    async for piece in response.aiter_raw():
        if b'"finish_reason": "' in piece or b'"finishReason"' in piece:
            return
        yield piece


# ---- stopped from outside ------------------------------------------------------------------


@every_wire
async def test_a_cancelled_run_ends_its_tool_starts_no_other_and_leaves_a_valid_history(
    spoken: dict[str, Any],
) -> None:
    started: list[int] = []

    async def count(number: int) -> None:
        """Note that it has started."""
        started.append(number)

    gate, session = Gate(), InMemoryHistory()
    calls = Answer(calls=[("gate", {}), ("count", {"number": 1}), ("count", {"number": 2})])
    agent = gate.agent(calls, Answer("Better."), parallel_tools=1, **spoken)
    agent.registry.register("default", [*agent.registry.active().values(), count])
    task = asyncio.ensure_future(agent.run("?", session=session))
    await gate.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(gate.cancelled.wait(), 30)
    assert started == []
    transcript.check(session.messages)
    assert [m.is_error for m in session.messages if isinstance(m, ToolMessage)] == [True] * 3
    assert str(await agent.run("And now?", session=session)) == "Better."
    assert started == []


@every_wire
async def test_a_run_cancelled_while_the_model_answers_keeps_the_question(
    spoken: dict[str, Any],
) -> None:
    asked = asyncio.Event()

    async def think(request: httpx.Request) -> httpx.Response:
        asked.set()
        return await never(request)

    session, model = InMemoryHistory(), Model(think, Answer("Yes."))
    agent = model.kernel(**spoken).agent()
    task = asyncio.ensure_future(agent.run("?", session=session))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert words(session) == ["user: ?"]
    assert str(await agent.run("And now?", session=session)) == "Yes."


@every_wire
async def test_leaving_a_stream_early_cancels_the_run(spoken: dict[str, Any]) -> None:
    gate, session = Gate(), InMemoryHistory()
    agent = gate.agent(CALL_GATE, Answer("Better."), **spoken)
    async with contextlib.aclosing(agent.stream("?", session=session)) as events:
        async for event in events:
            if isinstance(event, ToolStatus):
                await gate.started.wait()
                break
    await asyncio.wait_for(gate.cancelled.wait(), 30)
    transcript.check(session.messages)
    assert str(await agent.run("And now?", session=session)) == "Better."


async def test_a_plain_break_is_enough_to_leave_a_stream() -> None:
    gate = Gate()
    async for event in gate.agent(CALL_GATE).stream("?"):
        if isinstance(event, ToolStatus):
            await gate.started.wait()
            break
    gc.collect()
    await asyncio.wait_for(gate.cancelled.wait(), 30)


async def test_cancelling_whoever_reads_a_stream_cancels_the_run() -> None:
    gate = Gate()
    task = asyncio.ensure_future(followed(gate.agent(CALL_GATE).stream("?")))
    await gate.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(gate.cancelled.wait(), 30)


async def test_a_stream_left_early_complains_about_nothing_afterwards() -> None:
    """Neither about a run that was cancelled nor about one that had failed meanwhile."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
    refused = asyncio.Event()

    def refuse(_: httpx.Request) -> httpx.Response:
        refused.set()
        return httpx.Response(500, json={"error": {"message": "overloaded"}})

    agent, session = Model(refuse).kernel().agent(), InMemoryHistory()
    async with contextlib.aclosing(agent.stream("?", session=session)) as events:
        async for _ in events:
            await refused.wait()
            await freed(session)
            break
    gc.collect()
    await asyncio.sleep(0)
    asyncio.get_running_loop().set_exception_handler(None)
    assert complaints == []


async def freed(session: InMemoryHistory) -> None:
    """Wait until no run holds the session."""
    while True:
        await asyncio.sleep(0)
        with contextlib.suppress(SessionBusy), session.claim():
            return


async def test_a_stream_that_nobody_reads_asks_nobody() -> None:
    model = Model()
    unread = model.kernel().agent().stream("?")
    await unread.aclose()
    assert model.requests == []


async def test_of_a_long_run_only_the_latest_packets_stay_in_the_trace() -> None:
    turns = [Answer(calls=[("double", {"number": n})]) for n in range(5)]
    agent = Model(*turns, Answer("Done.")).kernel(trace_packets=2).agent([double])
    trace = (await agent.run("Count.")).trace
    assert [turn.packet["body"] is not None for turn in trace.turns] == [False] * 4 + [True] * 2
    assert [turn.reply.finish_reason for turn in trace.turns] == ["tool_calls"] * 5 + ["stop"]


async def test_a_call_that_had_not_begun_when_the_run_was_cancelled_is_not_told_as_lost() -> None:
    begun, session = asyncio.Event(), InMemoryHistory()

    async def wait() -> None:
        """Never return."""
        begun.set()
        await asyncio.Event().wait()

    model = Model(Answer(calls=[("wait", {}), ("double", {"number": 4})]))
    agent = model.kernel(parallel_tools=1).agent([wait, double])
    run = agent.start("?", session=session)
    await begun.wait()
    run.cancel()
    result = await run.result()
    assert [trace.state for trace in result.trace.calls] == ["failed", "refused"]
    results = [m.text for m in session.messages if isinstance(m, ToolMessage)]
    assert results == [transcript.LOST_RESULT, NOT_BEGUN]
    assert "before this call began" in NOT_BEGUN
    transcript.check(session.messages)


async def test_what_had_finished_when_the_run_was_cancelled_is_kept() -> None:
    finished, session, states = asyncio.Event(), InMemoryHistory(), []

    async def wait() -> None:
        """Never return."""
        await asyncio.Event().wait()

    def watch(event: Event) -> None:
        if isinstance(event, ToolStatus):
            states.append((event.call.name, event.state))
            if event.state == "completed":
                finished.set()

    model = Model(Answer(calls=[("wait", {}), ("double", {"number": 4})]))
    agent = model.kernel().agent([wait, double])
    agent.events.subscribe(watch)
    task = asyncio.ensure_future(agent.run("?", session=session))
    await finished.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    results = [m.text for m in session.messages if isinstance(m, ToolMessage)]
    assert results == [transcript.LOST_RESULT, "8"]
    assert states[-1] == ("wait", "failed")
    transcript.check(session.messages)
