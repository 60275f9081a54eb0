"""`freya-teach kit`: what is packed, for which machines, and what is said when it cannot be."""

import base64
import csv
import hashlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from freya_teach.cli.kit import _book, _book_in_words, _targets, _texts, _write
from freya_teach.cli.kit_own import pins, repack
from freya_teach.cli.kit_wheels import PLATFORMS, KitError, Target, collect, pip_command
from freya_teach.cli.main import build_app

run = CliRunner()
LINUX = Target(PLATFORMS["linux"], "3.12")
WINDOWS = Target(PLATFORMS["windows"], "3.12")


def make_wheel(folder: Path, name: str, *needs: str, extras: str = "", tag: str = "any") -> Path:
    """A package without code, which is all that its dependents need to know."""
    path = folder / f"{name}-1.0-py3-none-{tag}.whl"
    information = f"{name}-1.0.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
    lines += [f"Provides-Extra: {extra}" for extra in extras.split()]
    lines += [f"Requires-Dist: {need}" for need in needs]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{information}/METADATA", "\n".join([*lines, ""]))
        archive.writestr(f"{information}/WHEEL", f"Wheel-Version: 1.0\nTag: py3-none-{tag}\n")
        archive.writestr(f"{information}/RECORD", "")
    return path


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that takes the registry's place, for the real pip."""
    try:
        command = [*pip_command(), "--version"]
    except KitError:
        pytest.skip("neither pip nor uv is installed here")
    monkeypatch.setenv("UV_OFFLINE", "1")
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("pip is not installed, and uv has not got it in its cache")
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


def names(wheels: list[Path]) -> list[str]:
    return [wheel.name.split("-")[0] for wheel in wheels]


def test_a_platform_gets_what_it_needs_and_not_what_this_machine_needs(
    registry: Path, tmp_path: Path
) -> None:
    own = make_wheel(
        tmp_path,
        "freya_teach",
        'everywhere[more] ; extra == "course"',
        'terminal ; extra == "course" and sys_platform == "win32"',
        'shell ; extra == "course" and sys_platform != "win32"',
        'unwanted ; extra == "other"',
        extras="course other",
    )
    make_wheel(registry, "everywhere", 'bonus ; extra == "more"', extras="more")
    make_wheel(registry, "bonus")
    make_wheel(registry, "terminal", tag="win_amd64")
    make_wheel(registry, "shell", tag="manylinux_2_28_x86_64")
    roots = ["freya-teach[course]"]
    linux = collect(own, roots, LINUX, tmp_path / "linux", [])
    windows = collect(own, roots, WINDOWS, tmp_path / "windows", [])
    assert sorted(names(linux)) == ["bonus", "everywhere", "freya_teach", "shell"]
    assert sorted(names(windows)) == ["bonus", "everywhere", "freya_teach", "terminal"]


def test_a_missing_wheel_is_named_with_its_platform(registry: Path, tmp_path: Path) -> None:
    own = make_wheel(tmp_path, "freya_teach", "native")
    make_wheel(registry, "native", tag="win_amd64")
    with pytest.raises(KitError, match=r"no wheel of native.* for linux with Python 3.12"):
        collect(own, ["freya-teach"], LINUX, tmp_path / "here", ["native==1.0"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--platform", "linux,beos"], "There is no platform 'beos', only linux, linux-arm, macos"),
        (["--python", "3.9"], "takes versions from 3.11 on, not '3.9'"),
        (["--python", "3.12.1"], "not '3.12.1'"),
        (["--book", "nowhere"], "nowhere is no built book: there is no index.html in it"),
        (["--to", "nowhere/kit.zip"], "--to names a file in a folder that is there"),
    ],
)
def test_a_wrong_wish_is_answered_before_anything_is_fetched(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run.invoke(build_app(), ["kit", *arguments])
    assert result.exit_code == 1
    assert said in result.output
    assert list(tmp_path.iterdir()) == []


def test_without_pip_and_uv_it_says_so_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.setitem(sys.modules, "pip", None)
    result = run.invoke(build_app(), ["kit", "--to", str(tmp_path / "kit.zip")])
    assert result.exit_code == 1
    assert "Neither pip nor uv is here" in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearly_full = SimpleNamespace(free=20_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: nearly_full)
    result = run.invoke(build_app(), ["kit", "--to", str(tmp_path / "kit.zip")])
    assert result.exit_code == 1
    assert "needs up to 450 MB while it is made" in result.output
    assert "has 20 MB left" in result.output


PIP_THAT_WAITS = """
import os, socket
here = socket.create_connection(("127.0.0.1", int(os.environ["TEST_PORT"])))
here.recv(1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM for one process")
def test_a_kit_that_is_ended_halfway_leaves_no_file_and_no_pip(tmp_path: Path) -> None:
    write_to, pip = tmp_path / "kits", tmp_path / "pip"
    write_to.mkdir()
    pip.mkdir()
    (pip / "__main__.py").write_text(PIP_THAT_WAITS, encoding="utf-8")
    (pip / "__init__.py").touch()
    python_path = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-m", "freya_teach.cli", "kit", "--platform", "linux"]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        environment = {name: value for name, value in os.environ.items() if name != "UV"}
        port = str(listening.getsockname()[1])
        kit = subprocess.Popen(
            [*command, "--to", str(write_to / "kit.zip")],
            env={**environment, "PATH": "", "PYTHONPATH": python_path, "TEST_PORT": port},
            stdout=subprocess.DEVNULL,
        )
        pip_runs, _ = listening.accept()
    with pip_runs:
        assert [path.name[:11] for path in write_to.iterdir()] == [".freya-kit-"]
        kit.terminate()
        assert kit.wait(60) == 128 + signal.SIGTERM
        assert pip_runs.recv(1) == b""
    assert list(write_to.iterdir()) == []


def test_it_says_whether_the_book_comes_along_and_what_to_do_if_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freya_teach.cli.kit.PACKAGE", tmp_path / "freya_teach")
    assert _book(None) is None
    assert "Without the book" in _book_in_words(None)
    assert "`freya-teach book` builds it" in _book_in_words(None)
    built = tmp_path / "book" / "_build" / "html"
    built.mkdir(parents=True)
    (built / "index.html").write_bytes(b"x" * 1_250_000)
    assert _book(None) == built
    assert _book_in_words(built) == f"With the book of {built}, 1.2 MB before it is packed."


def test_what_is_installed_is_packed_up_again_as_a_whole_wheel(tmp_path: Path) -> None:
    wheel = repack("httpx", tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    (record,) = (name for name in inside if name.endswith(".dist-info/RECORD"))
    rows = list(csv.reader(io.StringIO(inside[record].decode())))
    assert sorted(row[0] for row in rows) == sorted(inside)
    for name, digest, size in rows:
        if name != record:
            raw = hashlib.sha256(inside[name]).digest()
            assert digest == "sha256=" + base64.urlsafe_b64encode(raw).decode().rstrip("=")
            assert int(size) == len(inside[name])
    assert "httpx/__init__.py" in inside
    assert not any(name.endswith(".pyc") or ".." in name for name in inside)


def test_every_version_is_pinned_as_the_course_is_tested() -> None:
    assert any(pin.startswith("httpx==") for pin in pins())


def test_the_zip_holds_scripts_that_are_filled_in_wheels_and_the_book(tmp_path: Path) -> None:
    book = tmp_path / "book"
    (book / "pages").mkdir(parents=True)
    for page in ("index.html", "pages/1.html"):
        (book / page).write_text("a page", encoding="utf-8")
    wheel = make_wheel(tmp_path, "pip")
    targets = _targets("3.12,3.13", "linux,windows")
    texts = _texts(targets, {wheel.name: wheel}, book)
    _write(tmp_path / "kit.zip", {wheel.name: wheel}, texts, book)
    with zipfile.ZipFile(tmp_path / "kit.zip") as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
        mode = archive.getinfo("freya-kit/install.sh").external_attr >> 16
    assert {name.removeprefix("freya-kit/") for name in inside} == {
        "README.txt",
        "book/index.html",
        "book/pages/1.html",
        "install.bat",
        "install.sh",
        f"wheels/{wheel.name}",
    }
    assert mode & 0o111
    readme = inside["freya-kit/README.txt"].decode()
    assert "You need Python 3.12 or 3.13" in readme
    assert "linux, windows" in readme
    assert b"\r\n" in inside["freya-kit/install.bat"]
    assert b"\r" not in inside["freya-kit/install.sh"]
    assert not any("@" in text.replace("@echo off", "") for text, _ in texts.values() if text)


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_script_refuses_another_python_and_says_which_one_it_wants(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "pip")
    text, _ = _texts(_targets("3.99", "linux"), {wheel.name: wheel}, None)["install.sh"]
    (tmp_path / "install.sh").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["/bin/sh", tmp_path / "install.sh"],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHON": sys.executable},
    )
    assert done.returncode == 1
    assert "This kit is for Python 3.99, and none was found here." in done.stderr
    assert not (tmp_path / "env").exists()
