"""Section 3.3: what a cache keeps, a read that hides nothing, an escape. (chapter 3.3)"""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from freya_teach.ambient import Ambient
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.paths import course_folder
from freya_teach.prompt.clock import Granularity
from freya_teach.prompt.composer import Composer, SystemPrompt, common_prefix
from freya_teach.prompt.registry import PromptRegistry

Read = Callable[[str], str]

# ---- 3.3-a, predict: how much stays the same ------------------------------------------------

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
UNITS, NAMES = "Temperatures are in degrees Celsius.", "Write names as the user does."
CHANGES = ("memory", "minute", "minute by day", "skill", "soul", "tools")


def composed(
    minutes: int = 0,
    granularity: Granularity = "minute",
    instructions: tuple[str, ...] = (UNITS,),
    skill: str = "weather_report",
) -> SystemPrompt:
    """The packaged prompt, some minutes after noon."""
    ambient = Ambient(now=(NOON + timedelta(minutes=minutes)).astimezone)
    composer = Composer(PromptRegistry(course_folder("prompts")), ambient, granularity)
    return composer.compose(tool_instructions=instructions, offer_skills=True, active_skill=skill)


def rewritten(name: str) -> SystemPrompt:
    """The prompt after one of its files has got a new text."""
    parts = composed().parts
    return SystemPrompt(
        tuple(replace(part, text="New.") if part.name == name else part for part in parts)
    )


def share_kept(change: str) -> float:
    """How much of the prompt is as it was before the change, from its start."""
    before, after = composed(), rewritten(change)
    match change:
        case "minute":
            after = composed(minutes=1)
        case "minute by day":
            before, after = composed(granularity="day"), composed(1, "day")
        case "tools":
            after = composed(instructions=(NAMES, UNITS))
        case "skill":
            after = composed(skill="step_by_step")
    return common_prefix(before.text, after.text) / len(after.text)


async def check_order(order: Answer) -> None:
    """Every neighbour in the list must keep less than the one before it."""
    given = order.value
    expect(
        isinstance(given, (list, tuple)) and sorted(map(str, given)) == list(CHANGES),
        f"write a list with each of these once: {', '.join(CHANGES)}.",
        received=given,
    )
    for earlier, later in itertools.pairwise(given):
        expect(
            share_kept(earlier) > share_kept(later),
            f"{later!r} leaves more of the prompt as it was than {earlier!r}. Where in the prompt "
            "does each of the two have its first difference?",
        )


ORDER = ["minute by day", "skill", "tools", "minute", "memory", "soul"]
ORDER_FROM_THE_START = ORDER[::-1]
ORDER_WITH_TIME_LAST = ["minute by day", "minute", "skill", "tools", "memory", "soul"]
ORDER_WITHOUT_DAY = ["skill", "tools", "minute by day", "minute", "memory", "soul"]
ORDER_TOO_SHORT = ["skill", "tools", "minute", "memory", "soul"]

# ---- 3.3-b, repair: a dual read that hides nothing ------------------------------------------

MINE, PACKAGED = "mine/core.prompt.soul.md", "packaged/core.prompt.soul.md"
NOT_UTF8 = UnicodeDecodeError("utf-8", b"\xe9", 0, 1, "invalid start byte")


def disk(mine: str | Exception, packaged: str | Exception) -> Read:
    """Two files, each with a text or an error that reading it raises."""
    files = {MINE: mine, PACKAGED: packaged}

    def read(path: str) -> str:
        found = files.get(path, FileNotFoundError(path))
        if isinstance(found, Exception):
            raise found
        return found

    return read


async def check_dual_read(dual_read: Answer) -> None:
    """Yours first, the packaged one only where yours is not there, and never nothing."""
    missing = FileNotFoundError("not there")
    got = await dual_read.call(disk("Mine.", "Packaged."), MINE, PACKAGED)
    expect(got == "Mine.", "both files are there: the user's own comes first.", received=got)
    got = await dual_read.call(disk(missing, "Packaged."), MINE, PACKAGED)
    expect(got == "Packaged.", "there is no file of the user's: read the other.", received=got)
    got = await dual_read.call(disk("", "Packaged."), MINE, PACKAGED)
    expect(
        got == "",
        "the user's file is there and empty. It counts: they have switched this part off.",
        received=got,
    )
    await _check_that_errors_are_seen(dual_read)
    _, raised = await dual_read.attempt(disk(missing, missing), MINE, PACKAGED)
    expect(raised, "neither file is there, and nobody gets to know: raise an error.")
    text = str(raised.problem) if raised else ""
    expect(
        MINE in text and PACKAGED in text,
        "neither file is there. Name both paths in the error: whoever reads it has to know where "
        "a file was looked for.",
        received=text,
    )


async def _check_that_errors_are_seen(dual_read: Answer) -> None:
    errors = {
        "may not be read (no permission)": PermissionError(MINE),
        "is not UTF-8": NOT_UTF8,
        "is a folder": IsADirectoryError(MINE),
    }
    for what, error in errors.items():
        got, raised = await dual_read.attempt(disk(error, "Packaged."), MINE, PACKAGED)
        expect(
            raised,
            f"the user's file is there and {what}. Your function went on without it, so their "
            "prompt does nothing and nobody gets to know.",
            received=got,
        )


def dual_read(read: Read, mine: str, packaged: str) -> str:
    """One way to write it: one error, and only this one, leads on."""
    for path in (mine, packaged):
        try:
            return read(path)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(f"there is neither {mine} nor {packaged}")


def dual_read_stub(read: Read, mine: str, packaged: str) -> None:
    """As it stands in the notebook."""
    return None


def dual_read_any_error(read: Read, mine: str, packaged: str) -> str:
    """Takes every error for "not there"."""
    for path in (mine, packaged):
        try:
            return read(path)
        except Exception:  # noqa: BLE001, S112 - the mistake itself
            continue
    raise FileNotFoundError(f"there is neither {mine} nor {packaged}")


def dual_read_any_os_error(read: Read, mine: str, packaged: str) -> str:
    """Catches the family of the error; "no permission" is of the family."""
    try:
        return read(mine)
    except OSError:
        return read(packaged)


def dual_read_with_or(read: Read, mine: str, packaged: str) -> str:
    """Takes an empty file for one that is not there."""
    try:
        return read(mine) or read(packaged)
    except FileNotFoundError:
        return read(packaged)


def dual_read_silent(read: Read, mine: str, packaged: str) -> str:
    """Ends with nothing, silently."""
    for path in (mine, packaged):
        try:
            return read(path)
        except FileNotFoundError:
            continue
    return ""


def dual_read_one_path(read: Read, mine: str, packaged: str) -> str:
    """Lets the second error out as it is; it knows only one of the paths."""
    try:
        return read(mine)
    except FileNotFoundError:
        return read(packaged)


# ---- 3.3-c, attack: a key that leads out of the folder --------------------------------------

FOLDER, TARGET = "/home/somebody/prompts", "/home/somebody/secret.md"


def careless_path(key: str) -> str:
    """The file of a key, with what looks dangerous taken out; as in the notebook."""
    return f"{FOLDER}/{key.replace('../', '')}.md"


async def check_escape(escape: Answer) -> None:
    """Follow the path as an operating system does."""
    key = escape.value
    expect(isinstance(key, str), "a key is a text.", received=key)
    made = careless_path(key)
    leads_to = posixpath.normpath(made)
    expect(
        not leads_to.startswith(f"{FOLDER}/"),
        "this stays inside the folder. Look at what the filter leaves over of your key.",
        received=made,
    )
    expect(leads_to == TARGET, f"out of the folder it is, and not at {TARGET}.", received=leads_to)


ORDER_HINTS = (
    """\
Only the start counts: everything after the first difference is new. So the question is not how much
changes, but where.""",
    """\
The order is: identity, soul, user, memory, tools, agents, time, tool instructions, the list of
skills, the skill that is on.""",
    "A minute later, a time told by the day reads the same. Nothing differs, so all is kept.",
)

READ_HINTS = (
    "Which error says that the file is not there? Only this one may lead to the second file.",
    "`except FileNotFoundError:` catches this one. `OSError` catches PermissionError, too.",
    """\
Where both are missing, raise a FileNotFoundError of your own with a text that holds `mine` and
`packaged`.""",
)

ESCAPE_HINTS = (
    "`replace` goes over the text once. What it leaves behind is not looked at again.",
    "Write something in whose middle stands `../`, so that `../` is left when that is taken out.",
    "`....//` becomes `../`.",
)

EXERCISES = (
    Exercise(
        id="3.3-a",
        title="What changes often belongs at the end: all that stands before it can be kept.",
        name="most_kept_first",
        check=check_order,
        hints=ORDER_HINTS,
        solution=ORDER,
        stub=None,
        wrong=(
            Wrong(ORDER_FROM_THE_START, "'memory' leaves more"),
            Wrong(
                ORDER_WITH_TIME_LAST, "'skill' leaves more of the prompt as it was than 'minute'"
            ),
            Wrong(ORDER_WITHOUT_DAY, "'minute by day' leaves more"),
            Wrong(ORDER_TOO_SHORT, "each of these once"),
        ),
    ),
    Exercise(
        id="3.3-b",
        title="Only a file that is not there gives way to another one.",
        name="dual_read",
        check=check_dual_read,
        hints=READ_HINTS,
        solution=dual_read,
        stub=dual_read_stub,
        wrong=(
            Wrong(dual_read_any_error, "may not be read"),
            Wrong(dual_read_any_os_error, "may not be read"),
            Wrong(dual_read_with_or, "there and empty"),
            Wrong(dual_read_silent, "nobody gets to know: raise"),
            Wrong(dual_read_one_path, "Name both paths"),
        ),
    ),
    Exercise(
        id="3.3-c",
        title="Taking out what is forbidden leaves a rest; saying what is allowed does not.",
        name="escape",
        check=check_escape,
        hints=ESCAPE_HINTS,
        solution="....//secret",
        stub=None,
        wrong=(
            Wrong("../secret", "stays inside the folder"),
            Wrong("....//....//secret", "out of the folder it is"),
            Wrong("....//secret.md", "out of the folder it is"),
            Wrong(42, "a key is a text"),
        ),
    ),
)
