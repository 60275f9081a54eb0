"""Slides in a real Chromium: nothing is asked of anybody, and each one fits the window's width."""

import contextlib
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from freya_teach.lab.workshop.slides import slides
from freya_teach.paths import course_folder
from tests.browser.conftest import PICTURES, watch

OUTSIDE = "http://outside.invalid/x.png"
NAME = "slides.html"


class Quiet(SimpleHTTPRequestHandler):
    """A folder as a web server shows it, without a line for each request."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page_of_slides(tmp_path: Path) -> Iterator[str]:
    """The slides of 4.2, which have pictures, tables and long code, on a server."""
    (path,) = course_folder("notebooks").rglob("4.2_*.ipynb")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    bad = f"<script>document.title = 'ran'</script><img src='{OUTSIDE}'>"
    cell = next(cell for cell in notebook["cells"] if cell["id"] == "stream-view")
    cell["outputs"].append(
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": [bad]}}
    )
    (tmp_path / NAME).write_text(slides(notebook), encoding="utf-8")
    with served(tmp_path) as address:
        yield f"{address}/{NAME}"


def test_slides_ask_nobody_run_nothing_and_stop_at_each_page(
    browser: Browser, page_of_slides: str
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    outside, errors = watch(context)
    asked: list[str] = []
    blocked: list[tuple[str, str | None]] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("requestfailed", lambda request: blocked.append((request.url, request.failure)))
    page = context.new_page()
    page.goto(page_of_slides)
    sections = page.locator("section")
    assert sections.count() > 20
    assert page.title() == "4.2"
    widths = sections.evaluate_all("all => all.map(each => each.scrollWidth - each.clientWidth)")
    assert max(widths) == 0, "nothing is wider than the window"
    page.locator("#s1 footer a").click()
    expect(page.locator("#s2")).to_be_in_viewport(ratio=0.9)
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.locator("section", has=page.locator("svg")).first.scroll_into_view_if_needed()
    page.screenshot(path=PICTURES / "slides.png")
    context.close()
    assert outside == [], "the rule in the page's head stops it before it leaves"
    assert blocked == [(OUTSIDE, "csp")]
    assert {*asked} - {OUTSIDE} <= {page_of_slides, page_of_slides.replace(NAME, "favicon.ico")}
    assert errors == []
