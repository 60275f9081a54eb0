"""What a learner does in JupyterLab, with a real mouse and keyboard."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from freya_teach.paths import course_folder
from tests.browser.conftest import Lab
from tests.browser.learner import TRACE, Learner, fails_on_purpose, never_run, told

NOTEBOOKS = course_folder("notebooks")
EXECUTOR = "part1_react/2.3_freya_agent_executor.ipynb"
EVERY_NOTEBOOK = sorted(
    path.relative_to(NOTEBOOKS).as_posix()
    for path in NOTEBOOKS.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def assert_all_ran_as_stored(lab: Lab, name: str) -> None:
    ran = read(lab.folder / name)
    assert never_run(ran) == []
    assert told(ran) == told(read(NOTEBOOKS / name))


@pytest.mark.soak
@pytest.mark.parametrize("name", EVERY_NOTEBOOK)
def test_every_notebook_runs_from_top_to_bottom_and_says_what_is_stored(
    lab: Lab, learner: Learner, name: str
) -> None:
    learner.open(lab.page_of(name))
    learner.run_all(errors_on_purpose=fails_on_purpose(read(NOTEBOOKS / name)))
    learner.save()
    learner.picture("ran")
    assert_all_ran_as_stored(lab, name)


def test_a_learner_edits_a_cell_is_told_in_three_lines_and_goes_on_with_the_gateway(
    lab: Lab, learner: Learner
) -> None:
    learner.open(lab.page_of(EXECUTOR))
    learner.picture("opened")
    learner.run_all()
    learner.save()
    learner.picture("ran")
    assert_all_ran_as_stored(lab, EXECUTOR)

    cell = learner.cell('print(result.trace.usage.total_tokens, "tokens in total")')
    learner.edit(cell, "run(QUESTION)", 'run("How warm is it in Oslo?")')
    message = learner.run(cell)
    expect(message).to_have_count(1)
    expect(cell.locator(TRACE)).to_contain_text("no recording of 'weather-openai'")
    learner.picture("no-recording", cell)
    text = message.inner_text()
    assert len(text.strip().splitlines()) == 3, text
    assert "Traceback" not in text

    learner.edit(cell, '"weather-openai"', '"gateway"')
    answer = learner.run(cell)
    expect(answer).to_contain_text("tokens in total")
    expect(cell.locator(TRACE)).to_have_count(0)
    learner.picture("gateway", cell)


@pytest.mark.soak
def test_a_restarted_kernel_runs_all_cells_again_with_the_same_outputs(
    lab: Lab, learner: Learner
) -> None:
    learner.open(lab.page_of(EXECUTOR))
    learner.run_all()
    learner.restart_and_run_all()
    learner.save()
    learner.picture("again")
    assert_all_ran_as_stored(lab, EXECUTOR)
