"""Rules for what is read: objectives and key points, pictures, links."""

from __future__ import annotations

import re
from urllib.parse import unquote

from course import Course, Problems
from pages import Cell, Page, output_texts

FEWEST_OBJECTIVES, MOST_OBJECTIVES = 3, 5
ITEM = re.compile(r"^(?:\d+\.|-) +(.*(?:\n(?!\d+\. |- |\n).*)*)", re.MULTILINE)
VERB = re.compile(r"(?<![*\w])\*[a-z][a-z -]*\*(?!\*)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\([^)]*\)")
LINK = re.compile(
    r"!?\[[^\]]*\]\(<?(?P<target>[^)\s>]+)|<(?P<bare>https?:[^>\s]+)>|href=\"(?P<html>[^\"]+)"
)
TAG = re.compile(r"<img\b[^>]*>|<svg\b.*?</svg>", re.DOTALL)
LINE_NUMBER = re.compile(r"#L\d+|\.py:\d+|#[\w-]*lines?-\d+")
LOOPBACK = re.compile(r"http://(localhost|127\.0\.0\.1)\b")


def objectives(page: Page, _: Course) -> Problems:
    """Three to five; each has a verb and an id."""
    listed = page.listed("objectives")
    for cell in page.tagged("objectives"):
        items = ITEM.findall(cell.source)
        ids = [name for item in items for name in re.findall(r"\(`([\w-]+)`\)", item)]
        if not FEWEST_OBJECTIVES <= len(items) <= MOST_OBJECTIVES:
            yield cell.id, f"{len(items)} objectives: have three to five"
        for item in items:
            if not VERB.search(item):
                yield cell.id, f"no *verb* in italics in {short(item)!r}: say what one can do"
            if not re.search(r"\(`[\w-]+`\)", item):
                yield cell.id, f"no id in {short(item)!r}: end it with one, as in (`e1`)"
        if len(set(ids)) < len(ids):
            yield cell.id, "two objectives have one id: rename one"
        if listed is not None and ids != listed:
            yield cell.id, f"the ids are {ids}, and freya.objectives is {listed}: make them equal"


def key_points(page: Page, _: Course) -> Problems:
    """One for each objective, in its order."""
    listed = page.listed("objectives")
    for cell in page.tagged("keypoints"):
        points = [match[1] for match in re.finditer(r"^- `([\w-]+)` ", cell.source, re.MULTILINE)]
        if listed is not None and points != listed:
            yield cell.id, f"key points for {points}, objectives {listed}: one each, in this order"


def pictures(page: Page, _: Course) -> Problems:
    """Who cannot see a picture can read it."""
    for cell in page.prose:
        text = CODE.sub("", cell.source)
        for match in IMAGE.finditer(text):
            if not match["alt"].strip():
                yield cell.id, f"{match[0]} has no alt text: say what the picture shows"
        for picture in TAG.findall(text):
            if not is_described(picture):
                yield cell.id, f"{short(picture)} has no text: add alt, or role=img and <title>"


def drawn_pictures(page: Page, _: Course) -> Problems:
    """What a cell draws carries its text too."""
    for cell in page.code:
        drawn = [text for output in cell.outputs for text in output_texts(output).values()]
        if any(not is_described(picture) for text in drawn for picture in TAG.findall(text)):
            yield cell.id, "the picture it draws has no role=img and <title>: add them"


def is_described(picture: str) -> bool:
    """Whether an <img> or <svg> carries its text."""
    if picture.startswith("<img"):
        return bool(re.search(r"""\balt=["'][^"']""", picture))
    has_name = re.search(r"<title[^>]*>\s*[^<\s]|\baria-label(ledby)?=", picture)
    return bool(has_name and re.search(r"""\brole=["']img""", picture))


def links(page: Page, course: Course) -> Problems:
    """A link leads somewhere, safely, and still does after the source has moved by a line."""
    for cell in page.prose:
        for match in LINK.finditer(CODE.sub("`code`", cell.source)):
            target = match["target"] or match["bare"] or match["html"]
            if LINE_NUMBER.search(target):
                yield cell.id, f"{target} names a line, which moves: link to the file"
            if target.startswith("http://") and not LOOPBACK.match(target):
                yield cell.id, f"{target} is not encrypted: use https"
            if not re.match(r"[a-z]+:", target) and (reason := unresolved(page, target, course)):
                yield cell.id, f"{target} leads nowhere: {reason}"


def unresolved(page: Page, target: str, course: Course) -> str:
    """Why a relative link finds nothing, or nothing."""
    name, _, anchor = unquote(target).partition("#")
    path = (page.path.parent / name).resolve() if name else page.path.resolve()
    if not path.is_relative_to(course.root.resolve()):
        return "it points out of the repository"
    if not path.exists():
        return "there is no such file"
    pages = [other for other in course.pages if other.path.resolve() == path]
    if anchor and pages and anchor not in anchors(pages[0].prose):
        return f"{path.name} has no heading of that name"
    return ""


def anchors(prose: list[Cell]) -> set[str]:
    """The anchors of all headings, as JupyterLab and as the book write them."""
    text = "\n".join(CODE.sub(lambda code: code[0].strip("`"), cell.source) for cell in prose)
    headings = re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE)
    book = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return book | {heading.replace(" ", "-") for heading in headings}


def short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


RULES = (objectives, key_points, pictures, drawn_pictures, links)
