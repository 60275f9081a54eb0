"""Whatever student code does, the learner reads a sentence, and nothing of the kit's inside."""

# Few of these functions use what they are given.
# ruff: noqa: ARG001

import asyncio
import gc
import re
import sys
import warnings
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from freya_teach.lab.exercises import Answer, Verdict, expect, judge
from tests.lab.exercises.exercises_for_tests import exercise


async def verdict_on(given: Any, **settings: Any) -> Verdict:
    """Judge it, and look for what must never be in a text."""
    verdict = await judge(exercise(**settings), given)
    assert verdict.text[0] == {"passed": "✓", "not done": "…"}.get(verdict.state, "✗")
    assert "9.9-a" in verdict.text.partition("\n")[0]
    for leak in ("Traceback", "watchdog", "student_code.py", "/freya_teach/", "at 0x"):
        assert leak not in verdict.text
    return verdict


# ---- what it gives back ----


@pytest.mark.parametrize("given", [None, ..., "..."])
async def test_a_value_that_was_not_filled_in_is_not_done_yet(given: Any) -> None:
    async def check(answer: Answer) -> None:
        expect(answer.value == 120, "It is 15 * 8.")

    assert (await verdict_on(given, check=check)).state == "not done"
    assert (await verdict_on(121, check=check)).state == "wrong"
    assert (await verdict_on(120, check=check)).passed


def gives_none(call: dict[str, str]) -> None:
    return None


def gives_dots(call: dict[str, str]) -> Any:
    return ...


def gives_three_dots(call: dict[str, str]) -> Any:
    return "..."


def has_a_body_of_dots(call: dict[str, str]) -> Any: ...


def has_only_a_docstring(call: dict[str, str]) -> Any:
    """Do it."""


def is_not_implemented(call: dict[str, str]) -> Any:
    raise NotImplementedError


async def gives_none_later(call: dict[str, str]) -> None:
    return None


STUBS = (
    gives_none,
    gives_dots,
    gives_three_dots,
    has_a_body_of_dots,
    has_only_a_docstring,
    is_not_implemented,
    gives_none_later,
)


@pytest.mark.parametrize("stub", STUBS)
async def test_a_stub_is_not_done_yet_and_not_wrong(stub: Any) -> None:
    assert (await verdict_on(stub)).state == "not done"


async def test_a_stub_that_already_holds_some_code_is_known_by_that_code() -> None:
    def stub(call: dict[str, str]) -> None:
        name = call["city"].upper()  # noqa: F841 - the learner will use it

    def same(call: dict[str, str]) -> None:
        name = call["city"].upper()  # noqa: F841 - the learner will use it

    def more(call: dict[str, str]) -> None:
        name = call["city"].upper()
        name.lower()

    assert (await verdict_on(same, stub=stub)).state == "not done"
    assert (await verdict_on(more, stub=stub)).state == "wrong"


async def test_a_forgotten_return_is_wrong_and_told_as_such() -> None:
    def forgets(call: dict[str, str]) -> None:
        text = str(call)
        text.upper()

    verdict = await verdict_on(forgets)
    assert verdict.state == "wrong"
    assert "answer gave back None. Does every way through it end with a return?" in verdict.text
    assert (await verdict_on(forgets, none_is_an_answer=True)).passed


async def test_sync_and_async_functions_are_judged_alike() -> None:
    async def later(call: dict[str, str]) -> str:
        await asyncio.sleep(0)
        return call["city"]

    def now(call: dict[str, str]) -> Any:
        return later(call)  # a coroutine, which is awaited

    assert (await verdict_on(later)).passed
    assert (await verdict_on(now)).passed


async def test_a_coroutine_that_is_never_awaited_is_named() -> None:
    async def fetch() -> str:
        return "sunny"

    def forgets(call: dict[str, str]) -> str:
        fetch()  # type: ignore[unused-coroutine]
        return "done"

    async def forgets_too(call: dict[str, str]) -> str:
        await asyncio.sleep(0)
        return forgets(call)

    for function in (forgets, forgets_too):
        verdict = await verdict_on(function)
        assert verdict.state == "wrong"
        assert "fetch(…) was never awaited. Write `await` before the call." in verdict.text


async def test_a_called_function_is_told_from_the_function_itself() -> None:
    async def fetch() -> str:
        return "sunny"

    for given in (fetch(), "sunny", {"city": "Oslo"}):
        verdict = await verdict_on(given)
        assert "the check needs the function answer itself, without calling it" in verdict.text


async def test_the_wrong_number_of_arguments_is_told_with_the_call_that_was_tried() -> None:
    def takes_none() -> str:
        return ""

    verdict = await verdict_on(takes_none)
    assert "answer() -> str cannot be called as answer({'city': 'Oslo'})" in verdict.text


async def test_a_yield_is_noticed_where_it_was_not_asked_for_and_read_where_it_was() -> None:
    def numbers(call: dict[str, str]) -> Iterator[int]:
        yield 1
        yield 2

    async def later(call: dict[str, str]) -> AsyncIterator[int]:
        yield 1
        yield 2

    def for_ever(call: dict[str, str]) -> Iterator[int]:
        while True:
            yield 1

    async def check(answer: Answer) -> None:
        expect(await answer.items({}, most=2) in ([1, 2], [1, 1]), "One, then two.")

    for function in (numbers, later, for_ever):
        assert "because there is a yield in it" in (await verdict_on(function)).text
        assert (await verdict_on(function, check=check)).passed


async def test_a_huge_value_is_shown_in_a_few_words() -> None:
    async def look(answer: Answer) -> None:
        expect(None, "Too much.", received=await answer.call({}))

    for value in ("x" * 10**6, [0] * 10**6, {n: n for n in range(10**5)}, 10**9999):
        verdict = await verdict_on(lambda _, value=value: value, check=look)
        assert verdict.state == "wrong"
        assert len(verdict.text) < 700


async def test_a_value_whose_repr_raises_or_hangs_is_shown_by_its_class() -> None:
    class Raises:
        def __repr__(self) -> str:
            raise RuntimeError

    class Hangs:
        def __repr__(self) -> str:
            while True:
                pass

    async def look(answer: Answer) -> None:
        expect(None, "Look.", received=await answer.call({}))

    for kind in (Raises, Hangs):
        verdict = await verdict_on(lambda _, kind=kind: kind(), check=look)
        assert f"{kind.__name__}" in verdict.text


async def test_a_value_that_the_check_cannot_read_is_no_trace_of_the_check() -> None:
    async def check(answer: Answer) -> None:
        expect((await answer.call({})).startswith("It"), "Begin with It.")

    verdict = await verdict_on(lambda _: 5, check=check)
    assert verdict.state == "wrong"
    assert "the check cannot read what answer gave back: AttributeError" in verdict.text
    assert "the fault is the check's, not yours" in verdict.text


# ---- what it does on the way ----


async def test_a_changed_argument_is_shown_before_and_after() -> None:
    def changes(call: dict[str, str]) -> str:
        call["country"] = "Norway"
        return "done"

    verdict = await verdict_on(changes)
    assert verdict.state == "wrong"
    assert "Before: {'city': 'Oslo'}\nAfter:  {'city': 'Oslo', 'country': 'Norway'}" in verdict.text
    assert (await verdict_on(changes, may_change_arguments=True)).passed


async def test_what_it_prints_is_shown_with_the_verdict_and_not_in_between(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def talks(call: dict[str, str]) -> str:
        print("looking")
        await asyncio.sleep(0)
        print("found", file=sys.stderr)
        return "done"

    verdict = await verdict_on(talks)
    assert verdict.text == "✓ 9.9-a: passed. It works.\nIt printed:\n    looking\n    found"
    assert capsys.readouterr() == ("", "")


async def test_what_it_prints_is_shown_without_addresses_and_folders() -> None:
    def talks(call: dict[str, str]) -> str:
        print(object(), sys.prefix)
        return "done"

    assert (await verdict_on(talks)).text.endswith("\n    <object object> …")


async def test_of_much_output_only_the_first_lines_are_shown() -> None:
    def talks(call: dict[str, str]) -> str:
        for number in range(100_000):
            print(f"line {number} " + "x" * number)
            if number > 300:
                break
        return "done"

    lines = (await verdict_on(talks)).text.splitlines()
    assert [line.split()[1] for line in lines[2:7]] == ["0", "1", "2", "3", "4"]
    assert lines[7:] == ["    … and more"]


# ---- what it raises ----


async def test_what_it_raises_is_told_with_the_learners_own_line() -> None:
    def reads(call: dict[str, str]) -> str:
        return call["town"]

    async def reads_later(call: dict[str, str]) -> str:
        await asyncio.sleep(0)
        return call["town"]

    for function in (reads, reads_later):
        verdict = await verdict_on(function)
        assert verdict.state == "raised"
        assert "your code raised KeyError: 'town'" in verdict.text
        assert re.search(r'\n    line \d+: return call\["town"\]\n', verdict.text)


async def test_the_line_is_the_learners_even_when_a_library_raises() -> None:
    import json  # noqa: PLC0415 - as a learner would

    verdict = await verdict_on(lambda _: json.loads("{"))
    assert "JSONDecodeError" in verdict.text
    assert 'json.loads("{")' in verdict.text
    assert "decoder.py" not in verdict.text


@pytest.mark.parametrize(
    "problem",
    [
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
        StopIteration(1),
        TimeoutError("mine"),
        BaseExceptionGroup("two", [KeyError(1), SystemExit()]),
    ],
    ids=lambda problem: type(problem).__name__,
)
async def test_no_exception_of_student_code_gets_out(problem: BaseException) -> None:
    def raises(call: dict[str, str]) -> str:
        raise problem

    async def raises_later(call: dict[str, str]) -> str:
        await asyncio.sleep(0)
        raise problem

    verdict = await verdict_on(raises)
    assert (verdict.state, type(problem).__name__ in verdict.text) == ("raised", True)
    assert (await verdict_on(raises_later)).state == "raised"


async def test_what_hangs_on_an_exception_is_gone_before_the_notebook_goes_on() -> None:
    async def fetch() -> str:
        return "sunny"

    def runs_a_loop_in_a_loop(call: dict[str, str]) -> str:
        return asyncio.run(fetch())

    with warnings.catch_warnings(record=True) as warned:
        verdict = await verdict_on(runs_a_loop_in_a_loop)
        gc.collect()
    assert "asyncio.run() cannot be called from a running event loop" in verdict.text
    assert warned == []


async def test_an_exception_whose_text_raises_or_is_endless_is_told_by_its_class() -> None:
    class Strange(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def strange(call: dict[str, str]) -> str:
        raise Strange

    def endless(call: dict[str, str]) -> str:
        raise ValueError("x" * 10**6)

    assert "your code raised Strange\n" in (await verdict_on(strange)).text
    assert len((await verdict_on(endless)).text) < 700


async def test_endless_recursion_is_an_error_like_others() -> None:
    def deeper(call: dict[str, str]) -> Any:
        return deeper(call)

    verdict = await verdict_on(deeper)
    assert verdict.state == "raised"
    assert "RecursionError" in verdict.text
    assert "deeper(call" in verdict.text


async def test_a_check_can_ask_for_an_exception() -> None:
    async def check(answer: Answer) -> None:
        value, raised = await answer.attempt({})
        expect(raised and isinstance(raised.problem, KeyError), "Raise it.", received=value)

    assert (await verdict_on(lambda call: call["town"], check=check)).passed
    assert (await verdict_on(lambda _: "Oslo", check=check)).state == "wrong"


async def test_what_a_caller_in_between_swallows_is_told_all_the_same() -> None:
    async def check(answer: Answer) -> None:
        try:
            await answer.call({})
        except Exception:  # noqa: BLE001 - as the kernel does with a tool
            return

    verdict = await verdict_on(lambda call: call["town"], check=check)
    assert verdict.state == "raised"


# ---- when it does not end ----


def loops(call: dict[str, str]) -> str:
    while True:
        pass


def loops_on_one_line(call: dict[str, str]) -> str:
    while True: pass  # noqa: E701 - one single instruction  # fmt: skip


def sums(call: dict[str, str]) -> int:
    import itertools  # noqa: PLC0415 - as a learner would

    return sum(1 for _ in itertools.count())


def prints_for_ever(call: dict[str, str]) -> str:
    while True:
        print("again")


def swallows_everything(call: dict[str, str]) -> str:
    while True:
        try:
            while True:
                pass
        except BaseException:  # noqa: BLE001, S110 - that is the case
            pass


def collects_everything(call: dict[str, str]) -> str:
    seen = []
    while True:
        try:
            while True:
                pass
        except BaseException as problem:  # noqa: BLE001 - that is the case
            seen.append(problem)


def keeps_the_last(call: dict[str, str]) -> str:
    last = None
    while last is not last.__class__:
        try:
            while True:
                pass
        except BaseException as problem:  # noqa: BLE001 - that is the case
            last = problem
    return "never"


def loops_while_it_leaves(call: dict[str, str]) -> str:
    try:
        return loops(call)
    finally:
        while True:
            pass


async def loops_after_a_wait(call: dict[str, str]) -> str:
    await asyncio.sleep(0)
    return loops(call)


def yields_for_ever_within(call: dict[str, str]) -> list[int]:
    def ones() -> Iterator[int]:
        while True:
            yield 1

    return [one for one in ones() if one == 2]


LOOPS = (
    loops,
    loops_on_one_line,
    sums,
    prints_for_ever,
    swallows_everything,
    collects_everything,
    keeps_the_last,
    loops_while_it_leaves,
    loops_after_a_wait,
    yields_for_ever_within,
)


@pytest.mark.parametrize("function", LOOPS)
async def test_a_loop_that_never_ends_is_stopped(function: Any) -> None:
    verdict = await verdict_on(function, seconds=0.2)
    assert verdict.state == "stopped"
    assert "your code was stopped: it was still running after 0.2 seconds" in verdict.text
    assert re.search(r"\n    line \d+: \w", verdict.text)
    assert "It was stopped between two lines of Python." in verdict.text


async def waits(call: dict[str, str]) -> str:
    await asyncio.Event().wait()
    return "never"


async def waits_in_spite_of_everything(call: dict[str, str]) -> str:
    while True:
        try:  # noqa: SIM105 - as a learner writes it
            await asyncio.Event().wait()
        except BaseException:  # noqa: BLE001, S110 - that is the case
            pass


@pytest.mark.parametrize("function", [waits, waits_in_spite_of_everything])
async def test_a_wait_that_never_ends_is_cancelled(function: Any) -> None:
    with warnings.catch_warnings(record=True) as warned:
        verdict = await verdict_on(function, seconds=0.2)
        gc.collect()
    assert verdict.state == "stopped"
    assert "it was still waiting after 0.2 seconds" in verdict.text
    assert "await asyncio.Event().wait()" in verdict.text
    assert "its await was cancelled" in verdict.text
    assert warned == []


async def test_a_coroutine_that_is_stopped_may_tidy_up() -> None:
    tidy = []

    async def waits_tidily(call: dict[str, str]) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            tidy.append("up")
        return "never"

    assert (await verdict_on(waits_tidily, seconds=0.2)).state == "stopped"
    assert tidy == ["up"]


async def test_the_rest_of_the_notebook_runs_on_while_student_code_waits() -> None:
    steps = []

    async def the_rest() -> None:
        while True:
            steps.append(sys.gettrace())
            await asyncio.sleep(0.01)

    before = sys.gettrace()
    rest = asyncio.ensure_future(the_rest())
    await verdict_on(waits, seconds=0.2)
    rest.cancel()
    assert len(steps) > 2
    assert set(steps) == {before}


async def test_cancelling_the_cell_cancels_it_although_student_code_is_running() -> None:
    started = asyncio.Event()

    async def waits_long(call: dict[str, str]) -> str:
        started.set()
        return await waits(call)

    task = asyncio.ensure_future(judge(exercise(seconds=600), waits_long))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
