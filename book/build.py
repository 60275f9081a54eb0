"""Build the book: static pages from the notebooks' stored outputs, which are not run again.

    python book/build.py                    builds book/_build/html
    python book/build.py --output FOLDER    builds it there
    python book/build.py --only 4.2         a quick look: other lessons and the reference as titles
    python book/build.py --lite FOLDER      with the browser edition that `make lite` built there

All sources are first laid out in one folder (`stage`), then Sphinx makes the site. A warning fails
the build. Everything that a page needs lies beside it; no page asks another server for anything.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import browser_edition
import generated_pages
from notebook_pages import DOWNLOADS, as_page, titles
from order import START, groups, section_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NOTEBOOKS = ROOT / "notebooks"
MARK = ".freya-book"
"""Lies in each folder that was made for a book: only such a one is emptied for the next."""
EPOCH = "1796083200"
"""1 December 2026: no page tells when it was built, and no library may."""


def main(arguments: list[str]) -> int:
    """Lay everything out and let Sphinx build it; return what Sphinx returns."""
    parser = argparse.ArgumentParser(description="Build the book from the stored outputs.")
    parser.add_argument("--output", type=Path, default=HERE / "_build" / "html")
    parser.add_argument("--only", nargs="*", help="sections to keep, for example 4.2")
    parser.add_argument("--lite", type=Path, help="the built browser edition, to be taken in")
    chosen = parser.parse_args(arguments)
    if chosen.lite and (fault := browser_edition.fault(chosen.lite, NOTEBOOKS)):
        print(f"book: {fault}", file=sys.stderr)
        return 1
    output = chosen.output.absolute()
    try:
        clear(output)
    except OSError as problem:
        print(f"book: {output} cannot be written: {problem.strerror or problem}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="freya-book-") as work:
        stage(Path(work) / "source", chosen.only, with_lite=chosen.lite is not None)
        failed = sphinx(Path(work), output)
    if not failed:
        if chosen.lite:
            browser_edition.put_in(chosen.lite, output)
        (output / ".buildinfo").unlink(missing_ok=True)  # it names this machine's folders, hashed
        print(f"built: {output / 'index.html'}")
    return failed


def clear(output: Path) -> None:
    """Make the folder, empty. Raises `OSError`, also if it holds anything but a book."""
    output.mkdir(parents=True, exist_ok=True)
    if any(output.iterdir()) and not (output / MARK).is_file():
        raise FileExistsError(17, "it holds other files than a book; name a new or an empty folder")
    shutil.rmtree(output)
    output.mkdir()
    (output / MARK).touch()


def stage(source: Path, only: list[str] | None, *, with_lite: bool) -> None:
    """Write every page's source into one folder, as Sphinx wants it."""
    parts = groups(NOTEBOOKS)
    when_measured = shutil.ignore_patterns("speed.md")  # it is written when there are figures
    shutil.copytree(HERE / "pages", source, ignore=when_measured)
    no_list = shutil.ignore_patterns("README.md")  # its place takes the generated list
    shutil.copytree(HERE / "decisions", source / "decisions", ignore=no_list)
    shutil.copytree(HERE / "workshop", source / "workshop")
    for path in [path for group in parts for path in group.notebooks]:
        place = path.relative_to(NOTEBOOKS)
        whole = only is None or section_of(path) in (START, *only)
        in_browser = browser_edition.offer(place) if with_lite else ""
        write(source / place, as_page(path, place, in_browser) if whole else titles(path))
        as_it_is = source / "_as_they_are" / DOWNLOADS / place
        as_it_is.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, as_it_is)
    for name, text in generated_pages.pages(ROOT, parts, quick=only is not None).items():
        write(source / name, text)


def sphinx(work: Path, output: Path) -> int:
    """Run Sphinx in this process; it prints what is wrong."""
    from sphinx.cmd.build import main as build  # noqa: PLC0415 - after the arguments were read

    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    options = ["-b", "html", "-c", str(HERE / "site"), "-d", str(work / "doctrees"), "-q"]
    options += ["--fail-on-warning", "--keep-going"]
    options += ["-D", f"html_extra_path={work / 'source' / '_as_they_are'}"]
    return build([*options, str(work / "source"), str(output)])


def write(path: Path, text: str) -> None:
    """Write a text file, and its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
