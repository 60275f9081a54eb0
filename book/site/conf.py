"""How Sphinx builds the book. Sources are laid out by `book/build.py`; see there."""

import builtins
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).resolve().parent))
from docstrings import as_rst

project = "freya_teach"
author = "the freya_teach authors"
project_copyright = "the freya_teach authors; prose CC BY 4.0, code MIT"
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.githubpages"]
exclude_patterns = ["_as_they_are"]

# The stored outputs are the book: nothing is run. There is no kernel behind a page, so no widgets.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, Any] = {}
nb_merge_streams = True
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# The kernel's docstrings: Markdown-like texts, in the order of the source.
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "exclude-members": "model_config"}
autodoc_preserve_defaults = True
autodoc_use_type_comments = False
add_module_names = False
toc_object_entries = False

# Furo: light and dark, made for reading, small, and it loads nothing from elsewhere.
html_theme = "furo"
html_title = "freya_teach"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = [("book.js", {"defer": "defer"})]
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_show_sphinx = False
html_last_updated_fmt = None
html_permalinks_icon = "#"


def _plain(
    _app: object, _what: str, _name: str, _obj: object, _opts: object, lines: list[str]
) -> None:
    says_nothing = lines[:1] and lines[0].startswith("Alias for field number")  # a NamedTuple's
    lines[:] = [] if says_nothing else as_rst(lines)


def _levels(
    _app: object, _page: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """Sphinx says that a caption in the contents is a heading, and not of which level."""
    for part, level in (("furo_navigation_tree", 2), ("body", 3)):
        told = f'role="heading" aria-level="{level}"'
        context[part] = context.get(part, "").replace('role="heading"', told)


def _not_pythons_own(_app: object, page: nodes.document) -> None:
    """The `bytes` of an annotation is Python's: no link to a field of ours with the same name."""
    for link in list(page.findall(pending_xref)):
        if link.get("refdomain") == "py" and link.get("reftarget") in vars(builtins):
            link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """Let docstrings be read as what they are written as."""
    app.connect("html-page-context", _levels, priority=900)  # after Furo
    app.connect("doctree-read", _not_pythons_own)
    app.connect("autodoc-process-docstring", _plain)
