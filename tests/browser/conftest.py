"""JupyterLab as a learner starts it, and a real Chromium in front of it.

Every picture is kept in `.artifacts/browser/`, which git ignores; a failing test leaves one too.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Route, WebSocket, expect, sync_playwright

from freya_teach.cli.working_copy import for_learners
from freya_teach.paths import course_folder
from tests.browser.learner import Learner

ROOT = Path(__file__).resolve().parent.parent.parent
PICTURES = ROOT / ".artifacts" / "browser"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = "no Chromium or Chrome here; `make browser-deps` installs it (Debian, Ubuntu)"
ONLY_THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
LOCAL = re.compile(r"^(https?|wss?)://127\.0\.0\.1[:/]|^(data|blob|about):")
SECONDS_TO_START = 90
MILLISECONDS_TO_WAIT = 60_000
FAILED = pytest.StashKey[bool]()
NOT_A_LEARNERS = ("JUPYTER", "IPYTHON", "FREYA_", "XDG_", "CI")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Tell the fixtures whether their test failed."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium. Without one the tests are skipped; where it was promised they fail."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        if os.environ.get("CI") and os.environ.get("FREYA_BROWSER_REQUIRED") == "1":
            pytest.fail(NO_BROWSER)
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=[ONLY_THIS_MACHINE])
        yield browser
        browser.close()


@pytest.fixture
def learner(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Learner]:
    """Sit somebody at a fresh browser, and look at the end at what the page did meanwhile."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(MILLISECONDS_TO_WAIT)
    expect.set_options(timeout=MILLISECONDS_TO_WAIT)
    outside, errors = watch(context)
    name = re.sub(r"[^\w.-]+", "_", request.node.name)
    shutil.rmtree(PICTURES / name, ignore_errors=True)
    learner = Learner(context.new_page(), PICTURES / name)
    yield learner
    if request.node.stash.get(FAILED, False):
        learner.picture("failed")
    context.close()
    assert outside == []
    assert errors == []


def watch(context: BrowserContext) -> tuple[list[str], list[str]]:
    """Refuse every request that leaves this machine; return two lists: those, and page errors."""
    outside: list[str] = []
    errors: list[str] = []

    def refuse(route: Route) -> None:
        outside.append(route.request.url)
        route.abort()

    def look(opened: WebSocket) -> None:
        if not LOCAL.match(opened.url):
            outside.append(opened.url)

    context.route(lambda url: not LOCAL.match(url), refuse)
    context.on("page", lambda page: page.on("websocket", look))
    context.on("weberror", lambda problem: errors.append(str(problem.error)))
    return outside, errors


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: the learner's folder, and the address that it printed."""

    folder: Path
    address: str
    token: str

    def page_of(self, notebook: str) -> str:
        """Where a notebook is opened in a workspace that nobody has used."""
        return f"{self.address}/lab/tree/{notebook}?reset&token={self.token}"

    def forget_kernels(self) -> None:
        """End every kernel, so that the next test finds none."""
        for session in self._ask("GET", "/api/sessions"):
            self._ask("DELETE", f"/api/sessions/{session['id']}")

    def _ask(self, method: str, path: str) -> Any:
        headers = {"Authorization": f"token {self.token}"}
        reply = httpx.request(method, self.address + path, headers=headers, timeout=30)
        return reply.raise_for_status().json() if reply.content else None


@pytest.fixture(scope="module")
def started_lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Run `freya-teach lab` in a home that holds nothing, and wait for the address it prints."""
    del browser  # asked for first: without a browser nothing is started
    home = tmp_path_factory.mktemp("home")
    copy, log = home / "freya-course", home / "lab.log"
    command = [Path(sys.executable).with_name("freya-teach"), "lab", "--no-browser"]
    command += ["--dir", copy, "--port", str(free_port())]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=home, env=learners_environment(home), stdout=output, stderr=output
        )
    try:
        address, token = printed_address(process, log)
        yield Lab(copy, address, token)
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def lab(started_lab: Lab) -> Iterator[Lab]:
    """Hand out the running JupyterLab without kernels, and with the notebooks as they came."""
    yield started_lab
    started_lab.forget_kernels()
    for path in course_folder("notebooks").rglob("*.ipynb"):
        copied = started_lab.folder / path.relative_to(course_folder("notebooks"))
        if copied.is_file():
            copied.write_bytes(for_learners(path))


def learners_environment(home: Path) -> dict[str, str]:
    """Keep what any machine has, and nothing that belongs to an author or to a test run."""
    kept = {k: text for k, text in os.environ.items() if not k.startswith(NOT_A_LEARNERS)}
    return {**kept, "HOME": str(home), "USERPROFILE": str(home)}


def printed_address(process: subprocess.Popen[bytes], log: Path) -> tuple[str, str]:
    """Return the address and the token, as soon as JupyterLab has printed them."""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        said = log.read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"(http://127\.0\.0\.1:\d+)/lab\?token=(\w+)", said):
            return found[1], found[2]
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


def free_port() -> int:
    """Return a port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
