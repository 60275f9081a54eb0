"""What the kernel takes from the world is real unless something else is handed in."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone

import pytest

from freya_teach import Ambient
from freya_teach.ambient import LocalZone, zone_of
from freya_teach.errors import ConfigError


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


# ---- the zone -------------------------------------------------------------------------------


@pytest.fixture
def oslo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that stands in Norway."""
    if not hasattr(time, "tzset"):
        pytest.skip("Windows takes its zone from the system, not from TZ")
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("oslo")
def test_the_machines_zone_is_asked_anew_when_the_clocks_change() -> None:
    """A program that runs through the night of the change does not stay in its first offset."""
    zone = zone_of("")
    told = [
        datetime(2026, 10, 24 + day, hour, 30, tzinfo=UTC).astimezone(zone)
        for day, hour in ((0, 12), (1, 0), (1, 1), (1, 12))
    ]
    assert [f"{moment:%H:%M %Z %z}" for moment in told] == [
        "14:30 CEST +0200",
        "02:30 CEST +0200",
        "02:30 CET +0100",
        "13:30 CET +0100",
    ]
    assert [moment.timestamp() for moment in told] == sorted(moment.timestamp() for moment in told)
    assert str(zone) == "local time"


def test_the_machines_zone_agrees_with_python_about_now() -> None:
    before = datetime.now(UTC)
    now = Ambient(zone=LocalZone()).now(LocalZone())
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == now.astimezone().utcoffset()
    assert LocalZone().utcoffset(None) is None


def test_a_zone_has_a_name_of_the_list_of_zones() -> None:
    assert str(zone_of("Europe/Oslo")) == "Europe/Oslo"
    with pytest.raises(ConfigError, match="use a name such as Europe/Oslo or UTC"):
        zone_of("Oslo")
