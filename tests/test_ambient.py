"""What the kernel takes from the world is real unless something else is handed in."""

import asyncio
import time
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone

import pytest

from freya_teach import Ambient


def test_now_is_the_time_in_the_zone_asked_for() -> None:
    zone = timezone(timedelta(hours=8))
    before = datetime.now(UTC)
    now = Ambient().now(zone)
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(hours=8)


def test_the_monotonic_clock_is_pythons() -> None:
    before = time.monotonic()
    assert before <= Ambient().monotonic() <= time.monotonic()


def test_a_new_id_has_its_prefix_and_is_never_the_same() -> None:
    new_id = Ambient().new_id
    ids = {new_id("session") for _ in range(1_000)}
    assert len(ids) == 1_000
    assert all(id_.startswith("session_") and len(id_) == 20 for id_ in ids)


async def test_sleep_sleeps_on_the_event_loop() -> None:
    order: list[str] = []

    async def other() -> None:
        order.append("other")

    task = asyncio.ensure_future(other())
    await Ambient().sleep(0)
    order.append("slept")
    await task
    assert order == ["other", "slept"]


def test_random_is_between_zero_and_one() -> None:
    assert all(0 <= Ambient().random() < 1 for _ in range(100))


def test_an_address_is_resolved_to_itself() -> None:
    assert Ambient().resolve("127.0.0.1", 80) == ["127.0.0.1"]


def test_each_of_them_can_be_replaced_when_it_is_built_and_not_later() -> None:
    ambient = Ambient(monotonic=lambda: 7.0)
    assert ambient.monotonic() == 7.0
    with pytest.raises(FrozenInstanceError):
        ambient.monotonic = time.monotonic  # type: ignore[misc]
