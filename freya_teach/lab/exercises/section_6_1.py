"""Section 6.1: foresee a restart, find open calls, resume whatever has happened. (chapter 6.1)"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freya_teach.errors import NoSuchSession, SessionDamaged, SessionError
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.lab.lesson import frozen_ambient
from freya_teach.llm import transcript
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    assistant,
    user,
)
from freya_teach.session.manager import SessionManager
from freya_teach.session.session import Session


def calling(*ids: str) -> AssistantMessage:
    """An answer with these calls."""
    return AssistantMessage(tuple(ToolCall(id_, "look", "{}") for id_ in ids))


# ---- 6.1-a, predict: what a restart finds ----------------------------------------------------

FOUND_AFTER_KILL = [1, 2, 4, 5]
WHY = (
    """\
the model is asked for the first time, and the question is on the disk already: it was stored
before it was sent.""",
    """\
the results of one answer are stored as one write, when the last of them is there. So what `fast`
has returned is not on the disk yet; the call itself is.""",
    """\
both results are stored before they are sent. Count: question, answer with the calls, two
results.""",
    "the run is over, and its answer in words is stored like all the rest.",
)


async def check_found_after_kill(found_after_kill: Answer) -> None:
    """Four numbers, the first wrong one is explained."""
    given = found_after_kill.value
    expect(
        isinstance(given, list) and len(given) == len(WHY),
        "give a list of four numbers, one for each moment.",
        received=given,
    )
    for moment, (number, right, why) in enumerate(
        zip(given, FOUND_AFTER_KILL, WHY, strict=True), start=1
    ):
        expect(number == right, f"Moment {moment}: {why}", received=number)


# ---- 6.1-b, repair: the calls that have no result --------------------------------------------


async def check_open_ids(open_ids: Answer) -> None:
    """Histories that end in every way a history can end."""
    asked = user("Look!")
    cases: tuple[tuple[list[Message], list[str], str], ...] = (
        ([], [], "a new session has no messages at all."),
        ([asked], [], "the user has asked, and nobody has called anything."),
        ([asked, assistant("I see.")], [], "an answer in words leaves nothing open."),
        ([asked, calling("a", "b")], ["a", "b"], "both calls are open, in the order of the calls."),
        (
            [asked, calling("a", "b", "c"), ToolMessage("b", "1")],
            ["a", "c"],
            "one of three results was stored before the program died. Which calls lack theirs?",
        ),
        (
            [asked, calling("a", "b"), ToolMessage("b", "1"), ToolMessage("a", "2")],
            [],
            "both results are there, in another order than the calls.",
        ),
        (
            [asked, calling("a"), ToolMessage("a", "1"), calling("b")],
            ["b"],
            "the first call has its result, the second one has not.",
        ),
        (
            [asked, calling("a"), ToolMessage("a", "1"), calling("b", "c"), ToolMessage("c", "2")],
            ["b"],
            "two answers with calls; in the second one, one of two results is missing.",
        ),
    )
    for messages, right, what in cases:
        received, raised = await open_ids.attempt(messages)
        shown = [_in_short(message) for message in messages]
        if raised:
            raise NotYet(f"{what}\nThe history: {shown}\n{raised}")
        expect(received == right, f"{what}\nThe history: {shown}", received=received)


def _in_short(message: Message) -> str:
    if isinstance(message, ToolMessage):
        return f"result of {message.call_id}"
    if isinstance(message, AssistantMessage) and message.tool_calls:
        return f"calls {', '.join(call.id for call in message.tool_calls)}"
    return message.role


def open_ids(messages: Sequence[Any]) -> list[str]:
    """One way to write it."""
    made = [call.id for message in messages for call in getattr(message, "tool_calls", ())]
    answered = {message.call_id for message in messages if message.role == "tool"}
    return [each for each in made if each not in answered]


def open_ids_stub(messages: Sequence[Any]) -> None:
    """As it stands in the notebook."""
    return None


def open_ids_last(messages: Sequence[Any]) -> list[str]:
    """Looks at the last message, if there is one."""
    return [call.id for call in getattr(messages[-1], "tool_calls", ())] if messages else []


def open_ids_as_it_was(messages: Sequence[Any]) -> list[str]:
    """The one that is to be repaired."""
    return [call.id for call in getattr(messages[-1], "tool_calls", ())]


def open_ids_counted(messages: Sequence[Any]) -> list[str]:
    """Counts the results, and does not look whose they are."""
    made = [call.id for message in messages for call in getattr(message, "tool_calls", ())]
    return made[sum(message.role == "tool" for message in messages) :]


def open_ids_all(messages: Sequence[Any]) -> list[str]:
    """The calls of the last answer that has some, as soon as one result is missing."""
    for message in reversed(messages):
        if calls := getattr(message, "tool_calls", ()):
            results = sum(each.role == "tool" for each in messages)
            return [call.id for call in calls] if results < len(calls) else []
    return []


def open_ids_objects(messages: Sequence[Any]) -> list[Any]:
    """Gives back the calls, and not their ids."""
    return list(transcript.open_calls(messages))


# ---- 6.1-c, extend: resume, whatever has happened --------------------------------------------


async def check_resume(resume: Answer) -> None:
    """A whole session, one that was cut off, none, one in use, and a damaged one."""
    with tempfile.TemporaryDirectory(prefix="freya-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with SessionManager(folder, frozen_ambient()) as sessions:
            whole = await sessions.create("whole")
            await whole.append(user("Hello!"), assistant("Hi."))
            broken = await sessions.create("damaged")
            await broken.append(user("Hello!"))
        journal = folder / "sessions" / broken.id / "journal.jsonl"
        journal.write_bytes(journal.read_bytes().replace(b"Hello", b"Jello"))
        async with SessionManager(folder, frozen_ambient()) as sessions:
            await _check_whole(resume, sessions, whole.id)
            await _check_cut_off(resume, sessions)
            await _check_missing(resume, sessions)
            await _check_in_use(resume, sessions)
            await _check_damaged(resume, sessions, broken.id)


async def _resumed(resume: Answer, sessions: SessionManager, session_id: str) -> Session:
    received = await resume.call(sessions, session_id)
    expect(
        isinstance(received, Session),
        "give back the session itself. `sessions.open(…)` has to be awaited.",
        received=received,
    )
    return received  # type: ignore[no-any-return]


async def _check_whole(resume: Answer, sessions: SessionManager, session_id: str) -> None:
    session = await _resumed(resume, sessions, session_id)
    expect(
        session.id == session_id and len(session.messages) == 2,
        "there is a session with this id, with two messages and nothing open. It comes back as it "
        "is.",
        received=session.title,
    )


async def _check_cut_off(resume: Answer, sessions: SessionManager) -> None:
    cut = await sessions.create("cut off")
    await cut.append(user("Look!"), calling("a", "b"))
    session = await _resumed(resume, sessions, cut.id)
    left = transcript.open_calls(session.messages)
    expect(
        not left,
        "the last run of this session was cut off, and a call is still without a result. The next "
        "packet will be refused.",
        received=[call.id for call in left],
    )
    expect(session.id == cut.id, "the session was cut off, and yet it is the one to go on with.")


async def _check_missing(resume: Answer, sessions: SessionManager) -> None:
    received, raised = await resume.attempt(sessions, "session_long_gone")
    if raised and isinstance(raised.problem, NoSuchSession):
        raise NotYet("there is no session with this id, and the page has nothing to show. Make one")
    if raised:
        raise raised
    expect(
        isinstance(received, Session) and not received.messages,
        "there is no session with this id: give back a new, empty one.",
        received=received,
    )


async def _check_in_use(resume: Answer, sessions: SessionManager) -> None:
    used = await sessions.create("in use")
    await used.append(user("Look!"), calling("a"))
    with used.claim():
        received, raised = await resume.attempt(sessions, used.id)
    expect(
        raised is None and received is used and len(used.messages) == 2,
        "a run is using this session, and its tool is at work: the call is open, and its result "
        "will come. Let it be. (`was_cut_off` knows the difference.)",
        received=raised.problem if raised else received,
    )


async def _check_damaged(resume: Answer, sessions: SessionManager, session_id: str) -> None:
    received, raised = await resume.attempt(sessions, session_id)
    expect(
        raised and isinstance(raised.problem, SessionDamaged),
        "this session is damaged, and nobody was told: the page shows something else, and the user "
        "believes that all is lost. Which exception do you catch?",
        received=raised.problem if raised else received.title,
    )


async def resume(sessions: SessionManager, session_id: str) -> Session:
    """One way to write it."""
    try:
        session = await sessions.open(session_id)
    except NoSuchSession:
        return await sessions.create()
    if session.was_cut_off:
        await session.close_open_calls()
    return session


async def resume_stub(sessions: SessionManager, session_id: str) -> None:
    """As it stands in the notebook."""
    return None


async def resume_open(sessions: SessionManager, session_id: str) -> Session:
    """Opens, and does not look at the end of the history."""
    return await sessions.open(session_id)


async def resume_or_fail(sessions: SessionManager, session_id: str) -> Session:
    """Has no answer when the session is gone."""
    session = await sessions.open(session_id)
    if session.was_cut_off:
        await session.close_open_calls()
    return session


async def resume_always_closes(sessions: SessionManager, session_id: str) -> Session:
    """Closes what a running tool has open."""
    try:
        session = await sessions.open(session_id)
    except NoSuchSession:
        return await sessions.create()
    await session.close_open_calls()
    return session


async def resume_catches_all(sessions: SessionManager, session_id: str) -> Session:
    """A new session in the place of whatever cannot be opened."""
    try:
        session = await sessions.open(session_id)
    except SessionError:
        return await sessions.create()
    if session.was_cut_off:
        await session.close_open_calls()
    return session


def resume_not_awaited(sessions: SessionManager, session_id: str) -> str:
    """Gives back an id."""
    return session_id


FOUND_AFTER_KILL_HINTS = (
    "Section 2 of the lesson shows the same run with one call. Which line there is your moment 1?",
    """\
The model gets all results of one answer together, in the order of the calls. They are also *stored*
together: when is the last of them there?""",
    "The numbers rise from moment to moment; between the second and the third by two.",
)

OPEN_IDS_HINTS = (
    """\
The first fault: `messages[-1]` of a new session. The second: what is the last message when one of
two results has been stored?""",
    "Collect the ids of all calls, in order. Collect the `call_id` of all tool messages, as a set.",
    "What is in the first collection and not in the second is open.",
)

RESUME_HINTS = (
    """\
`try: session = await sessions.open(session_id)`. Which one exception means that there is none?""",
    "`session.was_cut_off` is False while a run holds the session.",
    "`await session.close_open_calls()` stores a result for each open call.",
)

EXERCISES = (
    Exercise(
        id="6.1-a",
        title="Each step is stored before the next one begins, and the results of one answer are "
        "one step.",
        name="found_after_kill",
        check=check_found_after_kill,
        hints=FOUND_AFTER_KILL_HINTS,
        solution=FOUND_AFTER_KILL,
        stub=None,
        wrong=(
            Wrong([0, 0, 0, 5], "is on the disk already"),
            Wrong([1, 3, 4, 5], "stored as one write"),
            Wrong([1, 2, 2, 5], "Count: question"),
            Wrong([1, 2, 4, 4], "its answer in words"),
            Wrong(5, "a list of four numbers"),
        ),
    ),
    Exercise(
        id="6.1-b",
        title="Open is a call whose own result is missing, wherever the history ends.",
        name="open_ids",
        check=check_open_ids,
        hints=OPEN_IDS_HINTS,
        solution=open_ids,
        stub=open_ids_stub,
        wrong=(
            Wrong(open_ids_as_it_was, "no messages at all"),
            Wrong(open_ids_last, "Which calls lack theirs"),
            Wrong(open_ids_counted, "Which calls lack theirs"),
            Wrong(open_ids_all, "Which calls lack theirs"),
            Wrong(open_ids_objects, "both calls are open"),
        ),
    ),
    Exercise(
        id="6.1-c",
        title="A session comes back whole, new, in use, or with an error that says what is wrong.",
        name="resume",
        check=check_resume,
        hints=RESUME_HINTS,
        solution=resume,
        stub=resume_stub,
        wrong=(
            Wrong(resume_open, "still without a result"),
            Wrong(resume_or_fail, "the page has nothing to show"),
            Wrong(resume_always_closes, "Let it be"),
            Wrong(resume_catches_all, "Which exception do you catch"),
            Wrong(resume_not_awaited, "has to be awaited"),
        ),
    ),
)
