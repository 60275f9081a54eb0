"""Every notebook gives the stored outputs wherever, whenever and however often it is run."""

import asyncio
import json
import random
import shutil
from pathlib import Path

import lint
import pytest
import running

from tests.notebooks.held_request import HeldKernel, held_kernel
from tests.notebooks.places import Place, twice

# pyzmq says on Windows that it helps itself with a thread; that is its way of working there.
pytestmark = pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = lint.notebook_paths(ROOT)
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


async def test_a_notebook_leaves_nothing_behind(tmp_path: Path) -> None:
    place = Place.new(tmp_path)
    assert await place.run(NOTEBOOKS[-1]) == {}
    assert place.litter == []


@pytest.mark.soak
@each_notebook
async def test_it_runs_alone_where_nothing_has_run_before(path: Path, tmp_path: Path) -> None:
    place = Place.new(tmp_path)
    assert await place.run(path) == {}
    assert place.litter == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
async def test_they_run_in_any_order_on_one_machine(seed: int, tmp_path: Path) -> None:
    place = Place.new(tmp_path)
    order = random.Random(seed).sample(NOTEBOOKS, len(NOTEBOOKS))  # noqa: S311 - an order, no secret
    assert {path.name: await place.run(path) for path in order} == {path.name: {} for path in order}


@pytest.mark.soak
@each_notebook
async def test_it_runs_twice_in_a_row_in_one_kernel(path: Path, tmp_path: Path) -> None:
    place = Place.new(tmp_path)
    doubled = place.folder / path.name
    doubled.write_text(json.dumps(twice(path)), encoding="utf-8")
    now = await running.run(doubled, place.environment)
    assert running.differences(twice(path), now) == {}


@pytest.mark.soak
@each_notebook
async def test_it_runs_in_two_kernels_at_the_same_time(path: Path, tmp_path: Path) -> None:
    place = Place.new(tmp_path)
    other = Place(tmp_path / "beside", place.home)
    other.folder.mkdir()
    assert await asyncio.gather(place.run(path), other.run(path)) == [{}, {}]


@pytest.mark.soak
@each_notebook
@pytest.mark.parametrize("number", [1, 2])
async def test_a_cell_interrupted_in_its_middle_can_be_run_again(
    path: Path, number: int, tmp_path: Path
) -> None:
    place = Place.new(tmp_path)
    copy = place.folder / path.name
    shutil.copy(path, copy)
    async with held_kernel(copy, place.environment) as kernel:
        interrupted = await run_all_with_one_interrupt(kernel, number)
    if not interrupted:
        pytest.skip(f"no cell of {path.stem} sends {number} requests")
    now = running.read(path)
    now.cells = kernel.cells
    assert running.differences(running.read(path), now) == {}, f"after {interrupted}"


async def run_all_with_one_interrupt(kernel: HeldKernel, number: int) -> str:
    """Run a notebook; the first cell that sends so many requests is interrupted, and run again."""
    interrupted = ""
    for index, cell in enumerate(kernel.cells):
        if cell.cell_type == "code" and not interrupted:
            if await kernel.interrupt_at_request(index, number):
                interrupted = cell.id
                assert cell.outputs[-1].output_type == "error"
                await kernel.run_cell(index)
        elif cell.cell_type == "code":
            await kernel.run_cell(index)
    return interrupted
