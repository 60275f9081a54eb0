"""Where handlers of controls run."""

import asyncio
import threading

from freya_teach.lab.views.controls import at_home, somebody_can_click


async def test_a_handler_called_from_another_thread_runs_at_home() -> None:
    seen: list[tuple[str, int]] = []
    done = asyncio.Event()

    def handler(value: str) -> None:
        seen.append((value, threading.get_ident()))
        done.set()

    await asyncio.to_thread(at_home(handler), "a click")
    async with asyncio.timeout(20):
        await done.wait()
    assert seen == [("a click", threading.get_ident())]


async def test_a_handler_called_at_home_runs_at_once() -> None:
    seen: list[str] = []
    at_home(seen.append)("now")
    assert seen == ["now"]


def test_without_an_event_loop_the_handler_stays_as_it_is() -> None:
    assert at_home(print) is print


def test_in_a_plain_python_nobody_can_click() -> None:
    assert not somebody_can_click()
