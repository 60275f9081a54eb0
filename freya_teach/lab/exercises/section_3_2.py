"""Section 3.2: read a prompt or raise, sort words from code, stamp the words. (chapter 3.2)"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotDone, Wrong, expect

# ---- 3.2-a, repair: a prompt, or an error ----------------------------------------------------

SECRET = "the-key-of-the-till"  # noqa: S105 - of a shop that does not exist


async def check_read_prompt(read_prompt: Answer) -> None:
    """A folder with what people put into folders; the right text or an error, nothing between."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name) / "prompts"
        _furnish(folder)
        await _check_texts(read_prompt, folder)
        await _check_errors(read_prompt, folder)


def _furnish(folder: Path) -> None:
    folder.mkdir()
    (folder / "plain.md").write_bytes("Grüße zuerst. 你好\n".encode())
    (folder / "marked.md").write_bytes(b"\xef\xbb\xbfBe brief.")
    (folder / "empty.md").write_bytes(b"")
    (folder / "old.md").write_bytes("Grüße zuerst.".encode("latin-1"))
    (folder.parent / "secret.md").write_text(SECRET, encoding="utf-8")


async def _check_texts(read_prompt: Answer, folder: Path) -> None:
    text = await read_prompt.call(folder, "plain")
    expect(isinstance(text, str), "Return the text.", received=text)
    expect(text.strip() == "Grüße zuerst. 你好", "not the text of the file.", received=text)
    text = await read_prompt.call(folder, "marked")
    expect(
        str(text).strip() == "Be brief.",
        "something invisible stands in front of the text. Which encoding takes a mark away?",
        received=text,
    )
    text, raised = await read_prompt.attempt(folder, "empty")
    expect(
        raised is None and text == "",
        "the file `empty.md` is there. Somebody wanted no text, and that is an answer.",
        received=str(raised) if raised else text,
    )


async def _check_errors(read_prompt: Answer, folder: Path) -> None:
    text, raised = await read_prompt.attempt(folder, "manners")
    expect(
        raised,
        "there is no `manners.md`, and the agent would run without it, as if nothing were wrong.",
        received=text,
    )
    expect(
        raised is not None and "manners" in str(raised),
        "the error does not say which prompt is missing.",
        received=str(raised),
    )
    text, raised = await read_prompt.attempt(folder, "old")
    expect(
        raised,
        "`old.md` is not UTF-8, and the text is not what its author wrote: letters were lost.",
        received=text,
    )
    for key in ("../secret", str(folder.parent / "secret")):
        text, raised = await read_prompt.attempt(folder, key)
        expect(
            raised,
            "that file lies outside of the folder. A key is a name and no path.",
            received=text,
        )


def read_prompt(folder: Path, key: str) -> str:
    """One way to write it: what `read_text` raises for a missing file names the file."""
    if not key.replace(".", "").replace("_", "").isalnum() or key.startswith("."):
        raise ValueError(f"{key!r} is no key of a prompt")
    return (folder / f"{key}.md").read_text(encoding="utf-8-sig").strip()


def read_prompt_stub(folder: Path, key: str) -> None:
    """As it stands in the notebook."""
    return None


def read_prompt_forgiving(folder: Path, key: str) -> str:
    """Takes missing for empty."""
    path = folder / f"{key}.md"
    return path.read_text(encoding="utf-8-sig") if path.exists() else ""


def read_prompt_lossy(folder: Path, key: str) -> str:
    """Drops what it cannot read."""
    return (folder / f"{key}.md").read_text(encoding="utf-8-sig", errors="ignore")


def read_prompt_marked(folder: Path, key: str) -> str:
    """Hands on the byte order mark."""
    return (folder / f"{key}.md").read_text(encoding="utf-8")


def read_prompt_anywhere(folder: Path, key: str) -> str:
    """Lets the key choose the folder."""
    return (folder / f"{key}.md").read_text(encoding="utf-8-sig")


def read_prompt_strict(folder: Path, key: str) -> str:
    """Takes empty for missing."""
    if text := read_prompt(folder, key):
        return text
    raise ValueError(f"the prompt {key!r} is empty")


def read_prompt_mute(folder: Path, key: str) -> str:
    """Says that something is wrong, and not what."""
    try:
        return read_prompt(folder, key)
    except (OSError, ValueError):
        raise ValueError("something went wrong") from None


# ---- 3.2-b, predict: a file, or code? ---------------------------------------------------------

RIGHT = {
    "first names": "file",
    "refunds": "code",
    "pictures": "file",
    "stock": "code",
    "order": "code",
    "repairs": "file",
    "dates": "code",
}
WHY = {
    "first names": "first names: who would want to change this, and does that person need Python?",
    "refunds": "refunds: this one has to hold. A sentence is a request, and a model may be talked "
    "out of it.",
    "pictures": "pictures: the sentence around a hole, or what is put into it?",
    "stock": "stock: a file says the same tomorrow. Where does the number come from?",
    "order": "order: no text says which text goes first.",
    "repairs": "repairs: a skill is a folder with a text in it. What else is needed?",
    "dates": "dates: a description in one place and a function in another drift apart (3.1).",
}


async def check_places(given: Answer) -> None:
    """Each wish has its place; the first wrong one is told why."""
    places = given.value
    expect(isinstance(places, dict), "Keep it a dictionary.", received=places)
    if any(places.get(wish) in (None, ...) for wish in RIGHT):
        raise NotDone('not done yet: each of the seven wishes needs "file" or "code".')
    for wish, place in RIGHT.items():
        expect(places[wish] in ("file", "code"), 'Write "file" or "code".', received=places[wish])
        expect(places[wish] == place, WHY[wish], received=places[wish])


# ---- 3.2-c, extend: which words were in force? -----------------------------------------------

Parts = list[tuple[str, str]]
PARTS: Parts = [
    ("identity", "You are Pia."),
    ("soul", "Be warm. Be brief."),
    ("time", "2026-11-30 12:00"),
    ("skills", "- bells"),
]
MOST_CHARACTERS = 64


async def check_stamp(stamp: Answer) -> None:
    """Equal where the words are equal, different where one letter or the order is different."""
    first = await stamp.call(list(PARTS))
    expect(isinstance(first, str) and first, "Return a text, and no empty one.", received=first)
    for received in (first, await stamp.call([("identity", "You are Pia. " * 500)])):
        expect(
            len(str(received)) <= MOST_CHARACTERS,
            f"a stamp that is longer than {MOST_CHARACTERS} characters is a log.",
            received=received,
        )
    expect(await stamp.call(list(PARTS)) == first, "the same parts, and another stamp.")
    later = [(name, "2026-11-30 12:01" if name == "time" else text) for name, text in PARTS]
    expect(
        await stamp.call(later) == first,
        "only the clock went on, and it is another version.",
    )
    for change, why in _changes():
        expect(await stamp.call(change) != first, f"{why}\nBefore: {PARTS}\nAfter:  {change}")


def _changes() -> Iterator[tuple[Parts, str]]:
    identity, soul, time, skills = PARTS
    letter = ("soul", soul[1].replace("warm", "wary"))
    yield [identity, letter, time, skills], "other words of the same length have the same stamp."
    order = "the parts are in another order, and the stamp did not notice."
    yield [soul, identity, time, skills], order
    border = "a sentence has moved from one part to the next, and the stamp did not notice."
    moved = ("identity", "You are Pia.Be warm."), ("soul", " Be brief.")
    yield [*moved, time, skills], border
    renamed = "the same text now stands under another heading, and the stamp did not notice."
    yield [identity, ("user", soul[1]), time, skills], renamed


def stamp(parts: Parts) -> str:
    """One way to write it: JSON keeps names, texts and their borders apart; the hash is short."""
    words = [[name, text] for name, text in parts if name != "time"]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def stamp_stub(parts: Parts) -> None:
    """As it stands in the notebook."""
    return None


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stamp_with_clock(parts: Parts) -> str:
    """Makes a version of each minute."""
    return _short(json.dumps(parts))


def stamp_of_lengths(parts: Parts) -> str:
    """Counts instead of reading."""
    return "-".join(str(len(text)) for name, text in parts if name != "time")


def stamp_sorted(parts: Parts) -> str:
    """Does not care for the order."""
    return _short(json.dumps(sorted(part for part in parts if part[0] != "time")))


def stamp_joined(parts: Parts) -> str:
    """Loses the borders between the parts."""
    return _short("".join(text for name, text in parts if name != "time"))


def stamp_without_names(parts: Parts) -> str:
    """Forgets what the headings say."""
    return _short(json.dumps([text for name, text in parts if name != "time"]))


def stamp_whole(parts: Parts) -> str:
    """Writes everything down, which is a log and no stamp."""
    return json.dumps([part for part in parts if part[0] != "time"])


READ_HINTS = (
    "`read_text` raises by itself when a file is missing: the mistake was to catch it.",
    "The encoding `utf-8-sig` is UTF-8 that takes a byte order mark away; say nothing of `errors`.",
    "Look at the key before it becomes a path: letters, digits, dots and underscores, and no more.",
)

PLACES_HINTS = (
    "Ask of each wish: would somebody who knows the shop, and no Python, want to reword it?",
    "Values, order, a tool's own description, and all that must hold are code. There are four.",
)

STAMP_HINTS = (
    "A hash is a short text that differs when the words differ: `hashlib.sha256(….encode())`.",
    "What goes in must keep the parts apart: `json.dumps` of a list of pairs does.",
    """\
Leave out the part named `time`, keep names and order; `hexdigest()` has 64 characters. Python's own
`hash()` is another one in each process, and useless in a log.""",
)

EXERCISES = (
    Exercise(
        id="3.2-a",
        title="The text that its author wrote, or an error: nothing in between.",
        name="read_prompt",
        check=check_read_prompt,
        hints=READ_HINTS,
        solution=read_prompt,
        stub=read_prompt_stub,
        wrong=(
            Wrong(read_prompt_forgiving, "as if nothing were wrong"),
            Wrong(read_prompt_lossy, "letters were lost"),
            Wrong(read_prompt_marked, "something invisible"),
            Wrong(read_prompt_anywhere, "outside of the folder"),
            Wrong(read_prompt_strict, "Somebody wanted no text"),
            Wrong(read_prompt_mute, "does not say which prompt"),
        ),
    ),
    Exercise(
        id="3.2-b",
        title="What is reworded is a file; what is computed, ordered or enforced is code.",
        name="places",
        check=check_places,
        hints=PLACES_HINTS,
        solution=RIGHT,
        stub=dict.fromkeys(RIGHT),
        wrong=(
            Wrong(dict.fromkeys(RIGHT, "file"), "talked out of it"),
            Wrong(dict.fromkeys(RIGHT, "code"), "does that person need Python"),
            Wrong({**RIGHT, "pictures": "code"}, "around a hole"),
            Wrong({**RIGHT, "stock": "file"}, "the same tomorrow"),
            Wrong({**RIGHT, "order": "file"}, "which text goes first"),
            Wrong({**RIGHT, "dates": "file"}, "drift apart"),
            Wrong({**RIGHT, "repairs": "both"}, 'Write "file" or "code"'),
        ),
    ),
    Exercise(
        id="3.2-c",
        title="The same words have the same stamp, and no others have.",
        name="stamp",
        check=check_stamp,
        hints=STAMP_HINTS,
        solution=stamp,
        stub=stamp_stub,
        wrong=(
            Wrong(stamp_with_clock, "only the clock went on"),
            Wrong(stamp_of_lengths, "of the same length"),
            Wrong(stamp_sorted, "in another order"),
            Wrong(stamp_joined, "has moved"),
            Wrong(stamp_without_names, "another heading"),
            Wrong(stamp_whole, "longer than 64"),
        ),
    ),
)
