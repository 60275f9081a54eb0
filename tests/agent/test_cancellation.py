"""Stopping a run at any moment: nothing starts, nothing is left, and the conversation goes on."""

import asyncio
import contextlib
import gc
import random
import threading
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest

from freya_teach import (
    Ambient,
    History,
    InMemoryHistory,
    RunResult,
    SessionManager,
    Settings,
    ToolContext,
    build_kernel,
)
from freya_teach.agent.executor import Agent
from freya_teach.agent.run import Run
from freya_teach.errors import ServerFailed, SessionBusy
from freya_teach.events import Event, RunDone, TextDelta, ToolStatus, TurnDone, TurnStarted
from freya_teach.lab.gateway import Move, Question, answer, gateway
from freya_teach.lab.gateway.faults import stall
from freya_teach.lab.gateway.server import serve
from freya_teach.llm import transcript
from freya_teach.llm.messages import ToolCall, ToolMessage
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

every_wire = pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
streamed = pytest.mark.parametrize(
    "spoken", [spoken for spoken in EVERY_WIRE if spoken["stream"]], ids=way_of_asking
)
GUARD = 30
PASSES = 3
"""Passes of the loop within which a cancelled run is over."""


async def passes(number: int) -> None:
    """Let the loop go round so many times."""
    for _ in range(number):
        await asyncio.sleep(0)


def words(history: InMemoryHistory) -> list[str]:
    """Say who said what, in short."""
    return [f"{message.role}: {getattr(message, 'text', '')}" for message in history.messages]


async def wait_for_ever() -> None:
    """Never return."""
    await asyncio.Event().wait()


async def until(run: Run, kind: type[Event]) -> None:
    """Follow a run until it has told an event of this kind."""
    async for event in run:
        if isinstance(event, kind):
            return


# ---- what the user has afterwards ------------------------------------------------------------


@every_wire
async def test_a_cancelled_run_has_a_result_and_the_conversation_goes_on(
    spoken: dict[str, Any],
) -> None:
    session = InMemoryHistory(session_id="s1")
    calls = Answer("One moment.", calls=[("wait_for_ever", {})])
    agent = Model(calls, Answer("On we go.")).kernel(**spoken).agent([wait_for_ever])
    run = agent.start("?", session=session)
    events = run.follow()
    async for event in events:
        if isinstance(event, ToolStatus):
            break
    run.cancel()
    await passes(PASSES)
    assert run.is_over
    result = await run.result()
    assert (result.stop_reason, result.detail) == ("cancelled", "the run was cancelled")
    assert [(t.call.name, t.state) for t in result.trace.calls] == [("wait_for_ever", "failed")]
    rest = [event async for event in events]
    assert [event.name for event in rest] == ["tool:status", "run:done"]
    assert rest[-1] == RunDone(result)
    assert words(session) == [
        "user: ?",
        "assistant: One moment.",
        f"tool: {transcript.LOST_RESULT}",
    ]
    assert str(await agent.run("And?", session=session)) == "On we go."
    transcript.check(session.messages)


@streamed
async def test_of_an_answer_that_was_being_written_nothing_is_kept_but_the_question(
    spoken: dict[str, Any],
) -> None:
    read = Reading()
    model = Model(read.slowly(Answer("It is sunny.")), Answer("On we go."))
    session, agent = InMemoryHistory(), model.kernel(**spoken).agent()
    run = agent.start("?", session=session)
    await until(run, TextDelta)
    run.cancel()
    before = read.pieces
    result = await run.result()
    assert (result.text, result.stop_reason, result.trace.turns) == ("", "cancelled", ())
    assert (read.pieces, read.closed) == (before, 1)
    assert words(session) == ["user: ?"]
    assert str(await agent.run("And?", session=session)) == "On we go."


async def test_a_run_that_is_cancelled_before_it_begins_asks_nobody_and_keeps_the_question() -> (
    None
):
    model, session = Model(), InMemoryHistory()
    run = model.kernel().agent().start("?", session=session)
    run.cancel()
    run.cancel()
    assert (await run.result()).stop_reason == "cancelled"
    assert (model.requests, words(session)) == ([], ["user: ?"])


async def test_cancelling_what_is_over_changes_nothing() -> None:
    run = Model(Answer("Yes.")).kernel().agent().start("?")
    result = await run.result()
    run.cancel()
    assert (await run.result(), result.stop_reason, run.is_cancelled) == (result, "answer", False)


@pytest.mark.parametrize("kind", [TurnStarted, TextDelta, ToolStatus, TurnDone, RunDone])
@every_wire
async def test_a_listener_may_cancel_the_run_that_it_is_being_told_of(
    spoken: dict[str, Any], kind: type[Event]
) -> None:
    session = InMemoryHistory()
    model = Model(Answer("Wait.", calls=[("wait_for_ever", {})]), Answer("On we go."))
    if kind in (TurnDone, RunDone):
        model.answers[0] = Answer("Yes.")
    agent = model.kernel(**spoken).agent([wait_for_ever])

    def cancel(event: Event) -> None:
        if isinstance(event, kind):
            run.cancel()

    stop = agent.events.subscribe(cancel)
    run = agent.start("?", session=session)
    result = await run.result()
    stop()
    complete = kind in (TurnDone, RunDone)
    assert result.stop_reason == ("answer" if complete else "cancelled")
    assert (words(session)[-1] == "assistant: Yes.") is complete
    transcript.check(session.messages)
    assert str(await agent.run("And?", session=session)) == "On we go."


async def test_what_a_run_raises_its_result_raises_and_settling_does_not() -> None:
    refusal = httpx.Response(500, json={"error": {"message": "overloaded"}})
    run = Model(refusal).kernel().agent().start("?")
    assert [event.name async for event in run] == ["turn:started"]
    await run.settle()
    with pytest.raises(ServerFailed, match="overloaded"):
        await run.result()


async def test_whoever_waits_for_a_result_may_give_up_without_ending_the_run() -> None:
    opened = asyncio.Event()

    async def gate() -> None:
        """Wait until somebody opens."""
        await opened.wait()

    run = Model(Answer(calls=[("gate", {})]), Answer("Done.")).kernel().agent([gate]).start("?")
    waiting = asyncio.ensure_future(run.result())
    await until(run, ToolStatus)
    waiting.cancel()
    await asyncio.wait({waiting})
    opened.set()
    assert str(await run.result()) == "Done."


async def test_a_busy_session_is_told_by_the_result_and_the_other_run_goes_on() -> None:
    session = InMemoryHistory()
    agent = Model(Answer(calls=[("wait_for_ever", {})])).kernel().agent([wait_for_ever])
    first = agent.start("?", session=session)
    await until(first, ToolStatus)
    with pytest.raises(SessionBusy):
        await agent.start("And?", session=session).result()
    assert not first.is_over
    first.cancel()
    assert (await first.result()).stop_reason == "cancelled"


async def test_cancelling_the_task_from_outside_is_no_result() -> None:
    run = Model(Answer(calls=[("wait_for_ever", {})])).kernel().agent([wait_for_ever]).start("?")
    await until(run, ToolStatus)
    [task] = [task for task in asyncio.all_tasks() if task.get_name().startswith("run 1 ")]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run.result()


# ---- nothing starts any more -------------------------------------------------------------------


@pytest.mark.parametrize("steps", range(8))
async def test_no_tool_starts_after_the_cancel_however_near_it_was(steps: int) -> None:
    """The steps are those between the answer of the model and the first line of a tool."""
    started: list[str] = []

    async def work() -> None:
        """Note the start."""
        started.append("async")

    def work_in_thread() -> None:
        """Note the start."""
        started.append("sync")

    async def allow(_: ToolCall) -> None:
        await asyncio.sleep(0)

    answered = asyncio.Event()

    def call(request: httpx.Request) -> httpx.Response:
        answered.set()
        return Answer(calls=[("work", {}), ("work_in_thread", {})]).to(request)

    agent = Model(call, Answer("Done.")).kernel().agent([work, work_in_thread], approve=allow)
    run = agent.start("?")
    await answered.wait()
    await passes(steps)
    run.cancel()
    threads = set(threading.enumerate())
    before = list(started)
    await passes(PASSES)
    assert run.is_over
    assert {t for t in threading.enumerate() if t.name == "freya-tool"} <= threads
    assert started.count("async") == before.count("async")


async def test_a_hook_that_allows_while_it_is_cancelled_starts_nothing() -> None:
    started: list[str] = []

    async def work() -> None:
        """Note the start."""
        started.append("work")

    asked = asyncio.Event()

    async def allow(_: ToolCall) -> None:
        asked.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    agent = Model(Answer(calls=[("work", {})])).kernel().agent([work], approve=allow)
    run = agent.start("?")
    await asked.wait()
    run.cancel()
    assert (await run.result()).stop_reason == "cancelled"
    await passes(PASSES)
    assert started == []


async def test_a_tool_in_a_thread_learns_of_the_cancel_at_once() -> None:
    seen: list[bool] = []
    running = threading.Event()

    def work(context: ToolContext) -> None:
        """Work until it is told to stop."""
        running.set()
        seen.append(context.cancel.wait(GUARD))

    run = Model(Answer(calls=[("work", {})])).kernel().agent([work]).start("?")
    await until(run, ToolStatus)
    await asyncio.to_thread(running.wait, GUARD)
    run.cancel()
    [thread] = [thread for thread in threading.enumerate() if thread.name == "freya-tool"]
    thread.join(GUARD)  # without one pass of the loop
    assert seen == [True]
    assert (await run.result()).stop_reason == "cancelled"


def echo(question: Question) -> Move:
    """Repeat what was asked."""
    return answer(question.asked)


@streamed
async def test_on_a_real_socket_a_cancelled_run_is_over_as_soon(spoken: dict[str, Any]) -> None:
    """The server has sent the beginning of an answer and sleeps."""
    left = asyncio.Event()

    async def sleep(_: float) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    half = stall(2_000, 1, sleep)
    async with serve(gateway(echo, troubles=[half])) as here, httpx.AsyncClient() as http:
        settings = Settings(**spoken, base_url=here.url, api_key="none")
        run = build_kernel(settings, http).agent().start("Say this, please. " * 100)
        await asyncio.wait_for(until(run, TextDelta), GUARD)
        run.cancel()
        await passes(PASSES)
        assert run.is_over
        assert (await run.result()).stop_reason == "cancelled"
        await asyncio.wait_for(left.wait(), GUARD)


# ---- any moment of a run with all that can happen in it ------------------------------------------


class Reading:
    """Counts what is read of streamed answers."""

    def __init__(self) -> None:
        self.pieces = 0
        self.closed = 0

    def slowly(self, said: Answer) -> Any:
        """Let the loop go round between two pieces of this answer."""

        def respond(request: httpx.Request) -> httpx.Response:
            response = said.to(request)
            response.stream = Slow(response.stream, self)
            return response

        return respond


class Slow(httpx.AsyncByteStream):
    """A body whose pieces come one by one."""

    def __init__(self, stream: Any, reading: Reading) -> None:
        self.stream, self.reading = stream, reading

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.stream:
            await asyncio.sleep(0)
            self.reading.pieces += 1
            yield piece

    async def aclose(self) -> None:
        self.reading.closed += 1


class Trial:
    """One run with retries, a failover, an approval hook, and tools of each kind."""

    def __init__(self, chance: random.Random, session: History | None = None) -> None:
        self.chance = chance
        self.reading = Reading()
        self.started: list[str] = []
        self.session = session or InMemoryHistory()
        self.model = Model(*self.script())
        spoken = chance.choice(EVERY_WIRE)
        other = {"openai": "gemini", "gemini": "openai"}[spoken["provider"]]
        ambient = Ambient(sleep=lambda _: passes(3), random=lambda: 0.5)
        kernel = self.model.kernel(
            ambient,
            **spoken,
            retry_seconds=60,
            fallbacks=[{"provider": other, "model": "stand-in", "api_key": "none"}],
            parallel_tools=chance.choice([1, 2, 8]),
        )
        tools = [self.quick, self.slow, self.in_thread, self.until_cancelled, self.fails]
        self.agent: Agent = kernel.agent(tools, approve=self.approve)

    def script(self) -> list[Any]:
        """A failure before some of three answers; for a 401, the stand-in is asked."""
        script: list[Any] = []
        for status, said in (
            (401, Answer("Let me see.", calls=[(name, {}) for name in self.some_calls()])),
            (500, Answer(calls=[("quick", {}), ("in_thread", {})])),
            (500, Answer("That was all of it.")),
        ):
            if self.chance.random() < 0.5:
                script.append(httpx.Response(status, json={"error": {"message": "not now"}}))
            script.append(self.reading.slowly(said))
        return script

    def some_calls(self) -> list[str]:
        """Up to five calls, in any order."""
        names = ["quick", "slow", "in_thread", "fails", "until_cancelled"]
        return self.chance.sample(names, self.chance.randint(1, 5))

    async def approve(self, _call: ToolCall) -> str | None:
        """Take a moment, and refuse now and then."""
        await passes(self.chance.randint(0, 2))
        return "not today" if self.chance.random() < 0.1 else None

    async def quick(self) -> str:
        """Return at once."""
        self.started.append("quick")
        return "done"

    async def slow(self) -> str:
        """Take a few passes of the loop."""
        self.started.append("slow")
        await passes(5)
        return "done"

    async def fails(self) -> str:
        """Fail."""
        self.started.append("fails")
        raise ValueError("as always")

    def in_thread(self) -> str:
        """Work in a thread."""
        return "done"

    def until_cancelled(self, context: ToolContext) -> str:
        """Work in a thread, until it is told to stop."""
        context.cancel.wait(GUARD)
        return "given up"


async def cancelled_after(trial: Trial, steps: int) -> RunResult:
    """Start, let the loop go round, cancel, and look at what is left."""
    run = trial.agent.start("?", session=trial.session)
    await passes(steps)
    was_over = run.is_over
    run.cancel()
    before = (len(trial.started), trial.reading.pieces, len(trial.model.requests))
    threads = set(threading.enumerate())
    await passes(PASSES)
    assert run.is_over
    result = await run.result()
    assert result.stop_reason == ("answer" if was_over else "cancelled")
    transcript.check(trial.session.messages)
    await passes(5)
    assert (len(trial.started), trial.reading.pieces, len(trial.model.requests)) == before
    assert {t for t in threading.enumerate() if t.name == "freya-tool"} <= threads
    return result


async def task_cancelled_after(trial: Trial, steps: int) -> None:
    """The same from outside: the task in which somebody waits for `Agent.run`."""
    await give_up(trial.agent.run("?", session=trial.session), steps)


async def reader_cancelled_after(trial: Trial, steps: int) -> None:
    """The same for somebody who reads `Agent.stream`."""

    async def read() -> None:
        async with contextlib.aclosing(trial.agent.stream("?", session=trial.session)) as events:
            async for _ in events:
                pass

    await give_up(read(), steps)


async def give_up(work: Coroutine[Any, Any, object], steps: int) -> None:
    """Begin it and cancel it after so many passes."""
    task = asyncio.create_task(work)
    await passes(steps)
    task.cancel()
    _, waiting = await asyncio.wait({task}, timeout=GUARD)
    assert not waiting


async def one_trial(seed: int) -> bool:
    """Cancel a run at a random moment in a random way; say whether something was open then."""
    trial = Trial(random.Random(seed))  # noqa: S311 - the same moments each time
    steps = trial.chance.randint(0, 110)
    ways = [cancelled_after, cancelled_after, task_cancelled_after, reader_cancelled_after]
    await trial.chance.choice(ways)(trial, steps)
    transcript.check(trial.session.messages)
    results = [m for m in trial.session.messages if isinstance(m, ToolMessage)]
    trial.model.answers[:] = [Answer("On we go.")]
    assert str(await trial.agent.run("And?", session=trial.session)) == "On we go."
    transcript.check(trial.session.messages)
    return any(result.text == transcript.LOST_RESULT for result in results)


async def cancel_often(seeds: range) -> int:
    """Run the trials, and say how many found a tool call without a result."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
    before = asyncio.all_tasks()
    found_open = 0
    for seed in seeds:
        found_open += await one_trial(seed)
        await passes(10)
        assert asyncio.all_tasks() == before, seed
    gc.collect()
    await passes(3)
    asyncio.get_running_loop().set_exception_handler(None)
    assert complaints == []
    return found_open


async def test_fifty_runs_cancelled_at_random_leave_a_valid_history_and_no_task() -> None:
    assert await cancel_often(range(50)) > 5


@pytest.mark.soak
async def test_a_thousand_runs_cancelled_at_random_leave_a_valid_history_and_no_task() -> None:
    assert await cancel_often(range(1_000, 2_000)) > 100


async def test_a_conversation_on_the_disk_is_as_valid_and_can_be_gone_on_with(
    tmp_path: Path,
) -> None:
    """The disk may be at work on a write at the moment of the cancel."""
    async with SessionManager(tmp_path, Ambient()) as sessions:
        for seed in range(40):
            session = await sessions.create()
            trial = Trial(random.Random(seed), session)  # noqa: S311
            run = trial.agent.start("?", session=session)
            await passes(trial.chance.randint(0, 400))
            run.cancel()
            assert (await run.result()).stop_reason in ("answer", "cancelled")
            transcript.check(session.messages)
            trial.model.answers[:] = [Answer("On we go.")]
            await trial.agent.run("And?", session=session)
            kept = session.messages
            await sessions.unload(session.id)
            assert (await sessions.open(session.id)).messages == kept
            transcript.check(kept)
