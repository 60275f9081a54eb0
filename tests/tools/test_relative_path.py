"""Which texts are accepted as a path, and what the model reads about the others."""

import ntpath
import posixpath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from freya_teach.errors import ToolError
from freya_teach.tools.relative_path import brief, parts_of, printable


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("notes.txt", ("notes.txt",)),
        ("a/b/c.txt", ("a", "b", "c.txt")),
        ("./a//b/./c/", ("a", "b", "c")),
        (".", ()),
        ("./", ()),
        (".git/config", (".git", "config")),
        ("..a/b..c", ("..a", "b..c")),
        ("会议记录…第一次.txt", ("会议记录…第一次.txt",)),
        ("½ cup, 100% [1] (2) $HOME #3.txt", ("½ cup, 100% [1] (2) $HOME #3.txt",)),
        ("می\u200cخواهم.txt", ("می\u200cخواهم.txt",)),
        ("50%25.txt", ("50%25.txt",)),
        ("console.log", ("console.log",)),
        ("com10/lpt.txt", ("com10", "lpt.txt")),
        ("é" * 127, ("é" * 127,)),
    ],
)
def test_an_ordinary_path_is_its_names(path: str, parts: tuple[str, ...]) -> None:
    assert parts_of(path) == parts


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "is empty"),
        ("a/" * 2048 + "b", "longer than 4,096 bytes"),
        ("a\0b", "control or invisible"),
        ("\u202etxt.exe", "control or invisible"),
        ("a\udcff", "control or invisible"),
        ("/etc/passwd", "begins with /"),
        ("~/.ssh", "begins with ~"),
        ("a\\b", "backslash"),
        ("C:notes", "colon"),
        ("*.txt", "patterns are not expanded"),
        ("%2e%2E/x", "encoded with %"),
        ("a／b", "looks like a slash"),
        ("a\u2215b", "looks like a slash"),
        ("a/../b", "goes up"),
        ("‥/x", "look like '.'"),
        ("é" * 128, "longer than 255 bytes"),
        ("a./b", "ends with a dot or a space"),
        ("a/nul.tar.gz", "device on Windows"),
        ("ｃｏｎ", "device on Windows"),
        ("COM¹", "device on Windows"),
    ],
)
def test_a_refusal_names_the_rule_and_an_example_and_stays_short(path: str, rule: str) -> None:
    with pytest.raises(ToolError) as refusal:
        parts_of(path)
    assert rule in str(refusal.value)
    assert "'notes/today.txt'" in str(refusal.value)
    assert len(str(refusal.value)) < 900
    assert str(refusal.value).isprintable()


PIECES = st.sampled_from(
    [*"./\\~:%*", "..", "//", "a", "B", "C:", "con", "%2e", "．", "／", " ", "\0", "\ud800", "é"]
)
PATHS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))


@given(PATHS)
@example("a b/.../c")
def test_what_is_accepted_stays_inside_on_linux_and_on_windows(path: str) -> None:
    try:
        parts = parts_of(path)
    except ToolError:
        return
    for system, root in ((posixpath, "/srv/top"), (ntpath, "C:\\root\\top")):
        joined = system.join(root, *parts)
        assert system.normpath(joined) == joined
        assert joined == root or joined.startswith(root + system.sep)
    reserved = getattr(ntpath, "isreserved", lambda _: False)  # Python 3.13 has it
    assert not any(reserved(part) for part in parts)


@given(st.text(max_size=300))
def test_what_is_shown_of_a_path_or_a_name_has_one_line_and_can_be_sent(text: str) -> None:
    assert brief(text).isprintable()
    assert "\n" not in printable(text)
    printable(text).encode("utf-8")
