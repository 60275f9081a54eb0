import filecmp
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from notebook_pages import on_purpose
from order import groups
from playwright.sync_api import Browser, Page, Response, expect

from freya_teach.lab.views import palette
from freya_teach.paths import course_folder
from tests.book.conftest import ROOT, build
from tests.book.html_pages import broken_links, pages, read, text_of, twice
from tests.browser.conftest import watch
from tests.lab.views.test_palette import contrast, luminance

NOTEBOOKS = course_folder("notebooks")
LESSON = "part2_tools/4.2_tool_call_raw_packet"
THREE_PAGES = [f"{LESSON}.html", "index.html", "audit.html"]
MEGABYTE = 1_000_000
DESK, PHONE = {"width": 1440, "height": 1000}, {"width": 390, "height": 844}

Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open a page in a fresh browser; at the end nothing may have been asked of the outside."""
    contexts, outside, errors = [], [], []

    def open_page(address: str, **looks: Any) -> Page:
        context = browser.new_context(**{"viewport": DESK, **looks})
        contexts.append(context)
        asked, failed = watch(context)
        outside.append(asked)
        errors.append(failed)
        page = context.new_page()
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for asked in outside for url in asked] == []
    assert [error for failed in errors for error in failed] == []


# ---- what a page holds -------------------------------------------------------------------------


def assert_shows_what_is_stored(site: Path, notebook: Path) -> None:
    name = notebook.relative_to(NOTEBOOKS)
    shown = " ".join(text_of(site / name.with_suffix(".html")).split())
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            stored = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
            for line in filter(str.strip, stored.splitlines()):
                assert " ".join(line.split()) in shown, f"{name}, {cell['id']}: {line}"


def test_a_page_shows_the_outputs_that_are_stored(some: Path) -> None:
    assert_shows_what_is_stored(some, NOTEBOOKS / f"{LESSON}.ipynb")


@pytest.mark.soak
def test_every_page_shows_the_outputs_that_are_stored(whole: Path) -> None:
    for group in groups(NOTEBOOKS):
        for notebook in group.notebooks:
            assert_shows_what_is_stored(whole, notebook)


def test_each_lesson_offers_its_notebook_byte_for_byte(some: Path) -> None:
    for group in groups(NOTEBOOKS):
        for notebook in group.notebooks:
            name = notebook.relative_to(NOTEBOOKS)
            assert (some / "notebooks" / name).read_bytes() == notebook.read_bytes()
    page = some / f"{LESSON}.html"
    assert f"../notebooks/{LESSON}.ipynb" in read(page).links


def test_the_contents_name_every_notebook_in_the_order_of_the_course(some: Path) -> None:
    notebooks = [path for group in groups(NOTEBOOKS) for path in group.notebooks]
    wanted = [path.relative_to(NOTEBOOKS).with_suffix(".html").as_posix() for path in notebooks]
    assert wanted[0] == "start_here.html"
    listed = list(dict.fromkeys(read(some / "index.html").links))
    assert [link for link in listed if link in wanted] == wanted


def test_a_view_stands_on_the_page_with_its_words(some: Path) -> None:
    html = (some / f"{LESSON}.html").read_text(encoding="utf-8")
    figures = html.split('<figure class="freya-view"')[1:]
    assert len(figures) >= 5
    for figure in figures:
        inside = figure.partition("</figure>")[0]
        assert "<svg" in inside
        assert "<summary>The same in words</summary><pre>" in inside


def test_the_links_inside_the_book_lead_somewhere(some: Path) -> None:
    assert broken_links(some) == []
    assert twice(some) == []


@pytest.mark.soak
def test_all_links_inside_the_whole_book_lead_somewhere(whole: Path) -> None:
    assert broken_links(whole) == []
    assert twice(whole) == []


@pytest.mark.soak
def test_the_book_built_twice_is_the_same(whole: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "again")
    names = [path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.is_file()]
    assert names == [p.relative_to(again) for p in sorted(again.rglob("*")) if p.is_file()]
    different = filecmp.cmpfiles(whole, again, names, shallow=False)[1:]
    assert different == ([], [])


# ---- what a browser makes of it ----------------------------------------------------------------


def serious(page: Page) -> list[str]:
    """What axe-core calls serious or critical, with the first place of each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{page.url}: {each['id']}: {each['nodes'][0]['html'][:200]} "
        f"({len(each['nodes'])} times; {each['nodes'][0]['failureSummary']})"
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize(("scheme", "names"), [("light", THREE_PAGES), ("dark", THREE_PAGES[:1])])
def test_axe_finds_nothing_serious_on_three_pages(
    some_served: str, visit: Visit, scheme: str, names: list[str]
) -> None:
    page = visit(some_served, color_scheme=scheme)
    findings = []
    for name in names:
        page.goto(f"{some_served}/{name}")
        findings += serious(page)
    assert findings == []


@pytest.mark.soak
@pytest.mark.parametrize(("scheme", "viewport"), [("light", DESK), ("dark", PHONE)])
def test_axe_finds_nothing_serious_on_any_page(
    whole: Path, whole_served: str, visit: Visit, scheme: str, viewport: dict[str, int]
) -> None:
    page = visit(whole_served, color_scheme=scheme, viewport=viewport)
    findings = []
    for path in pages(whole):
        page.goto(f"{whole_served}/{path.relative_to(whole).as_posix()}")
        findings += serious(page)
    assert findings == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_about_an_error_on_purpose(
    some_served: str, visit: Visit, scheme: str
) -> None:
    error = {"ename": "ToolError", "evalue": "no city", "traceback": ["ToolError: no city " * 20]}
    page = visit(f"{some_served}/index.html", color_scheme=scheme)
    html = on_purpose(error)["data"]["text/html"]
    page.evaluate("html => document.querySelector('h1').insertAdjacentHTML('afterend', html)", html)
    expect(page.get_by_role("group", name="An error, on purpose: ToolError")).to_be_visible()
    page.set_viewport_size({"width": 1000, "height": 900})  # what scrolls is looked for once more
    assert serious(page) == []
    pictures = ROOT / ".artifacts" / "browser" / "book"
    page.screenshot(path=pictures / f"error-on-purpose-{scheme}.png")


def test_a_page_fits_a_phone(some_served: str, visit: Visit) -> None:
    page = visit(some_served, viewport=PHONE)
    for name in [*THREE_PAGES, "recordings.html", "setup.html"]:
        page.goto(f"{some_served}/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name


def test_a_table_that_does_not_fit_a_phone_becomes_a_list(some_served: str, visit: Visit) -> None:
    page = visit(f"{some_served}/recordings.html", viewport=PHONE)
    lists = page.locator("table.rows")
    expect(lists.first).to_be_visible()
    last = lists.first.locator("tbody tr").first.locator("td").last
    expect(last).to_have_attribute("data-head", "server, or written from")
    too_wide = "box => box.scrollWidth > box.clientWidth + 1"
    assert not page.evaluate(f"[...document.querySelectorAll('.table-wrapper')].some({too_wide})")
    page.set_viewport_size({"width": 1440, "height": 1000})
    expect(lists).to_have_count(0)


def test_a_line_of_the_courses_code_fits_a_laptop(some_served: str, visit: Visit) -> None:
    for width in (1280, 1440):
        page = visit(f"{some_served}/{LESSON}.html", viewport={"width": width, "height": 900})
        page.evaluate(
            "line => { document.querySelector('.cell_input pre').textContent = line; }", "x" * 100
        )
        wide = "document.querySelector('.cell_input pre').scrollWidth"
        assert page.evaluate(f"{wide} <= document.querySelector('.cell_input pre').clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.soak
def test_every_page_fits_a_phone(whole: Path, whole_served: str, visit: Visit) -> None:
    page = visit(whole_served, viewport=PHONE)
    for path in pages(whole):
        name = path.relative_to(whole).as_posix()
        page.goto(f"{whole_served}/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name


def test_the_book_can_be_used_with_the_keyboard(some_served: str, visit: Visit) -> None:
    page = visit(f"{some_served}/{LESSON}.html")
    page.keyboard.press("Tab")
    expect(page.locator(".skip-to-content")).to_be_focused()

    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Search")).to_be_focused()
    page.keyboard.type("assembler")
    page.keyboard.press("Enter")
    expect(page.locator("#search-results a", has_text="4.2").first).to_be_visible()


def test_what_scrolls_is_reached_and_scrolled_with_the_keyboard(
    some_served: str, visit: Visit
) -> None:
    page = visit(f"{some_served}/{LESSON}.html", viewport=PHONE)
    box = page.locator(".cell_input pre[tabindex='0']").first
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")
    assert page.url.endswith(f"{LESSON}.html")


def test_the_arrow_keys_turn_the_pages(some_served: str, visit: Visit) -> None:
    page = visit(f"{some_served}/index.html")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"{some_served}/start_here.html")


def test_dark_and_light_are_chosen_with_a_button(some_served: str, visit: Visit) -> None:
    page = visit(f"{some_served}/index.html", color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = {page.evaluate(ground)}
    button = page.get_by_role("button", name="Toggle Light / Dark / Auto color theme").first
    for _ in range(2):
        button.click()
        seen.add(page.evaluate(ground))
    assert len(seen) == 2


TURNED_OVER = """colours => {
    const brush = document.createElement("canvas").getContext("2d");
    brush.filter = getComputedStyle(document.querySelector("figure.freya-view svg")).filter;
    return colours.map(colour => {
        brush.fillStyle = colour;
        brush.fillRect(0, 0, 8, 8);
        const shown = [...brush.getImageData(2, 2, 1, 1).data].slice(0, 3);
        return "#" + shown.map(byte => byte.toString(16).padStart(2, "0")).join("");
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_view_is_as_dark_as_its_page_and_its_words_stand_out(
    some_served: str, visit: Visit, scheme: str
) -> None:
    page = visit(f"{some_served}/{LESSON}.html", color_scheme=scheme)
    colours = sorted({colour for pair in palette.WRITTEN_ON for colour in pair})
    shown = dict(zip(colours, page.evaluate(TURNED_OVER, colours), strict=True))
    assert (luminance(shown[palette.PANEL]) > 0.5) is (scheme == "light")
    pairs = {pair: contrast(shown[pair[0]], shown[pair[1]]) for pair in palette.WRITTEN_ON}
    assert {pair: ratio for pair, ratio in pairs.items() if ratio < 4.5} == {}


def cold_load(visit: Visit, address: str) -> dict[str, int]:
    """Bytes of each response of a first visit, unpacked, by name."""
    responses: list[Response] = []
    page = visit("about:blank")
    page.on("response", lambda response: responses.append(response))  # noqa: PLW0108 - it gets a mark
    page.goto(address, wait_until="networkidle")
    return {response.url: len(response.body()) for response in responses}


@pytest.mark.parametrize("scope", ["some", pytest.param("whole", marks=pytest.mark.soak)])
def test_a_cold_load_of_a_chapter_is_small(
    request: pytest.FixtureRequest, visit: Visit, scope: str
) -> None:
    address = request.getfixturevalue(f"{scope}_served")
    site = request.getfixturevalue(scope)
    chapters = [LESSON]
    if scope == "whole":
        chapters = [p.relative_to(site).with_suffix("").as_posix() for p in site.glob("*/*.html")]
    for chapter in chapters:
        sizes = cold_load(visit, f"{address}/{chapter}.html")
        assert not any("searchindex" in url for url in sizes)
        total = sum(sizes.values())
        print(f"{chapter}: {total:,} bytes in {len(sizes)} responses")
        assert total <= 1.5 * MEGABYTE, sizes


def test_a_clone_is_small(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    command = ["git", "clone", "--quiet", f"file://{ROOT}", str(tmp_path / "clone")]
    subprocess.run(command, check=True)
    size = sum(path.stat().st_size for path in (tmp_path / "clone").rglob("*") if path.is_file())
    print(f"clone: {size / MEGABYTE:.1f} MB")
    assert size <= 20 * MEGABYTE
