"""One page of slides from a notebook's own cells, which asks nobody for anything. (start)

There is no script in it. Each slide fills the window and the browser stops at it (CSS scroll
snap); space, the arrows and the page keys move, as on any page. A rule in its head forbids the
browser to load or to run anything at all, so an output of a cell cannot do so either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib import import_module
from typing import Any

from freya_teach.lab.workshop.notes import tags_of

Cell = dict[str, Any]

NOTHING_FROM_OUTSIDE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
TOLD_WHOLE = {"title", "questions", "predict", "keypoints", "exercise"}
LEFT_OUT = {"instructor", "objectives", "setup", "production", "next"}
BLOCK = re.compile(r"^```.*?^```|(?:^[ \t]*\|.*\n?)+|(?:^>.*\n?)+", re.DOTALL | re.MULTILINE)
"""What of an explanation is shown: code, tables, quotations. The rest is said."""
HEADING = re.compile(r"^#{2,3} +(?!Predict)(.+)$", re.MULTILINE)
"""What stands over the slides that follow; a prediction has one of its own."""
LOCAL_LINK = re.compile(r'<a href="(?!https?:)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MINE = "my_prediction"

STYLE = """
html { scroll-snap-type: y mandatory; font: 1.35rem/1.45 system-ui, sans-serif; color: #1b1b1b;
  background: #fff; }
body { margin: 0; }
section { box-sizing: border-box; min-height: 100vh; padding: 2.5rem 5vw 3.5rem; position: relative;
  scroll-snap-align: start; border-bottom: 1px solid #ccc; }
h1 { font-size: 2.4rem; } h2, h3 { font-size: 1.5rem; margin: 0 0 1rem; color: #444; }
pre { font: 0.8em/1.35 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 0.6rem 0; padding: 0.6rem 0.9rem; background: #f5f5f5; }
pre.out { background: #fff; border-left: 4px solid #767676; }
table { border-collapse: collapse; font-size: 0.85em; }
td, th { border: 1px solid #bbb; padding: 0.3rem 0.7rem; text-align: left; vertical-align: top; }
blockquote { margin: 0; padding-left: 1rem; border-left: 4px solid #767676; }
figure svg { max-width: 100%; height: auto; }
footer { position: absolute; bottom: 0.9rem; right: 5vw; font-size: 0.75rem; color: #595959; }
footer a { color: inherit; padding: 0 0.4rem; }
@media print { section { break-after: page; border: 0; } footer a { display: none; } }
"""


def slides(notebook: dict[str, Any]) -> str:
    """The page: title, questions, predictions, pictures, code with outputs, tasks, key points.

    Raises `ModuleNotFoundError` where JupyterLab, which brings the Markdown reader, is missing.
    """
    section = notebook["metadata"]["freya"]["id"]
    shown = list(_shown(notebook["cells"]))
    pages = [
        f'<section id="s{number}">{html}{_footer(section, number, len(shown))}</section>'
        for number, html in enumerate(shown, start=1)
    ]
    colours = import_module("pygments.formatters").HtmlFormatter().get_style_defs("pre.code")
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{NOTHING_FROM_OUTSIDE}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escape(section)}</title><style>{colours}{STYLE}</style></head><body>",
            *pages,
            "</body></html>\n",
        )
    )


def _shown(cells: list[Cell]) -> Iterator[str]:
    heading = ""
    for cell in cells:
        tags, text = set(tags_of(cell)), "".join(cell["source"])
        if cell["cell_type"] == "markdown" and (found := HEADING.search(text)):
            heading = f"## {found[1]}"
        if tags & LEFT_OUT:
            continue
        if cell["cell_type"] == "code":
            if "exercise" not in tags and MINE not in text and text != "lab.close()":
                yield _markdown(heading) + _code(text) + "".join(map(_output, cell["outputs"]))
        elif tags & TOLD_WHOLE:
            yield _markdown(text)
        elif blocks := BLOCK.findall(text):
            yield _markdown("\n\n".join((heading, *blocks)))


def _footer(section: str, number: int, last: int) -> str:
    back = f'<a href="#s{number - 1}" aria-label="back">&larr;</a>' if number > 1 else ""
    on = f'<a href="#s{number + 1}" aria-label="on">&rarr;</a>' if number < last else ""
    return f"<footer>{back}{escape(section)} &middot; {number} of {last}{on}</footer>"


def _markdown(text: str) -> str:
    """Markdown as HTML; a link to another notebook keeps its words only."""
    reader: Any = import_module("mistune").create_markdown(escape=False, plugins=["table"])
    return LOCAL_LINK.sub(r"\1", reader(text))


def _code(text: str) -> str:
    lexer: Any = import_module("pygments.lexers").PythonLexer()
    plain: Any = import_module("pygments.formatters").HtmlFormatter(nowrap=True)
    coloured: str = import_module("pygments").highlight(text, lexer, plain)
    return f'<pre class="code">{coloured}</pre>'


def _output(output: dict[str, Any]) -> str:
    match output:
        case {"output_type": "stream", "text": text}:
            words = "".join(text)
        case {"output_type": "error", "ename": name, "evalue": value}:
            words = COLOUR.sub("", f"{name}: {value}")
        case {"data": {"text/html": html}}:
            return "".join(html)
        case {"data": {"text/plain": text}}:
            words = "".join(text)
        case _:
            return ""
    return f'<pre class="out">{escape(words)}</pre>'
