"""A body from the web as text that a model can read. (chapter 4.4)

A page's HTML is mostly markup, scripts and menus. JustHTML reads it as a browser does, throws away
what could run, and writes the rest as Markdown. It comes with the extra `web`: one package of
plain Python without dependencies, so it also runs where nothing can be compiled.

It runs no script: a page that a script builds in the browser comes out empty.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from freya_teach.errors import ToolError

MAX_HTML_BYTES = 500_000
"""JustHTML reads about 0.3 MB in a second, and slower what is made to be slow."""
MAX_TITLE_CHARS = 200
NOT_TO_READ = (
    "nav, footer, aside, form, button, select, textarea, dialog, template, iframe, noscript, "
    "svg, img:not([alt]), img[alt=''], [hidden], [aria-hidden=true]"
)
CHARSET_OF_PAGE = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
HTML_TYPES = {"text/html", "application/xhtml+xml"}
TEXT_TYPE = re.compile(
    r"text/.+|.+\+(json|xml)|application/(json|xml|javascript|x-ndjson|yaml|x-yaml|toml|sql)"
)
KEPT_AS = {kind: kind for kind in ("application/json", "text/csv", "text/markdown")}
UNKNOWN_TYPES = {"", "application/octet-stream", "binary/octet-stream"}
CHARSET = re.compile(
    r"utf-(8|16|32).*|ascii|iso8859-\d+|iso2022\w+|cp\d+|koi8-\w|gb\w+|big5\w*|shift_jis\w*|euc_\w+"
)
"""Python's names of real character sets; it also knows some that are none, such as `punycode`."""
NO_HTML = (b"%PDF", b"PK\3\4", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x1f\x8b")
"""How files begin that some servers call HTML."""
HTML_MISSING = (
    "This is an HTML page, and the package that makes HTML readable is not installed. Tell the "
    "user to run: pip install 'freya-teach[web]'. Plain text, JSON and other files work without."
)


@dataclass(frozen=True, slots=True)
class Page:
    """Readable text, its title if it has one, and remarks about what was lost."""

    text: str
    title: str = ""
    remarks: str = ""
    kind: str = "text/plain"
    """The media type under which it can be kept."""


def readable(body: bytes, content_type: str, charset: str, url: str) -> Page | None:
    """The body as text, or None for a body that is no text.

    `charset` is the one of the header, or ""; `url` makes the links of a page absolute.
    Raises `ToolError` for HTML without the extra `web`.
    """
    if content_type in HTML_TYPES or (not content_type and _looks_like_html(body)):
        return None if body.startswith(NO_HTML) else _html(body, charset, url)
    if TEXT_TYPE.fullmatch(content_type):
        page = _text(body, charset)
        return page and replace(page, kind=KEPT_AS.get(content_type, "text/plain"))
    if content_type in UNKNOWN_TYPES:
        return _text(body, "utf-8", strict=True)
    return None


def _looks_like_html(body: bytes) -> bool:
    return body[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _text(body: bytes, charset: str, *, strict: bool = False) -> Page | None:
    text, remarks = _decoded(body, charset)
    return None if "\0" in text or (strict and remarks) else Page(text, remarks=remarks)


def _decoded(body: bytes, charset: str) -> tuple[str, str]:
    """The text, and a remark if some of the bytes are none."""
    name = _codec(charset)
    text = body.decode(name, "replace").removeprefix("\ufeff")
    lost = "\ufffd" in text
    return text, f"Some bytes are no {name} and stand as \ufffd. " if lost else ""


def _codec(charset: str) -> str:
    """The character set of the header where it is a real one, else UTF-8."""
    try:
        name = codecs.lookup(charset or "utf-8").name
    except (LookupError, ValueError):
        return "utf-8"
    return name if CHARSET.fullmatch(name) else "utf-8"


def _html(body: bytes, charset: str, url: str) -> Page:
    try:
        import justhtml  # noqa: PLC0415 - the extra `web`, needed for nothing else
    except ImportError:
        raise ToolError(HTML_MISSING) from None
    text, remarks = _decoded(body[:MAX_HTML_BYTES], charset or _charset_in(body))
    if len(body) > MAX_HTML_BYTES:
        remarks += f"Only the first {MAX_HTML_BYTES:,} bytes of the page were read. "
    document = justhtml.JustHTML(
        text,
        transforms=[
            justhtml.Drop(NOT_TO_READ),
            justhtml.DropAttrs("*", patterns=("class", "id", "style", "title")),
            justhtml.EditAttrs("img", lambda image: {"alt": image.attrs.get("alt")}),
            justhtml.EditAttrs("a", lambda link: {"href": _absolute(link.attrs.get("href"), url)}),
        ],
    )
    title = next((found.to_text() for found in document.query("title")), "")
    title = " ".join(title.split())[:MAX_TITLE_CHARS]
    return Page(document.to_markdown().strip(), title, remarks, "text/markdown")


def _charset_in(body: bytes) -> str:
    named = CHARSET_OF_PAGE.search(body[:1024])
    return named[1].decode("ascii") if named else ""


def _absolute(link: str | None, url: str) -> str | None:
    try:
        return urljoin(url, link) if link else None
    except ValueError:  # for example an IPv6 address without its end
        return None
