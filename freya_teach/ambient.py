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
from datetime import UTC, datetime, tzinfo


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
