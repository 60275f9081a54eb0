"""What a real server says becomes files: whole, unchanged, without a secret, and playable."""

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from freya_teach import paths
from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.lab.record import (
    Listening,
    RecordingRefused,
    as_file,
    check_replaceable,
    write_scenario,
)
from freya_teach.lab.record_secrets import find_secrets
from freya_teach.lab.recording import load_recording
from freya_teach.lab.replay import Scenario
from freya_teach.lab.scenarios import Stage, scenarios_of
from tests.hostile_server import Behaviour, Connection, answer, serving, whole
from tests.lab.exchanges import exchange, written

KEY = "a+key/with=signs-1234567890"
BODY = {"model": "m", "messages": [{"role": "user", "content": "北京 €"}]}
ANSWER = '{"id":"x-1","created":1764500000,"choices":[],"text":"北京 \\u20ac"}'.encode()


async def recorded(behave: Behaviour, *bodies: Any) -> Listening:
    """Ask a real server each of the bodies in turn, and return what was heard."""
    listening = Listening(httpx.AsyncHTTPTransport())
    async with serving(behave) as server, httpx.AsyncClient(transport=listening) as http:
        for body in bodies or (BODY,):
            headers = {"authorization": f"Bearer {KEY}", "cookie": "session=12345678"}
            await http.post(f"{server.url}/v1/chat/completions", json=body, headers=headers)
    return listening


def file_of(listening: Listening) -> dict[str, Any]:
    """The last exchange as a file."""
    return as_file(listening.exchanges[-1], "made-up", "openai", "m", {"server": "here"})


async def played(folder: Path, url: str) -> httpx.Response:
    """Ask the one recording of a folder what the server was asked."""
    async with Scenario("made-up", [load_recording(folder / "01.json")]).client() as http:
        return await http.post(url, json=BODY)


# ---- what is heard -------------------------------------------------------------------------


async def test_of_both_halves_only_what_a_reader_needs_is_kept() -> None:
    headers = ("content-type: application/json", "set-cookie: a=12345678", "server: theirs")
    heard = file_of(await recorded(answer(whole(ANSWER, "200 OK", *headers))))
    assert heard["request"]["headers"] == {"content-type": "application/json"}
    assert heard["request"]["body"] == BODY
    assert heard["response"]["headers"] == {"content-type": "application/json"}
    assert heard["response"]["body"]["created"] == 1764500000
    assert heard["provenance"] == {"kind": "recorded", "model": "m", "server": "here"}
    assert KEY not in json.dumps(heard)


STREAM = (
    'data: {"text":"北"}\r\n\r\n: ping\n\ndata: {"te'.encode(),
    'xt":"京"}\n\ndata: [DO'.encode(),
)


async def test_an_event_stream_is_kept_byte_for_byte_and_played_back_alike(tmp_path: Path) -> None:
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in STREAM)
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    heard = file_of(await recorded(answer(head, chunks[:20], chunks[20:], b"0\r\n\r\n")))
    assert heard["response"]["body"].encode() == b"".join(STREAM)
    write_scenario(tmp_path / "s", [heard], (KEY,))
    again = await played(tmp_path / "s", heard["request"]["url"])
    assert again.content == b"".join(STREAM)
    assert again.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("200 OK", ANSWER),
        ("400 Bad Request", b'{"error":{"code":400,"message":"no"}}'),
        ("503 Service Unavailable", b"<html>away</html>"),
        ("200 OK", b'"a bare text"'),
        ("200 OK", b'{"cost": NaN}'),
        ("200 OK", b'{"half": "\\ud83d"}'),
        ("204 No Content", b""),
    ],
)
async def test_what_was_recorded_answers_the_same_again(
    status: str, body: bytes, tmp_path: Path
) -> None:
    heard = file_of(await recorded(answer(whole(body, status))))
    write_scenario(tmp_path / "s", [heard], (KEY,))
    again = await played(tmp_path / "s", heard["request"]["url"])
    assert again.status_code == int(status[:3])
    if isinstance(heard["response"]["body"], dict):
        assert again.json() == json.loads(body)
    else:
        assert again.content == body


async def test_a_packed_answer_is_kept_unpacked() -> None:
    packed = whole(gzip.compress(ANSWER), "200 OK", "content-encoding: gzip")
    heard = file_of(await recorded(answer(packed)))
    assert heard["response"]["body"] == json.loads(ANSWER)
    assert "content-encoding" not in heard["response"]["headers"]


async def test_an_answer_that_no_text_file_can_hold_is_refused() -> None:
    with pytest.raises(RecordingRefused, match="not UTF-8"):
        await recorded(answer(whole(b"\xff\xfe")))


async def test_a_connection_that_the_server_closed_meanwhile_is_opened_once_more() -> None:
    served = set()

    async def behave(connection: Connection) -> None:
        if connection.writer in served:
            connection.writer.close()
        else:
            served.add(connection.writer)
            await connection.send(whole(ANSWER))

    assert len((await recorded(behave, BODY, BODY)).exchanges) == 2
    assert len(served) == 2


async def test_a_server_that_never_answers_is_not_asked_twice() -> None:
    asked = []

    async def behave(connection: Connection) -> None:
        asked.append(connection)
        connection.writer.close()

    with pytest.raises(httpx.RemoteProtocolError):
        await recorded(behave)
    assert len(asked) == 1


# ---- secrets -------------------------------------------------------------------------------

SHAPED = {
    "OpenAI's": "sk-" + "proj-" + "Ab3_" * 8,
    "Anthropic's": "sk-" + "ant-api03-" + "Ab3-" * 8,
    "Google's": "AIza" + "Sy0123456789" * 3,
    "Google's new": "AQ." + "Ab8R" * 8,
    "GitHub's": "ghp_" + "0a1B" * 9,
    "Hugging Face's": "hf_" + "AbCd" * 8,
    "AWS's": "AKIA" + "ABCD0123" * 2,
    "a JWT": "eyJ" + "hbGciOiJI" + ".eyJ" + "zdWIiOiIx" + ".c2ln",
    "a private key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "a bearer": "Authorization: " + "Bearer " + "0123456789abcdef",
    "a login": "basic " + base64.b64encode(b"mia:secret-word").decode(),
    "a cookie": "Set-Cookie: " + "sid=abcdef012345; Path=/",
    "an address": "https://mia:" + "word@host.invalid/",
    "a parameter": "https://host.invalid/v1?key=" + "0123456789",
}


@pytest.mark.parametrize("secret", SHAPED.values(), ids=SHAPED)
def test_what_is_shaped_like_a_secret_is_found_and_not_quoted(secret: str) -> None:
    found = find_secrets({"response": {"body": {"texts": ["fine", f"it is {secret}, he said"]}}})
    assert found
    assert found[0].startswith("response.body.texts[1]: ")
    assert secret not in str(found)


def forms() -> Iterator[str]:
    """Ways in which a server might write our key down."""
    yield KEY
    yield quote(KEY)
    yield quote(KEY, safe="")
    yield json.dumps({"a": KEY})
    yield KEY.replace("/", "\\/")
    for before in ("", "a", "ab", "user:", "Bearer "):
        yield base64.b64encode(f"{before}{KEY} and more".encode()).decode()
        yield base64.urlsafe_b64encode(f"{before}{KEY}".encode()).decode()


@pytest.mark.parametrize("form", list(forms()))
def test_the_key_in_use_is_found_however_it_is_written(form: str) -> None:
    assert find_secrets({"id": f"<{form}>"}, (KEY,)) == ["id: the key in use"]
    assert find_secrets({"id": f"<{form}>"}, ("another-key-0123456",)) == []


def test_the_name_of_a_field_can_be_a_secret_or_announce_one() -> None:
    assert find_secrets({"a": {KEY: 1}}, (KEY,)) == ["a field's name in a: the key in use"]
    assert find_secrets([{"X-Api-Key": "short"}]) == ["[0].X-Api-Key: a field that holds secrets"]


@pytest.mark.parametrize(
    "text",
    [
        "EMPTY keys are accepted",
        "The task-management-system-for-everyone is at https://host.invalid/v1?keyword=something",
        "Send it as a Bearer token in the Authorization header.",
        "basic understanding of cookies, and a risk-assessment-of-everything",
        "chatcmpl-PFoeqhvVEw2HHrRwg3ozmplUySOt7y8V",
    ],
)
def test_ordinary_words_are_no_secret(text: str) -> None:
    assert find_secrets({"text": text}, ("EMPTY", "")) == []


def test_no_recording_of_the_course_holds_a_secret() -> None:
    files = sorted(paths.course_folder("fixtures").rglob("*.json"))
    assert files
    assert {f.name: s for f in files if (s := find_secrets(json.loads(f.read_text("utf-8"))))} == {}


# ---- files ---------------------------------------------------------------------------------


def made(text: str, kind: str = "recorded") -> dict[str, Any]:
    """A file's content."""
    return exchange({"ask": text}, {"text": text}, provenance={"kind": kind})


def texts(folder: Path) -> list[str]:
    """What stands in the files of a folder, in order."""
    return [load_recording(p).response["body"]["text"] for p in sorted(folder.glob("*.json"))]


def test_the_files_of_a_scenario_are_numbered_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_scenario(tmp_path / "1.1" / "s", [made("a"), made("b")], ())
    assert texts(tmp_path / "1.1" / "s") == ["a", "b"]
    assert [path.name for path in (tmp_path / "1.1").iterdir()] == ["s"]


def test_recorded_files_are_replaced_only_on_demand_and_then_all_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    write_scenario(folder, [made("a"), made("b")], ())
    (folder / "NOTES.md").write_text("kept", encoding="utf-8")
    with pytest.raises(RecordingRefused, match="--overwrite replaces it"):
        write_scenario(folder, [made("c")], ())
    assert texts(folder) == ["a", "b"]
    write_scenario(folder, [made("c")], (), overwrite=True)
    assert texts(folder) == ["c"]
    assert (folder / "NOTES.md").read_text(encoding="utf-8") == "kept"


def test_what_was_written_by_hand_is_never_replaced(tmp_path: Path) -> None:
    written(tmp_path / "s", made("a"), made("b", "authored"))
    with pytest.raises(RecordingRefused, match=r"written by hand \(02\.json\)"):
        check_replaceable(tmp_path / "s", overwrite=True)


def test_a_secret_in_one_file_keeps_all_of_them_from_being_written(tmp_path: Path) -> None:
    write_scenario(tmp_path / "s", [made("old")], ())
    with pytest.raises(RecordingRefused) as refused:
        write_scenario(tmp_path / "s", [made("fine"), made(KEY)], (KEY,), overwrite=True)
    assert "02.json: response.body.text: the key in use" in str(refused.value)
    assert KEY not in str(refused.value)
    assert texts(tmp_path / "s") == ["old"]


def test_a_file_that_cannot_be_written_leaves_the_old_ones(tmp_path: Path) -> None:
    write_scenario(tmp_path / "s", [made("old")], ())
    broken = made("new") | {"id": object()}
    with pytest.raises(TypeError):
        write_scenario(tmp_path / "s", [made("new"), broken], (), overwrite=True)
    assert texts(tmp_path / "s") == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_scenario_that_asked_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingRefused, match="nothing was asked"):
        write_scenario(tmp_path / "s", [], ())
    assert not (tmp_path / "s").exists()


def test_half_a_character_in_a_request_can_be_written(tmp_path: Path) -> None:
    write_scenario(tmp_path / "s", [made("\ud83d")], ())
    assert texts(tmp_path / "s") == ["\ud83d"]


# ---- the course's own scenarios ------------------------------------------------------------

SECTIONS = ("1.1", "2.1", "2.2")
ALL = [(section, name) for section in SECTIONS for name in scenarios_of(section)]


@pytest.mark.parametrize(("section", "name"), ALL, ids=lambda value: value)
async def test_a_scenario_still_asks_what_was_recorded(section: str, name: str) -> None:
    scenario = Scenario.load(section, name)
    first = scenario.recordings[0]
    assert {r.provenance["kind"] for r in scenario.recordings} == {"recorded"}
    base_url = first.request["url"].partition("/v1")[0]
    async with scenario.client() as http:
        settings = Settings(provider="openai", model=first.model, base_url=base_url)
        await scenarios_of(section)[name](Stage(settings, http))
    assert scenario.unused == []


def test_a_section_without_scenarios_is_told_which_ones_have_some() -> None:
    with pytest.raises(ConfigError, match=r"'9\.9' has no scenarios to record; there are: 1\.1, "):
        scenarios_of("9.9")
