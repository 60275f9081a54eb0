"""`freya-teach kit`: one zip from which the course is set up where there is no network. (start)"""

from __future__ import annotations

import errno
import re
import shutil
import signal
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import freya_teach
from freya_teach.cli.words import fail
from freya_teach.paths import PACKAGE, in_checkout

if TYPE_CHECKING:
    from freya_teach.cli.kit_wheels import Target

TEXTS = Path(__file__).resolve().parent / "kit_files"
MEGABYTES_PER_TARGET = 150
"""Room on the disk that wheels of one system need at most, twice: as files and in the zip."""

OLDEST_MINOR = 11
THIS_PYTHON = "{}.{}".format(*sys.version_info)
ROOTS = ["freya-teach[course]", "pip"]


def kit(
    python: Annotated[
        str, typer.Option(help="The learners' Python; several with commas: 3.12,3.13.")
    ] = THIS_PYTHON,
    platform: Annotated[
        str,
        typer.Option(help="linux, linux-arm, macos (Apple silicon), windows; commas between."),
    ] = "linux,macos,windows",
    to: Annotated[Path, typer.Option(help="The zip to write.")] = Path("freya-kit.zip"),
    book: Annotated[
        Path | None, typer.Option(help="The built book. Default: a checkout's book/_build.")
    ] = None,
) -> None:
    """Write one zip with everything that a set-up without a network needs."""
    from freya_teach.cli.kit_own import own_wheel, pins
    from freya_teach.cli.kit_wheels import KitError, collect, pip_command

    try:
        targets = _targets(python, platform)
        pages = _book(book)
        _check_room(to, len(targets))
        pip_command()  # or a reason to stop before anything is made
        print(_book_in_words(pages), flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is removed
        with tempfile.TemporaryDirectory(prefix=".freya-kit-", dir=to.absolute().parent) as place:
            print("Packing the course itself.", flush=True)
            own = own_wheel(Path(place) / "own")
            wheels: dict[str, Path] = {}
            for target in targets:
                print(f"Fetching the wheels for {target}.", flush=True)
                folder = Path(place) / str(target)
                found = collect(own, ROOTS, target, folder, pins())
                wheels |= {wheel.name: wheel for wheel in found}
            half = Path(place) / "kit.zip"
            _write(half, wheels, _texts(targets, wheels, pages), pages)
            half.replace(to)
    except KitError as problem:
        fail(str(problem))
    except OSError as problem:
        fail(_no_room(to) if problem.errno == errno.ENOSPC else f"{to}: {problem.strerror}")
    print(f"{to} is written: {to.stat().st_size / 1e6:.1f} MB, {len(wheels)} wheels.")


def _targets(python: str, platform: str) -> list[Target]:
    """Every kind of machine with every version of Python. Raises `KitError`."""
    from freya_teach.cli.kit_wheels import PLATFORMS, KitError, Target

    platforms = [name.strip() for name in platform.split(",")]
    if unknown := [name for name in platforms if name not in PLATFORMS]:
        raise KitError(f"There is no platform {unknown[0]!r}, only {', '.join(PLATFORMS)}.")
    versions = [version.strip() for version in python.split(",")]
    for version in versions:
        parts = re.fullmatch(r"3\.(\d+)", version)
        if parts is None or int(parts[1]) < OLDEST_MINOR:
            raise KitError(f"--python takes versions from 3.{OLDEST_MINOR} on, not {version!r}.")
    return [Target(PLATFORMS[name], version) for version in versions for name in platforms]


def _book(chosen: Path | None) -> Path | None:
    """The folder with the book's index.html; None without a book. Raises `KitError`."""
    from freya_teach.cli.kit_wheels import KitError

    built = PACKAGE.parent / "book" / "_build"
    places = [chosen] if chosen else [built / "html", built] if in_checkout() else []
    for place in places:
        if (place / "index.html").is_file():
            return place
    if chosen:
        raise KitError(f"{chosen} is no built book: there is no index.html in it.")
    return None


def _book_in_words(book: Path | None) -> str:
    """Whether the kit gets the book, said before the wheels are fetched, which takes minutes."""
    if book:
        size = sum(page.stat().st_size for page in book.rglob("*") if page.is_file())
        return f"With the book of {book}, {size / 1e6:.1f} MB before it is packed."
    how = "`freya-teach book` builds it" if in_checkout() else "--book FOLDER names one"
    return f"Without the book, for none is built here. {how}; then make the kit again."


def _check_room(to: Path, targets: int) -> None:
    """Raises `KitError` before anything is downloaded that would not fit."""
    from freya_teach.cli.kit_wheels import KitError

    folder = to.absolute().parent
    if to.is_dir() or not folder.is_dir():
        raise KitError(f"{to} cannot be written: --to names a file in a folder that is there.")
    if shutil.disk_usage(folder).free < targets * MEGABYTES_PER_TARGET * 1_000_000:
        raise KitError(_no_room(to, targets))


def _no_room(to: Path, targets: int = 1) -> str:
    folder = to.absolute().parent
    free = shutil.disk_usage(folder).free // 1_000_000
    needed = targets * MEGABYTES_PER_TARGET
    return (
        f"There is no room for the kit: it needs up to {needed} MB while it is made, and {folder} "
        f"has {free} MB left. Choose another disk with --to."
    )


def _texts(
    targets: list[Target], wheels: dict[str, Path], book: Path | None
) -> dict[str, tuple[str, int]]:
    """The scripts and the README, filled in: name -> text and file mode."""
    pythons = list(dict.fromkeys(target.python for target in targets))
    values = {
        "PYTHONS": " ".join(pythons),
        "PYTHONS_IN_WORDS": " or ".join(pythons),
        "POSIX_NAMES": " ".join(f"python{python}" for python in pythons),
        "PLATFORMS": ", ".join(dict.fromkeys(target.platform.name for target in targets)),
        "PIP": next(name for name in wheels if name.startswith("pip-")),
        "VERSION": freya_teach.__version__,
        "BOOK": "book/     the pages of the course: open book/index.html\n" if book else "",
    }
    texts = {}
    for name in ("install.sh", "install.bat", "README.txt"):
        text = (TEXTS / name).read_text(encoding="utf-8")
        text = re.sub(r"@([A-Z_]+)@", lambda found: values[found[1]], text)
        newline = "\n" if name.endswith(".sh") else "\r\n"
        texts[name] = text.replace("\n", newline), 0o755 if name.endswith(".sh") else 0o644
    return texts


def _write(
    path: Path, wheels: dict[str, Path], texts: dict[str, tuple[str, int]], book: Path | None
) -> None:
    """Pack everything below one folder, so that unpacking it scatters nothing."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (text, mode) in texts.items():
            entry = zipfile.ZipInfo(f"freya-kit/{name}")
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, mode << 16
            archive.writestr(entry, text)
        for name in sorted(wheels):  # packed already
            archive.write(wheels[name], f"freya-kit/wheels/{name}", zipfile.ZIP_STORED)
        for page in sorted(book.rglob("*")) if book else []:
            if page.is_file():
                archive.write(page, f"freya-kit/book/{page.relative_to(book or page).as_posix()}")
