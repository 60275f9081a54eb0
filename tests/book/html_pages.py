"""The built pages as a reader's program sees them: links, anchors, titles, text."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "script": "src", "img": "src", "iframe": "src"}


@dataclass
class _Reader(HTMLParser):
    links: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if link := values.get(LINKS.get(tag, "")):
            self.links.append(link)
        if anchor := values.get("id"):
            self.anchors.append(anchor)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@cache
def read(page: Path) -> _Reader:
    """Read one page."""
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def text_of(page: Path) -> str:
    """All text of a page."""
    return "".join(read(page).texts)


def pages(site: Path) -> list[Path]:
    """Every page of a site."""
    return sorted(site.rglob("*.html"))


def broken_links(site: Path) -> list[str]:
    """Links to a file or an anchor of this site that is not there."""
    return [
        f"{page.relative_to(site)}: {link}"
        for page in pages(site)
        for link in read(page).links
        if not leads_somewhere(site, page, link)
    ]


def leads_somewhere(site: Path, page: Path, link: str) -> bool:
    """Whether a link's file and anchor are there; an address outside counts as there."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not file.is_relative_to(site.resolve()) or not file.is_file():
        return False
    if not parts.fragment or file.suffix != ".html":
        return True
    return unquote(parts.fragment) in read(file).anchors


def twice(site: Path) -> list[str]:
    """Anchors that a page has more than once."""
    return [
        f"{page.relative_to(site)}: {anchor}"
        for page in pages(site)
        for anchor in sorted(set(read(page).anchors))
        if read(page).anchors.count(anchor) > 1
    ]
