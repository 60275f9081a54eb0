"""`freya-teach doctor`: one screen of what works here, and what to do about the rest. (start)"""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from freya_teach.cli.jupyter_setup import JUPYTER_FOLDER
from freya_teach.cli.lab import DEFAULT_COPY, CopyFolder
from freya_teach.errors import ConfigError
from freya_teach.paths import course_folder

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

OLDEST_PYTHON = (3, 11)
EXCHANGE_PARTS = {"request", "response", "provenance"}
KERNEL_SECONDS = 60
INSTALL = 'pip install "freya-teach[course]", or `uv sync` in a checkout'


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the screen."""

    ok: bool
    what: str
    detail: str
    remedy: str = ""
    """What to do when it is not ok."""


def doctor(folder: CopyFolder = DEFAULT_COPY) -> None:
    """Check this machine for the course, and say what to do where something is amiss."""
    good, bad = marks(sys.stdout.encoding)
    all_ok = True
    for finding in examine(folder.expanduser().absolute(), os.environ):
        all_ok = all_ok and finding.ok
        print(f"{good if finding.ok else bad} {finding.what:<12} {finding.detail}", flush=True)
        if not finding.ok:
            print(f"{'':>{len(bad)}} {'':<12} -> {finding.remedy}")
    raise typer.Exit(0 if all_ok else 1)


def examine(copy: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the findings one by one, the slowest (starting a kernel) in its place."""
    yield python_version(sys.version_info[:3])
    yield from packages(_own_requirements())
    yield kernel()
    yield _own_recordings()
    yield other_end(environ)
    yield write_access(copy)


def marks(encoding: str | None) -> tuple[str, str]:
    """Return the signs for good and bad that this terminal can show."""
    try:
        "✓✗".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "ok  ", "FAIL"
    return "✓", "✗"


def python_version(version: tuple[int, ...]) -> Finding:
    """Check the version of Python that runs this."""
    needed = ".".join(map(str, OLDEST_PYTHON))
    shown = ".".join(map(str, version))
    return Finding(
        version >= OLDEST_PYTHON,
        "Python",
        f"{shown} (needs {needed} or newer)",
        f"make the environment again with Python {needed} or newer",
    )


def packages(requirements: list[str]) -> Iterator[Finding]:
    """Compare each package that the course asks for with what is installed."""
    try:
        from packaging.requirements import Requirement
    except ModuleNotFoundError:
        yield Finding(False, "packaging", "not installed", INSTALL)
        return
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate({"extra": "course"}):
            yield _package(requirement.name, requirement.specifier)


def kernel() -> Finding:
    """Start the kernel that a notebook gets, and ask it whether it is in this environment."""
    try:
        prefix = _ask_kernel("__import__('freya_teach') and __import__('sys').prefix")
    except ModuleNotFoundError as missing:
        return Finding(False, "kernel", f"{missing.name} is not installed", INSTALL)
    except Exception as problem:  # noqa: BLE001 - whatever it was, it belongs on the screen
        return Finding(False, "kernel", f"python3 does not start: {problem}", INSTALL)
    here = prefix == sys.prefix
    where = "in this environment" if here else f"in another environment, {prefix}"
    return Finding(here, "kernel", f"python3 starts {where}", INSTALL)


def recordings(folder: Path) -> Finding:
    """Read every recorded exchange and look for its three parts."""
    files = sorted(folder.rglob("*.json"))
    broken = [file.relative_to(folder).as_posix() for file in files if not _is_exchange(file)]
    if not files:
        detail = "there are none"
    elif broken:
        detail = f"{len(broken)} of {len(files)} cannot be read, first {broken[0]}"
    else:
        detail = f"{len(files)} exchanges, all intact"
    return Finding(bool(files) and not broken, "recordings", detail, "install freya-teach again")


def other_end(environ: Mapping[str, str]) -> Finding:
    """Say who answers the lessons, and whether a key is there; the key itself is never shown."""
    if environ.get("FREYA_LIVE") != "1":
        return Finding(True, "wire", "recorded answers; no key and no network needed")
    from freya_teach.config import Settings

    try:
        settings = Settings.from_env(environ)
    except ConfigError as problem:
        return Finding(False, "wire", str(problem), "correct the variable, or unset FREYA_LIVE")
    key = bool(settings.api_key.get_secret_value())
    detail = f"live {settings.provider} at {_address(settings.endpoint)}, "
    detail += "key present" if key else "no key"
    needed = "set OPENAI_API_KEY or GEMINI_API_KEY, or unset FREYA_LIVE for recorded answers"
    return Finding(key or bool(settings.base_url), "wire", detail, needed)


def write_access(copy: Path) -> Finding:
    """Write something small where the learner's copy is, or will be."""
    remedy = "choose another folder with --dir"
    try:
        place = next(each for each in (copy, *copy.parents) if each.exists())
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as problem:
        reason = problem.strerror or str(problem)
        return Finding(False, "your copy", f"{copy} cannot be written ({reason})", remedy)
    state = "can be written" if place == copy else "will be made by `freya-teach lab`"
    return Finding(True, "your copy", f"{copy} {state}")


def _own_requirements() -> list[str]:
    try:
        return metadata.requires("freya-teach") or []
    except metadata.PackageNotFoundError:
        return ["freya-teach"]  # reported as what is missing


def _own_recordings() -> Finding:
    try:
        return recordings(course_folder("fixtures"))
    except ConfigError as problem:
        return Finding(False, "recordings", str(problem), "install freya-teach again")


def _package(name: str, needed: SpecifierSet) -> Finding:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(False, name, f"not installed (needs {needed})", INSTALL)
    fits = needed.contains(version, prereleases=True)
    return Finding(fits, name, f"{version} (needs {needed or 'any version'})", INSTALL)


def _ask_kernel(expression: str) -> str:
    """Return the value of a string expression in a new kernel, started as JupyterLab would."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import KernelManager

    importlib.import_module("ipykernel")
    specs = KernelSpecManager(kernel_dirs=[str(JUPYTER_FOLDER / "kernels")])
    manager = KernelManager(
        kernel_name="python3", kernel_spec_manager=specs, transport_encryption="auto"
    )
    manager.start_kernel()
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=KERNEL_SECONDS)
        message = client.execute(
            "", user_expressions={"asked": expression}, reply=True, timeout=KERNEL_SECONDS
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    answer = message["content"]["user_expressions"]["asked"]
    if answer["status"] != "ok":
        raise RuntimeError(f"{answer['ename']}: {answer['evalue']}")
    return str(ast.literal_eval(answer["data"]["text/plain"]))


def _is_exchange(file: Path) -> bool:
    try:
        exchange = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(exchange, dict) and exchange.keys() >= EXCHANGE_PARTS


def _address(endpoint: str) -> str:
    """Scheme, host and port: a user name or password in the address stays hidden."""
    parts = urlsplit(endpoint)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"
