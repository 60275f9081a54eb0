"""Rules for what a notebook says about itself: format, metadata, needed sections, recordings."""

from __future__ import annotations

import re

from course import Course, Problems
from pages import Page

FORMAT = (4, 5)
RANDOM_ID = re.compile(r"[0-9a-f]{8,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|cell \d+")
LISTS = {
    "needs": "the sections that come before",
    "objectives": "the ids of the objectives",
    "recordings": "the scenarios that are played",
}
READABLE_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def file_format(page: Page, _: Course) -> Problems:
    """Format 4.5, and the kernel that every installation has."""
    if page.format != FORMAT:
        version = ".".join(map(str, page.format))
        yield "notebook", f"its format is {version}: save it as nbformat 4.5"
    kernel = page.metadata.get("kernelspec", {}).get("name")
    if kernel != "python3":
        yield "notebook", f"its kernelspec is {kernel!r}: choose python3"


def cell_ids(page: Page, _: Course) -> Problems:
    """Cell ids are links' targets and the names in every report, so people can read them."""
    seen: set[str] = set()
    for cell in page.cells:
        if RANDOM_ID.fullmatch(cell.id) or not READABLE_ID.fullmatch(cell.id):
            yield cell.id, "the id cannot be read: name the cell by what it does, as in `loop-run`"
        if cell.id in seen:
            yield cell.id, "two cells have this id: rename one"
        seen.add(cell.id)


def metadata(page: Page, _: Course) -> Problems:
    """It is complete, the id is the file's, and the minutes are counted."""
    if not page.about:
        yield "notebook", f"it has no metadata `freya`: add id, minutes, {', '.join(LISTS)}"
        return
    if page.about.get("id") != page.id:
        yield "notebook", f"freya.id is {page.about.get('id')!r}: the file's name says {page.id!r}"
    for key, what in LISTS.items():
        if not isinstance(page.about.get(key), list):
            yield "notebook", f"freya.{key} is missing: list {what}, or []"
    minutes = page.about.get("minutes")
    for part in ("teaching", "exercises"):
        least = 0 if (page.kind, part) == ("start", "exercises") else 1
        number = minutes.get(part) if isinstance(minutes, dict) else None
        if type(number) is not int or number < least:
            yield "notebook", f"freya.minutes.{part} is {number!r}: give a whole number above 0"


def needed_sections(page: Page, course: Course) -> Problems:
    """What is needed exists, and does not need this page in turn."""
    needs = {other.id: other.listed("needs") or [] for other in course.pages}
    for unknown in sorted(set(needs[page.id]) - needs.keys()):
        yield "notebook", f"freya.needs names {unknown!r}, and there is no such section"
    behind, waiting = set[str](), [*needs[page.id]]
    while waiting:
        section = waiting.pop()
        if section not in behind:
            behind.add(section)
            waiting += needs.get(section, [])
    if page.id in behind:
        yield "notebook", "freya.needs leads back to this section: take one of the needs out"


def recordings(page: Page, course: Course) -> Problems:
    """The listed recordings are those that are played, and none of the section lies idle."""
    listed = page.listed("recordings")
    if listed is None:
        return
    opened, there = course.opened(page), course.scenarios(page.section)
    if len(set(listed)) < len(listed):
        yield "notebook", "freya.recordings names a scenario twice: take one out"
    for name in sorted(opened - set(listed)):
        yield "notebook", f"{name!r} is played: add it to freya.recordings"
    for name in sorted(set(listed) - opened):
        yield "notebook", f"freya.recordings has {name!r}, which no cell plays: take it out"
    for name in sorted(opened - there):
        yield "notebook", f"{name!r} is not in fixtures/{page.section}: record or write it"
    if page.section == page.id:
        for name in sorted(there - opened - course.used_elsewhere(page)):
            yield "notebook", f"fixtures/{page.section}/{name} is never played: use or delete it"


RULES = (file_format, cell_ids, metadata, needed_sections, recordings)
