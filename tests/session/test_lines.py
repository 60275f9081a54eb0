"""One record per line: round trip, torn ends, damage."""

import json
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.errors import SessionDamaged, SessionError
from freya_teach.llm.messages import Message, assistant, system, user
from freya_teach.session.lines import line_of, records_in
from freya_teach.session.models import Beginning, Record, State
from tests.strategies import valid_histories

PATH = Path("journal.jsonl")
TIME = "2026-11-30T12:00:00+00:00"
STATES = st.none() | st.builds(State, st.text(), st.text(), st.tuples(st.text()), st.text())


@given(valid_histories(), STATES)
@settings(max_examples=50)
def test_what_is_written_is_read_halves_of_surrogate_pairs_too(
    history: list[Message], state: State | None
) -> None:
    pair = user("\ud83d\ude00 \ude00\ud83d")
    data = line_of(Record(TIME, state=state)) + line_of(Record(TIME, (*history, pair)))
    reading = records_in(data, PATH)
    assert reading.contents.messages == [*history, pair]
    assert reading.contents.state == (state or State())
    assert (reading.size, reading.torn, reading.damage) == (len(data), 0, None)


def test_a_new_beginning_is_taken_into_account_when_it_is_read() -> None:
    new = Beginning(2, (system("so far"), 2))
    old = (user("0"), assistant("1"), user("2"), assistant("3"))
    records = [Record(TIME, old), Record(TIME, beginning=new), Record(TIME, (user("4"),))]
    contents = records_in(b"".join(map(line_of, records)), PATH).contents
    assert [message.text for message in contents.messages] == ["so far", "2", "3", "4"]
    assert (contents.first, contents.revision) == (1, 1)


def test_each_line_is_json_that_other_programs_read() -> None:
    line = json.loads(line_of(Record(TIME, (user("北京"),))))
    assert line["record"]["messages"][0]["parts"] == [{"type": "text", "text": "北京"}]


def test_a_last_line_that_was_cut_off_at_any_byte_is_told_from_damage() -> None:
    first = line_of(Record(TIME, (user("one"),)))
    last = line_of(Record(TIME, (user("zwei 二"),)))
    for cut in range(len(last)):
        reading = records_in(first + last[:cut], PATH)
        assert (reading.size, reading.torn, reading.damage) == (len(first), cut, None)
        assert reading.contents.messages == [user("one")]


@given(st.data())
def test_any_other_byte_that_has_changed_is_damage_of_its_line(data: st.DataObject) -> None:
    lines = [line_of(Record(TIME, (user(f"number {n}"),))) for n in range(3)]
    number = data.draw(st.integers(0, 2))
    place = data.draw(st.integers(0, len(lines[number]) - 2))  # not the end of the line
    wrong = data.draw(st.integers(0, 255).filter(lambda b: b not in (lines[number][place], 10)))
    changed = bytearray(lines[number])
    changed[place] = wrong
    reading = records_in(b"".join([*lines[:number], changed, *lines[number + 1 :]]), PATH)
    assert isinstance(reading.damage, SessionDamaged)
    assert (reading.damage.file, reading.damage.line) == (str(PATH), number + 1)
    assert reading.size == sum(map(len, lines[:number]))
    assert len(reading.contents.messages) == number


@pytest.mark.parametrize("content", [b"", b"torn", b"\n", b"\x00\n", b"[]\n"])
def test_a_journal_without_a_first_line_is_damaged(content: bytes) -> None:
    damage = records_in(content, PATH).damage
    assert damage is not None
    assert f"{PATH}, line 1, is damaged: " in str(damage)


def test_a_record_that_does_not_fit_to_those_before_is_damage() -> None:
    data = line_of(Record(TIME, (user("0"),))) + line_of(Record(TIME, beginning=Beginning(7, ())))
    damage = records_in(data, PATH).damage
    assert "line 2, is damaged: there is no message number 7" in str(damage)


def test_a_newer_format_is_no_damage() -> None:
    body = json.dumps({"v": 2, "time": TIME}).encode()
    line = b'{"crc":"%08x","record":%b}\n' % (crc32(body), body)
    with pytest.raises(SessionError, match=r"line 1: written in format 2, .* up to 1. Update it"):
        records_in(line, PATH)
