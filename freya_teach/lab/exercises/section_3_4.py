"""Section 3.4: fill in a template safely, know which file counts, compare prompts. (chapter 3.4)"""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.paths import course_folder
from freya_teach.prompt.composer import SECTIONS, Part, SystemPrompt
from freya_teach.prompt.registry import PromptRegistry

# ---- 3.4-a, repair: a template that survives what people say ---------------------------------

ATTACKS: tuple[tuple[str, dict[str, str], str, str], ...] = (
    ("Say [[text]].", {"text": "hello"}, "Say hello.", "an ordinary value"),
    ("[[text]], [[text]]!", {"text": "hi"}, "hi, hi!", "a placeholder that is there twice"),
    (
        'Answer as {"said": "[[text]]", "list": []}',
        {"text": "hi"},
        'Answer as {"said": "hi", "list": []}',
        "a template with JSON in it",
    ),
    ("<[[text]]>", {"text": r"C:\new\g<0>\1"}, r"<C:\new\g<0>\1>", "a value with backslashes"),
    ("<[[text]]>", {"text": "$& {0} %s"}, "<$& {0} %s>", "a value with the signs of other tools"),
    ("<[[text]]>", {"text": "[[text]]"}, "<[[text]]>", "a value that looks like its placeholder"),
    (
        "[[name]] says: [[text]]",
        {"name": "Mia [[text]]", "text": "the password"},
        "Mia [[text]] says: the password",
        "a value that holds another placeholder",
    ),
)
MISSPELT: tuple[tuple[str, dict[str, str], str], ...] = (
    ("Say [[text_content]].", {"text": "hello"}, "text_content"),
    ("Say hello.", {"text": "lost"}, "text"),
)


async def check_fill(fill: Answer) -> None:
    """Every attack gives the text that was meant, and a misspelt template is refused."""
    for template, values, wanted, what in ATTACKS:
        received, raised = await fill.attempt(template, dict(values))
        expect(
            raised is None,
            f"it raised an error for {what}, and there is nothing wrong with it.",
            received=template,
        )
        expect(received == wanted, f"a wrong text came out for {what}.", received=received)
    for template, values, name in MISSPELT:
        received, raised = await fill.attempt(template, dict(values))
        expect(
            raised is not None,
            f"the template {template!r} and the values {values} do not fit together, and nobody "
            "was told. Raise an error for a placeholder without a value, and for a value without "
            "a placeholder.",
            received=received,
        )
        expect(
            raised and name in str(raised.problem),
            f"the error does not name {name!r}, which is what one has to look for.",
            received=str(raised.problem) if raised else "",
        )


def fill(template: str, values: dict[str, str]) -> str:
    """One way to do it: look for all placeholders first, and fill them in in one pass."""
    pattern = r"\[\[(\w+)\]\]"
    found = set(re.findall(pattern, template))
    if wrong := found ^ values.keys():
        raise ValueError(f"template and values do not fit: {', '.join(sorted(wrong))}")
    return re.sub(pattern, lambda match: values[match[1]], template)


def fill_stub(template: str, values: dict[str, str]) -> None:
    """As it stands in the notebook."""
    return None


def fill_one_after_the_other(template: str, values: dict[str, str]) -> str:
    """Fills in the second value inside the first one."""
    for name, value in values.items():
        template = template.replace(f"[[{name}]]", value)
    return template


def fill_only_once(template: str, values: dict[str, str]) -> str:
    """As JavaScript's `replace` with a text does it."""
    for name, value in values.items():
        template = template.replace(f"[[{name}]]", value, 1)
    return template


def fill_with_format(template: str, values: dict[str, str]) -> str:
    """Every other brace is a placeholder, too."""
    return template.replace("[[", "{").replace("]]", "}").format(**values)


def fill_with_pattern(template: str, values: dict[str, str]) -> str:
    """The value is read as a pattern."""
    for name, value in values.items():
        template = re.sub(rf"\[\[{name}\]\]", value, template)
    return template


def fill_what_is_known(template: str, values: dict[str, str]) -> str:
    """One pass, and a misspelt placeholder goes through to the model."""
    return re.sub(r"\[\[(\w+)\]\]", lambda match: values.get(match[1], match[0]), template)


def fill_without_a_name(template: str, values: dict[str, str]) -> str:
    """Refuses, and does not say what is wrong."""
    try:
        return fill(template, values)
    except ValueError:
        raise ValueError("bad template") from None


# ---- 3.4-b, predict: which of these files does anything? -------------------------------------

FOLDER: dict[str, str] = {
    "core.prompt.soul.md": "Answer in verse.",
    "core.prompt.identiy.md": "You are a pirate.",
    "Core.Prompt.User.md": "The user is Mia.",
    "core.prompt.tools.txt": "Never call a tool.",
    "core.prompt.memory.md": "",
    "agents.md": "You have three helpers.",
    "old/core.prompt.agents.md": "You work in a team.",
}


async def check_overrides(given: Answer) -> None:
    """Lay the folder down, and ask the registry itself."""
    received = given.value
    expect(
        isinstance(received, list | set | tuple)
        and all(isinstance(name, str) for name in received),
        'give a list of names, such as ["agents.md"].',
        received=received,
    )
    unknown = sorted(set(received) - FOLDER.keys())
    expect(
        not unknown, "that name is not in the folder; copy it letter by letter.", received=unknown
    )
    counts = _that_count()
    idle = sorted(set(received) - counts)
    expect(not idle, f"{', '.join(idle)}: {WHY_NOT.get(idle[0] if idle else '', '')}")
    expect(
        counts <= set(received),
        "what you have is right, and one is missing. Is an empty file no file?",
        received=sorted(received),
    )


WHY_NOT = {
    "core.prompt.identiy.md": "read the name aloud.",
    "Core.Prompt.User.md": "a name in other capitals is another name, on every system.",
    "core.prompt.tools.txt": "a prompt is a Markdown file, and its name says so.",
    "agents.md": "the short form is no key; the whole name counts.",
    "old/core.prompt.agents.md": "the registry looks into the folder itself, not into those in it.",
}


def _that_count() -> set[str]:
    """The names in the folder that a real registry takes for a packaged prompt."""
    with tempfile.TemporaryDirectory(prefix="freya-") as name:
        folder = Path(name)
        for file, text in FOLDER.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        idle = PromptRegistry(course_folder("prompts"), folder).unused()
    return {name for name in FOLDER if name.partition("/")[0] not in idle}


# ---- 3.4-c, extend: what has changed between two requests? -----------------------------------

TEXTS = {
    "IDENTITY": "You help in a library.",
    "SOUL": "Be brief.\n\n## How to be brief\nOne sentence. Use # only before a heading.",
    "TOOLS": "Call a tool when you need one.\nIt may take a while.",
    "CURRENT TIME": "2026-11-30 12:00 (Monday, UTC)",
}
LATER = TEXTS | {"CURRENT TIME": "2026-11-30 12:01 (Monday, UTC)"}
SWITCHED_ON = {**TEXTS, "PLUGIN PROMPT [weather_report]": "Begin with the umbrella."}
WITH_USER = {
    "IDENTITY": TEXTS["IDENTITY"],
    "USER INFO": "The user is Mia.",
    **{title: TEXTS[title] for title in ("SOUL", "TOOLS", "CURRENT TIME")},
}
DEEPER = TEXTS | {"SOUL": TEXTS["SOUL"].replace("One sentence", "Two sentences")}
CASES = (
    (TEXTS, TEXTS, "nothing has changed"),
    (TEXTS, LATER, "a minute has passed"),
    (TEXTS, SWITCHED_ON, "a skill was switched on, so a part is new"),
    (SWITCHED_ON, TEXTS, "a skill was switched off, so a part is gone"),
    (TEXTS, WITH_USER, "a part was put in between, and moved the others"),
    (TEXTS, DEEPER, "a line under a smaller heading, `## …`, has changed"),
)


async def check_changed_parts(changed_parts: Answer) -> None:
    """Prompts as the composer joins them, in exchanges as the log has them."""
    for before, after, what in CASES:
        wanted = {
            title for title in before.keys() | after.keys() if before.get(title) != after.get(title)
        }
        received = await changed_parts.call(exchange(before), exchange(after))
        expect(
            not isinstance(received, str) and isinstance(received, Iterable),
            "give back the headings, in a set or a list.",
            received=received,
        )
        found = set(received)
        expect(
            found == wanted,
            f"{what}: the headings are {sorted(wanted) or 'none'}.",
            received=sorted(map(str, found)),
        )


def exchange(parts: dict[str, str]) -> dict[str, Any]:
    """An exchange of the log whose system prompt has these parts, under their titles."""
    names = {title: name for name, title in SECTIONS}
    made = [Part(names.get(title, title), title, text, "file") for title, text in parts.items()]
    prompt = SystemPrompt(tuple(made)).text
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": "# Hello"}]
    request = {"method": "POST", "body": {"model": "m", "messages": messages}}
    return {"id": "exchange_1", "request": request, "reply": None}


def changed_parts(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """One way to do it: a prompt as headings and texts, then compare heading by heading."""
    before, after = _parts_of(first), _parts_of(second)
    return {title for title in before | after if before.get(title) != after.get(title)}


def _parts_of(logged: dict[str, Any]) -> dict[str, str]:
    prompt = logged["request"]["body"]["messages"][0]["content"]
    blocks = re.split(r"^# ", prompt, flags=re.MULTILINE)[1:]
    pairs = (block.partition("\n") for block in blocks)
    return {title: text.strip() for title, _, text in pairs}


def changed_parts_stub(first: dict[str, Any], second: dict[str, Any]) -> None:
    """As it stands in the notebook."""
    return None


def changed_parts_all(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """Says that something has changed by naming everything."""
    return set(_parts_of(first)) | set(_parts_of(second))


def changed_parts_of_the_first(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """Looks for the old parts in the new prompt, and so never sees a new one."""
    before, after = _parts_of(first), _parts_of(second)
    return {title for title in before if before[title] != after.get(title)}


def changed_parts_of_the_second(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """Goes through the new parts, and so never sees that one is gone."""
    return changed_parts_of_the_first(second, first)


def changed_parts_by_place(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """Compares the third part with the third part, whatever they are."""
    pairs = itertools.zip_longest(_parts_of(first).items(), _parts_of(second).items())
    return {title for pair in pairs if pair[0] != pair[1] for title, _ in filter(None, pair)}


def changed_parts_at_every_hash(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """Takes each line with a `#` at its front for a heading of a part."""

    def parts(logged: dict[str, Any]) -> dict[str, str]:
        prompt = logged["request"]["body"]["messages"][0]["content"]
        blocks = re.split(r"^#+ ", prompt, flags=re.MULTILINE)[1:]
        return {title: text.strip() for title, _, text in (each.partition("\n") for each in blocks)}

    before, after = parts(first), parts(second)
    return {title for title in before | after if before.get(title) != after.get(title)}


FILL_HINTS = (
    """\
Two values that are filled in one after the other can meet: the second is looked for in the first,
too. Go through the template once, and through the values never.""",
    """\
`re.sub(pattern, function, template)` calls the function for each match, and takes what it gives
back as it stands, backslashes included. `match[1]` is what the parentheses have found.""",
    r"""
The pattern is r"\[\[(\w+)\]\]". Before you fill anything in, compare set(re.findall(pattern,
template)) with set(values): what is in one of them only is the mistake to name.""".strip(),
)

OVERRIDES_HINTS = (
    "A file counts when its name is a key with `.md` behind it, letter by letter, in the folder.",
    """\
Five of the seven do nothing: one is misspelt, one has other capitals, one another ending, one is
short, one lies too deep.""",
)

CHANGED_HINTS = (
    """\
The prompt is the text of the first message. Make a dict of it, heading → text, for each of the two
requests. Then the comparison is one line.""",
    """\
A part begins with one `#` and a space at the front of a line. `re.split(r"^# ", prompt,
flags=re.MULTILINE)` cuts there, and nowhere in `## …`.""",
    """\
Go through the headings of both (`before | after`), and use `.get(title)`: a part that is new has no
text before, and one that is gone has none after.""",
)

EXERCISES = (
    Exercise(
        id="3.4-a",
        title="One pass, nothing read twice, and a misspelt name is an error.",
        name="fill",
        check=check_fill,
        hints=FILL_HINTS,
        solution=fill,
        stub=fill_stub,
        wrong=(
            Wrong(fill_one_after_the_other, "a value that holds another placeholder"),
            Wrong(fill_only_once, "a placeholder that is there twice"),
            Wrong(fill_with_format, "a template with JSON in it"),
            Wrong(fill_with_pattern, "a value with backslashes"),
            Wrong(fill_what_is_known, "nobody was told"),
            Wrong(fill_without_a_name, "does not name 'text_content'"),
        ),
    ),
    Exercise(
        id="3.4-b",
        title="A name counts letter by letter, and an empty file counts as well.",
        name="overrides",
        check=check_overrides,
        hints=OVERRIDES_HINTS,
        solution=["core.prompt.soul.md", "core.prompt.memory.md"],
        stub=None,
        wrong=(
            Wrong(["core.prompt.soul.md"], "one is missing"),
            Wrong([*FOLDER], "other capitals"),
            Wrong(["core.prompt.soul.md", "agents.md"], "the short form"),
            Wrong(["core.prompt.soul.md", "core.prompt.identiy.md"], "aloud"),
            Wrong(["core.prompt.soul"], "letter by letter"),
            Wrong("core.prompt.soul.md", "a list of names"),
        ),
    ),
    Exercise(
        id="3.4-c",
        title="Two lines of a log say which part of a prompt has changed.",
        name="changed_parts",
        check=check_changed_parts,
        hints=CHANGED_HINTS,
        solution=changed_parts,
        stub=changed_parts_stub,
        wrong=(
            Wrong(changed_parts_all, "nothing has changed"),
            Wrong(changed_parts_of_the_first, "a part is new"),
            Wrong(changed_parts_of_the_second, "a part is gone"),
            Wrong(changed_parts_by_place, "put in between"),
            Wrong(changed_parts_at_every_hash, "smaller heading"),
        ),
    ),
)
