"""One file, one exchange: read as it lies there, played as it was."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.errors import ConfigError
from freya_teach.lab.recording import Recording, canonical, load_recording
from freya_teach.paths import course_folder
from tests.lab.exchanges import exchange, written

FIXTURES = course_folder("fixtures")
FILES = sorted(FIXTURES.rglob("*.json"))


def played(body: Any, status: int = 200) -> Recording:
    """Make a recording of this answer."""
    made = exchange(None, body)
    made["response"]["status"] = status
    return Recording(
        Path("01.json"), made["request"], made["response"], made["provenance"], "openai", "m"
    )


# ---- playing -------------------------------------------------------------------------------


async def test_an_answer_of_json_comes_back_as_it_was() -> None:
    recording = played({"text": "北京 °C", "n": [1, None]}, status=400)
    response = recording.answer()
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/json"
    assert json.loads(await response.aread()) == {"text": "北京 °C", "n": [1, None]}


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
async def test_a_stream_comes_back_in_one_piece_per_event(end: str) -> None:
    text = f"data: 北京{end}: a comment{end}data: [DONE]{end}"
    pieces = [piece async for piece in played(text).answer().aiter_raw()]
    assert pieces == [
        f"data: 北京{end}".encode(),
        f": a comment{end}".encode(),
        f"data: [DONE]{end}".encode(),
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["data: x", "\n", "\r\n", "\r", "北", ""])).map("".join))
async def test_a_stream_is_never_repaired_on_the_way(text: str) -> None:
    """One that broke off in the middle of an event must break off there again."""
    assert b"".join([piece async for piece in played(text).answer().aiter_raw()]) == text.encode()


async def test_an_answer_can_be_had_again_and_again() -> None:
    recording = played("data: x\n\n")
    assert [await recording.answer().aread() for _ in range(2)] == [b"data: x\n\n"] * 2


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": None}, {}, False),
        (None, {}, False),
    ],
)
def test_bodies_are_equal_as_json_and_not_as_python(one: Any, other: Any, *, same: bool) -> None:
    assert (canonical("POST", "u", one) == canonical("POST", "u", other)) is same


# ---- reading -------------------------------------------------------------------------------


def test_a_recording_is_read_whole(tmp_path: Path) -> None:
    (path,) = written(tmp_path, exchange({"q": 1}, {"a": 2}))
    recording = load_recording(path)
    assert (recording.provider, recording.model) == ("openai", "m")
    assert (recording.request["body"], recording.response["body"]) == ({"q": 1}, {"a": 2})


def without(*keys: str) -> dict[str, Any]:
    """Make an exchange that lacks something."""
    made = exchange({}, {})
    inner = made
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return made


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be read"),
        (b'{"id": ', "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"[]", "has no 'request.method'"),
        (b'"text"', "has no 'request.method'"),
        (json.dumps(without("provider")).encode(), "has no 'provider'"),
        (json.dumps(without("request")).encode(), "has no 'request.method'"),
        (json.dumps(without("request", "url")).encode(), "has no 'request.url'"),
        (json.dumps(without("request", "body")).encode(), "has no 'request.body'"),
        (json.dumps(without("response", "status")).encode(), "has no 'response.status'"),
        (json.dumps(without("provenance", "kind")).encode(), "has no 'provenance.kind'"),
        (json.dumps({**exchange({}, {}), "request": []}).encode(), "has no 'request.method'"),
        (json.dumps({**exchange({}, {}), "response": None}).encode(), "has no 'response.status'"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_broken_file_is_named_together_with_what_is_wrong_with_it(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "07.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=f"the recording 07.json {said}"):
        load_recording(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the recording 07\.json cannot be read"):
        load_recording(tmp_path / "07.json")


# ---- the course's own files ----------------------------------------------------------------

# Put together from pieces, so that this file does not hold what it looks for.
KEY_LIKE = re.compile(
    r"sk" + r"-\w{16,}|AI" + r"za\w{20,}|\bAQ" + r"\.\w{10,}|Bear" + r"er |[?&]key="
)
KEY_HEADERS = {"authorization", "x-goog-api-key", "api-key", "cookie", "set-cookie"}


def of_course(path: Path) -> str:
    """Name a file in a test's id."""
    return path.relative_to(FIXTURES).as_posix()


def test_there_are_recordings() -> None:
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=of_course)
def test_a_recording_of_the_course_says_truly_where_it_comes_from(path: Path) -> None:
    provenance = load_recording(path).provenance
    assert provenance["kind"] in {"recorded", "authored"}
    if provenance["kind"] == "recorded":
        assert all(provenance[field] for field in ("server", "model", "date", "command"))
    else:
        documents = provenance["written_from"]
        assert isinstance(documents, list)
        assert documents
        assert all(isinstance(document, str) and len(document) > 10 for document in documents)
        assert "recorded" not in json.dumps(provenance).replace("not recorded", "")


@pytest.mark.parametrize("path", FILES, ids=of_course)
def test_a_recording_of_the_course_holds_no_key(path: Path) -> None:
    recording = load_recording(path)
    assert KEY_LIKE.findall(path.read_text(encoding="utf-8")) == []
    headers = {
        name.lower() for part in (recording.request, recording.response) for name in part["headers"]
    }
    assert headers & KEY_HEADERS == set()


@pytest.mark.parametrize("path", FILES, ids=of_course)
def test_a_recording_of_the_course_is_named_by_its_place_and_can_be_played(path: Path) -> None:
    section, scenario, name = path.relative_to(FIXTURES).parts
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["id"] == f"{section}-{scenario}-{name.removesuffix('.json')}"
    recording = load_recording(path)
    headers = {name.lower(): value for name, value in recording.response["headers"].items()}
    assert {"content-encoding", "content-length", "transfer-encoding"} & set(headers) == set()
    streamed = isinstance(recording.response["body"], str)
    assert headers["content-type"].split(";")[0] == (
        "text/event-stream" if streamed else "application/json"
    )
