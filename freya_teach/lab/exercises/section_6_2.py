"""Section 6.2: foresee a mix-up, send the context along, get through a copy. (chapter 6.2)"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any

from freya_teach.lab import races
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.lab.races.crosstalk import current

Json = dict[str, str]
Load = Callable[[], Awaitable[str]]

# ---- 6.2-a, predict: in which orders words cross over ----------------------------------------


async def check_mixed_orders(mixed_orders: Answer) -> None:
    """Each order that was named mixes the two tasks up, and no order that does is missing."""
    named = mixed_orders.value
    expect(
        isinstance(named, list) and all(isinstance(order, str) for order in named),
        'give a list of orders, each one a text such as "A A B B".',
        received=named,
    )
    for order in named:
        expect(
            sorted(order.split()) == ["A", "A", "B", "B"],
            "an order has two turns of each task, with a space between the turns.",
            received=order,
        )
        run = await races.run(races.shared_session, order)
        expect(
            run.wrong,
            f"in {order} nothing crosses over: at the turn in which A sends, what B wants to add "
            "is not in the list yet.",
        )
    every = await races.all_orders(races.shared_session)
    mixed = {" ".join(run.order) for run in every if run.wrong}
    expect(
        mixed <= {" ".join(order.split()) for order in named},
        "each of yours mixes them up, and there are more. Does it matter when A *got* the session? "
        "What A holds is no copy.",
        received=named,
    )


MIXED_ORDERS = ["A B B A", "B A B A", "B B A A"]

# ---- 6.2-b, repair: a job that brings its request's context ----------------------------------


async def check_make_job(make_job: Answer) -> None:
    """A worker of the first request's runs two jobs; each must see its own request's session."""
    for turns in ((0, 1), (1, 0)):
        worker = _Worker(make_job)
        jobs = [await worker.request(session) for session in ("alpha", "beta")]
        await asyncio.create_task(worker.work(jobs, turns), context=worker.context)


class _Worker:
    """Serves all requests, in the context in which the first one has started it."""

    def __init__(self, make_job: Answer) -> None:
        self.make_job = make_job
        self.context = contextvars.copy_context()
        self.context.run(current.set, "alpha")
        self.called_in: list[str] = []
        self.seen: list[str] = []

    def load(self) -> Awaitable[str]:
        """Old code, which nobody can change: it asks the variable whom it works for."""
        self.called_in.append(current.get())
        return self._body()

    async def _body(self) -> str:
        await asyncio.sleep(0)
        self.seen.append(current.get())
        return f"the history of {current.get()}"

    async def request(self, session: str) -> Any:
        """A request makes a job, in a context of its own."""

        async def make() -> Any:
            current.set(session)
            return await self.make_job.call(self.load)

        job = await asyncio.create_task(make())
        expect(
            callable(job) and not self.seen,
            "the worker needs a function that it can call later: `job()`. Loading is its work, and "
            "not the request's.",
            received=job,
        )
        return job

    async def work(self, jobs: list[Any], turns: tuple[int, ...]) -> None:
        """Do the jobs in this order, and look at what is left behind."""
        for turn in turns:
            session = ("alpha", "beta")[turn]
            received = await self.make_job.run(jobs[turn])
            self._check_session(session)
            expect(
                received == f"the history of {session}",
                "the job has to give back what `load` gives back, awaited.",
                received=received,
            )
            expect(
                current.get() == "alpha",
                "each job got its session, and the worker is left in that of another request: what "
                "it does next for itself goes astray.",
                received=current.get(),
            )

    def _check_session(self, session: str) -> None:
        received = self.seen[-1] if self.seen else "nothing"
        expect(
            received == session or self.called_in[-1:] != [session],
            "`load` is async: calling it in the right context only makes a coroutine. Its body "
            "runs in the context of the task that awaits it, which is the worker's.",
            received=received,
        )
        expect(
            received == session,
            f"the request for {session} was served in the session that the worker was started "
            "with. At what moment is the context copied, and by whom?",
            received=received,
        )


def make_job(load: Load) -> Load:
    """One way to write it."""
    context = contextvars.copy_context()  # here, in the request

    async def job() -> str:
        return await asyncio.create_task(load(), context=context)  # type: ignore[arg-type]

    return job


def make_job_stub(load: Load) -> None:
    """As it stands in the notebook."""
    return None


def make_job_bare(load: Load) -> Load:
    """Queues the function, and nothing with it."""
    return load


def make_job_late(load: Load) -> Load:
    """Copies the context in the worker."""

    async def job() -> str:
        context = contextvars.copy_context()
        return await asyncio.create_task(load(), context=context)  # type: ignore[arg-type]

    return job


def make_job_sets(load: Load) -> Load:
    """Moves the worker into the request's session, and leaves it there."""
    session = current.get()

    async def job() -> str:
        current.set(session)
        return await load()

    return job


def make_job_runs(load: Load) -> Load:
    """Calls the async function in the context, and awaits it outside."""
    context = contextvars.copy_context()
    return lambda: context.run(load)


async def make_job_at_once(load: Load) -> str:
    """Loads in the request."""
    return await load()


def make_job_not_awaited(load: Load) -> Callable[[], Any]:
    """Starts the task in the right context, and does not wait for what it finds."""
    context = contextvars.copy_context()

    async def job() -> str:
        task = asyncio.create_task(load(), context=context)  # type: ignore[arg-type,var-annotated]
        await asyncio.wait([task])
        return "done"

    return job


# ---- 6.2-c, attack: a copy of the list, and of nothing in it ---------------------------------


async def check_change_stored(change_stored: Answer) -> None:
    """Hand out a copy of the list, and see what has become of the stored messages."""
    stored = [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi."}]
    handed_out = list(stored)
    received = await change_stored.call(handed_out)
    expect(
        isinstance(received, list),
        "give back the list of messages that is to be sent.",
        received=received,
    )
    texts = [message.get("content", "") for message in stored]
    expect(
        texts != ["Hello!", "Hi."] or handed_out == stored,
        "the list that you were given has changed, and the stored one has not: of the *list* there "
        "is a copy. Is there one of each message?",
        received=received,
    )
    expect(
        texts != ["Hello!", "Hi."],
        "you made something new. Nothing that is stored has changed.",
        received=received,
    )
    expect(
        "Which title?" in texts,
        'what is stored has changed. Now let one message say "Which title?".',
        received=stored,
    )


def change_stored(messages: list[Json]) -> list[Json]:
    """One way to do it: the list is a copy, the messages in it are not."""
    messages[-1]["content"] = "Which title?"
    return messages


def change_stored_stub(messages: list[Json]) -> None:
    """As it stands in the notebook."""
    return None


def change_stored_append(messages: list[Json]) -> list[Json]:
    """Does what the task of the lesson did."""
    messages.append({"role": "user", "content": "Which title?"})
    return messages


def change_stored_item(messages: list[Json]) -> list[Json]:
    """Puts another message into the copy's place."""
    messages[0] = {"role": "user", "content": "Which title?"}
    return messages


def change_stored_new(messages: list[Json]) -> list[Json]:
    """Makes new messages."""
    return [message | {"content": "Which title?"} for message in messages]


def change_stored_clear(messages: list[Json]) -> list[Json]:
    """Empties a message."""
    messages[0].clear()
    return messages


def change_stored_text(messages: list[Json]) -> str:
    """Gives back a text."""
    return messages[0]["content"]


MIXED_ORDERS_HINTS = (
    """\
Write the six orders down: A A B B, A B A B, A B B A, and the same with the letters swapped. Play
each with your finger: A gets, A sends; B gets, B adds.""",
    """\
What A holds is the stored list itself. So only one question counts: is B's *second* turn before or
after A's second turn?""",
    "Three of the six. In all three, A has the last turn.",
)

MAKE_JOB_HINTS = (
    """\
`make_job` runs in the request, `job` runs in the worker. What has to be kept from the first moment
for the second?""",
    "`contextvars.copy_context()` is a copy of all context variables as they are now.",
    """\
A task can be started in a context that you give it:
`asyncio.create_task(coroutine, context=context)`. Await it, and give back what it gives.""",
)

CHANGE_STORED_HINTS = (
    "`list(stored)` makes a new list with the same messages in it. Which of the two can you reach?",
    "`messages[0]` is a dict, and it is the stored one. Change something *in* it.",
)

EXERCISES = (
    Exercise(
        id="6.2-a",
        title="With a reference it does not matter who came first, only who adds before the other "
        "one reads.",
        name="mixed_orders",
        check=check_mixed_orders,
        hints=MIXED_ORDERS_HINTS,
        solution=MIXED_ORDERS,
        stub=None,
        wrong=(
            Wrong(["B B A A"], "there are more"),
            Wrong([*MIXED_ORDERS, "A B A B"], "nothing crosses over"),
            Wrong(["B B A"], "two turns of each task"),
            Wrong("B B A A", "a list of orders"),
        ),
    ),
    Exercise(
        id="6.2-b",
        title="The context travels with the job, and the worker stays what it was.",
        name="make_job",
        check=check_make_job,
        hints=MAKE_JOB_HINTS,
        solution=make_job,
        stub=make_job_stub,
        wrong=(
            Wrong(make_job_bare, "At what moment is the context copied"),
            Wrong(make_job_late, "At what moment is the context copied"),
            Wrong(make_job_sets, "goes astray"),
            Wrong(make_job_runs, "only makes a coroutine"),
            Wrong(make_job_at_once, "a function that it can call later"),
            Wrong(make_job_not_awaited, "what `load` gives back"),
        ),
    ),
    Exercise(
        id="6.2-c",
        title="A copy of the list protects the list. What is in it needs messages that cannot be "
        "changed.",
        name="change_stored",
        check=check_change_stored,
        hints=CHANGE_STORED_HINTS,
        solution=change_stored,
        stub=change_stored_stub,
        may_change_arguments=True,
        wrong=(
            Wrong(change_stored_append, "Is there one of each message"),
            Wrong(change_stored_item, "Is there one of each message"),
            Wrong(change_stored_new, "you made something new"),
            Wrong(change_stored_clear, "Now let one message say"),
            Wrong(change_stored_text, "the list of messages that is to be sent"),
        ),
    ),
)
