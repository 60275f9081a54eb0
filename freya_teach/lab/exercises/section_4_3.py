"""Section 4.3: get around a path check, know the session, draw the boundary. (chapter 4.3)"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from freya_teach.agent.history import InMemoryHistory
from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ConfigError, ToolError
from freya_teach.kernel import build_kernel
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.lab.gateway import Call, Move, Question, answer, call, gateway
from freya_teach.lab.policy import script
from freya_teach.lab.sample_tools import calculate
from freya_teach.tools.tool import Tool, ToolContext, tool
from freya_teach.trace import CallTrace

# ---- 4.3-a, attack: a check that resolves links, and still compares texts --------------------

PLAN = "the plan of the other project"


def check_path(root: str, path: str) -> str:
    """The check under attack: the real path has to begin with the folder's real path."""
    full = os.path.realpath(Path(root) / path)
    if not full.startswith(os.path.realpath(root)):
        raise PermissionError("outside the workspace")
    return full


async def check_way_out(way_out: Answer) -> None:
    """Let the path go through the check, and see which file it opens."""
    path = await way_out.call()
    expect(isinstance(path, str), "give back one path, as a text (str).", received=path)
    expect(
        not path.startswith("/") and ":" not in path,
        "an absolute path names one machine. Find a relative one, which works anywhere.",
        received=path,
    )
    with tempfile.TemporaryDirectory(prefix="freya-") as name:
        received = _read(_plant(Path(name)), path)
    expect(
        received != "outside",
        "the check refused it: its real path does not begin as the workspace's does.",
        received=path,
    )
    expect(
        received == PLAN,
        "the check lets it pass, and it opens no file that lies outside. Aim at plan.txt.",
        received=path,
    )


def _plant(folder: Path) -> Path:
    """The workspace, and beside it the folder of another project."""
    for name, file, text in (("work", "mine.txt", "mine"), ("work-2", "plan.txt", PLAN)):
        (folder / name).mkdir()
        (folder / name / file).write_text(text, encoding="utf-8")
    (folder / "secret.txt").write_text("secret", encoding="utf-8")
    return folder / "work"


def _read(root: Path, path: str) -> str:
    try:
        return Path(check_path(str(root), path)).read_text(encoding="utf-8")
    except PermissionError:
        return "outside"
    except (OSError, ValueError):
        return "nothing"


def way_out() -> str:
    """One way to do it: the neighbour's name begins as the workspace's does."""
    return "../work-2/plan.txt"


def way_out_stub() -> None:
    """As it stands in the notebook."""
    return None


def way_out_up() -> str:
    """Goes up, which the check sees."""
    return "../secret.txt"


def way_out_absolute() -> str:
    """Names a file of a machine."""
    return "/etc/passwd"


def way_out_inside() -> str:
    """Stays where it is."""
    return "mine.txt"


def way_out_folder() -> str:
    """Gets out, and stops at the door."""
    return "../work-2"


# ---- 4.3-b, extend: a tool that knows its session, and fails as a failure --------------------

NOTES: dict[str, dict[str, str]] = {
    "maya": {"shopping": "two lemons", "birthday": "Ben, in June"},
    "ben": {"diary": "I have told nobody."},
}
"""As in the notebook: the notes of each session."""


async def check_read_note(read_note: Answer) -> None:
    """The session decides whose notes are read, and a note that is not there is a failure."""
    made = _as_tool(read_note)
    offered = set(made.parameters["properties"])
    expect(
        offered == {"title"},
        "the model is asked for more than the title. What a model can write, it can forge. The "
        "runner knows the session: take it from a parameter that is annotated ToolContext.",
        received=sorted(offered),
    )
    found = await _called(made, "maya", "shopping")
    expect(
        "lemons" in found.observation,
        "Maya's session asked for her own note, and did not get it.",
        received=found.observation,
    )
    other = await _called(made, "maya", "diary")
    expect(
        "nobody" not in other.observation,
        "Maya's session has read Ben's diary.",
        received=other.observation,
    )
    _check_failure(other)
    ben = await _called(made, "ben", "diary")
    expect("nobody" in ben.observation, "Ben cannot read his own.", received=ben.observation)


def _check_failure(missing: CallTrace) -> None:
    expect(
        missing.state == "failed",
        "the note is not there, and the event says `completed`: whoever watches sees a success. "
        "Raise ToolError.",
        received=missing.observation,
    )
    expect(
        "shopping" in missing.observation,
        "it failed, and the model is not told what to do next. Which titles are there?",
        received=missing.observation,
    )


def _as_tool(read_note: Answer) -> Tool:
    """The learner's function as a tool; what it does goes through the check's safe call."""
    try:
        made = tool(read_note.value)
    except (ConfigError, TypeError) as problem:
        raise NotYet(f"no tool can be made of it: {problem}") from None

    async def safe(**arguments: Any) -> Any:
        value, raised = await read_note.attempt(**arguments)
        if raised is not None:
            raise raised.problem
        return value

    return replace(made, function=safe)


async def _called(made: Tool, session_id: str, title: str) -> CallTrace:
    """Call the tool once, in a session of this name."""
    settings = Settings.model_validate({"api_key": "no-key-needed"})
    policy = script(call(made.name, title=title))
    kernel = build_kernel(settings, gateway(policy).client(), Ambient())
    result = await kernel.agent([made]).run("?", session=InMemoryHistory(session_id=session_id))
    return result.trace.calls[0]


def read_note(title: str, context: ToolContext) -> str:
    """Read one of your notes; `title` is its title, for example "shopping"."""
    notes = NOTES[context.session_id]
    if title not in notes:
        raise ToolError(f"There is no note {title!r}. Your notes: {', '.join(notes)}.")
    return notes[title]


def read_note_stub(title: str, context: ToolContext) -> str:
    """As it stands in the notebook."""
    return None  # type: ignore[return-value]


def read_note_of(title: str, session_id: str) -> str:
    """Lets the model say who it is."""
    return NOTES[session_id][title]


def read_note_of_anybody(title: str, context: ToolContext) -> str:
    """Looks in all notes."""
    everything = {name: text for notes in NOTES.values() for name, text in notes.items()}
    return everything.get(title, f"{context.session_id}: no such note")


def read_note_as_text(title: str, context: ToolContext) -> str:
    """Returns a text about the failure."""
    notes = NOTES[context.session_id]
    return notes.get(title, f"❌ no note {title!r}; there are: {', '.join(notes)}")


def read_note_bare(title: str, context: ToolContext) -> str:
    """Fails as Python does, which is no next step."""
    return NOTES[context.session_id][title]


def read_note_untyped(title, context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Forgets the annotations, from which the schema is made."""
    return NOTES[context.session_id][title]


# ---- 4.3-c, repair: what a model may switch on ------------------------------------------------


async def delete_user(user: str) -> str:
    """Pretend to delete a user's account."""
    return f"{user} is deleted."


async def sums(expression: str) -> str:
    """Work out an arithmetic expression."""
    return calculate(expression)


async def check_boxes_for(boxes_for: Answer) -> None:
    """A model that switches on all that it can must not delete, unless it works for an admin."""
    user = await _greedy(boxes_for, "user")
    expect(
        user["delete_user"] != "completed",
        "a model working for a user has switched `admin` on, and has deleted an account.",
    )
    expect(
        user["sums"] == "completed",
        "a user's model cannot switch `math` on. The boundary is too narrow.",
    )
    admin = await _greedy(boxes_for, "admin")
    expect(admin["delete_user"] == "completed", "an administrator's model cannot delete.")
    expect(admin["sums"] == "completed", "an administrator's model cannot do sums any more.")
    guest = await _greedy(boxes_for, "guest")
    expect(
        guest["delete_user"] != "completed",
        "a role that nobody has thought of, `guest`, may delete. Allow what is named, instead of "
        "forbidding what is named.",
    )


async def _greedy(boxes_for: Answer, role: str) -> dict[str, str]:
    """What became of each tool when the model tried to switch on and call everything."""
    boxes: dict[str, list[Any]] = {"math": [sums], "admin": [delete_user]}
    given = await boxes_for.call(role, boxes)
    expect(
        isinstance(given, dict) and set(given) <= set(boxes),
        "give back toolboxes by their id, as a dict like the one that you were given.",
        received=given,
    )
    settings = Settings.model_validate({"api_key": "no-key-needed"})
    kernel = build_kernel(settings, gateway(_grab_everything).client(), Ambient())
    result = await kernel.agent(toolboxes=given).run("?")
    return {trace.call.name: trace.state for trace in result.trace.calls}


def _grab_everything(question: Question) -> Move:
    """First switch both boxes on, then call what is in them."""
    if not question.calls:
        boxes = ("math", "admin")
        return Move(calls=tuple(Call("activate_toolbox", {"toolbox_id": box}) for box in boxes))
    if len(question.calls) == 2:
        tried = Call("delete_user", {"user": "maya"})
        return Move(calls=(Call("sums", {"expression": "6 * 7"}), tried))
    return answer("Done.")


def boxes_for(role: str, boxes: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """One way to write it."""
    return {box: tools for box, tools in boxes.items() if box != "admin" or role == "admin"}


def boxes_for_stub(role: str, boxes: dict[str, list[Any]]) -> None:
    """As it stands in the notebook."""
    return None


def boxes_for_everybody(_role: str, boxes: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Trusts the model to leave `admin` alone."""
    return dict(boxes)


def boxes_for_nobody(role: str, boxes: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Takes everything from whoever is no administrator."""
    return dict(boxes) if role == "admin" else {}


def boxes_for_one_role(role: str, boxes: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """An administrator gets the box of that name only."""
    return {box: tools for box, tools in boxes.items() if (box == "admin") == (role == "admin")}


def boxes_for_all_but_users(role: str, boxes: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Forbids one role, and allows all that come later."""
    return {box: tools for box, tools in boxes.items() if box != "admin" or role != "user"}


def boxes_for_names(_role: str, boxes: dict[str, list[Any]]) -> list[str]:
    """Gives back names."""
    return [box for box in boxes if box != "admin"]


WAY_OUT_HINTS = (
    """\
The check has no fault with links, and none with "..": both are resolved before it compares. Look
at what it compares: two texts, by their beginning.""",
    "The workspace is called `work`. Which other folder's path begins with the same letters?",
    "Beside `work` lies `work-2`. Go up once, and down into it: the file is plan.txt.",
)

READ_NOTE_HINTS = (
    "Take a second parameter, `context: ToolContext`. The runner fills it in; no model sees it.",
    "`NOTES[context.session_id]` are the notes of the session that calls. Look only there.",
    "When the title is missing: `raise ToolError(...)`, and name the titles that this session has.",
)

BOXES_FOR_HINTS = (
    "The model may switch on whatever is in the dict. So what must not be in it, and for whom?",
    "Ask whether the role is `admin`, not whether it is `user`: there will be other roles.",
    "Make a new dict of all boxes; leave out the one called `admin` unless the role is `admin`.",
)

EXERCISES = (
    Exercise(
        id="4.3-a",
        title="A path is a list of names; who compares it as a text lets the neighbour in.",
        name="way_out",
        check=check_way_out,
        hints=WAY_OUT_HINTS,
        solution=way_out,
        stub=way_out_stub,
        wrong=(
            Wrong(way_out_up, "the check refused it"),
            Wrong(way_out_absolute, "an absolute path"),
            Wrong(way_out_inside, "Aim at plan.txt"),
            Wrong(way_out_folder, "Aim at plan.txt"),
        ),
    ),
    Exercise(
        id="4.3-b",
        title="The session comes from the runner, and a failure is reported as one.",
        name="read_note",
        check=check_read_note,
        hints=READ_NOTE_HINTS,
        solution=read_note,
        stub=read_note_stub,
        wrong=(
            Wrong(read_note_of, "What a model can write, it can forge"),
            Wrong(read_note_of_anybody, "Maya's session has read Ben's diary"),
            Wrong(read_note_as_text, "sees a success"),
            Wrong(read_note_bare, "Which titles are there?"),
            Wrong(read_note_untyped, "no tool can be made of it"),
        ),
    ),
    Exercise(
        id="4.3-c",
        title="What the model may switch on is decided before the model is asked.",
        name="boxes_for",
        check=check_boxes_for,
        hints=BOXES_FOR_HINTS,
        solution=boxes_for,
        stub=boxes_for_stub,
        wrong=(
            Wrong(boxes_for_everybody, "has deleted an account"),
            Wrong(boxes_for_nobody, "The boundary is too narrow"),
            Wrong(boxes_for_one_role, "cannot do sums any more"),
            Wrong(boxes_for_all_but_users, "a role that nobody has thought of"),
            Wrong(boxes_for_names, "toolboxes by their id"),
        ),
    ),
)
