"""Every listener hears every event, and none can disturb another."""

import logging
from collections.abc import Callable

import pytest

from freya_teach.events import Event, EventBus, TextDelta, TurnStarted


def test_listeners_hear_each_event_in_the_order_in_which_they_came() -> None:
    bus, heard = EventBus(), []
    bus.subscribe(lambda event: heard.append(("first", event)))
    bus.subscribe(lambda event: heard.append(("second", event)))
    bus.emit(TurnStarted(1))
    bus.emit(TextDelta("Hi"))
    assert heard == [
        ("first", TurnStarted(1)),
        ("second", TurnStarted(1)),
        ("first", TextDelta("Hi")),
        ("second", TextDelta("Hi")),
    ]


def test_a_listener_that_fails_is_logged_and_the_others_hear_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, heard = EventBus(), []

    def fail(event: Event) -> None:
        raise KeyError(event.name)

    bus.subscribe(fail)
    bus.subscribe(heard.append)
    with caplog.at_level(logging.ERROR, "freya_teach.events"):
        bus.emit(TurnStarted(1))
    assert heard == [TurnStarted(1)]
    assert [record.getMessage() for record in caplog.records] == [
        "a listener failed on turn:started"
    ]


def test_unsubscribing_ends_it_and_may_be_done_twice() -> None:
    bus, heard = EventBus(), []
    stop = bus.subscribe(heard.append)
    stop()
    stop()
    bus.emit(TurnStarted(1))
    assert heard == []


def test_a_listener_may_unsubscribe_or_subscribe_while_it_is_called() -> None:
    bus, heard = EventBus(), []
    stop: Callable[[], None]

    def once(event: Event) -> None:
        heard.append(("once", event.name))
        stop()
        bus.subscribe(lambda later: heard.append(("later", later.name)))

    stop = bus.subscribe(once)
    bus.subscribe(lambda event: heard.append(("always", event.name)))
    bus.emit(TurnStarted(1))
    bus.emit(TurnStarted(2))
    assert heard == [
        ("once", "turn:started"),
        ("always", "turn:started"),
        ("always", "turn:started"),
        ("later", "turn:started"),
    ]


def test_nobody_has_to_listen() -> None:
    EventBus().emit(TurnStarted(1))


def test_two_events_that_say_the_same_are_equal_wherever_they_happened() -> None:
    here, there = TextDelta("Hi", session="s1", run=1), TextDelta("Hi", session="s2", run=2)
    assert here == there == TextDelta("Hi")
    assert (here.session, here.run, there.run, TextDelta("Hi").run) == ("s1", 1, 2, 0)


def test_each_bus_counts_the_runs_that_are_told_on_it() -> None:
    bus = EventBus()
    assert [bus.new_run(), bus.new_run(), EventBus().new_run()] == [1, 2, 1]
