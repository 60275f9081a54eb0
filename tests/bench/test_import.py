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
OURS = "import freya_teach"
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


@pytest.mark.bench
@pytest.mark.parametrize(
    ("base", "aim"),
    [
        ("import httpx, pydantic", AIM),
        ("import httpx; from pydantic import BaseModel", None),  # the package itself is lazy
    ],
)
def test_importing_costs_little_more_than_httpx_and_pydantic(
    import_seconds: Callable[[str], float],
    report: dict[str, list[str]],
    base: str,
    aim: float | None,
) -> None:
    pairs = measure(lambda: import_seconds(base), lambda: import_seconds(OURS), pairs=PAIRS)
    report.setdefault(f"{OURS}, against\n{HEADING}", []).append(pairs.row(base, aim))
    assert aim is None or pairs.ratio <= aim
