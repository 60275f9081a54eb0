"""The wheels that the browser edition brings along, and the list by which Pyodide finds them.

Pyodide loads packages by a lock file: name → file, checksum, what it imports, what it depends on.
The one that comes with Pyodide names files on a server far away. Ours names files beside it, in
the versions that the course is tested with, and takes the dependencies from the wheels themselves.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOTS = ("micropip", "ipython")
"""What the Pyodide kernel itself asks for, besides what comes with it."""

NOT_IN_A_BROWSER = {
    "ipykernel",  # the Pyodide kernel stands in for it
    "jupyterlab",  # it is the page
    "jupyterlab-widgets",  # the page's side of the widgets, built into the site
    "platformdirs",  # for `freya-teach chat`
    "rich",  # for the terminal
    "tornado",  # for `freya-teach gateway`: a page cannot be a server
    "typer",  # for the terminal
    "widgetsnbextension",  # the classic notebook's side of the widgets
}


@dataclass(frozen=True)
class Wheel:
    """One package file, and what its own metadata says about it."""

    path: Path
    needs: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """The canonical name, such as `typing-extensions`."""
        return str(parse_wheel_filename(self.path.name)[0])

    @cached_property
    def version(self) -> str:
        """The version in the file's name."""
        return str(parse_wheel_filename(self.path.name)[1])

    def imports(self) -> list[str]:
        """The top-level names that can be imported from it."""
        names = {name.split("/")[0] for name in zipfile.ZipFile(self.path).namelist()}
        return sorted(n.removesuffix(".py") for n in names if ".dist-info" not in n)


def collect(own: Path, upstream: dict[str, Any], pyproject: Path, folder: Path) -> list[Wheel]:
    """Download everything that the course and the kernel need; the project's wheel comes first.

    Goes level by level: what these wheels need, then what those need. Raises `LookupError` when the
    registry cannot be reached, and `ValueError` when it has no wheel for the browser.
    """
    folder.mkdir(parents=True, exist_ok=True)
    browser = environment(upstream["info"])
    versions = upstream_versions(upstream) | pinned_versions(pyproject, browser)
    found = {"freya-teach": Wheel(own, needs(own, {**browser, "extra": "course"}))}
    wanted = {*ROOTS, *found["freya-teach"].needs}
    while wanted := wanted - found.keys():
        paths = download(wanted, versions, upstream["info"], folder)
        level = {name: Wheel(path, needs(path, browser)) for name, path in paths.items()}
        found |= level
        wanted = {name for wheel in level.values() for name in wheel.needs}
    return list(found.values())


def lock_with(upstream: dict[str, Any], wheels: list[Wheel]) -> dict[str, Any]:
    """Pyodide's lock file, with these wheels as the only packages."""
    return {**upstream, "packages": {wheel.name: entry(wheel) for wheel in wheels}}


def entry(wheel: Wheel) -> dict[str, Any]:
    """One package as Pyodide's lock file describes it; the browser compares the checksum."""
    return {
        "name": wheel.name,
        "version": wheel.version,
        "file_name": wheel.path.name,
        "sha256": hashlib.sha256(wheel.path.read_bytes()).hexdigest(),
        "imports": wheel.imports(),
        "depends": list(wheel.needs),
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def environment(info: dict[str, str]) -> dict[str, str]:
    """What the markers of a requirement are compared with: Python in the page, not this one."""
    return {
        "extra": "",
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": info["arch"],
        "platform_python_implementation": "CPython",
        "platform_system": "Emscripten",
        "python_full_version": info["python"],
        "python_version": info["python"].rpartition(".")[0],
        "sys_platform": "emscripten",
    }


def needs(wheel: Path, browser: dict[str, str]) -> tuple[str, ...]:
    """The packages that a wheel depends on in the browser, by its own metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode("utf-8"))
    requirements = map(Requirement, metadata.get_all("Requires-Dist", []))
    names = {
        canonicalize_name(requirement.name)
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(browser)
    }
    return tuple(sorted(names - NOT_IN_A_BROWSER))


def pinned_versions(pyproject: Path, browser: dict[str, str]) -> dict[str, str]:
    """Name → version from the pins that the whole course is tested with."""
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    pins = map(Requirement, settings["tool"]["uv"]["constraint-dependencies"])
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in pins
        if pin.marker is None or pin.marker.evaluate(browser)
    }


def upstream_versions(upstream: dict[str, Any]) -> dict[str, str]:
    """Name → version as it comes with Pyodide, for what the course has no pin for."""
    packages = upstream["packages"].items()
    return {canonicalize_name(name): package["version"] for name, package in packages}


def download(
    names: set[str], versions: dict[str, str], info: dict[str, str], folder: Path
) -> dict[str, Path]:
    """Let pip fetch these packages for Pyodide from the registry it is configured for."""
    unknown = sorted(names - versions.keys())
    if unknown:
        raise LookupError(f"no version is known of {', '.join(unknown)}: pin it in pyproject.toml")
    missing = sorted(name for name in names if not find(folder, name, versions[name]))
    if missing:
        python = info["python"].rpartition(".")[0]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={python}"]
        command += [f"--abi=cp{python.replace('.', '')}", "--abi=none"]
        command += [f"--platform=pyemscripten_{info['abi_version']}_{info['arch']}"]
        command += [f"--dest={folder}", *(f"{name}=={versions[name]}" for name in missing)]
        done = subprocess.run(command, check=False, stderr=subprocess.PIPE, encoding="utf-8")
        if "No matching distribution" in done.stderr and "Retrying" not in done.stderr:
            raise ValueError(
                f"the registry answers, and a wheel for the browser is not there:\n"
                f"{done.stderr[-500:]}\nWhat a page does not need goes into NOT_IN_A_BROWSER."
            )
        if done.returncode != 0:
            raise LookupError(f"pip could not download all wheels:\n{done.stderr[-2000:]}")
    return {name: find(folder, name, versions[name])[0] for name in names}


def find(folder: Path, name: str, version: str) -> list[Path]:
    """The wheel of this package and version in a folder, if it is there."""
    prefix = f"{name.replace('-', '_')}-{version}-".lower()
    return [path for path in folder.glob("*.whl") if path.name.lower().startswith(prefix)]
