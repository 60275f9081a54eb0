"""From a page of the book into the browser edition: links that lead somewhere, or none."""

import json
import re
from pathlib import Path

import browser_edition
import notebook_pages
import order
import pytest
from lite.left_out import LEFT_OUT
from playwright.sync_api import expect

from freya_teach.paths import course_folder
from tests.book.conftest import ROOT, build, served, try_to_build
from tests.book.html_pages import broken_links, leads_somewhere, read
from tests.browser.conftest import learner as learner  # noqa: PLC0414 - a fixture, handed on
from tests.browser.learner import Learner
from tests.browser.test_lite import MILLISECONDS_TO_START_PYTHON
from tests.browser.test_lite import site as built_edition  # noqa: F401 - a fixture, handed on

NOTEBOOKS = course_folder("notebooks")
PLACES = [p.relative_to(NOTEBOOKS) for group in order.groups(NOTEBOOKS) for p in group.notebooks]
LESSON = Path("part2_tools/4.2_tool_call_raw_packet.ipynb")


@pytest.fixture
def edition(tmp_path: Path) -> Path:
    """A folder that is laid out as the browser edition, without a Python in it."""
    folder = tmp_path / "edition"
    files = [Path("files") / place for place in PLACES if place.as_posix() not in LEFT_OUT]
    for file in [Path("lab", "index.html"), *files]:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    return folder


def first_lines(place: Path, in_browser: str) -> str:
    """The title of a lesson's page."""
    cells = json.loads(notebook_pages.as_page(NOTEBOOKS / place, place, in_browser))["cells"]
    return str(cells[0]["source"])


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_page_leads_to_its_notebook_in_the_edition_or_says_why_it_is_not_there(
    edition: Path, tmp_path: Path, place: Path
) -> None:
    site = tmp_path / "site"
    page = site / place.with_suffix(".html")
    browser_edition.put_in(edition, site)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(first_lines(place, browser_edition.offer(place)), encoding="utf-8")
    (link,) = [link for link in read(page).links if "lite/" in link] or [""]
    if reason := LEFT_OUT.get(place.as_posix()):
        assert link == ""
        assert f"Does not run in the browser edition: {reason}." in page.read_text(encoding="utf-8")
    else:
        assert leads_somewhere(site, page, link)
        assert link.endswith(f"lab/index.html?path={place.as_posix()}")


def test_a_book_without_the_edition_does_not_speak_of_it(some: Path) -> None:
    page = some / LESSON.with_suffix(".html")
    assert "Download this notebook" in page.read_text(encoding="utf-8")
    assert not any("lite/" in link for link in read(page).links)
    assert "browser edition" not in first_lines(Path(next(iter(LEFT_OUT))), "")


def test_a_whole_edition_has_no_fault(edition: Path) -> None:
    assert browser_edition.fault(edition, NOTEBOOKS) == ""


def test_an_edition_that_lacks_a_notebook_is_not_taken(edition: Path) -> None:
    (edition / "files" / LESSON).unlink()
    fault = browser_edition.fault(edition, NOTEBOOKS)
    assert fault == f"{edition} is not up to date: it lacks {LESSON.as_posix()}. Run `make lite`."


def test_a_folder_that_is_no_edition_is_told_and_costs_no_book(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("the book of yesterday", encoding="utf-8")
    done = try_to_build(tmp_path, "--lite", str(tmp_path / "nothing"))
    assert done.returncode == 1
    assert "holds no browser edition (no lab/index.html). `make lite` builds one." in done.stdout
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "the book of yesterday"


def test_a_folder_with_anything_else_in_it_is_not_emptied_for_a_book(tmp_path: Path) -> None:
    thesis, notes = tmp_path / "docs" / "thesis.txt", tmp_path / "docs-work" / "notes.txt"
    for file in (thesis, notes):
        file.parent.mkdir()
        file.write_text("years of work", encoding="utf-8")
    done = try_to_build(tmp_path / "docs")
    assert done.returncode == 1
    assert "it holds other files than a book; name a new or an empty folder" in done.stdout
    assert (
        thesis.read_text(encoding="utf-8") == notes.read_text(encoding="utf-8") == "years of work"
    )


def test_a_place_where_nothing_can_be_made_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = try_to_build(tmp_path / "file" / "book")
    assert done.returncode == 1
    assert "cannot be written: Not a directory" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.soak
def test_a_reader_goes_from_the_page_to_a_python_that_runs(
    built_edition: Path,  # noqa: F811
    learner: Learner,
    tmp_path: Path,
) -> None:
    site = build(tmp_path / "book", "--only", "4.2", "--lite", str(built_edition))
    assert [link for link in broken_links(site) if not link.startswith("lite/")] == []
    page = learner.page
    page.set_default_timeout(MILLISECONDS_TO_START_PYTHON)
    for address in served(site):
        page.goto(f"{address}/{LESSON.with_suffix('.html').as_posix()}")
        link = page.get_by_role("link", name="Run it in your browser")
        learner.picture("book", link)
        learner.open(link.evaluate("link => link.href"), kernel="Pyodide")
        setup = learner.run(learner.cell("from freya_teach.lab import lesson"))
        expect(setup.first).to_contain_text(re.compile("4.2"))
        learner.picture("edition")


def test_the_site_that_is_published_has_the_edition_in_it() -> None:
    workflow = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "run: make site" in workflow
    assert re.search(r"^site: lite .*\n\t.* --lite book/lite/_build/site$", makefile, re.MULTILINE)
    assert "path: book/_build/site" in workflow
