# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "jupyterlite-core[contents]==0.8.6",
#     "jupyterlite-pyodide-kernel==0.8.6",
#     "jupyterlab-widgets==3.0.17",
#     "packaging",
#     "pip",
# ]
# ///
"""Build the browser edition of the course: static files, and a Python that runs in the page.

It is JupyterLite with Pyodide as its kernel. Everything is brought along, so that the page asks
nobody but the server that it came from. The notebooks' cells are not changed: Pyodide loads a
package when a cell imports it, and everything that the course imports is listed for it,
freya_teach too.

    make lite      builds book/lite/_build/site, or says that it is up to date
    uv run --script book/lite/build.py --book https://…      the same, with links to that book
    python -m http.server --bind 127.0.0.1 --directory book/lite/_build/site
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from browser_packages import Wheel, collect, lock_with
from copies import lay_out_notebooks
from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = HERE / "_build"
SITE = BUILD / "site"
STAMP = BUILD / "built-from.txt"

SOURCES = ("freya_teach", "notebooks", "fixtures", "prompts", "pyproject.toml", "book/lite")
"""What the site is made from; a change in any of it means a new build."""

PYODIDE_CHECKSUMS = {
    "314.0.6": (
        "04a0d327222a1710b8044c4ba9e452ddfe71bd76488ceb7c0b7cc62cdfc273bb"
        "45c52c2f29585591c8504360062ceb51e18ad53881716d5f29a320ce3a65b0c5"
    ),
}
"""Version → SHA-512 of the npm package. The kernel says which version it needs."""

PYODIDE_FILES = (
    "pyodide.mjs",
    "pyodide.js",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
)


class CannotBuild(Exception):
    """The build failed; says where, and what the program said."""


class CannotFetch(CannotBuild):
    """Something that has to come from outside cannot be had; says what to do."""


def main(arguments: list[str]) -> int:
    """Build the site unless it is up to date. Returns 3 when something cannot be fetched."""
    parser = argparse.ArgumentParser(description="Build the browser edition of the course.")
    parser.add_argument("--book", default="", help="where the book is published, for links to it")
    book: str = parser.parse_args(arguments).book
    digest = digest_of_sources(book)
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == digest:
        print(f"up to date: {SITE}")
        return 0
    try:
        build(book)
    except CannotBuild as problem:
        print(f"lite: {problem}", file=sys.stderr)
        return 3 if isinstance(problem, CannotFetch) else 1
    STAMP.write_text(digest, encoding="utf-8")
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    print(f"built: {SITE} ({size / 1e6:.0f} MB)")
    return 0


def build(book: str) -> None:
    """Fetch what is needed, lay it out as `jupyter lite` wants it, and let that build the site."""
    STAMP.unlink(missing_ok=True)
    stage = empty_folder(BUILD / "stage")
    pyodide = fetch_pyodide(BUILD / "downloads")
    upstream = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    own = project_wheel(empty_folder(BUILD / "dist"))
    try:
        wheels = collect(own, upstream, ROOT / "pyproject.toml", BUILD / "downloads" / "wheels")
    except LookupError as problem:
        raise CannotFetch(str(problem)) from problem
    except ValueError as problem:  # no failure of the network: tests must not skip it
        raise CannotBuild(str(problem)) from problem
    lay_out_pyodide(pyodide, upstream, wheels, stage / "static" / "pyodide")
    lay_out_notebooks(ROOT / "notebooks", stage / "content", book)
    for name in ("jupyter-lite.json", "jupyter_lite_config.json"):
        shutil.copy(HERE / name, stage / name)
    run(sys.executable, "-m", "jupyterlite_core", "build", "--output-dir", SITE, cwd=stage)


def fetch_pyodide(downloads: Path) -> Path:
    """Return the unpacked npm package of Pyodide, after its checksum was compared."""
    expected = PYODIDE_CHECKSUMS.get(PYODIDE_VERSION)
    if expected is None:
        raise CannotBuild(
            f"the installed kernel needs Pyodide {PYODIDE_VERSION}, and its checksum is not in "
            "PYODIDE_CHECKSUMS. Try the new version, then add it there."
        )
    archive = downloads / f"pyodide-{PYODIDE_VERSION}.tgz"
    if not archive.is_file():
        downloads.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        if npm is None:
            raise CannotFetch("npm is missing; it brings Pyodide. Install Node.js, then try again.")
        try:
            run(npm, "pack", "--silent", f"pyodide@{PYODIDE_VERSION}", cwd=downloads)
        except CannotBuild as problem:
            raise CannotFetch(f"{problem}\nIs there a network?") from problem
    if hashlib.sha512(archive.read_bytes()).hexdigest() != expected:
        archive.unlink()
        raise CannotFetch(f"Pyodide {PYODIDE_VERSION} is not the file that was tried. Try again.")
    unpacked = empty_folder(downloads / "pyodide")
    with tarfile.open(archive) as package:
        package.extractall(unpacked, filter="data")
    return unpacked / "package"


def project_wheel(folder: Path) -> Path:
    """Build freya_teach's own wheel, with the course's recordings in it."""
    run(os.environ.get("UV", "uv"), "build", "--quiet", "--wheel", "--out-dir", folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def lay_out_pyodide(pyodide: Path, upstream: dict, wheels: list[Wheel], target: Path) -> None:
    """Put Pyodide, the wheels and the list by which Pyodide finds them side by side."""
    target.mkdir(parents=True)
    for name in PYODIDE_FILES:
        shutil.copy(pyodide / name, target / name)
    for wheel in wheels:
        shutil.copy(wheel.path, target / wheel.path.name)
    lock = lock_with(upstream, wheels)
    (target / "pyodide-lock.json").write_text(json.dumps(lock, indent=1), encoding="utf-8")


def digest_of_sources(book: str) -> str:
    """Return one hash of the book's address and of every file that the site is made from."""
    total = hashlib.sha256(book.encode())
    for name in SOURCES:
        place = ROOT / name
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            inside = path.relative_to(ROOT)
            hidden = {"__pycache__", "_build", ".ipynb_checkpoints"} & set(inside.parts)
            if path.is_file() and not hidden:
                total.update(inside.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def empty_folder(path: Path) -> Path:
    """Make a folder, and empty it if it is there."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def run(*command: str | Path, cwd: Path) -> None:
    """Run a program; raises `CannotBuild` with what it said when it fails or is missing."""
    name = " ".join(Path(part).name if Path(part).is_absolute() else part for part in command[:4])
    try:
        done = subprocess.run(
            command, cwd=cwd, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as problem:
        raise CannotBuild(f"{name} cannot be started: {problem}") from problem
    if done.returncode != 0:
        said = done.stdout.decode("utf-8", "replace")[-3000:]
        raise CannotBuild(f"{name} failed:\n{said}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
