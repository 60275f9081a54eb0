"""What the kernel takes from the world besides HTTP: time, chance, names, disks. (chapter 2.3)

Everything here has a real default. A lesson hands in a frozen clock and counted ids, which is
why its outputs are the same on every machine; the kernel itself has no test hook.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from freya_teach.errors import ConfigError


class LocalZone(tzinfo):
    """This machine's zone, asked anew for each moment: its offset changes with the season."""

    def fromutc(self, dt: datetime) -> datetime:
        """UTC → the time on this machine's clock."""
        here = dt.replace(tzinfo=UTC).astimezone()
        first = here.replace(tzinfo=None).astimezone()
        # on the night when the clocks go back an hour comes twice: is this the second one?
        return here.replace(tzinfo=self, fold=int(first.utcoffset() != here.utcoffset()))

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """How far this machine is from UTC at that moment."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, dt: datetime | None) -> None:
        """Not known: the machine tells the offset only."""

    def tzname(self, dt: datetime | None) -> str | None:
        """The machine's short name of its zone at that moment, such as CET."""
        return None if dt is None else dt.replace(tzinfo=None).astimezone().tzname()

    def __str__(self) -> str:
        return "local time"


def zone_of(name: str) -> tzinfo:
    """The time zone of this name; without one, this machine's. Raises `ConfigError`."""
    if not name:
        return LocalZone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(
            f"there is no time zone {name!r}: use a name such as Europe/Oslo or UTC. If the name "
            "is right, this system has no list of zones: pip install tzdata"
        ) from None


def _new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:12]}"


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


@dataclass(frozen=True, slots=True)
class Ambient:
    """The clock and its neighbours, each a plain function that can be replaced."""

    zone: tzinfo = UTC
    """The time zone in which `now` is shown to the model."""
    now: Callable[[tzinfo], datetime] = datetime.now
    """Zone → the current time in it."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds from some fixed point; only differences mean anything."""
    new_id: Callable[[str], str] = _new_id
    """Prefix → a new name such as `session_9f2c…`."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Seconds → returns after them."""
    random: Callable[[], float] = random.random
    """→ a number in [0, 1)."""
    resolve: Callable[[str, int], list[str]] = _resolve
    """Host and port → the addresses behind them."""
    fsync: Callable[[int], None] = os.fsync
    """File descriptor → returns when the disk has it."""
