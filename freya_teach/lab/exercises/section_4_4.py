"""Section 4.4: what a retry can cure, a text that corrects, a line that hides. (chapter 4.4)"""

from __future__ import annotations

import re
from typing import Any

import httpx

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ToolError
from freya_teach.kernel import build_kernel
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotDone, Wrong, expect
from freya_teach.lab.gateway import Move, Question, answer, call, gateway
from freya_teach.tools.observation import failed
from freya_teach.tools.truncation import shorten
from freya_teach.trace import RunResult

# ---- 4.4-a, predict: which of these may go well the next time? -------------------------------


def _problems() -> dict[str, Exception]:
    """Five failures of a tool, by the names that they have in the notebook."""
    request = httpx.Request("GET", "https://example.org/rooms")
    gone = httpx.HTTPStatusError("404", request=request, response=httpx.Response(404))
    gone.response.request = request
    return {
        "key": KeyError("city"),
        "timeout": TimeoutError(),
        "reset": ConnectionResetError(),
        "gone": gone,
        "value": ValueError("a room has at least one guest"),
    }


WHY = {
    "key": "the same arguments lack the same key tomorrow.",
    "timeout": "the other side was slow; a moment later it may not be.",
    "reset": "the connection broke; a new one may hold.",
    "gone": "the server answered, and said that there is no such thing. It will say so again.",
    "value": "the value is wrong, and it stays wrong.",
}


async def check_once_more(given: Answer) -> None:
    """Each prediction is what the kernel tells the model."""
    predicted = given.value
    expect(isinstance(predicted, dict), "Keep it a dictionary.", received=predicted)
    problems = _problems()
    if any(predicted.get(name) in (None, ...) for name in problems):
        raise NotDone("not done yet: some of the predictions are missing.")
    for name, problem in problems.items():
        transient = "Try it once more" in failed("find_room", problem)
        expect(
            predicted[name] is transient,
            f"look at {name!r} again: {WHY[name]}",
            received=predicted[name],
        )


ONCE_MORE = {"key": False, "timeout": True, "reset": True, "gone": False, "value": False}

# ---- 4.4-b, repair: the text from which a strict model can correct itself --------------------

ROOMS = {"red": 4, "green": 8, "blue": 20}
ASKED = (("yellow", 3), ("yellow", 6), ("red", 6), ("green", 12), ("blue", 30), ("grey", 30))


def strict(room: str, guests: int) -> Any:
    """A model that changes its call only by what it was told, and has two calls in all."""

    def policy(question: Question) -> Move:
        if not question.results:
            return call("book_room", room=room, guests=guests)
        told = question.results[-1].text
        words = re.findall(r"\w+", told.lower())
        named = [word for word in words if word in ROOMS and word != room]
        if len(question.calls) > 1 or not named:
            return answer(told)
        return call("book_room", room=named[0], guests=guests)

    return policy


async def book(why_not: Answer, room: str, guests: int) -> RunResult:
    """Let the strict model book; the learner's text is what it reads when that fails."""

    async def book_room(room: str, guests: int) -> str:
        """Book a room."""
        if ROOMS.get(room, 0) >= guests:
            return f"Booked: {room} for {guests}."
        told = await why_not.call(room, guests)
        expect(isinstance(told, str), "return a text: the model reads nothing else.", received=told)
        raise ToolError(told)

    settings = Settings.model_validate({"api_key": "no-key-needed"})
    kernel = build_kernel(settings, gateway(strict(room, guests)).client(), Ambient())
    return await kernel.agent([book_room]).run(f"Book the {room} room for {guests}.")


async def check_why_not(why_not: Answer) -> None:
    """The second call succeeds where it can; where it cannot, the model is told the limit."""
    for room, guests in ASKED:
        calls = (await book(why_not, room, guests)).trace.calls
        told, case = calls[0].observation, f"{room}, {guests} guests"
        if guests <= max(ROOMS.values()):
            _check_corrected(case, told, [trace.observation for trace in calls])
        else:
            expect(
                len(calls) == 1,
                f"{case}: no room is large enough, and yet your text sends the model to another.",
                received=told,
            )
            expect(
                "20" in re.findall(r"\d+", told),
                f"{case}: no room is large enough. The user will ask how many guests can be had.",
                received=told,
            )


def _check_corrected(case: str, told: str, observations: list[str]) -> None:
    expect(
        len(observations) > 1,
        f"{case}: the model has read your text and gave up. It changes a call only to what it is "
        "told, and no other room is named.",
        received=told,
    )
    expect(
        observations[-1].startswith("Booked"),
        f"{case}: it took the first room that you name, and that one is too small. Name what will "
        "work, not all that there is.",
        received=told,
    )


def why_not(room: str, guests: int) -> str:
    """One way to write it: what was wrong, and the one value that works."""
    large = [name for name, seats in ROOMS.items() if seats >= guests]
    fault = f"{room} has {ROOMS[room]} seats" if room in ROOMS else f"there is no room {room!r}"
    if not large:
        return f"Not booked: no room has {guests} seats, 20 are the most. Tell the user."
    return f"Not booked: {fault}, and {guests} are needed. Call again with room={large[0]!r}."


def why_not_stub(room: str, guests: int) -> None:
    """As it stands in the notebook."""
    return None


def why_not_curt(_room: str, _guests: int) -> str:
    """True, and useless."""
    return "error: bad parameter"


def why_not_trace(room: str, _guests: int) -> str:
    """The last line of a stack trace."""
    return f"rooms.py, line 41, in book_room: KeyError: {room!r}"


def why_not_list(room: str, guests: int) -> str:
    """Names everything, the smallest first."""
    return f"{room} cannot be had for {guests} guests. Rooms: {', '.join(ROOMS)}."


def why_not_largest(room: str, guests: int) -> str:
    """Always sends to the largest room, also where it is too small."""
    return f"{room} cannot be had for {guests} guests. Call again with room='blue', or 'green'."


def why_not_without_limit(room: str, guests: int) -> str:
    """Does not say how far it goes."""
    large = [name for name, seats in ROOMS.items() if seats >= guests]
    return f"Call again with room={large[0]!r}." if large else "No room is large enough."


# ---- 4.4-c, attack: a line that neither end shows --------------------------------------------

LINE = "FATAL: the disk is full"
LIMITS = (200, 2_000, 20_000)
MAX_TIMES = 50


async def check_hide(hide: Answer) -> None:
    """For each limit: the line is there, and nobody who cuts shows it."""
    for limit in LIMITS:
        text = await hide.call(limit)
        expect(isinstance(text, str), "return a text, as a tool would.", received=text)
        expect(
            LINE in text.splitlines(),
            f"the line {LINE!r} has to be there, alone on its line: hidden is not deleted.",
            received=text[-60:],
        )
        expect(
            len(text) <= MAX_TIMES * limit,
            f"{MAX_TIMES} times the limit is plenty; make it shorter.",
            received=len(text),
        )
        _check_unseen(text, limit)


def _check_unseen(text: str, limit: int) -> None:
    expect(
        len(text) > limit,
        f"a text of {len(text):,} characters fits into {limit:,}, so nothing is cut.",
    )
    expect(
        LINE not in text[:limit],
        f"with a limit of {limit:,} characters, the naive cut shows it: it is in the head.",
    )
    shown = shorten(text, limit)
    expect(
        LINE not in shown,
        f"with a limit of {limit:,} characters, the kernel shows it: it is in the tail.",
        received=shown[-60:],
    )


def hide(limit: int) -> str:
    """One way to do it: as much before it as after it."""
    padding = "ok\n" * limit
    return f"{padding}{LINE}\n{padding}"


def hide_stub(limit: int) -> None:
    """As it stands in the notebook."""
    return None


def hide_at_end(limit: int) -> str:
    """Where logs have it: out of the head's reach, and in the tail."""
    return "ok\n" * limit + LINE


def hide_at_start(limit: int) -> str:
    """In everybody's sight."""
    return f"{LINE}\n" + "ok\n" * limit


def hide_in_little(_limit: int) -> str:
    """In the middle of a text that is short enough."""
    return f"ok\n{LINE}\nok"


def hide_by_leaving_out(limit: int) -> str:
    """Hidden for good."""
    return "ok\n" * limit


def hide_for_one_limit(_limit: int) -> str:
    """Made for the largest limit, whatever is asked for."""
    return "ok\n" * 20_000 + f"{LINE}\n" + "ok\n" * 20_000


ONCE_MORE_HINTS = (
    "Ask of each: if nobody changes anything, is there a reason why it should end differently?",
    "Two are about the way to the other side. In the other three, the other side has answered.",
)
WHY_NOT_HINTS = (
    "Put yourself in the model's place: with your text alone, which call would you make next?",
    "Work out which rooms have enough seats for `guests`, and name the first of those, no other.",
    "When there is none, name no room but the one that was asked for, and the number 20.",
)
HIDE_HINTS = (
    "A head-only cut shows the beginning, the kernel the beginning and the end. What is left?",
    "Put more than `limit` characters of other lines before the line, and as many after it.",
)

EXERCISES = (
    Exercise(
        id="4.4-a",
        title="A retry helps against the weather on the way, not against a wrong value.",
        name="once_more",
        check=check_once_more,
        hints=ONCE_MORE_HINTS,
        solution=ONCE_MORE,
        stub=dict.fromkeys(ONCE_MORE),
        wrong=(
            Wrong(dict.fromkeys(ONCE_MORE, True), "look at 'key' again"),
            Wrong(dict.fromkeys(ONCE_MORE, False), "look at 'timeout' again"),
            Wrong({**ONCE_MORE, "gone": True}, "look at 'gone' again"),
        ),
    ),
    Exercise(
        id="4.4-b",
        title="One sentence with the value that works saves a turn; a list of all does not.",
        name="why_not",
        check=check_why_not,
        hints=WHY_NOT_HINTS,
        solution=why_not,
        stub=why_not_stub,
        wrong=(
            Wrong(why_not_curt, "gave up"),
            Wrong(why_not_trace, "gave up"),
            Wrong(why_not_list, "too small"),
            Wrong(why_not_largest, "no room is large enough, and yet"),
            Wrong(why_not_without_limit, "how many guests"),
        ),
    ),
    Exercise(
        id="4.4-c",
        title="Neither end shows the middle: that is what the saved file and a search are for.",
        name="hide",
        check=check_hide,
        hints=HIDE_HINTS,
        solution=hide,
        stub=hide_stub,
        wrong=(
            Wrong(hide_at_end, "it is in the tail"),
            Wrong(hide_at_start, "it is in the head"),
            Wrong(hide_in_little, "nothing is cut"),
            Wrong(hide_by_leaving_out, "hidden is not deleted"),
            Wrong(hide_for_one_limit, "make it shorter"),
        ),
    ),
)
