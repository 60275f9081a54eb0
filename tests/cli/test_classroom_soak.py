"""A whole class at once, on this machine: `make soak`. FREYA_CLASS is the number of students."""

import contextlib
import importlib
import importlib.util
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from freya_teach.cli.classroom import MEGABYTES_PER_STUDENT, PROXY
from freya_teach.lab.class_progress import collect
from tests.cli.class_of_students import SECONDS, Classroom, Student, classroom

STUDENTS = int(os.environ.get("FREYA_CLASS", "20"))
BATCH = 4
NOTEBOOK = "part2_tools/4.2_tool_call_raw_packet.ipynb"

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        importlib.util.find_spec("jupyterhub") is None, reason="needs the extra `hub`"
    ),
    pytest.mark.skipif(
        shutil.which(PROXY) is None, reason=f"needs {PROXY} on the PATH; npm installs it"
    ),
]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def at_work(room: Classroom, name: str, password: str) -> Iterator[Student]:
    """A student who has logged in and whose server is ready."""
    with Student(room.address, name, password) as student:
        assert student.log_in()
        student.start_server()
        yield student


def test_a_whole_class_runs_a_notebook_to_its_end_and_nobody_fails(tmp_path: Path) -> None:
    def work(name: str) -> list[str]:
        with at_work(room, name, room.logins[name]) as student:
            return student.run_notebook(NOTEBOOK)

    with classroom(tmp_path / "class", STUDENTS, free_port()) as room:
        students = [name for name in room.logins if name.startswith("student")]
        assert len(students) == STUDENTS
        with ThreadPoolExecutor(BATCH) as batch:
            wrong = [line for lines in batch.map(work, students) for line in lines]
        assert wrong == []
        if sys.platform == "linux":
            parts = room.megabytes_of_servers()
            each = [server + kernel for server, kernel in parts]
            kernels = statistics.median(kernel for _, kernel in parts)
            print(f"\n{len(each)} students ran {NOTEBOOK}; server and kernel of one (PSS):")
            print(f"  median {statistics.median(each):.0f} MB, most {max(each):.0f} MB,", end=" ")
            print(f"of which the kernel {kernels:.0f} MB; together {sum(each):.0f} MB")
            assert len(each) == STUDENTS
            assert statistics.median(each) <= MEGABYTES_PER_STUDENT * 1.25, "correct the constant"


def test_solutions_are_shut_for_every_student_by_the_line_that_was_printed_and_opened_again(
    tmp_path: Path,
) -> None:
    lab = 'from freya_teach.lab import lesson; lab = lesson("2.3")'
    with classroom(tmp_path / "class", 2, free_port()) as room:

        def instructor(what: str) -> None:
            (line,) = re.findall(rf"^  {what} them +(.+)$", room.said, re.MULTILINE)
            told = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
            subprocess.run(["/bin/sh", "-c", line], check=True, env={**os.environ, **told})

        for name in ("student01", "student02"):
            with at_work(room, name, room.logins[name]) as student:
                instructor("shut")
                _, shut = student.what_is_printed(NOTEBOOK, lab, 'lab.reveal("2.3-a")')
                instructor("open")
                _, opened = student.what_is_printed(NOTEBOOK, lab, 'lab.reveal("2.3-a")')
            assert "solutions are shut until" in shut
            assert "def " not in shut
            assert "def " in opened


def test_an_instructor_sees_in_the_homes_who_has_passed_what(tmp_path: Path) -> None:
    passes = 'from freya_teach.lab.progress import note_passed; note_passed("4.2-a")'
    with (
        classroom(tmp_path / "class", 2, free_port()) as room,
        at_work(room, "student02", room.logins["student02"]) as student,
    ):
        student.what_is_printed(NOTEBOOK, passes)
        (learner,) = collect(tmp_path / "class" / "homes").learners
    assert (learner.name, list(learner.passed)) == ("student02", ["4.2-a"])


def test_a_wrong_password_opens_nothing(tmp_path: Path) -> None:
    with classroom(tmp_path / "class", 2, free_port()) as room:
        for name, password in (
            ("student01", room.logins["student02"]),
            ("student99", room.logins["student01"]),
            ("student01", ""),
        ):
            with Student(room.address, name, password) as stranger:
                assert not stranger.log_in()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP], ids=["kill", "closed terminal"])
def test_when_the_command_ends_no_server_is_left(stop: signal.Signals, tmp_path: Path) -> None:
    psutil: Any = importlib.import_module("psutil")
    with classroom(tmp_path / "class", 1, free_port()) as room:
        with at_work(room, "student01", room.logins["student01"]):
            started = psutil.Process(room.process.pid).children(recursive=True)
            assert any("jupyterhub.singleuser" in process.cmdline() for process in started)
        room.process.send_signal(stop)
        room.process.communicate(timeout=SECONDS)
        _, left = psutil.wait_procs(started, timeout=SECONDS)
    assert left == []


def test_work_is_kept_over_a_restart_and_belongs_to_one_student(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    with classroom(folder, 2, free_port()) as room:
        first, second = room.logins["student01"], room.logins["student02"]
        with at_work(room, "student01", first) as one, at_work(room, "student02", second) as two:
            fresh = two.read(NOTEBOOK)
            notebook = one.read(NOTEBOOK)
            notebook["cells"][0]["source"] = "# My notes"
            one.write(NOTEBOOK, notebook)
            with pytest.raises(httpx.HTTPStatusError, match="403"):
                two.read(NOTEBOOK, whose="student01")

    with classroom(folder, 3, free_port()) as room:
        assert list(room.logins) == ["student03"]  # the others' passwords are as they were
        with at_work(room, "student01", first) as one:
            assert one.read(NOTEBOOK)["cells"][0]["source"] == "# My notes"
        with at_work(room, "student03", room.logins["student03"]) as three:
            assert three.read(NOTEBOOK)["cells"] == fresh["cells"]
