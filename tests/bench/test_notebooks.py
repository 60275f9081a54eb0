"""What it costs to run and compare every notebook, against starting as many kernels."""

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bench.pairs import Pairs, measure

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 2
AIM = 2.0
HEADING = (
    f"{'all notebooks, medians of all pairs':38}{'ratio':>6}{'min':>6}{'max':>6}  {'aim':6}"
    f"{'starting s':>11}{'lessons s':>11}{'noise':>7}"
)
"""`starting`: nbval over notebooks that only import what the lessons import."""


def row(what: str, pairs: Pairs, aim: str) -> str:
    """One row under `HEADING`, in seconds: kernels take longer than `Pairs.row` has room for."""
    low, high = min(pairs.ratios), max(pairs.ratios)
    base, ours = (sorted(samples)[len(samples) // 2] for samples in (pairs.base, pairs.ours))
    noise = max(pairs.base) / min(pairs.base)
    return (
        f"{what:38}{pairs.ratio:6.2f}{low:6.2f}{high:6.2f}  {aim:6}{base:11.1f}{ours:11.1f}"
        f"{noise:7.2f}"
    )


def only_imports(notebook: Any) -> Any:
    """Return the notebook with one cell: every import statement of its code."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    statements = [
        ast.unparse(node)
        for cell in cells
        for node in ast.walk(ast.parse("".join(cell["source"])))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    first = {**cells[0], "source": "\n".join(statements), "outputs": []}
    return {**notebook, "cells": [first]}


def children_seconds() -> float:
    """CPU seconds of all processes that were started and have ended (none are told on Windows)."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.fixture
def nbval_seconds(tmp_path: Path) -> Callable[[Path], tuple[float, float]]:
    """Return a function: a folder of notebooks → wall and CPU seconds of nbval over it."""
    environment = dict(os.environ, FREYA_PROGRESS_FILE=str(tmp_path / "progress.json"))
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider"]

    def run(folder: Path) -> tuple[float, float]:
        before, wall = children_seconds(), time.perf_counter()
        done = subprocess.run(
            [*command, folder],
            check=False,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stdout[-3000:]
        return time.perf_counter() - wall, children_seconds() - before

    return run


@pytest.mark.bench
def test_running_all_notebooks_costs_little_more_than_starting_their_kernels(
    tmp_path: Path,
    nbval_seconds: Callable[[Path], tuple[float, float]],
    report: dict[str, list[str]],
) -> None:
    lessons, starting = tmp_path / "lessons", tmp_path / "starting"
    shutil.copytree(ROOT / "notebooks", lessons)
    for path in lessons.rglob("*.ipynb"):
        notebook = only_imports(json.loads(path.read_text(encoding="utf-8")))
        bare = starting / path.relative_to(lessons)
        bare.parent.mkdir(parents=True, exist_ok=True)
        bare.write_text(json.dumps(notebook), encoding="utf-8")

    cpu = Pairs([], [])

    def sample(folder: Path, cpu_samples: list[float]) -> float:
        wall, seconds = nbval_seconds(folder)
        cpu_samples.append(seconds)
        return wall

    wall = measure(
        lambda: sample(starting, cpu.base), lambda: sample(lessons, cpu.ours), pairs=PAIRS
    )
    cpu = Pairs(cpu.base[1:], cpu.ours[1:])  # `measure` throws its first pair away
    report.setdefault(HEADING, []).append(row("wall", wall, f"≤ {AIM:g}"))
    report[HEADING].append(row("CPU", cpu, ""))
    assert wall.ratio <= AIM
