"""Stopping what does not end, and leaving everything as it was found."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from freya_teach.lab.exercises import judge
from freya_teach.lab.exercises.watchdog import Interrupted, TimeIsUp, Watchdog
from tests.lab.exercises.exercises_for_tests import exercise


def loop() -> None:
    while True:
        pass


def swallow() -> None:
    while True:
        try:  # noqa: SIM105 - as a learner writes it
            loop()
        except BaseException:  # noqa: BLE001, S110 - that is the case
            pass


def end() -> str:
    return "done"


def fail() -> None:
    raise KeyError


def step_through(function: Any) -> None:
    try:
        Watchdog(0.05).run(function)
    except (TimeIsUp, KeyError):
        return


@pytest.mark.parametrize("function", [loop, swallow, end, fail])
def test_a_debuggers_trace_function_goes_on_where_it_was(function: Any) -> None:
    lines: list[str] = []

    def debugger(frame: FrameType, event: str, argument: Any) -> Any:  # noqa: ARG001 - as called
        lines.append(f"{frame.f_code.co_name}:{event}")
        return debugger

    before = sys.gettrace()
    sys.settrace(debugger)
    try:
        step_through(function)
        left = sys.gettrace()
        end()
    finally:
        sys.settrace(before)
    assert left is debugger
    assert "end:line" in lines
    assert f"{function.__name__}:line" not in lines or function is end


@pytest.mark.parametrize("function", [loop, swallow, end, fail])
def test_a_profile_function_and_the_stop_button_are_put_back(function: Any) -> None:
    def profiler(frame: FrameType, event: str, argument: Any) -> None:
        """Watch nothing."""

    button = signal.getsignal(signal.SIGINT)
    before = sys.getprofile()
    sys.setprofile(profiler)
    try:
        step_through(function)
        left = sys.getprofile()
    finally:
        sys.setprofile(before)
    assert left is profiler
    assert signal.getsignal(signal.SIGINT) == button


def test_in_another_thread_it_stops_too_and_touches_no_signal() -> None:
    stopped = []

    def watch() -> None:
        try:
            Watchdog(0.05).run(swallow)
        except TimeIsUp:
            stopped.append(True)

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join(timeout=30)
    assert stopped == [True]


@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C on Windows")
@pytest.mark.parametrize("function", [loop, swallow])
def test_the_users_stop_button_interrupts_at_once(function: Any) -> None:
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(Interrupted):
        Watchdog(60).run(function)
    timer.join()


@pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C on Windows")
async def test_the_users_stop_button_gets_through_a_check_and_even_a_sleep() -> None:
    import time  # noqa: PLC0415 - as a learner would

    for function in (lambda _: time.sleep(60), lambda _: swallow()):
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            await judge(exercise(seconds=60), function)
        timer.join()


COVERED = """
import asyncio
from freya_teach.lab.exercises import judge
from tests.lab.exercises.exercises_for_tests import exercise

def loop(call):
    while True:
        pass

def after():
    return "still counted"

print(asyncio.run(judge(exercise(seconds=0.2), loop)).state)
print(after())
"""


def test_a_coverage_tool_counts_on_and_does_not_complain(tmp_path: Path) -> None:
    script = tmp_path / "covered.py"
    script.write_text(COVERED, encoding="utf-8")
    root = Path(__file__).resolve().parents[3]
    environ = {**os.environ, "PYTHONPATH": str(root)}
    coverage = [sys.executable, "-m", "coverage"]
    report = []
    for step in (["run", f"--include={script}", str(script)], ["json", "-q", "-o", "-"]):
        done = subprocess.run(
            [*coverage, *step],
            check=False,
            cwd=tmp_path,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        report.append(done.stdout)
    assert report[0] == "stopped\nstill counted\n"
    (counted,) = json.loads(report[1])["files"].values()
    assert {11, 13, 14} <= set(counted["executed_lines"])


async def test_two_answers_at_once_do_not_stop_each_other() -> None:
    async def quick(call: dict[str, str]) -> str:
        for _ in range(3):
            await asyncio.sleep(0)
        return call["city"]

    async def waits(call: dict[str, str]) -> str:
        await asyncio.Event().wait()
        return call["city"]

    answers = ((quick, 60), (waits, 0.2), (quick, 60))
    judged = (judge(exercise(seconds=seconds), given) for given, seconds in answers)
    verdicts = await asyncio.gather(*judged)
    assert [verdict.state for verdict in verdicts] == ["passed", "stopped", "passed"]
