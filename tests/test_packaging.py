"""The wheel, and an environment that holds nothing but it and what it needs to run."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_PACKAGES = 14


def find_uv() -> str:
    """Return uv as `uv run` names it, or from the PATH, or where the Makefile puts it."""
    return os.environ.get("UV") or shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


def uv(*arguments: str | Path) -> str:
    """Run uv from its cache alone, or with the network where the cache does not suffice."""
    environment = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
    for offline in (["--offline"], []):
        done = subprocess.run(
            [find_uv(), *map(str, arguments), *offline],
            check=False,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        if done.returncode == 0:
            return done.stdout
    raise AssertionError(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--wheel", "--out-dir", folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def runtime_only(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel without any extra, at the pinned versions; return the bin folder."""
    folder = tmp_path_factory.mktemp("runtime")
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = pins["tool"]["uv"]["constraint-dependencies"]
    (folder / "pins.txt").write_text("\n".join(lines), encoding="utf-8")
    uv("venv", "--python", sys.executable, folder / "venv")
    python = folder / "venv"
    uv("pip", "install", "--python", python, "--constraints", folder / "pins.txt", wheel)
    return folder / "venv" / ("Scripts" if os.name == "nt" else "bin")


def run(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the runtime-only environment, away from the checkout."""
    return subprocess.run(
        [program, *arguments],
        check=False,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def test_notebooks_prompts_and_recordings_travel_in_the_wheel(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("notebooks", "prompts", "fixtures"):
        files = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
        for path in files:
            name = path.relative_to(ROOT).as_posix()
            if ".ipynb_checkpoints" not in name:
                assert f"freya_teach/_course/{name}" in inside
    assert "freya_teach/py.typed" in inside
    assert "freya_teach/cli/jupyter/labconfig/page_config.json" in inside


def test_nothing_else_of_the_repository_travels_in_the_wheel(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"freya_teach"}


def test_running_the_kernel_takes_few_packages(runtime_only: Path) -> None:
    installed = sorted(path.name for path in runtime_only.parent.rglob("*.dist-info"))
    assert len(installed) <= MOST_PACKAGES, installed


def test_every_kernel_module_imports_without_the_course_extra(
    runtime_only: Path, tmp_path: Path
) -> None:
    files = [path.relative_to(ROOT) for path in sorted((ROOT / "freya_teach").rglob("*.py"))]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files]
    kernel = [name for name in names if not name.startswith(("freya_teach.lab", "freya_teach.cli"))]
    code = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    done = run(runtime_only / "python", "-c", code, *kernel, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_course_is_found_inside_the_installed_wheel(runtime_only: Path, tmp_path: Path) -> None:
    code = (
        "from freya_teach.paths import course_folder, in_checkout\n"
        "assert not in_checkout()\n"
        "for name in ('notebooks', 'prompts', 'fixtures'):\n"
        "    assert '_course' in course_folder(name).parts\n"
    )
    done = run(runtime_only / "python", "-c", code, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_command_says_what_to_install(runtime_only: Path, tmp_path: Path) -> None:
    done = run(runtime_only / "freya-teach", "demo", cwd=tmp_path)
    assert done.returncode == 2
    message = 'freya-teach needs the course extra: pip install "freya-teach[course]"'
    assert done.stdout.strip() == message
