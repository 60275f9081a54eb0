"""Run notebooks again, store their outputs, and show what a reader will see change.

    uv run python .ci/notebooks/rerun.py                    those that may have changed
    uv run python .ci/notebooks/rerun.py --all              all of them
    uv run python .ci/notebooks/rerun.py FILE [FILE …]      these

A notebook may have changed when its file, the package, the prompts, the recordings or the pinned
versions are not, byte for byte, what they were when it last ran in this environment. That is
noted in a file inside the environment itself (`.venv`), so a new environment runs everything.
A notebook with a failing cell keeps its file; the others are stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import lint
import nbformat
from running import CellFailed, course_environment, differences, read, run

STATE = Path(sys.prefix) / "notebooks-run.json"
AT_ONCE = min(os.cpu_count() or 1, 4)


def main(arguments: list[str], root: Path = lint.ROOT, state: Path = STATE) -> int:
    """Run what is asked for; return 1 when a cell failed, 2 when nothing can be run."""
    if os.environ.get("FREYA_LIVE"):
        return refuse("FREYA_LIVE is set, and a live answer is not to be stored")
    everything = lint.notebook_paths(root)
    named = [Path(name).resolve() for name in arguments if name != "--all"]
    for path in named:
        if path not in everything:
            return refuse(f"{path.name} is no notebook of the course")
    done, base = noted(state), surroundings(root)
    chosen = named or everything
    # Recordings that are being brought up to date change while the notebooks run.
    if not named and "--all" not in arguments and not os.environ.get("FREYA_UPDATE_AUTHORED"):
        chosen = [path for path in everything if digest(path, base) not in done]
        print(f"{len(everything) - len(chosen)} of {len(everything)} notebooks are up to date.")
    failed = asyncio.run(run_all(chosen, root))
    done |= {digest(path, base) for path in chosen if path not in failed}
    now = sorted(done & {digest(path, base) for path in everything})
    state.write_text(json.dumps(now, indent=1), encoding="utf-8")
    return 1 if failed else 0


def refuse(reason: str) -> int:
    """Say why nothing is run."""
    print(f"notebooks: {reason}", file=sys.stderr)
    return 2


def noted(state: Path) -> set[str]:
    """The digests of the notebooks that are as their last run left them."""
    return set(json.loads(state.read_text(encoding="utf-8"))) if state.is_file() else set()


def surroundings(root: Path) -> bytes:
    """A digest of everything but the notebooks that outputs depend on."""
    files = [root / "pyproject.toml"]
    for folder in ("freya_teach", "prompts", "fixtures"):
        files += sorted(file for file in (root / folder).rglob("*") if file.is_file())
    total = hashlib.sha256()
    for file in files:
        if "__pycache__" not in file.parts:
            total.update(f"{file.relative_to(root).as_posix()}\0".encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.digest()


def digest(path: Path, base: bytes) -> str:
    """What is noted of a run: the notebook's bytes, and what it ran in."""
    return hashlib.sha256(base + path.read_bytes()).hexdigest()


async def run_all(paths: list[Path], root: Path) -> list[Path]:
    """Run the notebooks, some at once, and report each as it ends; return those that failed."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(path: Path) -> bool:
        async with turn:
            return await run_and_store(path, path.relative_to(root).as_posix(), environment)

    with course_environment() as environment:
        went_well = await asyncio.gather(*map(one, paths))
    return [path for path, well in zip(paths, went_well, strict=True) if not well]


async def run_and_store(path: Path, name: str, environment: dict[str, str]) -> bool:
    """Run one notebook and store it; return False, and leave the file, when a cell failed."""
    try:
        now = await run(path, environment)
    except CellFailed as problem:
        print(f"FAILED {name}: {problem}", file=sys.stderr)
        return False
    print("\n".join(report(name, differences(read(path), now))))
    store(path, now)
    return True


def store(path: Path, notebook: Any) -> None:
    """Write a notebook in the form that git keeps, unless the file holds just that."""
    text = nbformat.writes(notebook).rstrip("\n") + "\n"
    if path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")


def report(name: str, changed: dict[str, list[str]]) -> list[str]:
    """What there is to read about one notebook."""
    if not changed:
        return [f"{name}: outputs as before"]
    lines = [f"{name}: outputs of {', '.join(changed)} changed"]
    for cell, texts in changed.items():
        lines += [f"  {cell}", *(f"    {text}" for text in texts)]
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
