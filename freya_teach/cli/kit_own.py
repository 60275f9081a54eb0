"""The project's own wheel, with the notebooks, prompts and recordings in it. (start)

A checkout builds it. Where the course was installed from a wheel there is nothing to build from,
and no registry needs to be asked either: what is installed is packed up again, file by file.

Source: PEP 427 (the wheel format) and PyPA's specification of RECORD.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import shutil
import subprocess
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

from freya_teach.cli.kit_wheels import KitError, pip_command
from freya_teach.paths import PACKAGE, in_checkout

WRITTEN_BY_THE_INSTALLER = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}


def own_wheel(folder: Path) -> Path:
    """Build the project's wheel into a folder, or pack the installed one. Raises `KitError`."""
    folder.mkdir(parents=True, exist_ok=True)
    return _build(PACKAGE.parent, folder) if in_checkout() else repack("freya-teach", folder)


def pins() -> list[str]:
    """The versions that the kit gets: those the checkout is tested with, or the installed ones."""
    if in_checkout():
        settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))
        return list(settings["tool"]["uv"]["constraint-dependencies"])
    installed = {d.name: d.version for d in metadata.distributions()}
    return [f"{name}=={version}" for name, version in installed.items() if name != "freya-teach"]


def repack(name: str, folder: Path) -> Path:
    """Make a wheel of an installed package. Raises `KitError` for one that is not whole."""
    installed = metadata.distribution(name)
    information = f"{name.replace('-', '_')}-{installed.version}.dist-info"
    wheel = folder / f"{name.replace('-', '_')}-{installed.version}-py3-none-any.whl"
    contents = {}
    for file in installed.files or []:
        top, leaf = file.parts[0], file.name
        if top == ".." or file.suffix == ".pyc" or leaf in WRITTEN_BY_THE_INSTALLER:
            continue  # a script in bin/ is made anew from entry_points.txt
        contents[file.as_posix()] = _content(Path(str(installed.locate_file(file))))
    if f"{information}/WHEEL" not in contents:
        raise KitError(f"{name} was not installed from a wheel: install it again with pip or uv.")
    contents[f"{information}/RECORD"] = _record(contents, f"{information}/RECORD")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in contents.items():
            archive.writestr(path, content)
    return wheel


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise KitError(f"{path} cannot be read ({problem.strerror}): install it again.") from None


def _record(contents: dict[str, bytes], own_name: str) -> bytes:
    """Every file with its SHA-256 and its size in bytes; the record itself has neither."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for path, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.writerow([path, f"sha256={digest}", len(content)])
    rows.writerow([own_name, "", ""])
    return text.getvalue().encode()


def _build(checkout: Path, folder: Path) -> Path:
    if uv := os.environ.get("UV") or shutil.which("uv"):
        command = [uv, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(checkout)]
    else:
        command = [*pip_command(), "wheel", "--quiet", "--no-deps", "--wheel-dir"]
        command += [str(folder), str(checkout)]
    done = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    if done.returncode != 0:
        raise KitError(f"The project's own wheel could not be built:\n{done.stdout[-1500:]}")
    (wheel,) = folder.glob("freya_teach-*.whl")
    return wheel
