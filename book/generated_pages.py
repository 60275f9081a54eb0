"""The pages that are made from something else: a head by hand, the rest from what is there."""

from __future__ import annotations

from pathlib import Path

import audit_page
import recordings_page
import reference_pages
import speed_page
from order import Group

WORKSHOP = ("teaching", "classroom", "setup-sheet", "profiles", "survey", "timings")
"""The pages for instructors, in the order in which a workshop needs them."""
RESTS_ON = ("audit", "recordings", "decisions/index")


def pages(root: Path, parts: list[Group], *, quick: bool) -> dict[str, str]:
    """File name → text of every page that is not written by hand; `quick` without docstrings."""
    book = root / "book"

    def head(name: str) -> str:
        return (book / "pages" / name).read_text(encoding="utf-8")

    speed = speed_page.page(head("speed.md"), book / "speed.toml")
    listed = contents(root / "notebooks", parts, with_speed=bool(speed))
    return {
        **({"speed.md": speed} if speed else {}),
        "index.md": head("index.md") + listed,
        "audit.md": audit_page.page(head("audit.md"), book / "audit.toml", parts),
        "recordings.md": recordings_page.page(head("recordings.md"), root / "fixtures"),
        "changelog.md": (root / "CHANGELOG.md").read_text(encoding="utf-8"),
        "decisions/index.md": decisions(book / "decisions"),
        **reference_pages.pages(head("reference/index.md"), root / "freya_teach", quick=quick),
    }


def contents(notebooks: Path, parts: list[Group], *, with_speed: bool) -> str:
    """The table of contents: the notebooks in their order, then the pages beside them."""
    lists = {
        group.title: [path.relative_to(notebooks).with_suffix("") for path in group.notebooks]
        for group in parts
    }
    trees = [tree(title, [path.as_posix() for path in paths]) for title, paths in lists.items()]
    trees.append(tree("Help", ["setup", "glossary"]))
    trees.append(tree("Teach it", [f"workshop/{name}" for name in WORKSHOP]))
    trees.append(tree("What it rests on", [*RESTS_ON, *["speed"] * with_speed]))
    trees.append(tree("For your own project", ["lift", "reference/index", "changelog"]))
    return "\n## Contents\n\n" + "\n".join(trees)


def tree(caption: str, names: list[str]) -> str:
    """One list of the table of contents."""
    entries = "\n".join(names)
    return f"```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n\n{entries}\n```\n"


def decisions(folder: Path) -> str:
    """The list of decisions as it stands in the repository, with the pages below it."""
    names = sorted(path.stem for path in folder.glob("0*.md"))
    listed = (folder / "README.md").read_text(encoding="utf-8")
    return f"{listed}\n```{{toctree}}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
