"""Other libraries beside this kernel: the same script, server and bare loop, in one run.

    python tests/bench/peers.py                    all of them; the slow ones take minutes each
    python tests/bench/peers.py openai freya       these only
    python tests/bench/peers.py --folder FOLDER    keeps their environments there for the next time

Each library gets an environment of its own with what pip finds newest, so this needs a package
registry, and it is no test. It prints what belongs into `book/speed.toml`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT))

from tests.bench.pairs import measure  # noqa: E402 - found only now

LIBRARIES = {
    "freya": ("freya-teach", [str(ROOT)], "from freya_teach import Settings, build_kernel"),
    "openai": ("openai", ["openai"], "from openai import AsyncOpenAI"),
    "pydantic_ai": (
        "pydantic-ai-slim",
        ["pydantic-ai-slim[openai]"],
        "import pydantic_ai.models.openai",
    ),
    "openai_agents": ("openai-agents", ["openai-agents"], "import agents"),
    "langchain": (
        "langchain",
        ["langchain", "langchain-openai"],
        "import langchain.agents, langchain_openai",
    ),
}
"""The package that is measured, what is installed for it, and what a program imports."""
SHAPES = {(20, 1): (9, 5), (100, 1): (3, 3), (20, 8): (5, 3), (100, 8): (1, 3)}
"""Turns and calls in each → sessions in a sample, and pairs of samples after one thrown away."""
TOLD = """
import importlib.metadata, os, sys, sysconfig, time
before = time.process_time()
{statement}
took = time.process_time() - before
place = sysconfig.get_paths()["purelib"]
files = [os.path.join(at, name) for at, _, names in os.walk(place) for name in names]
files = [f for f in files if "__pycache__" not in f and f"{{os.sep}}pip" not in f]
held = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
names = {{d.name.lower() for d in importlib.metadata.distributions()}} - {{"pip", "setuptools"}}
version = importlib.metadata.version("{package}")
print(version, took, int(held[0]) / 1e3, sum(map(os.path.getsize, files)) / 1e6, len(names))
"""
"""Version, CPU seconds and megabytes of memory to import it, megabytes on the disk, packages. (On
Linux, for the memory.)"""


def main(names: list[str], folder: Path) -> None:
    """Measure one library after the other, and print a [[peer]] for each."""
    with program(sys.executable, "loopback_server.py") as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        for name in names:
            python = environment(name, folder)
            package, _, statement = LIBRARIES[name]
            code = TOLD.format(statement=statement, package=package)
            runs = [told(python, code) for _ in range(4)][1:]  # the first one writes bytecode
            version, _, memory, megabytes, packages = runs[0]
            print(f'[[peer]]\nname = "{package}"\nversion = "{version}"')
            print("ratios =", json.dumps(ratios(name, python, address)).replace("NaN", "nan"))
            print(f"import_seconds = {min(float(run[1]) for run in runs):.2f}")
            print(f"memory = {float(memory):.0f}\nmegabytes = {float(megabytes):.0f}")
            print(f"packages = {packages}\n", flush=True)


def environment(name: str, folder: Path) -> Path:
    """The Python of a library's environment, which is made if it is not there."""
    place = folder / name
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        install = [python, "-m", "pip", "install", "--quiet", "httpx", *LIBRARIES[name][1]]
        subprocess.run(install, check=True)
    return python


def ratios(name: str, python: Path, address: str) -> list[float]:
    """CPU × the bare loop, for each shape, then for fifty sessions at once."""
    found = []
    with (
        program(sys.executable, "client_process.py", "bare", address) as bare,
        program(python, "peer_process.py", name, address) as peer,
    ):
        for (turns, calls), (sessions, pairs) in SHAPES.items():
            order = {"turns": turns, "calls": calls, "sessions": sessions}
            found.append(ratio(bare, peer, order, pairs))
        many = {"turns": 20, "calls": 1, "sessions": 1, "at_once": 50, "pools": 50}
        found.append(ratio(bare, peer, many, 3))
    return found


def ratio(bare: Any, peer: Any, order: dict[str, int], pairs: int) -> float:
    """The median of the pairs."""
    whole = {"wire": "openai", "stream": False, **order}
    return round(measure(lambda: cpu(bare, whole), lambda: cpu(peer, whole), pairs=pairs).ratio, 2)


def cpu(client: Any, order: dict[str, Any]) -> float:
    """Give an order; the seconds of CPU that it took."""
    print(json.dumps(order), file=client.stdin, flush=True)
    return float(json.loads(client.stdout.readline())["cpu"])


def told(python: Path, code: str) -> list[str]:
    """What a piece of code prints there."""
    command = [python, "-c", code]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def program(python: str | Path, name: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a program of this folder. Leaving its `with` closes its stdin, and that ends it."""
    pipe = subprocess.PIPE
    command = [python, HERE / name, *arguments]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure other libraries beside this kernel.")
    parser.add_argument("names", nargs="*", metavar="LIBRARY", help=", ".join(LIBRARIES))
    parser.add_argument("--folder", type=Path, help="where their environments are kept")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(LIBRARIES):
        parser.error(f"there is no {', '.join(sorted(unknown))}, only {', '.join(LIBRARIES)}")
    with tempfile.TemporaryDirectory() as place:
        main(chosen.names or list(LIBRARIES), chosen.folder or Path(place))
