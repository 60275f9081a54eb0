"""The time is told in the user's zone, whatever the zone and the season."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.prompt.clock import Clock, Granularity, time_text, utc_offset

BEFORE, AFTER = datetime(2026, 3, 28, 12, 0, tzinfo=UTC), datetime(2026, 3, 29, 12, 0, tzinfo=UTC)
"""Noon of the day before, and of the day of, Europe's change to summer time."""


@pytest.mark.parametrize(
    ("zone", "before", "after"),
    [
        ("Europe/Oslo", "13:00 Saturday UTC+1", "14:00 Sunday UTC+2"),
        ("Europe/London", "12:00 Saturday UTC", "13:00 Sunday UTC+1"),
        ("Asia/Kolkata", "17:30 Saturday UTC+5:30", "17:30 Sunday UTC+5:30"),
        ("Asia/Kathmandu", "17:45 Saturday UTC+5:45", "17:45 Sunday UTC+5:45"),
        ("Asia/Shanghai", "20:00 Saturday UTC+8", "20:00 Sunday UTC+8"),
        ("America/New_York", "08:00 Saturday UTC-4", "08:00 Sunday UTC-4"),
        ("America/St_Johns", "09:30 Saturday UTC-2:30", "09:30 Sunday UTC-2:30"),
        ("Pacific/Marquesas", "02:30 Saturday UTC-9:30", "02:30 Sunday UTC-9:30"),
        ("Pacific/Kiritimati", "02:00 Sunday UTC+14", "02:00 Monday UTC+14"),
        ("Australia/Lord_Howe", "23:00 Saturday UTC+11", "23:00 Sunday UTC+11"),
        ("Pacific/Pago_Pago", "01:00 Saturday UTC-11", "01:00 Sunday UTC-11"),
    ],
)
def test_ten_zones_across_a_change_of_the_clocks(zone: str, before: str, after: str) -> None:
    for moment, expected in ((BEFORE, before), (AFTER, after)):
        time, weekday, offset = expected.split()
        told = time_text(moment.astimezone(ZoneInfo(zone))).partition(" ")[2]
        assert told == f"{time} ({weekday}, {zone}, {offset})"


@pytest.mark.parametrize(
    ("granularity", "expected"),
    [
        ("second", "2026-11-30 17:45:09 (Monday, UTC)"),
        ("minute", "2026-11-30 17:45 (Monday, UTC)"),
        ("hour", "2026-11-30 17:00 (Monday, UTC)"),
        ("day", "2026-11-30 (Monday, UTC)"),
    ],
)
def test_the_time_is_told_as_exactly_as_is_asked(granularity: Granularity, expected: str) -> None:
    assert time_text(datetime(2026, 11, 30, 17, 45, 9, tzinfo=UTC), granularity) == expected


@given(st.integers(-24 * 60 + 1, 24 * 60 - 1))
def test_an_offset_can_be_read_back(minutes: int) -> None:
    moment = datetime(2026, 1, 1, tzinfo=timezone(timedelta(minutes=minutes)))
    text = utc_offset(moment).removeprefix("UTC")
    sign = -1 if text.startswith("-") else 1
    hours, _, rest = text.lstrip("+-").partition(":")
    assert sign * (int(hours or 0) * 60 + int(rest or 0)) == minutes


@pytest.mark.parametrize("granularity", ["second", "minute", "hour", "day"])
@pytest.mark.parametrize("zone", ["Europe/Oslo", "Asia/Kolkata", "Australia/Lord_Howe"])
def test_a_clock_says_at_each_moment_what_the_time_is(granularity: Granularity, zone: str) -> None:
    """Through both changes of the clocks, in steps that meet each hour that comes twice."""
    clock = Clock(ZoneInfo(zone), granularity)
    for start in (datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)):
        for step in range(4 * 24 * 4):
            moment = start + timedelta(minutes=15, seconds=7) * step
            there = moment.astimezone(ZoneInfo(zone))
            assert clock.tell(moment) == clock.tell(there) == time_text(there, granularity)


def test_a_clock_tells_both_of_the_two_half_past_twos() -> None:
    first, second = (datetime(2026, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1))
    clock = Clock(ZoneInfo("Europe/Oslo"))
    assert clock.tell(first) == "2026-10-25 02:30 (Sunday, Europe/Oslo, UTC+2)"
    assert clock.tell(second) == "2026-10-25 02:30 (Sunday, Europe/Oslo, UTC+1)"


def test_a_clock_says_the_same_words_while_the_minute_is_the_same() -> None:
    clock, noon = Clock(UTC), datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert clock.tell(noon) is clock.tell(noon + timedelta(seconds=59))


def test_a_zone_that_is_only_an_offset_is_told_once() -> None:
    moment = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert time_text(moment) == "2026-01-01 00:00 (Thursday, UTC+5:30)"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        time_text(datetime(2026, 1, 1))  # noqa: DTZ001 - the mistake that this test is about
