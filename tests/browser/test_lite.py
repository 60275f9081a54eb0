"""The browser edition: built, served as plain files, and run in a page by Pyodide."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from freya_teach.paths import course_folder
from tests.browser.learner import Learner, fails_on_purpose, never_run, told

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "book" / "lite" / "build.py"
SITE = BUILD.parent / "_build" / "site"
NOTEBOOKS = course_folder("notebooks")
LEFT_OUT: dict[str, str] = runpy.run_path(str(BUILD.parent / "left_out.py"))["LEFT_OUT"]
NAMES = sorted(
    path.relative_to(NOTEBOOKS).as_posix()
    for path in NOTEBOOKS.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
THAT_RUN = [name for name in NAMES if name not in LEFT_OUT]
NO_SOLUTION, CANNOT_FETCH = 1, 3
"""Exit codes: of uv, when no set of packages fits (2 is a network that fails), and of the build."""
MILLISECONDS_TO_START_PYTHON = 150_000

pytestmark = pytest.mark.soak


def uv(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    program = os.environ.get("UV") or shutil.which("uv") or ROOT / ".uv" / "bin" / "uv"
    environment = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
    return subprocess.run(
        [program, *arguments],
        cwd=ROOT,
        env={**environment, "UV": str(program)},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def site(browser: Browser) -> Path:
    """Build the site, or take the one that was built from these very files."""
    del browser  # asked for first: without a browser nothing is built
    tools = uv("sync", "--script", BUILD)
    assert tools.returncode != NO_SOLUTION, tools.stdout
    if tools.returncode != 0:
        pytest.skip(f"the tools of the build cannot be installed here: {tools.stdout[-300:]}")
    built = uv("run", "--script", BUILD)
    if built.returncode == CANNOT_FETCH:
        pytest.skip(f"what the site is made of cannot be fetched here: {built.stdout[-300:]}")
    assert built.returncode == 0, built.stdout
    return SITE


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site as the plain files it is made of."""
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        [*command, "--directory", site, "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        found = re.search(r"port (\d+)", server.stdout.readline())
        assert found is not None
        yield f"http://127.0.0.1:{found[1]}"
        server.terminate()


@pytest.mark.parametrize("name", THAT_RUN)
def test_every_notebook_runs_in_the_page_and_says_what_is_stored(
    address: str, learner: Learner, name: str
) -> None:
    learner.page.set_default_timeout(MILLISECONDS_TO_START_PYTHON)
    learner.open(f"{address}/lab/index.html?path={name}", kernel="Pyodide")
    learner.run_all(errors_on_purpose=fails_on_purpose(stored(name)))
    learner.picture("ran")
    ran = learner.saved_in_the_browser(name)
    assert never_run(ran) == []
    assert told(ran) == told(stored(name))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_lesson_that_cannot_run_in_the_page_says_so_in_its_first_lines(
    address: str, learner: Learner, name: str
) -> None:
    learner.page.set_default_timeout(MILLISECONDS_TO_START_PYTHON)
    learner.open(f"{address}/lab/index.html?path={name}", kernel="Pyodide")
    first = learner.page.locator(".jp-NotebookPanel .jp-MarkdownCell").first
    expect(first).to_be_in_viewport()
    expect(first).to_contain_text("This lesson does not run in the browser edition")
    expect(first).to_contain_text(LEFT_OUT[name])
    learner.picture("opened")


def stored(name: str) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))
    return notebook
