"""The current time, in the words in which the model reads it. (chapter 3.3)"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Literal

Granularity = Literal["second", "minute", "hour", "day"]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FORMATS: dict[Granularity, str] = {
    "second": "%Y-%m-%d %H:%M:%S",
    "minute": "%Y-%m-%d %H:%M",
    "hour": "%Y-%m-%d %H:00",
    "day": "%Y-%m-%d",
}
"""The coarser, the longer two prompts stay the same, and the longer a provider's cache holds."""


class Clock:
    """Tells the time in a zone, and once more in the same words while the minute is the same."""

    def __init__(self, zone: tzinfo, granularity: Granularity = "minute") -> None:
        self._zone = zone
        self._granularity = granularity
        self._step = 1 if granularity == "second" else 60
        self._last: tuple[float | None, str] = (None, "")

    def tell(self, moment: datetime) -> str:
        """The text for an aware moment, whatever its own zone is."""
        # counted from 1970, not by the hands: when the clocks go back, 2:30 comes twice
        step = moment.timestamp() // self._step
        last, text = self._last
        if step != last:
            text = time_text(moment.astimezone(self._zone), self._granularity)
            self._last = step, text
        return text


def time_text(moment: datetime, granularity: Granularity = "minute") -> str:
    """An aware moment with its weekday, its zone and the distance from UTC.

    >>> from zoneinfo import ZoneInfo
    >>> time_text(datetime(2026, 11, 30, 17, 45, tzinfo=ZoneInfo("Asia/Kolkata")))
    '2026-11-30 17:45 (Monday, Asia/Kolkata, UTC+5:30)'
    """
    offset = utc_offset(moment)
    zone = str(moment.tzinfo)  # the name of a ZoneInfo, "UTC+05:30" of a bare offset
    place = offset if zone.startswith("UTC") else f"{zone}, {offset}"
    return f"{moment.strftime(FORMATS[granularity])} ({WEEKDAYS[moment.weekday()]}, {place})"


def utc_offset(moment: datetime) -> str:
    """The distance from UTC in hours, and minutes where there are some; west is minus.

    >>> from datetime import timedelta, timezone
    >>> utc_offset(datetime(2026, 1, 1, tzinfo=timezone(-timedelta(hours=3, minutes=30))))
    'UTC-3:30'
    """
    offset = moment.utcoffset()
    if offset is None:
        raise ValueError("the time has no zone: use datetime.now(zone)")
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    if not minutes:
        return "UTC"
    return f"UTC{'-' if minutes < 0 else '+'}{hours}{f':{rest:02}' if rest else ''}"
