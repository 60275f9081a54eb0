"""No path of this machine, no trace and no memory address is left in an exception's text."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.tools.places import without_places

NAMES = st.text("abcXYZ019_-. ", min_size=1, max_size=12).map(lambda name: f"n{name.strip()}")
HOMES = st.sampled_from(
    [Path.home(), Path(tempfile.gettempdir()), Path("/home/somebody"), Path.cwd()]
)
AROUND = st.sampled_from(
    ["'{}'", '"{}"', "({})", " {} ", "={}", ": {}", "{}", "file://{}", "a:{}:b"]
)


@given(HOMES, st.lists(NAMES, max_size=4), AROUND, st.text(max_size=10))
def test_no_absolute_path_of_the_machine_is_left(
    home: Path, names: list[str], around: str, more: str
) -> None:
    path = home.joinpath(*names)
    said = without_places(f"{more} {around.format(path)}")
    assert str(home) not in said
    assert "ada" not in said.replace(more, "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no access to '/home/somebody/My Files/a.txt'", "no access to 'a.txt'"),
        ("unable to open sqlite:////tmp/x/a.db now", "unable to open sqlite:a.db now"),
        ("see file:///home/somebody/a.txt.", "see file:a.txt."),
        (r"C:\Users\somebody\a.txt is locked", "a.txt is locked"),
        (r"\\server\share\a.txt is locked", "a.txt is locked"),
        ("/home/somebody is no file", "[a folder] is no file"),
        ("PATH=/usr/bin:/home/somebody/bin", "PATH=bin:bin"),
        ("<Reader object at 0x7f3a1c2b4d50> is closed", "<Reader object> is closed"),
        ('at File "/srv/app/main.py", line 3, in go', "at main.py, line 3"),
        ("Error: x\n    at go (/srv/a.js:1:2)\n    at run (/srv/b.js:3:4)", "Error: x"),
        ("died\nTraceback (most recent call last):\n  File x\nKeyError: 1", "died\n"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 1", "KeyError: 1"),
    ],
)
def test_of_a_place_only_the_last_name_stays(text: str, expected: str) -> None:
    assert without_places(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "404 for https://example.org/srv/app.py now",
        "GET /v1/users/7 gave 404",
        "http://tmp/x and https://home/somebody",
        "notes/tmp/a.txt, ./tmp/a.txt and ../tmp/a.txt",
        "and/or, 3/4, km/h",
        "",
    ],
)
def test_what_is_no_path_of_the_machine_stays(text: str) -> None:
    assert without_places(text) == text


def test_a_path_in_the_workspace_is_told_as_the_model_would_write_it(tmp_path: Path) -> None:
    text = f"cannot read '{tmp_path}/notes/a.txt' in {tmp_path}"
    assert without_places(text, tmp_path) == "cannot read 'notes/a.txt' in "
