"""Cross-talk: one conversation gets hold of another one's words. (chapter 6.4)

Two requests arrive, A for the session alpha and B for the session beta. They differ in how the
code that loads the history learns which session it works for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from types import SimpleNamespace

from freya_teach.lab.races.orders import Verdict
from freya_teach.lab.races.stage import Actor, Stage

SESSIONS = {"A": "alpha", "B": "beta"}


def _mixed(loaded: dict[str, str]) -> Verdict:
    """Say which task got another one's session."""

    def verdict() -> str:
        wrong = [name for name in sorted(loaded) if loaded[name] != SESSIONS[name]]
        told = [f"{name} asked for {SESSIONS[name]} and got {loaded[name]}" for name in wrong]
        return "; ".join(told)

    return verdict


def module_variable(stage: Stage) -> Verdict:
    """Broken: the current session stands in a variable of a module, which all requests share."""
    module = SimpleNamespace(current="")
    loaded: dict[str, str] = {}
    stage.title = "Cross-talk through a module variable"
    stage.shows = lambda: f"current = {module.current!r}"

    async def handle(me: Actor) -> None:
        await me.step("sets current")
        module.current = SESSIONS[me.name]
        await me.step("loads the history")
        loaded[me.name] = module.current
        me.note(f"of {module.current}")

    for name in SESSIONS:
        stage.add(name, handle)
    return _mixed(loaded)


def explicit_parameter(stage: Stage) -> Verdict:
    """Fixed: each call says which session it is about."""
    loaded: dict[str, str] = {}
    stage.title = "The session as a parameter"
    stage.shows = lambda: "nothing"

    async def handle(me: Actor, session: str) -> None:
        await me.step("takes the request")
        me.note(f"for {session}")
        await load(me, session)

    async def load(me: Actor, session: str) -> None:
        await me.step("loads the history")
        loaded[me.name] = session
        me.note(f"of {session}")

    for name, session in SESSIONS.items():
        stage.add(name, handle, session)
    return _mixed(loaded)


current: ContextVar[str] = ContextVar("current", default="none")
"""The session of the task that asks: every task has a value of its own."""


def context_variable(stage: Stage) -> Verdict:
    """The third way: a variable of which every task has its own copy."""
    loaded: dict[str, str] = {}
    stage.title = "The session in a context variable"
    stage.shows = lambda: "nothing"

    async def handle(me: Actor) -> None:
        await me.step("sets current")
        current.set(SESSIONS[me.name])
        await me.step("loads the history")
        loaded[me.name] = current.get()
        me.note(f"of {current.get()}")

    for name in SESSIONS:
        stage.add(name, handle)
    return _mixed(loaded)


def early_worker(stage: Stage, *, job_names_session: bool = False) -> Verdict:
    """The trap of the third way: a task copies the context once, when it is made.

    The first request starts a worker, as one would on first use. The worker serves both, and for
    it the current session stays the first request's. Fixed where the job names its session.
    """
    jobs: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    loaded: dict[str, str] = {}
    fixed = job_names_session
    stage.title = "A worker, and a job that names its session" if fixed else "A worker too early"
    stage.shows = lambda: f"done: {', '.join(f'{a} in {b}' for a, b in loaded.items()) or 'none'}"

    async def handle(me: Actor) -> None:
        await me.step("sets current, queues a job")
        current.set(SESSIONS[me.name])
        jobs.put_nowait((me.name, current.get()))
        if "worker" not in stage.actors:
            stage.add("worker", work)
            me.note("starts the worker")

    async def work(me: Actor) -> None:
        for _ in SESSIONS:
            name, session = await jobs.get()
            await me.step(f"does the job of {name}")
            loaded[name] = session if job_names_session else current.get()
            me.note(f"in the session {loaded[name]}")

    for name in SESSIONS:
        stage.add(name, handle)
    return _mixed(loaded)


HandOut = Callable[[list[str]], list[str]]


def by_reference(messages: list[str]) -> list[str]:
    """Broken: the stored list itself."""
    return messages


def by_copy(messages: list[str]) -> list[str]:
    """Fixed: a list of one's own."""
    return list(messages)


def shared_session(stage: Stage, *, hand_out: HandOut = by_reference) -> Verdict:
    """Two tasks ask for the same session by its id; one of them adds a question of its own.

    No variable is shared, the id is a parameter, and words cross over nevertheless.
    """
    stored = ["Hello!"]
    sent: dict[str, list[str]] = {}
    how = "by reference" if hand_out is by_reference else "as a copy"
    stage.title = f"One session, handed out {how}"
    stage.shows = lambda: f"stored: {', '.join(stored)}"

    async def answer(me: Actor) -> None:
        await me.step("gets the session")
        messages = hand_out(stored)
        await me.step("sends it to the model")
        sent[me.name] = list(messages)
        me.note(", ".join(messages))

    async def find_title(me: Actor) -> None:
        await me.step("gets the session")
        messages = hand_out(stored)
        await me.step("asks for a title")
        messages.append("Which title?")
        me.note(", ".join(messages))

    stage.add("A", answer)
    stage.add("B", find_title)
    return lambda: "A sent words that B had added" if "Which title?" in sent["A"] else ""
