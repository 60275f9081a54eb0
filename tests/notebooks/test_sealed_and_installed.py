"""The notebooks where the system itself has no network, and as they come with the wheel."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.notebooks.places import Place
from tests.test_packaging import uv

ROOT = Path(__file__).resolve().parents[2]
NBVAL = ("-m", "pytest", "--nbval", "-p", "no:cacheprovider", "-q")
CUT = ("unshare", "--user", "--map-root-user", "--net")
"""A network namespace of its own; as root of a user namespace, so that anybody may make it."""


def run(command: list[str | Path], place: Place) -> str:
    """Run a command in a place; return all that it printed, and fail when it failed."""
    done = subprocess.run(
        command,
        check=False,
        cwd=place.folder,
        env=place.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def why_not_cut() -> str:
    """Say why this machine cannot make a place without a network; nothing: it can."""
    if shutil.which(CUT[0]) is None:
        return "there is no unshare (Linux has it)"
    tried = subprocess.run([*CUT, "true"], check=False, stderr=subprocess.PIPE, encoding="utf-8")
    return tried.stderr.strip() if tried.returncode else ""


@pytest.mark.soak
def test_every_output_is_the_same_where_the_system_has_no_network(tmp_path: Path) -> None:
    if reason := why_not_cut():
        pytest.skip(f"the network cannot be cut here: {reason}")
    place = Place.new(tmp_path)
    shutil.copytree(ROOT / "notebooks", place.folder / "notebooks")
    cut = [*CUT, sys.executable, Path(__file__).with_name("no_network.py")]
    printed = run([*cut, sys.executable, *NBVAL, "notebooks"], place)
    assert printed.startswith("no way out: ")
    assert " passed" in printed


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel as a learner does, with nbval beside it; return its Python."""
    folder = tmp_path_factory.mktemp("installed")
    uv("build", "--wheel", "--out-dir", folder)
    (wheel,) = folder.glob("*.whl")
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = pins["tool"]["uv"]["constraint-dependencies"]
    (folder / "pins.txt").write_text("\n".join(lines), encoding="utf-8")
    uv("venv", "--python", sys.executable, folder / "venv")
    wanted = [f"freya-teach[course] @ {wheel.as_uri()}", "nbval", "pytest"]
    # As pyproject.toml explains: an optional checker that costs every process seconds.
    (folder / "without.txt").write_text("rfc3987-syntax ; python_version < '3'", encoding="utf-8")
    limits = ["--constraints", folder / "pins.txt", "--overrides", folder / "without.txt"]
    uv("pip", "install", "--python", folder / "venv", *limits, *wanted)
    return folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@pytest.mark.soak
def test_every_output_is_the_same_from_the_installed_wheel(installed: Path, tmp_path: Path) -> None:
    place = Place.new(tmp_path)
    code = (
        "from freya_teach.paths import course_folder, in_checkout\n"
        "assert not in_checkout()\n"
        "print(course_folder('notebooks'))"
    )
    notebooks = run([installed, "-c", code], place).strip()
    assert Path(notebooks).is_relative_to(installed.parents[1])
    assert " passed" in run([installed, *NBVAL, notebooks], place)
    assert place.litter == []
