"""A file that overrides nothing is found, with the name that was probably meant."""

from pathlib import Path

import pytest

from freya_teach.errors import PromptError
from freya_teach.prompt.strays import strays

KEYS = ("core.prompt.identity", "core.prompt.soul", "core.prompt.user")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("core.prompt.identiy.md", "core.prompt.identity.md"),
        ("Core.Prompt.Soul.md", "core.prompt.soul.md"),
        ("core.prompt.soul.md.txt", "core.prompt.soul.md"),
        ("core.prompt.soul.markdown", "core.prompt.soul.md"),
        ("core.prompt.soul", "core.prompt.soul.md"),
        ("core_prompt_user.md", "core.prompt.user.md"),
        ("soul.md", "core.prompt.soul.md"),
        ("Soul.md", "core.prompt.soul.md"),
        ("notes.txt", ""),
        ("skill", "skills"),
    ],
)
def test_the_name_that_was_meant_is_found(tmp_path: Path, name: str, meant: str) -> None:
    (tmp_path / name).write_text("Hi", encoding="utf-8")
    assert strays(tmp_path, KEYS) == {name: meant}


def test_what_overrides_and_what_is_hidden_is_no_stray(tmp_path: Path) -> None:
    for name in ("core.prompt.soul.md", ".DS_Store", ".core.prompt.soul.md.swp"):
        (tmp_path / name).write_text("Hi", encoding="utf-8")
    (tmp_path / "skills" / "brief").mkdir(parents=True)
    (tmp_path / "skills" / "brief" / "SKILL.md").write_text("Hi", encoding="utf-8")
    assert strays(tmp_path, KEYS) == {}
    assert strays(tmp_path / "nowhere", KEYS) == {}


def test_a_skill_needs_a_folder_and_its_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "skills" / "brief").mkdir(parents=True)
    (tmp_path / "skills" / "brief" / "skill.md").write_text("Hi", encoding="utf-8")
    (tmp_path / "skills" / "long.md").write_text("Hi", encoding="utf-8")
    assert strays(tmp_path, KEYS) == {
        "skills/brief": "skills/brief/SKILL.md",
        "skills/long.md": "skills/long/SKILL.md",
    }


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(PromptError, match="is a file, and a folder is needed there"):
        strays(tmp_path / "file", KEYS)
