"""What `import freya_teach` costs, against the libraries that it is made with."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.pairs import HEADING, measure

PAIRS = 11
AIM = 1.5
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
