"""Section 6.4: mend the chain, refuse a nested write, get past a check. (chapter 6.4)"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

from freya_teach.errors import NestedWrite
from freya_teach.lab import races
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Raised, Wrong, expect

Work = Callable[[], Awaitable[Any]]
Future = asyncio.Future[Any]

TURNS = 50
"""Turns of the event loop in which a task that waits for nobody else has ended."""


async def settle() -> None:
    """Let every task run until it waits for something. No time passes."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


# ---- 6.4-a, repair: a link of the chain that does not break ----------------------------------


async def check_after(after: Answer) -> None:
    """Order, a failure before, a cancellation before, and what becomes of one's own work."""
    await _check_order(after)
    for what, end in (("failed", _fail), ("been cancelled", Future.cancel)):
        await _check_after_trouble(after, what, end)
    await _check_own_failure(after)
    await _check_cancelled_waiter(after)


def _fail(before: Future) -> object:
    before.set_exception(OSError("the disk is full"))
    return before.exception()  # it was looked at


async def _check_order(after: Answer) -> None:
    before, ran = _future(), list[str]()

    async def work() -> str:
        ran.append("mine")
        return "written"

    expect(
        await after.call(None, work) == "written",
        "the first write has nothing before it (`before` is None), and its work gives back a "
        "value. Hand that on.",
    )
    task = asyncio.ensure_future(after.call(before, work))
    await settle()
    early = len(ran) > 1
    before.set_result(None)
    await _ended(task, "the write before has ended, and yours still waits.")
    expect(not early, "your work ran while the write before was still going on.")


async def _check_after_trouble(after: Answer, what: str, end: Callable[[Future], object]) -> None:
    before, ran = _future(), list[str]()

    async def work() -> str:
        ran.append("mine")
        return "written"

    task = asyncio.ensure_future(after.attempt(before, work))
    await settle()
    end(before)
    with contextlib.suppress(asyncio.CancelledError):
        await _ended(task, f"the write before has {what}, and yours waits for ever.")
    expect(ran, f"the write before has {what}, and your work never ran.")


async def _check_own_failure(after: Answer) -> None:
    async def work() -> str:
        raise OSError("the disk is full")

    value, raised = await after.attempt(_done(), work)
    expect(
        raised is not None and isinstance(raised.problem, OSError),
        "your own work has failed, and whoever asked for it is not told.",
        received=value,
    )


async def _check_cancelled_waiter(after: Answer) -> None:
    before, ran = _future(), list[str]()

    async def work() -> str:
        ran.append("mine")
        return "written"

    task = asyncio.ensure_future(after.attempt(before, work))
    await settle()
    task.cancel()
    await settle()
    fell_with_it = before.cancelled()
    before.cancel()
    with contextlib.suppress(asyncio.CancelledError, Raised):
        await _ended(task, "a write that waited was cancelled, and did not end.")
    expect(
        not fell_with_it,
        "a write that waited was cancelled, and the write *before* it was cancelled as well: "
        "awaiting a future hands the cancellation on to it.",
    )
    expect(not ran, "a write that waited was cancelled, and its work ran nevertheless.")


def _future() -> Future:
    return asyncio.get_running_loop().create_future()


def _done() -> Future:
    before = _future()
    before.set_result(None)
    return before


async def _ended(task: asyncio.Future[Any], hint: str) -> Any:
    """What a task gave back. Raises `NotYet` with the hint when it still waits for something."""
    await settle()
    if not task.done():
        task.cancel()
        await settle()
        raise NotYet(hint)
    return task.result()


async def after(before: Future | None, work: Work) -> Any:
    """One way to write it."""
    if before is not None:
        await asyncio.wait([before])  # until it has ended, however it did
    return await work()


async def after_stub(before: Future | None, work: Work) -> None:
    """As it stands in the notebook."""
    return None


async def after_chain(before: Future | None, work: Work) -> Any:
    """As the chain does it."""
    if before is not None:
        await asyncio.shield(before)
    return await work()


async def after_exception(before: Future | None, work: Work) -> Any:
    """Catches errors; a cancellation is none."""
    with contextlib.suppress(Exception):
        if before is not None:
            await asyncio.shield(before)
    return await work()


async def after_gather(before: Future | None, work: Work) -> Any:
    """Takes every end for a value, and hands its own cancellation on to the write before."""
    if before is not None:
        await asyncio.gather(before, return_exceptions=True)
    return await work()


async def after_everything(before: Future | None, work: Work) -> Any:
    """Catches its own cancellation, too."""
    try:
        if before is not None:
            await asyncio.shield(before)
    except BaseException:  # noqa: BLE001, S110 - that is the mistake
        pass
    return await work()


async def after_nobody(_before: Future | None, work: Work) -> Any:
    """Does not wait."""
    return await work()


async def after_silent(before: Future | None, work: Work) -> Any:
    """Swallows the failure of its own work."""
    if before is not None:
        await asyncio.wait([before])
    try:
        return await work()
    except OSError:
        return "failed"


# ---- 6.4-b, extend: a write in a write raises, wherever it was started -----------------------


class Queue(SimpleNamespace):
    """What the learner's function is given: a lock, a context variable, and room for more."""

    lock: asyncio.Lock
    inside: ContextVar[Any]


def new_queue() -> Queue:
    """A queue that nobody has written to."""
    return Queue(lock=asyncio.Lock(), inside=ContextVar("inside", default=None))


async def check_write(write: Answer) -> None:
    """One at a time; nested, in a gather, and in a task that outlives the write."""
    await _check_one_at_a_time(write)
    await _check_nested(write, in_gather=False)
    await _check_nested(write, in_gather=True)
    await _check_failing(write)
    await _check_background(write)


async def _check_one_at_a_time(write: Answer) -> None:
    queue, seen = new_queue(), list[str]()

    def work(name: str) -> Work:
        async def add() -> str:
            seen.append(f"{name} begins")
            await asyncio.sleep(0)
            seen.append(f"{name} ends")
            return name

        return add

    tasks = [asyncio.ensure_future(write.call(queue, work(name))) for name in "AB"]
    both = await _ended(asyncio.gather(*tasks), "two writes from two tasks never end.")
    expect(
        seen == ["A begins", "A ends", "B begins", "B ends"],
        "two writes were at work at the same time.",
        received=seen,
    )
    expect(both == ["A", "B"], "give back what the work gives back.", received=both)


async def _check_nested(write: Answer, *, in_gather: bool) -> None:
    queue, ran = new_queue(), list[str]()

    async def inner() -> None:
        ran.append("inner")

    async def outer() -> str:
        nested = write.value(queue, inner)
        await (asyncio.gather(nested) if in_gather else nested)
        return "written"

    how = "started in a gather(), is a task of its own: it" if in_gather else "in the same task"
    task = asyncio.ensure_future(write.attempt(queue, outer))
    _, raised = await _ended(task, f"a write inside a write, {how} waits for ever.")
    expect(not ran, "a write ran in the middle of another one.")
    expect(raised is not None, "a write inside a write has ended, and nobody was told.")
    _check_kind(raised)


def _check_kind(raised: Raised) -> None:
    if not isinstance(raised.problem, NestedWrite):
        raise raised


async def _check_failing(write: Answer) -> None:
    queue = new_queue()

    async def fail() -> None:
        raise OSError("the disk is full")

    async def work() -> str:
        return "written"

    await write.attempt(queue, fail)
    task = asyncio.ensure_future(write.attempt(queue, work))
    value, _ = await _ended(task, "one write has failed, and the next one waits for ever.")
    expect(value == "written", "one write has failed, and the next one is refused.", received=value)


async def _check_background(write: Answer) -> None:
    queue, gate = new_queue(), asyncio.Event()
    later: list[asyncio.Future[Any]] = []

    async def title() -> str:
        return "a title"

    async def find_title() -> Any:
        await gate.wait()
        return await write.value(queue, title)

    async def outer() -> str:
        later.append(asyncio.ensure_future(find_title()))
        return "written"

    await write.call(queue, outer)
    gate.set()
    await asyncio.wait(later)
    problem = later[0].exception()
    if problem is not None and not isinstance(problem, NestedWrite):
        raise problem
    expect(
        problem is None,
        "a task was started inside a write and writes when that is long over. It is refused: it "
        "has inherited the mark, and nobody has told it that the write has ended.",
    )


async def write(queue: Queue, work: Work) -> Any:
    """One way to write it."""
    outer = queue.inside.get()
    if outer is not None and not outer["over"]:
        raise NestedWrite("a write inside a write on the same session")
    async with queue.lock:
        mine = {"over": False}
        token = queue.inside.set(mine)
        try:
            return await work()
        finally:
            mine["over"] = True
            queue.inside.reset(token)


async def write_stub(queue: Queue, work: Work) -> None:
    """As it stands in the notebook."""
    return None


async def write_locked(queue: Queue, work: Work) -> Any:
    """Takes the lock, and no more."""
    async with queue.lock:
        return await work()


async def write_same_task(queue: Queue, work: Work) -> Any:
    """Asks whether it is the same task."""
    if getattr(queue, "owner", None) is asyncio.current_task():
        raise NestedWrite("a write inside a write on the same session")
    async with queue.lock:
        queue.owner = asyncio.current_task()
        try:
            return await work()
        finally:
            queue.owner = None


async def write_if_locked(queue: Queue, work: Work) -> Any:
    """Takes every lock that is held for its own."""
    if queue.lock.locked():
        raise NestedWrite("a write inside a write on the same session")
    async with queue.lock:
        return await work()


async def write_marked(queue: Queue, work: Work) -> Any:
    """Leaves its mark in every task that was started meanwhile."""
    if queue.inside.get():
        raise NestedWrite("a write inside a write on the same session")
    async with queue.lock:
        token = queue.inside.set(True)
        try:
            return await work()
        finally:
            queue.inside.reset(token)


async def write_not_unmarked(queue: Queue, work: Work) -> Any:
    """Takes the mark away only when all went well."""
    if queue.inside.get():
        raise NestedWrite("a write inside a write on the same session")
    async with queue.lock:
        queue.inside.set(True)
        value = await work()
        queue.inside.set(None)
        return value


async def write_reentrant(queue: Queue, work: Work) -> Any:
    """Lets the inner write in."""
    if queue.inside.get():
        return await work()
    async with queue.lock:
        token = queue.inside.set(True)
        try:
            return await work()
        finally:
            queue.inside.reset(token)


# ---- 6.4-c, attack: a check in front of the lock ---------------------------------------------


def one_seat(stage: races.Stage) -> races.Verdict:
    """Three tasks want the one title that a session may have; the lock is there, and too late."""
    titles: list[str] = []
    queue = races.OneByOne()
    stage.title = "A check in front of the lock"
    stage.shows = lambda: f"titles: {', '.join(titles) or 'none'}"

    async def give_title(me: races.Actor) -> None:
        await me.step("looks: is there a title?")
        if not titles:
            await queue.write("alpha", me.writing(lambda: put(me)))

    async def put(me: races.Actor) -> None:
        await me.step("writes its title")
        titles.append(f"title of {me.name}")

    for name in "ABC":
        stage.add(name, give_title)
    return lambda: f"{len(titles)} titles" if len(titles) > 1 else ""


async def check_way_in(way_in: Answer) -> None:
    """Play the order, and count the titles."""
    order = way_in.value
    expect(
        isinstance(order, str),
        'an order is one text: the names of the tasks with spaces between, such as "A B C".',
        received=order,
    )
    try:
        run = await races.run(one_seat, order)
    except ValueError as problem:
        raise NotYet(f"this order cannot be played. {problem}") from None
    titles = run.events[-1].shared.count("title of")
    expect(
        titles != 1,
        "one got in, as it should be. Whoever looks after somebody has written goes home.",
        received=" ".join(run.order),
    )
    expect(
        titles != 2,
        "two got in, and the third one looked too late. When must all three have looked?",
        received=" ".join(run.order),
    )


AFTER_HINTS = (
    """\
You want to know *that* the write before has ended, and not how. Which function of asyncio waits for
the end, and neither raises what was raised nor cancels what it waits for?""",
    """\
`await asyncio.wait([before])` returns when `before` has ended. To await `before` itself is what
brings its error here.""",
    "Then run the work, outside of any `try`: its own error belongs to whoever asked for it.",
)

WRITE_HINTS = (
    """\
`asyncio.gather` makes a task of each coroutine, so "is it the same task?" says no. A context
variable is inherited by the tasks that are started: set `queue.inside` while the work runs.""",
    """\
A task that outlives the write keeps its copy of the variable for ever. So put an *object* into it,
and change the object when the write is over: everybody who has inherited it sees that.""",
    "In the kernel that object is the `Turn`, and what changes is `is_over`. A dict does as well.",
)

WAY_IN_HINTS = (
    "The lock lets one in at a time, and it does that well. What was decided before the lock?",
    "A task that has looked while there was no title will write one, however long it waits.",
    "Let all three look before the first one writes.",
)

EXERCISES = (
    Exercise(
        id="6.4-a",
        title="A write waits for the end of the one before it, and for nothing else of it.",
        name="after",
        check=check_after,
        hints=AFTER_HINTS,
        solution=after,
        stub=after_stub,
        wrong=(
            Wrong(after_chain, "has failed, and your work never ran"),
            Wrong(after_exception, "has been cancelled, and your work never ran"),
            Wrong(after_gather, "hands the cancellation on"),
            Wrong(after_everything, "its work ran nevertheless"),
            Wrong(after_nobody, "still going on"),
            Wrong(after_silent, "is not told"),
        ),
    ),
    Exercise(
        id="6.4-b",
        title="A write in a write raises, in whatever task; one that comes later does not.",
        name="write",
        check=check_write,
        hints=WRITE_HINTS,
        solution=write,
        stub=write_stub,
        wrong=(
            Wrong(write_locked, "in the same task waits for ever"),
            Wrong(write_same_task, "is a task of its own"),
            Wrong(write_if_locked, "your code raised"),
            Wrong(write_marked, "has inherited the mark"),
            Wrong(write_not_unmarked, "the next one is refused"),
            Wrong(write_reentrant, "in the middle of another one"),
        ),
    ),
    Exercise(
        id="6.4-c",
        title="A lock around the write does not help a decision that was taken before it.",
        name="way_in",
        check=check_way_in,
        hints=WAY_IN_HINTS,
        solution="A B C",
        stub=None,
        wrong=(
            Wrong("A A B B C C", "goes home"),
            Wrong("A B A C B", "the third one looked too late"),
            Wrong("A D", "cannot be played"),
            Wrong(["A", "B", "C"], "an order is one text"),
        ),
    ),
)
