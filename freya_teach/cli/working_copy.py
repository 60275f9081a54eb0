"""The learner's own copy of the notebooks: made, brought up to date, restored. (start)

The copy lacks what the course's own notebooks hold for instructors; else it is the same.

A small manifest in the copy remembers what each notebook was when it was copied. A notebook
counts as edited when the source of a cell differs from that; one that was only run is not edited.
An edited notebook is never overwritten. Nothing is ever deleted.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from freya_teach.lab.workshop.notes import without_notes

MANIFEST = ".freya-course.json"

NO_COPY = (
    "There is no copy of the notebooks in {copy}, so nothing was restored. `freya-teach lab` with "
    "the same --dir makes one; if you have one elsewhere, name its folder with --dir."
)

Change = Literal["added", "updated", "kept"]


class WorkingCopyError(Exception):
    """Something about the learner's folder or wish that they can put right; says how."""


@dataclass(frozen=True, slots=True)
class Report:
    """What bringing a working copy up to date did, as paths within it."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Edited by the learner, and there is a newer version of it."""


def bring_up_to_date(originals: Path, copy: Path) -> Report:
    """Copy what is missing, renew what was not edited, keep what was.

    Raises `WorkingCopyError` when the folder cannot be written.
    """
    _make_folder(copy)
    remembered = _read_manifest(copy)
    changes: dict[str, Change] = {}
    try:
        for name, original in _course_files(originals).items():
            change = _bring_file_up_to_date(original, copy / name, remembered.get(name))
            if change:
                changes[name] = change
            if change != "kept":
                remembered[name] = fingerprint(for_learners(original))
        _write_manifest(copy, remembered)
    except OSError as problem:
        raise WorkingCopyError(_cannot_write(copy, problem)) from problem
    return Report(*(_those(changes, change) for change in ("added", "updated", "kept")))


def restore(originals: Path, copy: Path, section: str) -> tuple[Path, Path | None]:
    """Put one notebook back as it came; return it, and where the learner's version went.

    Raises `WorkingCopyError` when there is no such section, no copy, or it cannot be written.
    """
    files = _course_files(originals)
    name = find_section(list(files), section)
    original = for_learners(files[name])
    target = copy / name
    try:
        if not any((copy / known).exists() for known in (MANIFEST, *files)):
            raise WorkingCopyError(NO_COPY.format(copy=copy))
        kept = None
        if target.exists() and target.read_bytes() != original:
            kept = _free_name(target)
            target.rename(kept)
        _write(target, original)
        _write_manifest(copy, _read_manifest(copy) | {name: fingerprint(original)})
    except OSError as problem:
        raise WorkingCopyError(_cannot_write(copy, problem)) from problem
    return target, kept


def find_section(names: list[str], section: str) -> str:
    """Find the notebook that a learner means by "2.3", by its full name or by its path.

    Raises `WorkingCopyError` that lists what comes close.
    """
    wanted = section.removesuffix(".ipynb")
    by_name = {name.removesuffix(".ipynb"): name for name in names if name.endswith(".ipynb")}
    for stem, name in by_name.items():
        title = stem.rsplit("/", 1)[-1]
        if wanted in (stem, title, title.split("_", 1)[0]):
            return name
    titles = sorted(stem.rsplit("/", 1)[-1] for stem in by_name)
    close = difflib.get_close_matches(wanted, titles, n=3, cutoff=0.4)
    close += [title for title in titles if title.startswith(wanted[:1]) and title not in close]
    listed = "\n".join(f"  {title}" for title in close or titles)
    raise WorkingCopyError(f"There is no section {section!r}. Did you mean one of these?\n{listed}")


def for_learners(original: Path) -> bytes:
    """A file of the course as a learner's copy has it: without the instructor's notes."""
    return without_notes(original.read_bytes())


def fingerprint(content: bytes) -> str:
    """Hash what a learner edits: a notebook's cells without their outputs, any other file whole."""
    try:
        cells = [_edited_parts(cell) for cell in json.loads(content)["cells"]]
    except (ValueError, KeyError, TypeError):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def _edited_parts(cell: dict[str, Any]) -> list[Any]:
    return [cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("tags", [])]


def _bring_file_up_to_date(original: Path, target: Path, remembered: str | None) -> Change | None:
    content = for_learners(original)
    newest = fingerprint(content)
    if not target.exists():
        _write(target, content)
        return "added"
    present = fingerprint(target.read_bytes())
    if newest in (present, remembered):
        return None  # the newest version already, or the learner's edit of it
    if present != remembered:
        return "kept"
    _write(target, content)
    return "updated"


def _course_files(originals: Path) -> dict[str, Path]:
    files = (path for path in sorted(originals.rglob("*")) if path.is_file())
    named = {path.relative_to(originals).as_posix(): path for path in files}
    return {name: path for name, path in named.items() if not _is_hidden(name)}


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in name.split("/"))


def _those(changes: dict[str, Change], wanted: str) -> tuple[str, ...]:
    return tuple(name for name, change in changes.items() if change == wanted)


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.edited-{number}{path.suffix}")).exists():
        number += 1
    return free


def _read_manifest(copy: Path) -> dict[str, str]:
    """Without a readable manifest every file that differs is taken for edited, and kept."""
    try:
        files = json.loads((copy / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {str(name): str(mark) for name, mark in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write_manifest(copy: Path, files: dict[str, str]) -> None:
    about = "What freya-teach copied here; it tells an edited notebook from an untouched one."
    _write(copy / MANIFEST, json.dumps({"about": about, "files": files}, indent=1).encode())


def _write(path: Path, content: bytes) -> None:
    """Write all or nothing: a half-written notebook would look like an edited one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.half")
    half.write_bytes(content)
    half.replace(path)


def _make_folder(copy: Path) -> None:
    try:
        copy.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        message = f"{copy} is a file, not a folder. Choose a folder with --dir."
        raise WorkingCopyError(message) from None
    except OSError as problem:
        raise WorkingCopyError(_cannot_write(copy, problem)) from problem


def _cannot_write(copy: Path, problem: OSError) -> str:
    reason = problem.strerror or str(problem)
    return f"{copy} cannot be written ({reason}). Choose another folder with --dir."
