"""The request log: whole, private, and without the key wherever it may stand."""

import json
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.ambient import Ambient
from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import user
from freya_teach.llm.protocol import ModelRequest, Route, WireRequest
from freya_teach.llm.redaction import REDACTED
from freya_teach.llm.request_log import RequestLog, read_log
from tests.strategies import ANY_TEXT

KEY = "not-a-real-key-8472"
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
FILE = "llm-2026-11-30.jsonl"
ADAPTERS = pytest.mark.parametrize(
    "adapter", [openai.ADAPTER, gemini.ADAPTER], ids=lambda a: a.name
)
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files and modes")


def request(text: str = "Hi", adapter: Any = openai.ADAPTER, key: str = KEY) -> WireRequest:
    route = Route(adapter.name, "some-model", "https://api.example", key)
    return adapter.build_request(
        ModelRequest((user(text),), stream=True, max_output_tokens=8), route
    )


def at(moment: datetime, **more: Any) -> Ambient:
    """A world whose clock stands still."""
    return Ambient(now=moment.astimezone, **more)


@dataclass
class Hands:
    """A clock that a test moves."""

    moment: datetime

    def now(self, zone: tzinfo) -> datetime:
        return self.moment.astimezone(zone)


def log_in(folder: Path, **more: Any) -> RequestLog:
    return RequestLog(folder, at(NOON), **more)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


# ---- two lines ------------------------------------------------------------------------------


@ADAPTERS
def test_request_and_reply_are_two_lines_under_one_id_and_hold_everything_but_the_key(
    adapter: Any, tmp_path: Path
) -> None:
    wire = request("Hello, 北京", adapter)
    log_in(tmp_path).request(wire).reply(200, b'{"choices": "\xff"}', 1.5, "an error")
    first, second = lines_of(tmp_path / FILE)
    assert first.keys() == {"time", "id", "request"}
    assert first["time"] == second["time"] == "2026-11-30T12:00:00+00:00"
    assert first["id"] == second["id"]
    assert first["request"]["method"] == "POST"
    assert first["request"]["url"] == wire.url
    assert first["request"]["headers"].keys() == wire.headers.keys()
    assert REDACTED in first["request"]["headers"].values()
    assert first["request"]["body"] == json.loads(wire.body)
    assert second["reply"] == {
        "status": 200,
        "body": '{"choices": "\ufffd"}',
        "seconds": 1.5,
        "error": "an error",
    }
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert KEY not in text
    assert "北京" in text


def test_the_request_is_on_disk_before_there_is_a_reply(tmp_path: Path) -> None:
    log_in(tmp_path).request(request())
    (exchange,) = read_log(tmp_path / FILE)
    assert exchange["request"]["body"]["messages"] == [{"role": "user", "content": "Hi"}]
    assert exchange["reply"] is None


def test_a_program_that_dies_while_it_waits_leaves_its_request(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from freya_teach.ambient import Ambient\n"
        "from freya_teach.llm.protocol import WireRequest\n"
        "from freya_teach.llm.request_log import RequestLog\n"
        "log = RequestLog(Path(sys.argv[1]), Ambient())\n"
        "log.request(WireRequest('https://a.example', {}, b'{\"q\": 1}'))\n"
        "os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    (path,) = tmp_path.iterdir()
    (exchange,) = read_log(path)
    assert (exchange["request"]["body"], exchange["reply"]) == ({"q": 1}, None)


def test_replies_find_their_requests_whatever_order_they_come_in(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    asked = [log.request(request(f"question {number}")) for number in range(3)]
    for number in (2, 0, 1):
        asked[number].reply(200, f"answer {number}".encode(), 0.0)
    read = list(read_log(tmp_path / FILE))
    assert [each["request"]["body"]["messages"][0]["content"][-1] for each in read] == list("012")
    assert [each["reply"]["body"] for each in read] == ["answer 0", "answer 1", "answer 2"]


@given(text=ANY_TEXT, body=st.binary(max_size=30))
def test_any_text_and_any_bytes_can_be_read_back(
    text: str, body: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / FILE).unlink(missing_ok=True)
    wire = request(text)
    log_in(folder).request(wire).reply(200, body, 0.0)
    (exchange,) = read_log(folder / FILE)
    assert exchange["request"]["body"] == json.loads(wire.body)
    assert exchange["reply"]["body"] == body.decode("utf-8", "replace")


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_what_unicode_calls_a_line_end_does_not_cut_a_line(mark: str, tmp_path: Path) -> None:
    log_in(tmp_path).request(request(f"a{mark}b")).reply(200, f"c{mark}d".encode(), 0.0)
    (exchange,) = read_log(tmp_path / FILE)
    assert exchange["reply"]["body"] == f"c{mark}d"


# ---- no key ---------------------------------------------------------------------------------


@ADAPTERS
def test_a_key_that_is_quoted_anywhere_is_taken_out(adapter: Any, tmp_path: Path) -> None:
    wire = request(f"my key is {KEY}", adapter)
    body = f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}'.encode()
    log_in(tmp_path).request(wire).reply(401, body, 0.1, f"refused: {KEY}")
    assert KEY not in (tmp_path / FILE).read_text(encoding="utf-8")
    (exchange,) = read_log(tmp_path / FILE)
    assert exchange["reply"]["body"] == body.decode().replace(KEY, REDACTED)
    assert exchange["reply"]["error"] == f"refused: {REDACTED}"


@pytest.mark.parametrize(
    ("url", "logged"),
    [
        ("https://a.example/v1?key=abc&alt=sse", "https://a.example/v1?key=[redacted]&alt=sse"),
        (
            "https://a.example/v1?alt=sse&API_KEY=abc",
            "https://a.example/v1?alt=sse&API_KEY=[redacted]",
        ),
        ("https://me:abc@a.example/v1", "https://[redacted]@a.example/v1"),
        ("https://a.example/v1?alt=sse", "https://a.example/v1?alt=sse"),
        ("https://a.example/people/@me", "https://a.example/people/@me"),
        (f"https://a.example/{KEY}/v1", "https://a.example/[redacted]/v1"),
    ],
)
def test_a_key_in_a_url_is_taken_out(url: str, logged: str, tmp_path: Path) -> None:
    log_in(tmp_path).request(WireRequest(url, {"api-key": KEY}, b"{}"))
    assert lines_of(tmp_path / FILE)[0]["request"]["url"] == logged


def test_a_password_of_the_address_is_not_told_by_an_error_either(tmp_path: Path) -> None:
    url = "https://me:not-a-password@a.example/v1"
    log_in(tmp_path).request(WireRequest(url, {}, b"{}")).reply(None, b"", 0.0, f"no answer: {url}")
    assert "not-a-password" not in (tmp_path / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("key", ["1", "null", "e", '"', "\\", "choices", "messages", REDACTED])
def test_a_line_stays_json_whatever_the_key_is(key: str, tmp_path: Path) -> None:
    log_in(tmp_path).request(request(key=key)).reply(None, b"1 null", 1.0)
    (exchange,) = read_log(tmp_path / FILE)
    assert exchange["reply"]["status"] is None
    assert exchange["reply"]["seconds"] == 1.0


def test_what_waits_for_its_reply_does_not_show_the_key(tmp_path: Path) -> None:
    assert KEY not in repr(log_in(tmp_path).request(request()))


# ---- which file -----------------------------------------------------------------------------


def test_each_day_has_a_file_by_the_clock_of_the_users_zone(tmp_path: Path) -> None:
    evening = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    for zone in ("America/New_York", "UTC", "Europe/Oslo"):
        RequestLog(tmp_path, at(evening, zone=ZoneInfo(zone))).request(request())
    counts = {path.name: len(lines_of(path)) for path in tmp_path.iterdir()}
    assert counts == {FILE: 2, "llm-2026-12-01.jsonl": 1}


def test_a_reply_after_midnight_stands_with_its_request(tmp_path: Path) -> None:
    hands = Hands(datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC))
    log = RequestLog(tmp_path, Ambient(now=hands.now))
    asked = log.request(request())
    hands.moment += timedelta(seconds=2)
    asked.reply(200, b"late", 2.0)
    (exchange,) = read_log(tmp_path / FILE)
    assert exchange["reply"]["body"] == "late"
    assert lines_of(tmp_path / FILE)[1]["time"].startswith("2026-12-01T00:00:01")


@posix_only
def test_folder_and_files_are_for_their_owner_only(tmp_path: Path) -> None:
    log_in(tmp_path / "new" / "log").request(request()).reply(200, b"", 0.0)
    folder = tmp_path / "new" / "log"
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((folder / FILE).stat().st_mode) & 0o077 == 0


def test_lines_are_added_to_what_another_program_has_written(tmp_path: Path) -> None:
    for number in range(3):
        log_in(tmp_path).request(request()).reply(200 + number, b"", 0.0)
    assert [each["reply"]["status"] for each in read_log(tmp_path / FILE)] == [200, 201, 202]


# ---- what cannot be written -----------------------------------------------------------------


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of 64 KiB; skips where this user may mount none."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder],  # noqa: S607 - root's own
        check=False,
        capture_output=True,
    )
    if done.returncode:
        pytest.skip("no small disk can be mounted here: that takes root on Linux")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)  # noqa: S607 - as above


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_a_disk_that_fills_up_is_told_once_and_what_was_written_stays_readable(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with small_disk(tmp_path / "disk") as disk, caplog.at_level(logging.WARNING):
        log = log_in(disk)
        for number in range(12):
            log.request(request("x" * 10_000)).reply(200, str(number).encode(), 0.0)
        assert caplog.text.count("No space left on device") == 1
        before = list(read_log(disk / FILE))
        assert 3 <= len(before) < 12
        with (disk / FILE).open("r+b") as file:  # somebody makes room, and leaves a torn line
            file.truncate(40_001)
        log.request(request("There is room again.")).reply(200, b"Yes.", 0.0)
        after = list(read_log(disk / FILE))
    assert after[-1]["reply"]["body"] == "Yes."
    assert after[:2] == before[:2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_full_disk_breaks_nothing_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).symlink_to("/dev/full")
    log = log_in(tmp_path)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            log.request(request()).reply(200, b"", 0.0)
    assert caplog.text.count("cannot be written: No space left on device") == 1


def test_a_folder_that_cannot_be_made_is_told_once_with_its_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    log = log_in(tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            log.request(request()).reply(200, b"", 0.0)
    (record,) = caplog.records
    assert str(tmp_path / "file" / FILE) in record.getMessage()
    assert "Runs go on" in record.getMessage()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_folder_that_may_not_be_written_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(0o500)
    with caplog.at_level(logging.WARNING):
        log_in(tmp_path).request(request()).reply(200, b"", 0.0)
    tmp_path.chmod(0o700)
    assert caplog.text.count("cannot be written: Permission denied") == 1


def test_without_a_limit_a_long_day_is_kept_whole(tmp_path: Path) -> None:
    log_in(tmp_path).request(request("x" * 3_000_000)).reply(200, b"y" * 3_000_000, 0.0)
    (exchange,) = read_log(tmp_path / FILE)
    assert len(exchange["reply"]["body"]) == 3_000_000


def test_a_limit_ends_the_days_file_at_a_whole_line_and_the_next_day_begins_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hands = Hands(NOON)
    log = RequestLog(tmp_path, Ambient(now=hands.now), max_bytes=4_096)
    with caplog.at_level(logging.WARNING):
        for _ in range(4):
            log.request(request("x" * 1_500)).reply(200, b"y", 0.0)
    assert (tmp_path / FILE).stat().st_size <= 4_096
    assert [each["reply"] is None for each in read_log(tmp_path / FILE)] == [False, False]
    assert caplog.text.count("has reached its limit of 4,096 bytes") == 1
    hands.moment += timedelta(days=1)
    log.request(request()).reply(200, b"y", 0.0)
    assert len(list(read_log(tmp_path / "llm-2026-12-01.jsonl"))) == 1


# ---- reading --------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 2, 30, 200])
def test_a_torn_last_line_costs_only_itself(cut: int, tmp_path: Path) -> None:
    log_in(tmp_path).request(request("first")).reply(200, b"1", 0.0)
    log_in(tmp_path).request(request("second"))
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:-cut])
    whole = cut == 1  # only the line's end is missing
    assert len(list(read_log(path))) == (2 if whole else 1)
    log_in(tmp_path).request(request("third")).reply(200, b"3", 0.0)
    said = [each["request"]["body"]["messages"][0]["content"] for each in read_log(path)]
    assert said == (["first", "second", "third"] if whole else ["first", "third"])


@pytest.mark.parametrize(
    "line",
    ["", "1", "null", "[]", "{}", '{"id": 1, "time": "t", "request": {}}', "\xff", '{"id": "a"'],
)
def test_a_line_that_is_no_entry_is_passed_over(line: str, tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_bytes(line.encode("latin-1") + b"\n")
    log_in(tmp_path).request(request()).reply(200, b"", 0.0)
    assert len(list(read_log(path))) == 1


def test_a_reply_whose_request_is_lost_is_still_told(tmp_path: Path) -> None:
    log_in(tmp_path).request(request()).reply(200, b"Hi", 0.0)
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    (exchange,) = read_log(path)
    assert (exchange["request"], exchange["reply"]["body"]) == ({}, "Hi")


def test_an_id_that_comes_again_is_another_exchange(tmp_path: Path) -> None:
    """A lesson counts its ids, so each of its runs begins with `exchange_1`."""
    for number in range(2):
        log = RequestLog(tmp_path, at(NOON, new_id=lambda prefix: f"{prefix}_1"))
        log.request(request(str(number))).reply(200, str(number).encode(), 0.0)
    assert [each["reply"]["body"] for each in read_log(tmp_path / FILE)] == ["0", "1"]
