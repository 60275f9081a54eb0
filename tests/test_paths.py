from pathlib import Path

import pytest

from freya_teach import paths
from freya_teach.errors import ConfigError


def test_in_a_checkout_the_course_lies_beside_the_package() -> None:
    repository = Path(__file__).resolve().parent.parent
    assert paths.course_folder("notebooks") == repository / "notebooks"
    assert paths.course_folder("fixtures") == repository / "fixtures"
    assert paths.in_checkout()


def test_in_a_wheel_the_course_lies_inside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "freya_teach" / "_course" / "prompts"
    inside.mkdir(parents=True)
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "freya_teach")
    assert paths.course_folder("prompts") == inside
    assert not paths.in_checkout()


def test_a_missing_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "freya_teach")
    with pytest.raises(ConfigError, match="'fixtures' is missing"):
        paths.course_folder("fixtures")
