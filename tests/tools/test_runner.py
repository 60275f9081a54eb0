"""Whatever the model writes and the tool does, one observation comes back and nothing is raised."""

import asyncio
import contextvars
import dataclasses
import enum
import json
import logging
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, TypeAdapter

from freya_teach import (
    Ambient,
    InMemoryHistory,
    Settings,
    ToolContext,
    ToolError,
    ToolRegistry,
    tool,
)
from freya_teach.llm.messages import ToolCall
from freya_teach.tools.meta import toolbox_tools
from freya_teach.tools.runner import ToolResult, ToolRunner
from freya_teach.tools.workspace import Workspace


async def run(function: Callable[..., Any], arguments: str = "{}", **chosen: Any) -> ToolResult:
    """Run one call of one tool; 30 seconds are for a broken runner, never for a broken tool."""
    made = tool(name="probe")(function)
    runner = ToolRunner(Settings(**chosen), Ambient())
    async with asyncio.timeout(30):
        call = ToolCall("call_1", "probe", arguments)
        return await runner.run(call, ToolRegistry([made]).active(), "session_1")


def as_async(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an async tool that does what the sync one does."""

    async def probe() -> Any:
        return function()

    return probe


BOTH_KINDS = pytest.mark.parametrize("kind", [lambda f: f, as_async], ids=["sync", "async"])


# ---- finding the tool ----------------------------------------------------------------------


async def test_a_tool_that_does_not_exist_is_answered_with_the_closest_name() -> None:
    def get_weather(city: str) -> str:
        return city

    runner = ToolRunner(Settings(), Ambient())
    call = ToolCall("call_1", "get_wether", '{"city": "Oslo"}')
    result = await runner.run(call, ToolRegistry([get_weather]).active())
    assert (result.is_error, result.text) == (
        True,
        (
            "There is no tool called 'get_wether'. Did you mean 'get_weather'? "
            "Tools that you can call: get_weather."
        ),
    )


@pytest.mark.parametrize("name", ["", "x" * 100_000, "\ud800", "a\nb", "default.probe"])
async def test_any_other_made_up_name_is_answered_with_the_names_there_are(name: str) -> None:
    runner = ToolRunner(Settings(), Ambient())
    result = await runner.run(
        ToolCall("call_1", name, "{}"), ToolRegistry([print_nothing]).active()
    )
    assert result.is_error
    assert "print_nothing" in result.text
    assert len(result.text) < 1_000


def print_nothing() -> None:
    """Do nothing."""


async def test_a_tool_that_is_not_active_is_refused_and_no_other_inactive_one_is_named() -> None:
    registry = ToolRegistry([print_nothing])
    registry.register("danger", [book, tool(name="erase")(print_nothing)])
    runner = ToolRunner(Settings(), Ambient(), registry)
    result = await runner.run(ToolCall("call_1", "book", '{"city": 3}'), registry.active())
    assert (result.is_error, result.text) == (
        True,
        (
            "The tool book is not available in this session, so it was not run. "
            "Tools that you can call: print_nothing."
        ),
    )


async def test_where_the_model_can_look_for_more_tools_it_is_told_how() -> None:
    registry = ToolRegistry([print_nothing])
    registry.register("danger", [book])
    registry.register("meta", toolbox_tools(registry))
    runner = ToolRunner(Settings(), Ambient(), registry)
    result = await runner.run(ToolCall("call_1", "book", "{}"), registry.active([]))
    assert result.text.endswith(
        "Tools that you can call: activate_toolbox, deactivate_toolbox, list_toolboxes. "
        "To see what can be switched on, call list_toolboxes."
    )


# ---- reading the arguments -----------------------------------------------------------------


def book(city: str, nights: int = 1) -> str:
    """Book a room."""
    return f"{nights} in {city}"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"city": "Oslo", "nights": 2}', "2 in Oslo"),
        ('\n {"nights": 3, "city": "北京"} ', "3 in 北京"),
        ('{"city": "half \\ud83d a pair"}', "1 in half \N{REPLACEMENT CHARACTER} a pair"),
    ],
)
async def test_arguments_that_fit_are_handed_on_in_the_types_of_the_signature(
    arguments: str, expected: str
) -> None:
    result = await run(book, arguments)
    assert (result.is_error, result.text) == (False, expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"city": "Os', "The arguments of probe are not valid JSON at character 9, so it was not"),
        ("[" * 100_000, "The arguments of probe are not valid JSON"),
        ('{"city": ' + "9" * 5_000 + "}", "The arguments of probe are not valid JSON"),
        ("\ud800", "The arguments of probe are not valid JSON at character 0"),
        ('["Oslo"]', "The arguments of probe are a list, so it was not run."),
        ('"Oslo"', "The arguments of probe are a string, so it was not run."),
        ("null", "The arguments of probe are null, so it was not run."),
        ("true", "The arguments of probe are a boolean, so it was not run."),
        ("12", "The arguments of probe are a number, so it was not run."),
        ("", "- city: missing."),
        ("{}", "- city: missing."),
        (
            '{"city": "Oslo", "night": 2}',
            "- night: there is no such argument; you sent 2. Did you mean nights?",
        ),
        ('{"city": 7}', "- city: not a string; you sent 7."),
        ('{"city": "Oslo", "nights": NaN}', "- nights: not an integer; you sent NaN."),
        ('{"city": null}', "- city: not a string; you sent null."),
        (
            '{"city": {"a": ' + "[" * 500 + "]" * 500 + "}}",
            "- city: not a string",
        ),
    ],
)
async def test_arguments_that_do_not_fit_are_not_run_and_the_fault_is_named(
    arguments: str, expected: str
) -> None:
    result = await run(book, arguments)
    assert result.is_error
    assert expected in result.text


NOTED = '\n(Note: nights: "4" was read as 4. Next time, send it as the schema says.)'


async def test_what_had_to_be_understood_stands_behind_the_observation() -> None:
    result = await run(book, '{"city": "Oslo", "nights": "4"}')
    assert (result.is_error, result.text) == (False, f"4 in Oslo{NOTED}")


async def test_the_note_is_there_too_when_the_tool_fails_or_its_result_is_cut() -> None:
    def fail(nights: int) -> str:
        raise ToolError(f"No room for {nights} nights.")

    def ramble(nights: int) -> str:
        return "x" * 10_000 * nights

    failed = await run(fail, '{"nights": "4"}')
    cut = await run(ramble, '{"nights": "4"}', max_observation_chars=200)
    assert (failed.is_error, failed.text) == (True, f"No room for 4 nights.{NOTED}")
    assert cut.text.endswith(NOTED)


async def test_the_model_cannot_fill_in_a_field_of_ours() -> None:
    async def probe(city: str, context: ToolContext) -> str:
        return f"{city} {context.call_id} {context.session_id}"

    asked = await run(probe, '{"city": "Oslo"}')
    forged = await run(probe, '{"city": "Oslo", "context": {"call_id": "x", "session_id": "y"}}')
    assert (asked.is_error, asked.text) == (False, "Oslo call_1 session_1")
    assert (forged.is_error, "- context: there is no such argument" in forged.text) == (True, True)


async def test_a_check_of_the_arguments_that_crashes_is_an_observation_too() -> None:
    def look_up(city: str) -> str:
        return {"Oslo": "OSL"}[city]

    def probe(city: Annotated[str, AfterValidator(look_up)]) -> str:
        return city

    assert await text_of(probe, '{"city": "Oslo"}') == "OSL"
    result = await run(probe, '{"city": "Bergen"}')
    assert result.is_error
    assert result.text.startswith("probe failed (KeyError: missing key 'Bergen').")


async def text_of(function: Callable[..., Any], arguments: str = "{}", **chosen: Any) -> str:
    """Run a call that is expected to go well, for its text."""
    result = await run(function, arguments, **chosen)
    assert not result.is_error, result.text
    return result.text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters()) | json_values.map(json.dumps))
def test_no_arguments_at_all_make_the_runner_raise(arguments: str) -> None:
    result = asyncio.run(run(book, arguments))
    if not result.is_error:
        assert result.text.endswith(f" in {json.loads(arguments)['city']}")


# ---- a tool that raises --------------------------------------------------------------------


class Silent(Exception):
    """An exception that cannot even be printed."""

    def __str__(self) -> str:
        raise ValueError("no words")


class SilentToolError(ToolError):
    """The same, from somebody who knows about ToolError."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Rude(BaseException):
    """An exception that `except Exception` does not catch."""


def raising(problem: BaseException | type[BaseException]) -> Callable[..., Any]:
    """Make a sync tool that raises this."""

    def probe() -> None:
        raise problem

    return probe


@BOTH_KINDS
@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (KeyError("city"), "KeyError: missing key 'city'"),
        (TimeoutError(), "TimeoutError"),
        (ValueError("bad\n\n  value"), "ValueError: bad value"),
        (TypeError("no"), "TypeError: no"),
        (RecursionError("deep"), "RecursionError: deep"),
        (StopAsyncIteration("over"), "StopAsyncIteration: over"),
        (ExceptionGroup("many", [KeyError("a")]), "ExceptionGroup: many (1 sub-exception)"),
        (Silent(), "Silent"),
        (AssertionError("x" * 10_000), "characters left out"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
async def test_what_a_tool_raises_is_told_in_one_line(
    kind: Callable[..., Any], problem: Exception, said: str
) -> None:
    result = await run(kind(raising(problem)))
    assert result.is_error
    assert said in result.text
    assert result.text.startswith("probe failed (")
    assert result.text.endswith("or tell the user what did not work.")
    assert len(result.text) < 1_000


@BOTH_KINDS
async def test_a_tool_error_is_read_by_the_model_word_for_word(kind: Callable[..., Any]) -> None:
    result = await run(kind(raising(ToolError("No city 'Bejing'.\nDid you mean 'Beijing'?"))))
    assert (result.is_error, result.text) == (True, "No city 'Bejing'.\nDid you mean 'Beijing'?")


@BOTH_KINDS
@pytest.mark.parametrize("problem", [ToolError(), SilentToolError()])
async def test_a_tool_error_without_words_still_says_which_tool(
    kind: Callable[..., Any], problem: ToolError
) -> None:
    result = await run(kind(raising(problem)))
    assert (result.is_error, result.text) == (True, "probe failed without saying why.")


@BOTH_KINDS
async def test_a_validation_error_of_the_tools_own_is_not_blamed_on_the_arguments(
    kind: Callable[..., Any],
) -> None:
    result = await run(kind(lambda: TypeAdapter(int).validate_python("many")))
    assert result.is_error
    assert result.text.startswith("probe failed (ValidationError: 1 validation error for int")


@BOTH_KINDS
@pytest.mark.parametrize(
    "problem",
    [SystemExit(3), StopIteration("over"), asyncio.CancelledError(), GeneratorExit(), Rude("!")],
    ids=lambda problem: type(problem).__name__,
)
async def test_not_even_an_exit_or_a_cancellation_by_the_tool_ends_the_run(
    kind: Callable[..., Any], problem: BaseException
) -> None:
    result = await run(kind(raising(problem)))
    assert result.is_error
    assert type(problem).__name__ in result.text


async def test_a_keyboard_interrupt_in_a_sync_tools_thread_is_the_tools_own() -> None:
    result = await run(raising(KeyboardInterrupt()))
    assert result.is_error
    assert "KeyboardInterrupt" in result.text


@BOTH_KINDS
async def test_no_stack_trace_and_no_path_of_a_source_file_reaches_the_model(
    kind: Callable[..., Any],
) -> None:
    trace = (
        "worker died\nTraceback (most recent call last):\n"
        '  File "/srv/secret/app.py", line 3, in main\nKeyError: 1'
    )
    frame = 'broken at File "/srv/secret/app.py", line 3, in main'
    missing = FileNotFoundError(2, "No such file or directory", "/srv/secret/notes.txt")
    imported = ImportError("cannot import name 'x' from 'app' (/srv/secret/app.py)")
    windows = RuntimeError(r"C:\Users\somebody\app.py is broken")
    texts = [
        (await run(kind(raising(problem)))).text
        for problem in (RuntimeError(trace), RuntimeError(frame), missing, imported, windows)
    ]
    assert [text.partition(").")[0] for text in texts] == [
        "probe failed (RuntimeError: worker died",
        "probe failed (RuntimeError: broken at app.py, line 3",
        "probe failed (FileNotFoundError: No such file or directory: 'notes.txt'",
        "probe failed (ImportError: cannot import name 'x' from 'app' (app.py)",
        "probe failed (RuntimeError: app.py is broken",
    ]


@BOTH_KINDS
@pytest.mark.parametrize("problem", [KeyError("city"), ValueError("bad"), Silent()])
async def test_the_operator_finds_the_stack_trace_in_the_log(
    kind: Callable[..., Any], problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "freya_teach"):
        await run(kind(raising(problem)))
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == [problem]


# ---- what a tool returns -------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Place:
    name: str
    since: date


class Trip(BaseModel):
    place: str
    cost: Decimal


def recursive() -> list[Any]:
    """Make a list that holds itself."""
    endless: list[Any] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("as it is, 北京", "as it is, 北京"),
        ("", ""),
        (None, "Done. (The tool returned nothing.)"),
        (0, "0"),
        (False, "false"),
        ({"city": "北京", "in": [1, 2.5, None]}, '{"city": "北京", "in": [1, 2.5, null]}'),
        (math.nan, "NaN"),
        ((1, "two"), '[1, "two"]'),
        ({"b", "a", "c"}, '["a", "b", "c"]'),
        (frozenset({30, 4, 200}), "[200, 30, 4]"),
        ({1: "one", date(2026, 11, 30): Colour.RED}, '{"1": "one", "2026-11-30": "red"}'),
        (Place("Oslo", date(2026, 11, 30)), '{"name": "Oslo", "since": "2026-11-30"}'),
        ([Trip(place="Oslo", cost=Decimal("9.90"))], '[{"place": "Oslo", "cost": "9.90"}]'),
    ],
    ids=lambda value: type(value).__name__,
)
@BOTH_KINDS
async def test_a_returned_value_is_shown_as_text_or_as_json(
    kind: Callable[..., Any], value: Any, expected: str
) -> None:
    assert await text_of(kind(lambda: value)) == expected


def repr_of(value: Any) -> str:
    return type(value).__name__


def endless() -> Iterator[int]:
    """Count for ever."""
    while True:
        yield 1


@BOTH_KINDS
@pytest.mark.parametrize("value", [b"\x89PNG", endless()], ids=lambda value: type(value).__name__)
async def test_without_a_workspace_a_value_that_is_no_text_and_no_json_is_an_error_in_words(
    kind: Callable[..., Any], value: Any
) -> None:
    result = await run(kind(lambda: value))
    assert result.is_error
    assert " returned " in result.text


@BOTH_KINDS
@pytest.mark.parametrize(
    "value", [object(), recursive(), {"deep": [b"\xff"]}, 10**5_000, Place], ids=repr_of
)
async def test_whatever_else_a_tool_returns_it_is_shown_somehow(
    kind: Callable[..., Any], value: Any
) -> None:
    assert len(await text_of(kind(lambda: value))) < 200


async def test_with_a_workspace_a_long_result_and_all_bytes_are_saved(tmp_path: Path) -> None:
    picture, text = b"\x89PNG\r\n\x1a\n" + bytes(100), "a line\n" * 1_000
    workspace = Workspace(tmp_path)
    chosen = Settings(save_over_chars=1_000)
    for value in (picture, text):
        runner = ToolRunner(chosen, Ambient(), workspace=workspace)
        made = tool(name="probe")(lambda_returning(value))
        result = await runner.run(ToolCall("call_1", "probe", "{}"), {"probe": made})
        assert not result.is_error
        assert "download/" in result.text
        assert "read_file" in result.text or value is picture
    saved = sorted((path.read_bytes() for path in (tmp_path / "download").iterdir()), key=len)
    assert saved == [picture, text.encode()]


def lambda_returning(value: Any) -> Callable[[], Any]:
    """Make a tool's function that returns this."""

    def probe() -> Any:
        return value

    return probe


async def test_of_a_huge_text_the_model_sees_the_head_and_the_tail() -> None:
    text = await text_of(
        lambda: "a" * 1_000 + "b" * 1_000_000 + "c" * 1_000, max_observation_chars=300
    )
    assert len(text) <= 300
    assert text.startswith("a" * 100)
    assert text.endswith("c" * 50)
    assert "characters left out" in text


async def test_a_sync_function_that_returns_a_coroutine_is_awaited() -> None:
    async def later() -> str:
        return "later"

    def probe() -> Coroutine[Any, Any, str]:
        return later()

    assert await text_of(probe) == "later"


# ---- a tool that never returns -------------------------------------------------------------

GIVEN_UP = (
    "probe gave no result within 0.05 seconds and was given up. It may still have had an effect. "
    "Try a smaller task, or tell the user what did not work."
)


async def test_an_async_tool_that_sleeps_for_ever_is_cancelled() -> None:
    cancelled = asyncio.Event()

    async def probe() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    result = await run(probe, tool_seconds=0.05)
    assert (result.is_error, result.text) == (True, GIVEN_UP)
    await asyncio.wait_for(cancelled.wait(), 30)


async def test_an_async_tool_that_swallows_its_cancellation_is_not_waited_for() -> None:
    release, returned = asyncio.Event(), asyncio.Event()

    async def probe() -> str:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        returned.set()
        raise ValueError("nobody looks at this any more")

    result = await run(probe, tool_seconds=0.05)
    assert (result.is_error, result.text, returned.is_set()) == (True, GIVEN_UP, False)
    release.set()
    await asyncio.wait_for(returned.wait(), 30)


async def test_a_sync_tool_that_blocks_is_left_alone_and_its_late_result_is_dropped() -> None:
    release, returned = threading.Event(), threading.Event()

    def probe() -> str:
        release.wait(30)
        returned.set()
        return "too late"

    result = await run(probe, tool_seconds=0.05)
    assert (result.is_error, result.text, returned.is_set()) == (True, GIVEN_UP, False)
    release.set()
    assert await asyncio.to_thread(returned.wait, 30)


async def test_a_tool_may_have_a_time_limit_of_its_own() -> None:
    @tool(seconds=0.05)
    async def probe() -> None:
        await asyncio.Event().wait()

    runner = ToolRunner(Settings(tool_seconds=1_000), Ambient())
    result = await runner.run(ToolCall("call_1", "probe", "{}"), {"probe": probe})
    assert (result.is_error, result.text) == (True, GIVEN_UP)


HANGING_PROGRAM = """
import asyncio, threading
from freya_teach import Ambient, Settings, ToolRegistry
from freya_teach.llm.messages import ToolCall
from freya_teach.tools.runner import ToolRunner

def hang() -> None:
    threading.Event().wait()

async def main():
    runner = ToolRunner(Settings(tool_seconds=0.05), Ambient())
    result = await runner.run(ToolCall("1", "hang", "{}"), ToolRegistry([hang]).active())
    print(result.text.partition(".")[0], threading.active_count())

asyncio.run(main())
"""


def test_a_program_ends_although_the_thread_of_its_tool_still_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGING_PROGRAM],
        check=False,
        timeout=60,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "hang gave no result within 0 2\n",
        "",
    )


LATE_PROGRAM = """
import asyncio, threading
from freya_teach import Ambient, Settings, ToolRegistry
from freya_teach.llm.messages import ToolCall
from freya_teach.tools.runner import ToolRunner

release = threading.Event()

def late() -> str:
    release.wait()
    return "too late"

async def main():
    runner = ToolRunner(Settings(tool_seconds=0.05), Ambient())
    await runner.run(ToolCall("1", "late", "{}"), ToolRegistry([late]).active())

asyncio.run(main())
threads = [thread for thread in threading.enumerate() if thread.daemon]
release.set()
for thread in threads:
    thread.join()
print(len(threads))
"""


def test_a_tool_that_returns_after_the_event_loop_is_gone_complains_about_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LATE_PROGRAM],
        check=False,
        timeout=60,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


async def test_when_the_run_is_cancelled_so_is_its_async_tool() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def probe() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    task = asyncio.ensure_future(run(probe))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(cancelled.wait(), 30)


# ---- the token that tells a tool to stop ---------------------------------------------------


async def test_a_sync_tool_learns_that_its_time_is_over() -> None:
    told: list[bool] = []
    done = threading.Event()

    def probe(context: ToolContext) -> None:
        told.append(context.cancel.cancelled)
        told.append(context.cancel.wait(30))
        done.set()

    result = await run(probe, tool_seconds=0.05)
    assert (result.is_error, result.text) == (True, GIVEN_UP)
    assert await asyncio.to_thread(done.wait, 30)
    assert told == [False, True]


async def test_a_sync_tool_learns_that_the_run_was_cancelled() -> None:
    started, done = threading.Event(), threading.Event()

    def probe(context: ToolContext) -> None:
        started.set()
        if context.cancel.wait(30):
            done.set()

    task = asyncio.ensure_future(run(probe))
    assert await asyncio.to_thread(started.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(done.wait, 30)


async def test_a_tool_that_returns_in_time_is_never_told_to_stop() -> None:
    seen: list[ToolContext] = []

    def probe(context: ToolContext) -> None:
        seen.append(context)

    await run(probe)
    await run(probe)
    assert [context.cancel.cancelled for context in seen] == [False, False]
    assert seen[0].cancel is not seen[1].cancel


# ---- around the call -----------------------------------------------------------------------


@BOTH_KINDS
async def test_a_tool_sees_the_context_variables_of_whoever_started_the_run(
    kind: Callable[..., Any],
) -> None:
    who = contextvars.ContextVar("who", default="nobody")
    token = who.set("the learner")
    try:
        assert await text_of(kind(lambda: str(who.get()))) == "the learner"
    finally:
        who.reset(token)


async def test_a_tool_gets_the_clock_and_the_workspace_of_the_kernel(tmp_path: Path) -> None:
    seen: list[ToolContext] = []

    @tool
    def probe(context: ToolContext | None = None) -> None:
        """Look around."""
        assert context is not None
        seen.append(context)

    ambient, workspace = Ambient(), Workspace(tmp_path)
    runner = ToolRunner(Settings(), ambient, workspace=workspace)
    session = InMemoryHistory()
    await runner.run(ToolCall("call_1", "probe", "{}"), {"probe": probe}, "s1", session)
    [context] = seen
    assert (context.call_id, context.session_id) == ("call_1", "s1")
    assert context.active is session
    assert context.ambient is ambient
    assert context.workspace is workspace


async def test_a_call_is_prepared_without_running_anything() -> None:
    ran: list[str] = []
    made = tool(name="probe")(lambda_that(ran.append))
    runner = ToolRunner(Settings(), Ambient())
    prepared = runner.prepare(ToolCall("call_1", "probe", '{"text": "a"}'), {"probe": made})
    assert (prepared.arguments, prepared.problem, ran) == ({"text": "a"}, "", [])
    await runner.run_prepared(prepared)
    assert ran == ["a"]


def lambda_that(action: Callable[[str], object]) -> Callable[..., Any]:
    """Make a tool's function that hands its text on."""

    def probe(text: str) -> None:
        action(text)

    return probe


async def test_the_seconds_are_those_between_start_and_end_on_the_ambient_clock() -> None:
    ticks = iter([100.0, 102.5])
    runner = ToolRunner(Settings(), Ambient(monotonic=lambda: next(ticks)))
    active = ToolRegistry([print_nothing]).active()
    result = await runner.run(ToolCall("call_1", "print_nothing", "{}"), active)
    assert result.seconds == 2.5
