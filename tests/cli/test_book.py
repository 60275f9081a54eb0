import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from freya_teach.cli import book
from freya_teach.cli.main import build_app

run = CliRunner()
app = build_app()


def test_the_book_needs_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "in_checkout", lambda: False)
    done = run.invoke(app, ["book"])
    assert done.exit_code == 1
    assert "built from a checkout" in done.output


def test_without_sphinx_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    done = run.invoke(app, ["book"])
    assert done.exit_code == 1
    assert "uv sync --extra book" in done.output


def test_a_failed_build_fails_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The build is another program: here one that finds no book beside the package."""
    monkeypatch.setattr(book, "PACKAGE", tmp_path / "freya_teach")
    done = run.invoke(app, ["book", "--output", str(tmp_path / "html")])
    assert done.exit_code != 0


def test_a_folder_without_the_browser_edition_is_refused(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    done = run.invoke(app, ["book", "--output", str(tmp_path / "html"), "--lite", str(tmp_path)])
    assert done.exit_code == 1
    assert "holds no browser edition" in capfd.readouterr().err
    assert not (tmp_path / "html").exists()
