"""Keep the versions pinned in pyproject.toml equal to what is resolved and installed.

`uv.lock` is not in git, so the list `[tool.uv] constraint-dependencies` is what makes every machine
install the same versions.

    uv run python .ci/pins.py check               say what differs, and exit 1
    uv run python .ci/pins.py update              write the list from what uv resolves now
    uv run python .ci/pins.py update --upgrade    let every version rise first
"""

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
BLOCK_START = "constraint-dependencies = [\n"
BLOCK_END = "]\n"
NOT_OURS = {"freya-teach", "pip", "setuptools", "wheel", "uv"}
"""The project itself, and the installers that a virtual environment may bring along."""

EXPORT = "export --all-extras --all-groups --no-hashes --no-header --no-annotate --no-emit-project"


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    match arguments:
        case ["check"]:
            return check()
        case ["update"]:
            return update(upgrade=False)
        case ["update", "--upgrade"]:
            return update(upgrade=True)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


def check() -> int:
    """Compare the pins with uv's resolution and with this environment."""
    pins = pinned(PYPROJECT.read_text(encoding="utf-8"))
    problems = differences(pins, resolved(), installed())
    for problem in problems:
        print(f"pins: {problem}", file=sys.stderr)
    if problems:
        print(
            "pins: run `uv sync` if the environment is stale, or "
            "`uv run python .ci/pins.py update` if the dependencies were changed on purpose",
            file=sys.stderr,
        )
        return 1
    print(f"pins: {len(pins)} versions, all as resolved and installed")
    return 0


def update(*, upgrade: bool) -> int:
    """Rewrite the list of pins; the file is left as it was when uv cannot resolve."""
    before = PYPROJECT.read_text(encoding="utf-8")
    try:
        if upgrade:
            write(replace_block(before, []))
            uv("lock", "--upgrade")
        pins = resolved()
    except subprocess.CalledProcessError:
        write(before)
        print("pins: uv could not resolve; nothing was changed (try --upgrade)", file=sys.stderr)
        return 1
    write(replace_block(before, pins))
    print(f"pins: {len(pins)} versions written; now run `uv sync`")
    return 0


def differences(pins: list[str], resolution: list[str], present: dict[str, str]) -> list[str]:
    """Name everything that differs between the pins, uv's resolution and the environment."""
    problems = [f"not pinned: {line}" for line in resolution if line not in pins]
    problems += [f"pinned but not resolved: {line}" for line in pins if line not in resolution]
    expected = for_this_python(pins)
    for name, version in sorted(expected.items()):
        if name not in present:
            problems.append(f"{name} {version} is pinned but not installed")
        elif present[name] != version:
            problems.append(f"{name} {version} is pinned but {present[name]} is installed")
    extra = sorted(present.keys() - expected.keys())
    return problems + [f"{name} is installed but not pinned" for name in extra]


def for_this_python(pins: list[str]) -> dict[str, str]:
    """Return name -> version for the pins whose marker is true on this machine."""
    requirements = [Requirement(line) for line in pins]
    return {
        canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==")
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    }


def installed() -> dict[str, str]:
    """Return name -> version for every distribution in this environment."""
    found = {canonicalize_name(each.metadata["Name"]): each.version for each in distributions()}
    return {name: version for name, version in found.items() if name not in NOT_OURS}


def resolved() -> list[str]:
    """Ask uv for every version it resolves, for all platforms and Pythons."""
    lines = uv(*EXPORT.split()).splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def pinned(pyproject: str) -> list[str]:
    """Return the pins that are written in the text of a pyproject.toml."""
    pins: list[str] = tomllib.loads(pyproject)["tool"]["uv"]["constraint-dependencies"]
    return pins


def replace_block(pyproject: str, pins: list[str]) -> str:
    """Return the text with its list of pins replaced."""
    head, rest = pyproject.split(BLOCK_START, 1)
    _, tail = rest.split(f"\n{BLOCK_END}" if not rest.startswith(BLOCK_END) else BLOCK_END, 1)
    lines = "".join(f'    "{pin}",\n' for pin in pins)
    return head + BLOCK_START + lines + BLOCK_END + tail


def write(text: str) -> None:
    """Write pyproject.toml with the same line ends on every system."""
    PYPROJECT.write_text(text, encoding="utf-8", newline="\n")


def uv(*arguments: str) -> str:
    """Run uv and return what it printed; raise CalledProcessError when it fails."""
    command = os.environ.get("UV") or shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
    done = subprocess.run(
        [command, *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
