"""The wheels that a set-up without a network needs, for machines that are not this one. (start)

pip can download for another system, but it decides by *this* one which packages are needed: on
Linux it would leave out what only Windows wants. So the dependencies are followed here, level by
level, with each wheel's own metadata and the other machine's answers, and pip only fetches.

Source: PEP 508 (environment markers); `pip download --platform` in pip's documentation.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

NEWEST_GLIBC = 31
"""A Linux with glibc 2.31 (Debian 11, Ubuntu 20.04) or later can use the kit."""

MANYLINUX = [f"manylinux_2_{minor}" for minor in range(NEWEST_GLIBC, 4, -1)]
MANYLINUX += ["manylinux2014", "manylinux2010", "manylinux1"]

NO_WHEEL = (
    r"no matching distributions available for your environment:\s+(\S+)",
    r"No matching distribution found for (\S+)",
)
"""How pip says it, with a version that is pinned and without."""


class KitError(Exception):
    """The kit cannot be made; says what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of machine: pip's tags for its wheels, and its answers to environment markers."""

    name: str
    tags: tuple[str, ...]
    sys_platform: str
    system: str
    machine: str

    def markers(self, python: str) -> dict[str, str]:
        """What a requirement's marker is compared with on such a machine with such a Python."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{python}.0",
            "os_name": "nt" if self.sys_platform == "win32" else "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": self.system,
            "platform_version": "",
            "python_full_version": f"{python}.0",  # the least that a learner may have
            "python_version": python,
            "sys_platform": self.sys_platform,
        }


def _linux(name: str, machine: str) -> Platform:
    tags = tuple(f"{tag}_{machine}" for tag in (*MANYLINUX, "linux"))
    return Platform(name, tags, "linux", "Linux", machine)


PLATFORMS = {
    platform.name: platform
    for platform in (
        _linux("linux", "x86_64"),
        _linux("linux-arm", "aarch64"),
        Platform("macos", ("macosx_14_0_arm64",), "darwin", "Darwin", "arm64"),
        Platform("windows", ("win_amd64",), "win32", "Windows", "AMD64"),
    )
}


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of machine with a version of Python, such as 3.12."""

    platform: Platform
    python: str

    def __str__(self) -> str:
        return f"{self.platform.name} with Python {self.python}"


def pip_command() -> list[str]:
    """The command that downloads: this Python's pip, else uv's. Raises `KitError`."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := os.environ.get("UV") or shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise KitError(
        "Neither pip nor uv is here, and one of them has to download the wheels.\n"
        f"Install pip with `{Path(sys.executable).name} -m ensurepip`, or see https://docs.astral.sh/uv."
    )


def collect(
    own: Path, roots: list[str], target: Target, folder: Path, pins: list[str]
) -> list[Path]:
    """Fetch into a folder what these requirements need on a machine; return the wheels, sorted.

    `own` is the project's wheel, which no registry is asked for; `pins` are requirements such as
    `httpx==0.28.1`. Raises `KitError` that names the package and the machine without its wheel.
    """
    from packaging.requirements import Requirement

    found = {"freya-teach": own}
    followed: set[tuple[str, str]] = set()
    level = [Requirement(text) for text in roots]
    while level:
        found |= _fetch([r for r in level if r.name not in found], target, folder, pins)
        asked = {(r.name, extra) for r in level for extra in ("", *r.extras)} - followed
        followed |= asked
        level = [r for name, extra in sorted(asked) for r in _needs(found[name], extra, target)]
    return sorted(found.values())


def _needs(wheel: Path, extra: str, target: Target) -> list[Requirement]:
    """What a wheel's own metadata asks for on that machine, for one of its extras or for none."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if re.fullmatch(r"[^/]*\.dist-info/METADATA", n))
        metadata = HeaderParser().parsestr(archive.read(name).decode("utf-8"))
    return _that_apply(metadata.get_all("Requires-Dist", []), target, extra)


def _that_apply(lines: list[str], target: Target, extra: str = "") -> list[Requirement]:
    """The requirements that hold on that machine, with canonical names and without markers."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    answers = {**target.platform.markers(target.python), "extra": extra}
    asked = [Requirement(line) for line in lines]
    asked = [r for r in asked if r.marker is None or r.marker.evaluate(answers)]
    for requirement in asked:
        requirement.name = canonicalize_name(requirement.name)
        requirement.marker = None
    return asked


def _fetch(
    wanted: list[Requirement], target: Target, folder: Path, pins: list[str]
) -> dict[str, Path]:
    """Let pip download one level for that machine, from the registry it is configured for."""
    from packaging.utils import parse_wheel_filename

    if not wanted:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    constraints = folder / "pins.txt"  # pip would judge their markers by this machine
    constraints.write_text("\n".join(map(str, _that_apply(pins, target))), encoding="utf-8")
    command = [*pip_command(), "download", "--disable-pip-version-check", "--no-input", "--no-deps"]
    command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={target.python}"]
    command += [f"--platform={tag}" for tag in target.platform.tags]
    command += [f"--dest={folder}", f"--constraint={constraints}"]
    _run_pip([*command, *sorted({_without_extras(r) for r in wanted})], target)
    wheels = {str(parse_wheel_filename(p.name)[0]): p for p in folder.glob("*.whl")}
    return {requirement.name: wheels[requirement.name] for requirement in wanted}


def _without_extras(requirement: Requirement) -> str:
    return f"{requirement.name}{requirement.specifier}"


def _run_pip(command: list[str], target: Target) -> None:
    done = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode == 0:
        return
    if nothing := next(filter(None, (re.search(p, done.stdout) for p in NO_WHEEL)), None):
        raise KitError(
            f"There is no wheel of {nothing[1]} for {target}, or the registry was not reached.\n"
            "Leave this platform out, or take another version of Python with --python."
        )
    raise KitError(f"pip could not download the wheels for {target}:\n{done.stdout[-1500:]}")
