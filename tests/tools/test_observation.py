"""The sentences that the model reads, and what holds for every one of them."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from freya_teach import ToolError, tool
from freya_teach.tools import observation
from freya_teach.tools.workspace import Workspace

# ---- the call is not run -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "active", "said"),
    [
        ("search", [], "There is no tool called 'search'. Tools that you can call: none."),
        (
            "get_wether",
            ["add", "get_weather"],
            (
                "There is no tool called 'get_wether'. Did you mean 'get_weather'? "
                "Tools that you can call: add, get_weather."
            ),
        ),
        (
            "functions.add",
            ["add"],
            (
                "There is no tool called 'functions.add'. Did you mean 'add'? "
                "Tools that you can call: add."
            ),
        ),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_those_that_do(
    name: str, active: list[str], said: str
) -> None:
    assert observation.no_such_tool(name, active) == said


def test_of_very_many_tools_some_are_named() -> None:
    said = observation.no_such_tool("x", [f"tool_{number:03}" for number in range(300)])
    assert said.endswith("tool_039 and 260 more.")


def test_a_tool_of_another_session_is_not_available() -> None:
    assert observation.not_available("erase", ["add"]) == (
        "The tool erase is not available in this session, so it was not run. "
        "Tools that you can call: add."
    )


@tool
def book(city: str, nights: int = 1) -> str:  # noqa: D417 - one is enough here
    """Book a room.

    Args:
        city: English name of the city, for example "Oslo".
    """
    return f"{nights} in {city}"


KEYS = "with these keys: city (a string, required), nights (an integer)."


def test_what_is_no_json_is_shown_where_it_breaks() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads('{"city": "Oslo" "nights": 2}')
    assert observation.not_json("book", caught.value, book.parameters) == (
        "The arguments of book are not valid JSON at character 16, so it was not run. "
        "Expecting ',' delimiter, after '{\"city\": \"Oslo\" ' and before '\"nights\": 2}'. "
        f"Call it again with one JSON object as its arguments, {KEYS}"
    )


def test_json_that_is_no_object_is_answered_with_the_keys_of_one() -> None:
    said = observation.not_an_object("book", ["Oslo"], book.parameters)
    assert said == (
        "The arguments of book are a list, so it was not run. "
        f"Call it again with one JSON object, {KEYS}"
    )
    assert observation.not_an_object("now", 1, {}).endswith("one JSON object: {}.")


def test_every_fault_of_the_arguments_has_its_line() -> None:
    with pytest.raises(ValidationError) as caught:
        book.validate({"town": "Oslo"})
    assert observation.invalid_arguments("book", caught.value, book.parameters).splitlines() == [
        "book was not run, because its arguments are wrong:",
        '- city: missing. Expected: a string (English name of the city, for example "Oslo").',
        '- town: there is no such argument; you sent "Oslo". Did you mean city?',
        "Correct them and call it again.",
    ]


# ---- it was run and gave no result ---------------------------------------------------------


class Mute(ToolError):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            KeyError("city"),
            (
                "probe failed (KeyError: missing key 'city'). "
                "Try it with other arguments, or tell the user what did not work."
            ),
        ),
        (
            ConnectionResetError(104, "Connection reset by peer"),
            (
                "probe failed (ConnectionResetError: Connection reset by peer). "
                "Try it once more, or tell the user what did not work."
            ),
        ),
        (ToolError("Use 'Beijing'.\nNot 'Bejing'."), "Use 'Beijing'.\nNot 'Bejing'."),
        (ToolError(), "probe failed without saying why."),
        (Mute(), "probe failed without saying why."),
    ],
)
def test_a_failure_says_what_it_was_and_what_to_do_next(problem: Exception, said: str) -> None:
    assert observation.failed("probe", problem) == said


def test_a_path_that_the_model_itself_gave_stays_as_it_gave_it() -> None:
    missing = FileNotFoundError(2, "No such file or directory", "notes/today.txt")
    assert "No such file or directory: 'notes/today.txt'" in observation.failed("probe", missing)


# ---- it returned something -----------------------------------------------------------------


class Silent:
    pass


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "Done. (The tool returned nothing.)"),
        ("", ""),
        ({"city": "北京"}, '{"city": "北京"}'),
        (Silent(), "Done. (The tool returned a Silent, which has no text.)"),
        (b"plain text", "plain text"),
        (memoryview(b'{"a": 1}'), '{"a": 1}'),
        ("half \ud83d a pair", "half � a pair"),
        ("a whole one: \ud83d\ude00", "a whole one: 😀"),
        ({"password": "letmein"}, '{"password": "[redacted]"}'),
    ],
)
def test_what_a_tool_returns_is_told(value: Any, said: str) -> None:
    assert observation.result("probe", value, 1_000) == observation.Observation(said)


def test_binary_without_a_workspace_is_a_failure_in_words() -> None:
    assert observation.result("probe", b"\x89PNG\r\n\x1a\n", 1_000) == observation.Observation(
        "The tool returned 8 bytes (image/png), which cannot be shown as text, and there is no "
        "workspace.",
        is_error=True,
    )


def test_what_would_have_to_be_run_to_be_seen_is_a_failure_in_words() -> None:
    told = observation.result("probe", iter([1]), 1_000)
    assert told.text == "probe returned something that JSON cannot hold (a list_iterator)."
    assert told.is_error


def test_binary_is_saved_as_it_is(tmp_path: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    told = observation.result("probe", data, 1_000, 500, Workspace(tmp_path))
    path = told.text.partition("saved as ")[2].partition(". ")[0]
    assert not told.is_error
    assert (tmp_path / path).read_bytes() == data
    assert told.text.startswith("The result is 264 bytes (image/png). It is saved as download/")
    assert path.endswith(".png")


def test_a_long_structure_is_saved_in_lines_that_read_file_can_count(tmp_path: Path) -> None:
    value = [{"city": "Oslo", "number": number} for number in range(1_000)]
    told = observation.result("probe", value, 20_000, 5_000, Workspace(tmp_path))
    (path,) = (tmp_path / "download").iterdir()
    assert json.loads(path.read_text()) == value
    assert path.suffix == ".json"
    assert f'read_file(path="download/{path.name}", start_line=' in told.text
    assert len(told.text) < 2_500


def test_what_the_call_in_the_observation_reads_is_what_was_left_out(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    text = "\n".join(f"line {number}" for number in range(1, 10_001))
    told = observation.result("probe", text, 20_000, 5_000, workspace).text
    call = told.partition("read_file(")[2].partition(")")[0]
    asked = dict(part.split("=") for part in call.split(", "))
    read = workspace.read(
        json.loads(asked["path"]),
        start_line=int(asked["start_line"]),
        end_line=int(asked["end_line"]),
    )
    last_shown = told.partition("\n[...")[0].rpartition("line ")[2]
    assert f"line {int(last_shown) + 1}\n" in read


def test_a_text_under_the_threshold_is_not_saved(tmp_path: Path) -> None:
    observation.result("probe", "x" * 500, 20_000, 500, Workspace(tmp_path))
    assert not (tmp_path / "download").exists()


# ---- what holds for all of them ------------------------------------------------------------

SECRET = "sk-" + "4f" + "Ab9x" * 12
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=600)
LIMITS = st.integers(0, 700)


def check(text: str, limit: int) -> None:
    """What the wire and the reader rely on."""
    text.encode()
    assert len(text) <= limit
    assert "Ab9xAb9xAb9x" not in text


@settings(max_examples=200)
@given(
    data=st.binary(max_size=2_000) | ANY_TEXT.map(lambda s: s.encode("utf-8", "replace")),
    limit=LIMITS,
    folder=st.sampled_from([None, "workspace"]),
    wrap=st.sampled_from([bytes, bytearray, memoryview]),
)
def test_any_bytes_become_a_valid_observation(
    data: bytes, limit: int, folder: str | None, wrap: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    workspace = Workspace(tmp_path_factory.mktemp(folder)) if folder else None
    told = observation.result("probe", wrap(data), limit, 300, workspace)
    check(told.text, limit)
    assert folder is None or not told.is_error


@settings(max_examples=200)
@given(before=ANY_TEXT, after=ANY_TEXT, limit=LIMITS, folder=st.sampled_from([None, "workspace"]))
def test_any_text_becomes_a_valid_observation(
    before: str,
    after: str,
    limit: int,
    folder: str | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    workspace = Workspace(tmp_path_factory.mktemp(folder)) if folder else None
    text = f"{before} {SECRET}\n{after}" * 3
    for value in (text, [text], {"a": {text: text}}):
        check(observation.result("probe", value, limit, 300, workspace).text, limit)


@given(before=ANY_TEXT, after=ANY_TEXT, limit=LIMITS)
def test_no_failure_shows_a_path_of_this_machine_or_a_secret(
    before: str, after: str, limit: int
) -> None:
    place = Path(tempfile.gettempdir(), "freya-secret-folder", "a.txt")
    text = f"{before} '{place}' {Path.home()}/x {SECRET} {after}"
    for problem in (
        RuntimeError(text), KeyError(text), ExceptionGroup(text, [ValueError(text)]),
        FileNotFoundError(2, "No such file", str(place)), ToolError(SECRET),
    ):  # fmt: skip
        said = observation.fit(observation.failed("probe", problem), limit)
        check(said, limit)
        assert "freya-secret-folder" not in said
        assert f"{Path.home()}/" not in said


def test_a_secret_is_found_in_a_huge_text_that_is_cut() -> None:
    text = ("x" * 1_000 + f" {SECRET} ") * 2_000
    told = observation.result("probe", text, 3_000).text
    check(told, 3_000)
    assert told.count("[redacted]") >= 2
    assert "characters left out" in told
