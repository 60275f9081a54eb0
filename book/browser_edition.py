"""The browser edition inside the book: where it stands in the site, and how a page leads there.

`make lite` builds it into a folder of its own. A book that is given that folder takes it in as
`lite/`; one that is not says nothing about it, so that no link is dead.
"""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path

from lite.left_out import LEFT_OUT
from notebook_pages import top_from
from order import groups

FOLDER = "lite"
"""The folder of the site that holds the browser edition."""


def fault(edition: Path, notebooks: Path) -> str:
    """Why the folder is no browser edition of these notebooks, and what to do; empty if it is."""
    if not (edition / "lab" / "index.html").is_file():
        return f"{edition} holds no browser edition (no lab/index.html). `make lite` builds one."
    for path in [path for group in groups(notebooks) for path in group.notebooks]:
        place = path.relative_to(notebooks)
        if place.as_posix() not in LEFT_OUT and not (edition / "files" / place).is_file():
            return f"{edition} is not up to date: it lacks {place.as_posix()}. Run `make lite`."
    return ""


def offer(place: Path) -> str:
    """The link to a notebook in the edition, or why it is not there; `place` as in the course."""
    if reason := LEFT_OUT.get(place.as_posix()):
        return f"<span>Does not run in the browser edition: {escape(reason)}.</span>"
    address = f"{top_from(place)}{FOLDER}/lab/index.html?path={place.as_posix()}"
    return f'<a class="in-browser" href="{address}">Run it in your browser</a>'


def put_in(edition: Path, site: Path) -> None:
    """Copy the edition into a built site."""
    shutil.copytree(edition, site / FOLDER)
