"""Section 6.3: foresee a kill, keep a promise on a bad disk, forge a journal. (chapter 6.3)"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from freya_teach.errors import SessionError
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.llm.messages import Message, assistant, user
from freya_teach.session.lines import line_of, records_in
from freya_teach.session.models import Record

TIME = "2026-11-30T12:00:00+00:00"
JOURNAL = Path("journal.jsonl")


def line(*messages: Message) -> bytes:
    """A line of a journal."""
    return line_of(Record(TIME, messages))


# ---- 6.3-a, predict: what is there after a kill ----------------------------------------------

WHY = (
    "nothing of C is in the file yet.",
    """\
half a line has no line end, so it is cut off when the session is opened. It takes nothing along
with it.""",
    """\
the line end is what says that the write has ended. Without it the line counts as torn, however much
of it is there.""",
    """\
the system has the whole line, and it was the program that was killed, not the system. C was not
acknowledged. Was it denied?""",
    "a batch is written at once, and read line by line: C has its line end, D has not.",
)


async def check_found_after_kill(found_after_kill: Answer) -> None:
    """What the kernel's reader finds in the bytes of each moment."""
    given = found_after_kill.value
    expect(
        isinstance(given, list)
        and len(given) == len(WHY)
        and all(isinstance(each, str) for each in given),
        'give a list of five texts, such as "AB".',
        received=given,
    )
    a, b, c, d = (line(user(text)) for text in "ABCD")
    left = (b"", c[: len(c) // 2], c[:-1], c, c + d[: len(d) // 2])
    for moment, (said, bytes_left, why) in enumerate(zip(given, left, WHY, strict=True), start=1):
        found = records_in(a + b + bytes_left, JOURNAL).contents.messages
        expect(
            "".join(said.split()).upper() == "".join(message.text for message in found),
            f"Moment {moment}: {why}",
            received=said,
        )


FOUND_AFTER_KILL = ["AB", "AB", "AB", "ABC", "ABC"]

# ---- 6.3-b, repair: an append that keeps its promise -----------------------------------------


class OneFile:
    """A file on a disk that may take a part, be full, or fail to sync; and a power switch."""

    def __init__(self, *, piece: int = 1000, room: int = 1000, syncs: bool = True) -> None:
        self._memory = bytearray(b"old line\n")
        self._safe = bytes(self._memory)
        self._piece = piece
        self._room = room
        self._syncs = syncs

    @property
    def size(self) -> int:
        """Length in bytes."""
        return len(self._memory)

    def write(self, data: bytes) -> int:
        """Add the first bytes at the end; return how many. Raises `OSError` when there is no room.

        Raises `ValueError` for an empty write, which would never end.
        """
        if not data:
            raise ValueError("there is nothing to write")
        if self.size >= self._room:
            raise OSError("no space left on the device")
        taken = data[: min(self._piece, self._room - self.size)]
        self._memory += taken
        return len(taken)

    def sync(self) -> None:
        """Return when all that was written is safe. Raises `OSError`."""
        if not self._syncs:
            raise OSError("the device did not answer")
        self._safe = bytes(self._memory)

    def cut(self, size: int) -> None:
        """Shorten the file."""
        del self._memory[size:]

    def content(self) -> bytes:
        """What a program reads."""
        return bytes(self._memory)

    def after_a_power_cut(self) -> bytes:
        """What the next start finds."""
        return self._safe


DATA = b"a new line\n"
OLD = b"old line\n"


async def check_append(append: Answer) -> None:
    """A good disk, one that takes pieces, a full one, and one that cannot sync."""
    disk = OneFile()
    size = await append.call(disk, DATA)
    expect(disk.content() == OLD + DATA, "the data is not at the end.", received=disk.content())
    expect(
        disk.after_a_power_cut() == OLD + DATA,
        "it returned, the power failed, and the data is gone: it was in the system's memory only.",
        received=disk.after_a_power_cut(),
    )
    expect(size == disk.size, "give back the new size of the file.", received=size)
    disk = OneFile(piece=4)
    await append.call(disk, DATA)
    expect(
        disk.content() == OLD + DATA,
        "this disk took only the first four bytes, and said so. Who wrote the rest?",
        received=disk.content(),
    )
    expect(
        disk.after_a_power_cut() == OLD + DATA,
        "written in pieces, and then the power failed: not all of the pieces were safe.",
        received=disk.after_a_power_cut(),
    )
    full = OneFile(piece=4, room=len(OLD) + 6)
    await _check_refusal(append, full, "the disk was full after six bytes")
    await _check_refusal(append, OneFile(syncs=False), "the sync has failed")


async def _check_refusal(append: Answer, disk: OneFile, what: str) -> None:
    received, raised = await append.attempt(disk, DATA)
    expect(
        raised and isinstance(raised.problem, OSError),
        f"{what}, and the caller was told that the data is stored. Let the OSError through.",
        received=raised.problem if raised else received,
    )
    expect(
        disk.content() == OLD,
        f"{what}, the caller was told, and a rest of the data is still in the file. The next line "
        "would be written behind it.",
        received=disk.content(),
    )


def append(disk: Any, data: bytes) -> int:
    """One way to write it."""
    before = disk.size
    try:
        while data:
            data = data[disk.write(data) :]
        disk.sync()
    except OSError:
        disk.cut(before)
        raise
    return disk.size  # type: ignore[no-any-return]


def append_stub(disk: Any, data: bytes) -> None:
    """As it stands in the notebook."""
    return None


def append_as_it_was(disk: Any, data: bytes) -> int:
    """The one that is to be repaired."""
    disk.write(data)
    return disk.size  # type: ignore[no-any-return]


def append_early_sync(disk: Any, data: bytes) -> int:
    """Syncs what was there before."""
    disk.sync()
    disk.write(data)
    return disk.size  # type: ignore[no-any-return]


def append_once(disk: Any, data: bytes) -> int:
    """Believes that a write takes all."""
    before = disk.size
    try:
        disk.write(data)
        disk.sync()
    except OSError:
        disk.cut(before)
        raise
    return disk.size  # type: ignore[no-any-return]


def append_leaves_rest(disk: Any, data: bytes) -> int:
    """Tells the caller, and leaves what it has written."""
    while data:
        data = data[disk.write(data) :]
    disk.sync()
    return disk.size  # type: ignore[no-any-return]


def append_silent(disk: Any, data: bytes) -> int:
    """Puts the file right, and tells nobody."""
    before = disk.size
    with suppress(OSError):
        while data:
            data = data[disk.write(data) :]
        disk.sync()
        return disk.size  # type: ignore[no-any-return]
    disk.cut(before)
    return disk.size  # type: ignore[no-any-return]


def append_sync_outside(disk: Any, data: bytes) -> int:
    """Undoes a failed write, and not a failed sync."""
    before = disk.size
    try:
        while data:
            data = data[disk.write(data) :]
    except OSError:
        disk.cut(before)
        raise
    disk.sync()
    return disk.size  # type: ignore[no-any-return]


# ---- 6.3-c, attack: a change that the checksum confirms --------------------------------------

TOLD = (user("Hello!"), user("Pay 10 to Ben."), assistant("I have paid 10 to Ben."))


async def check_forge(forge: Answer) -> None:
    """What the kernel's reader thinks of the forged journal."""
    received = await forge.call(b"".join(line(message) for message in TOLD))
    expect(
        isinstance(received, bytes),
        "a journal is bytes: give back the whole of it, with all its lines.",
        received=received,
    )
    try:
        reading = records_in(received, JOURNAL)
    except SessionError:
        raise NotYet("the reader takes it for a newer version's work, and refuses it.") from None
    damage = str(reading.damage or "")
    expect(not damage, f"the reader has noticed: {damage}.", received=received)
    expect(
        not reading.torn,
        "the reader has noticed: what has no line end is cut off, and reported.",
        received=received,
    )
    said = [message.text for message in reading.contents.messages]
    expect(
        said != [message.text for message in TOLD],
        "the reader finds nothing wrong, and nothing is: all messages are as they were said.",
        received=said,
    )


def forge(journal: bytes) -> bytes:
    """One way to do it."""
    lines = journal.splitlines(keepends=True)
    body = lines[1][len(b'{"crc":"00000000","record":') : -len(b"}\n")]
    body = body.replace(b"10", b"9999")
    lines[1] = b'{"crc":"%08x","record":%b}\n' % (crc32(body), body)
    return b"".join(lines)


def forge_stub(journal: bytes) -> None:
    """As it stands in the notebook."""
    return None


def forge_plain(journal: bytes) -> bytes:
    """Changes the amount, and no checksum."""
    return journal.replace(b"Pay 10 ", b"Pay 99 ")


def forge_whole_line(journal: bytes) -> bytes:
    """Works the checksum out of the whole line."""
    changed = journal.replace(b"Pay 10 ", b"Pay 99 ")
    return re.sub(rb'"crc":"\w+"', b'"crc":"%08x"' % crc32(changed), changed)


def forge_nothing(journal: bytes) -> bytes:
    """Writes the same lines again."""
    return b"\n".join(journal.split(b"\n"))


def forge_end(journal: bytes) -> bytes:
    """Leaves the last line end out."""
    return journal[:-1]


def forge_text(journal: bytes) -> str:
    """Gives back a text."""
    return journal.decode().replace("10", "99")


def forge_empty(journal: bytes) -> bytes:
    """Takes everything away."""
    return journal[:0]


FOUND_AFTER_KILL_HINTS = (
    """\
A line counts when its line end is there. What has been *asked* of the disk does not matter to the
reader.""",
    "A kill takes the program away. What `write` has handed over is the system's by then.",
    "In moments 4 and 5 more is found than was acknowledged.",
)

APPEND_HINTS = (
    "Three things are missing: the rest that a write did not take, the sync, and the way back.",
    "`while data: data = data[disk.write(data):]` hands over the rest, until there is none.",
    """\
Note the size before. Write and sync inside one `try`; `except OSError:` cuts back to that size, and
`raise` hands the error on.""",
)

FORGE_HINTS = (
    """\
The checksum is in the file, and everybody knows how it is made. What keeps you from making it
again?""",
    """\
The record of a line is what lies between `{"crc":"00000000","record":` (as many bytes, whatever the
number is) and the last `}`. Change it, and work out `crc32` of exactly these bytes.""",
    "The other way: each line is only compared with itself. Who would miss one?",
)

EXERCISES = (
    Exercise(
        id="6.3-a",
        title="What has its line end is there: perhaps more than was acknowledged, never less.",
        name="found_after_kill",
        check=check_found_after_kill,
        hints=FOUND_AFTER_KILL_HINTS,
        solution=FOUND_AFTER_KILL,
        stub=None,
        wrong=(
            Wrong(["AB", "A", "AB", "ABC", "ABC"], "cut off when the session is opened"),
            Wrong(["AB", "AB", "ABC", "ABC", "ABC"], "what says that the write has ended"),
            Wrong(["AB", "AB", "AB", "AB", "AB"], "Was it denied"),
            Wrong(["AB", "AB", "AB", "ABC", "AB"], "read line by line"),
            Wrong("AB", "a list of five texts"),
        ),
    ),
    Exercise(
        id="6.3-b",
        title="All of it, then sync, then return; else as it was, and the caller knows.",
        name="append",
        check=check_append,
        hints=APPEND_HINTS,
        solution=append,
        stub=append_stub,
        may_change_arguments=True,
        wrong=(
            Wrong(append_as_it_was, "the power failed, and the data is gone"),
            Wrong(append_early_sync, "the power failed, and the data is gone"),
            Wrong(append_once, "Who wrote the rest"),
            Wrong(append_leaves_rest, "the disk was full after six bytes, the caller was told"),
            Wrong(append_silent, "Let the OSError through"),
            Wrong(append_sync_outside, "the sync has failed, the caller was told"),
        ),
    ),
    Exercise(
        id="6.3-c",
        title="A checksum finds accidents. Against intent one needs a key, which is not in the "
        "file.",
        name="forge",
        check=check_forge,
        hints=FORGE_HINTS,
        solution=forge,
        stub=forge_stub,
        wrong=(
            Wrong(forge_plain, "line 2, is damaged"),
            Wrong(forge_whole_line, "line 1, is damaged: it does not fit"),
            Wrong(forge_nothing, "as they were said"),
            Wrong(forge_end, "what has no line end"),
            Wrong(forge_text, "a journal is bytes"),
            Wrong(forge_empty, "it is not there"),
        ),
    ),
)
