import os
import re
import socket
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from freya_teach.cli.jupyter_setup import JUPYTER_FOLDER, lab_command, lab_environment
from freya_teach.cli.main import build_app
from freya_teach.cli.working_copy import for_learners
from freya_teach.paths import course_folder

run = CliRunner()
app = build_app()


def test_jupyterlab_is_reached_from_this_machine_only_and_asks_nobody_for_news() -> None:
    command = lab_command(Path("course"))
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--ServerApp.ip=127.0.0.1" in command
    assert "--LabApp.news_url=" in command
    assert "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate" in command


def test_a_wished_port_is_used_or_the_start_fails() -> None:
    command = lab_command(Path("course"), port=9999, browser=False)
    assert "--no-browser" in command
    assert "--ServerApp.port=9999" in command
    assert "--ServerApp.port_retries=0" in command


def test_the_learners_own_jupyter_paths_come_after_the_courses() -> None:
    environment = lab_environment({"JUPYTER_PATH": "mine", "HOME": "home"})
    assert environment["JUPYTER_PATH"] == f"{JUPYTER_FOLDER}{os.pathsep}mine"
    assert environment["JUPYTER_CONFIG_PATH"] == str(JUPYTER_FOLDER)
    assert environment["HOME"] == "home"


def test_the_kernel_spec_names_no_python_of_its_own() -> None:
    """Jupyter replaces a bare "python" by the Python that it runs on itself."""
    spec = (JUPYTER_FOLDER / "kernels" / "python3" / "kernel.json").read_text(encoding="utf-8")
    assert re.search(r'"argv": \[\s*"python",', spec)


def test_reset_of_an_unknown_section_exits_with_1_and_lists_close_ones(tmp_path: Path) -> None:
    result = run.invoke(app, ["reset", "99.9", "--dir", str(tmp_path / "copy")])
    assert result.exit_code == 1
    assert "There is no section '99.9'" in result.output


def test_lab_on_a_file_exits_with_1_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine", encoding="utf-8")
    result = run.invoke(app, ["lab", "--dir", str(tmp_path / "notes")])
    assert result.exit_code == 1
    assert "is a file, not a folder" in result.output


def test_reset_restores_every_notebook_of_the_course(tmp_path: Path) -> None:
    course = course_folder("notebooks")
    for original in course.rglob("*.ipynb"):
        copy = tmp_path / original.stem
        mine = copy / original.relative_to(course)
        mine.parent.mkdir(parents=True)
        mine.write_text("mine", encoding="utf-8")
        result = run.invoke(app, ["reset", original.stem, "--dir", str(copy)])
        assert result.exit_code == 0, result.output
        assert mine.read_bytes() == for_learners(original)


@pytest.mark.parametrize("folder", [".", "nowhere", "nowhere/copy"])
def test_reset_where_no_copy_is_says_how_to_get_one_and_makes_nothing(
    folder: str, tmp_path: Path
) -> None:
    result = run.invoke(app, ["reset", "2.3", "--dir", str(tmp_path / folder)])
    assert result.exit_code == 1
    assert f"There is no copy of the notebooks in {tmp_path / folder}, so nothing" in result.output
    assert "`freya-teach lab` with the same --dir makes one" in result.output
    assert list(tmp_path.iterdir()) == []


def test_the_checkouts_notebooks_and_a_copy_are_not_opened_together(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that no JupyterLab ever starts
        port = str(taken.getsockname()[1])
        command = ["lab", "--here", "--dir", str(copy), "--port", port]
        result = run.invoke(app, command, env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "--here opens the checkout's own notebooks and --dir a copy" in result.output
    assert not copy.exists()


def test_a_port_that_is_taken_is_told_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = run.invoke(app, ["lab", "--port", port, "--dir", str(tmp_path / "copy")])
    assert result.exit_code == 1
    assert result.output == (
        f"Port {port} is in use. Choose another one with --port, or leave --port out: "
        "then a free one is found.\n"
    )
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("port", ["0", "70000", "abc"])
def test_an_impossible_port_is_refused_before_anything_is_made(port: str, tmp_path: Path) -> None:
    result = run.invoke(app, ["lab", "--port", port, "--dir", str(tmp_path / "copy")])
    assert result.exit_code == 2
    assert not (tmp_path / "copy").exists()
