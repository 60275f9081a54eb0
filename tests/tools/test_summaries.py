"""What an exception says, for each kind of it: in one line, true, and without paths."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from freya_teach.tools.summaries import summarize


def raised(function: Callable[[], Any]) -> BaseException:
    """What this raises."""
    try:
        function()
    except BaseException as problem:  # noqa: BLE001 - that is what is wanted
        return problem
    raise AssertionError("nothing was raised")


class Place(BaseModel):
    city: str
    nights: int


class Wordy(KeyError):
    def __str__(self) -> str:
        return "no such city: Oslo"


class Wordier(Wordy):
    pass


class Broken(Exception):
    def __str__(self) -> str:
        raise ValueError


def chained() -> None:
    """Raise one exception because of another."""
    try:
        {}["city"]
    except KeyError as problem:
        raise RuntimeError("no city") from problem


REQUEST = httpx.Request("GET", "https://a.example/x")
PYTHON = Path(sys.executable).name
FAILING = "import sys; sys.stderr.write('line\\n' * 999 + 'the reason'); sys.exit(3)"


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (KeyError("city"), "KeyError: missing key 'city'"),
        (KeyError(3), "KeyError: missing key 3"),
        (KeyError(), "KeyError"),
        (KeyError("there is no city of this name"), "KeyError: there is no city of this name"),
        (Wordy("x"), "Wordy: no such city: Oslo"),
        (Wordier("x"), "Wordier: no such city: Oslo"),
        (TimeoutError(), "TimeoutError: it took too long"),
        (TimeoutError("the server is slow"), "TimeoutError: the server is slow"),
        (OSError(), "OSError"),
        (OSError("in words"), "OSError: in words"),
        (PermissionError(13, "Permission denied"), "PermissionError: Permission denied"),
        (
            FileNotFoundError(2, "No such file or directory", "/x/y/a.txt"),
            "FileNotFoundError: No such file or directory: 'a.txt'",
        ),
        (
            OSError(18, "Invalid cross-device link", b"/home/somebody/a", None, "b"),
            "OSError: Invalid cross-device link: 'a' -> 'b'",
        ),
        (AssertionError(), "AssertionError: a check inside of the tool did not hold"),
        (AssertionError("x > 1"), "AssertionError: x > 1"),
        (NotImplementedError(), "NotImplementedError: the tool cannot do this yet"),
        (MemoryError(), "MemoryError: there was not enough memory"),
        (SystemExit(3), "SystemExit: the tool tried to end the program (exit status 3)"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError(), "CancelledError"),
        (Broken(), "Broken"),
        (ValueError("one\n\n  two"), "ValueError: one two"),
        (
            raised(lambda: json.loads('{"a": b}')),
            "JSONDecodeError: Expecting value at line 1 column 7, near '{\"a\": b}'",
        ),
        (
            raised(b"ab\xff".decode),
            "UnicodeDecodeError: the bytes are not utf-8 (0xff at position 2: invalid start byte)",
        ),
        (
            raised(lambda: Place.model_validate({"nights": 1})),
            "ValidationError: 1 validation error for Place: city: Field required",
        ),
        (
            raised(httpx.Response(404, request=REQUEST).raise_for_status),
            "HTTPStatusError: 404 Not Found for https://a.example/x",
        ),
        (httpx.ConnectTimeout(""), "ConnectTimeout: no connection in time"),
        (
            httpx.ReadTimeout("", request=REQUEST),
            "ReadTimeout: no answer in time (https://a.example/x)",
        ),
        (httpx.ConnectError("refused"), "ConnectError: refused"),
        (
            subprocess.CalledProcessError(-9, ["/usr/bin/git", "push"]),
            "CalledProcessError: 'git' was ended by SIGKILL",
        ),
        (
            subprocess.TimeoutExpired("/usr/bin/git push", 5),
            "TimeoutExpired: 'git' did not end within 5 seconds",
        ),
        (
            ExceptionGroup("two", [KeyError("a"), ValueError("b")]),
            "ExceptionGroup: two (2 sub-exceptions): KeyError: missing key 'a'; ValueError: b",
        ),
        (raised(chained), "RuntimeError: no city; caused by KeyError: missing key 'city'"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_each_kind_has_its_words(problem: BaseException, said: str) -> None:
    assert summarize(problem) == said


def test_of_a_program_that_failed_the_last_words_are_told() -> None:
    command = [sys.executable, "-c", FAILING]
    problem = raised(lambda: subprocess.run(command, check=True, capture_output=True))
    said = summarize(problem)
    assert said.startswith(f"CalledProcessError: '{PYTHON}' ended with exit status 3: ")
    assert said.endswith("line the reason")
    assert len(said) < 500


def test_a_path_in_the_workspace_stays_one_that_the_model_can_use(tmp_path: Path) -> None:
    problem = raised((tmp_path / "notes" / "a.txt").read_text)
    assert summarize(problem, tmp_path).endswith("No such file or directory: 'notes/a.txt'")
    assert summarize(problem).endswith("No such file or directory: 'a.txt'")


def test_causes_in_a_circle_come_to_an_end() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert summarize(one) == "ValueError: one; caused by ValueError: two"


@pytest.mark.parametrize(
    "problem",
    [
        subprocess.CalledProcessError("3", 7),  # type: ignore[arg-type]
        subprocess.TimeoutExpired(None, None),  # type: ignore[arg-type]
        OSError(1, 2, 3),
        ExceptionGroup("deep", [ExceptionGroup("deeper", [Broken()])]),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_an_exception_with_nonsense_in_it_is_still_told(problem: BaseException) -> None:
    assert summarize(problem).startswith(type(problem).__name__)


@given(st.text(st.characters(exclude_categories=()), max_size=3_000))
def test_any_text_becomes_one_line_of_a_limited_length(text: str) -> None:
    said = summarize(RuntimeError(text))
    assert len(said.splitlines()) == 1
    assert len(said) <= 600


SECRET = "sk-" + "4f" + "Ab9x" * 12


@pytest.mark.parametrize("at", range(250, 420, 3))
def test_a_cut_leaves_no_half_of_a_secret(at: int) -> None:
    text = f"{'x' * at} {SECRET} {'y' * 5_000} {SECRET} {'z' * (at // 3)}"
    assert "Ab9xAb" not in summarize(RuntimeError(text))
    command = subprocess.CalledProcessError(1, "go", stderr=text)
    assert "Ab9xAb" not in summarize(command)


@pytest.mark.parametrize(
    "piece", ["/", "/a", "/usr", "/usr/", "\\", "C:\\", "'/usr", "a.py/", ":/", "\n at "]
)
def test_no_text_makes_the_search_for_places_slow(piece: str) -> None:
    assert len(summarize(RuntimeError(piece * 20_000))) < 600
