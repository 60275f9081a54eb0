"""What `import freya_teach` costs, against the libraries that it is made with: time and memory."""

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.bench.pairs import HEADING, measure

PAIRS = 11
AIM = 1.2
MEMORY_AIM = 1.5
CODE = """
import sys, time
sys.modules["click"] = None
before = time.process_time()
{statements}
print(time.process_time() - before)
"""
"""Without click, as it is where the kernel alone is installed: with it, httpx imports its own
command line, and rich and pygments behind that."""


@pytest.fixture
def import_seconds(tmp_path: Path) -> Callable[[str], float]:
    """Return a function: import statements → their CPU seconds in a new process.

    The bytecode goes to a folder of this test, so that each process but the first of its kind
    finds it, whatever the environment says about writing it.
    """
    environment = dict(os.environ, PYTHONPYCACHEPREFIX=str(tmp_path))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(statements: str) -> float:
        code = CODE.format(statements=statements)
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, check=True, cwd=tmp_path, env=environment, stdout=subprocess.PIPE
        )
        return float(done.stdout)

    return run


PACKAGE = "import freya_teach"
KERNEL = "from freya_teach import Settings, build_kernel, tool"


@pytest.mark.bench
@pytest.mark.parametrize(
    ("ours", "base", "aim"),
    [
        (PACKAGE, "import httpx, pydantic", AIM),
        # Both packages are lazy; this is what a program pays that uses them.
        (KERNEL, "import httpx, asyncio; from pydantic import BaseModel", None),
    ],
)
def test_importing_costs_little_more_than_httpx_and_pydantic(
    import_seconds: Callable[[str], float],
    report: dict[str, list[str]],
    ours: str,
    base: str,
    aim: float | None,
) -> None:
    pairs = measure(lambda: import_seconds(base), lambda: import_seconds(ours), pairs=PAIRS)
    report.setdefault(f"{ours}, against\n{HEADING}", []).append(pairs.row(base, aim))
    assert aim is None or pairs.ratio <= aim


MEMORY = """
import sys
sys.modules["click"] = None
{statements}
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
"""The most that the process has ever held, in kilobytes; Python itself is in it. (`ru_maxrss` would
begin with what the parent holds.)"""


@pytest.mark.bench
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_program_with_the_kernel_holds_little_more_than_one_with_httpx_and_pydantic(
    report: dict[str, list[str]],
) -> None:
    base, ours = (
        int(subprocess.check_output([sys.executable, "-c", MEMORY.format(statements=statements)]))
        for statements in ("import httpx, asyncio; from pydantic import BaseModel", KERNEL)
    )
    report["Memory of a program that has imported the kernel"] = [
        f"{ours / 1000:.0f} MB, {ours / base:.2f} × httpx, asyncio, BaseModel, aim ≤ {MEMORY_AIM}"
    ]
    assert ours <= MEMORY_AIM * base


def needed_by(*names: str) -> set[str]:
    """These packages and all that they need here, without extras."""
    found: set[str] = set()
    waiting = [canonicalize_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            for line in importlib.metadata.requires(name) or ():
                needed = Requirement(line)
                if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                    waiting.append(canonicalize_name(needed.name))
    return found


@pytest.mark.bench
def test_the_kernel_needs_few_packages_beside_httpx_and_pydantic(
    report: dict[str, list[str]],
) -> None:
    base, ours = needed_by("httpx", "pydantic"), needed_by("freya-teach")
    report["Installed packages"] = [f"httpx and pydantic {len(base)}, the kernel {len(ours)}"]
    assert ours - base <= {"freya-teach", "filelock", "sniffio", "tzdata"}
