"""`freya-teach prompts`: see them, take one over, compare."""

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from freya_teach.cli.main import build_app
from freya_teach.paths import course_folder

SOUL = "core.prompt.soul"
TOOLS = "core.prompt.tools"
"""Two lines."""


def run(*words: object, **variables: str) -> Any:
    """Run the command; no variable of this machine's user counts."""
    environment = {name: None for name in os.environ if name.startswith("FREYA_")} | variables
    command = ["prompts", *map(str, words)]
    return CliRunner().invoke(build_app(), command, env=environment)


def packaged(key: str) -> str:
    return (course_folder("prompts") / f"{key}.md").read_text(encoding="utf-8").strip()


def own(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# ---- list -----------------------------------------------------------------------------------


def test_the_list_has_every_prompt_with_its_origin_and_size(tmp_path: Path) -> None:
    own(tmp_path, f"{SOUL}.md", "Wild and free.")
    shown = run("list", "--dir", tmp_path)
    rows = {words[0]: words[1:] for line in shown.stdout.splitlines() if (words := line.split())}
    assert shown.exit_code == 0
    assert rows[SOUL] == ["override", "14", "4"]
    assert rows["core.prompt.user"][0] == "packaged"
    assert rows["skills/step_by_step"][0] == "packaged"
    assert sum(name.startswith("core.prompt.") for name in rows) == 10
    assert f"Your own: {tmp_path}" in shown.stdout


def test_the_folder_may_come_from_the_environment(tmp_path: Path) -> None:
    own(tmp_path, f"{SOUL}.md", "Wild.")
    assert f"  override  {5:10}" in run("list", FREYA_PROMPT_DIR=str(tmp_path)).stdout
    assert "  override  " not in run("list").stdout
    assert "No folder of your own is set" in run("list").stdout


def test_what_overrides_nothing_is_told_with_what_was_meant(tmp_path: Path) -> None:
    own(tmp_path, "soul.md", "Wild.")
    own(tmp_path, "[bold]notes.txt", "Hi")
    told = run("list", "--dir", tmp_path).stdout
    assert "'soul.md' overrides nothing; did you mean core.prompt.soul.md?" in told
    assert "'[bold]notes.txt' overrides nothing\n" in told


def test_a_folder_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    told = run("list", "--dir", tmp_path / "typo").stdout
    assert f"{tmp_path / 'typo'}  (not there, so nothing is overridden)" in told


# ---- show -----------------------------------------------------------------------------------


def test_a_prompt_is_shown_as_it_counts_and_its_file_beside_it(tmp_path: Path) -> None:
    path = own(tmp_path, f"{SOUL}.md", "Wild [bold]and[/bold] {free} :smile:")
    shown = run("show", SOUL, "--dir", tmp_path)
    assert (shown.exit_code, shown.stdout) == (0, "Wild [bold]and[/bold] {free} :smile:\n")
    assert shown.stderr == f"({path})\n"
    assert run("show", SOUL).stdout == packaged(SOUL) + "\n"


def test_a_skill_is_shown_with_its_fields() -> None:
    assert run("show", "skills/step_by_step").stdout.startswith("---\nname: Step by step\n")


def test_the_composed_prompt_is_shown_whole_and_its_parts_are_reported(tmp_path: Path) -> None:
    own(tmp_path, f"{SOUL}.md", "Wild.")
    shown = run("show", "--composed", "--dir", tmp_path, FREYA_TIME_ZONE="Asia/Kolkata")
    assert shown.exit_code == 0
    assert shown.stdout.startswith(
        f"# IDENTITY\n{packaged('core.prompt.identity')}\n\n# SOUL\nWild"
    )
    assert "Asia/Kolkata, UTC+5:30)" in shown.stdout
    assert "# AVAILABLE SKILLS" in shown.stdout
    rows = {words[0]: words[1:] for line in shown.stderr.splitlines() if (words := line.split())}
    assert rows["soul"][:3] == ["override", "12", "3"]
    assert sum(int(row[-1].rstrip("%")) for name, row in rows.items() if name != "part") in range(
        97, 104
    )


@pytest.mark.parametrize("words", [[], [SOUL, "--composed"]])
def test_either_a_key_or_the_whole_is_asked_for(words: list[str]) -> None:
    shown = run("show", *words)
    assert shown.exit_code == 2
    assert "--composed for the whole" in shown.stderr


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("core.prompt.sool", "Did you mean core.prompt.soul?"),
        ("soul", "Did you mean core.prompt.soul?"),
        ("identiy", "Did you mean core.prompt.identity?"),
        ("step_by_step", "Did you mean skills/step_by_step?"),
        ("skills/stepbystep", "Did you mean skills/step_by_step?"),
        ("../../etc/passwd", "`prompts list` shows those there are."),
    ],
)
@pytest.mark.parametrize("command", ["show", "override", "diff"])
def test_an_unknown_key_is_refused_with_the_one_that_was_meant(
    tmp_path: Path, command: str, key: str, hint: str
) -> None:
    shown = run(command, key, "--dir", tmp_path)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr == f"There is no prompt {key!r}. {hint}\n"
    assert list(tmp_path.iterdir()) == []


# ---- override -------------------------------------------------------------------------------


def test_the_packaged_prompt_is_copied_and_counts_from_then_on(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "prompts"
    done = run("override", SOUL, "--dir", folder)
    path = folder / f"{SOUL}.md"
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        str(path),
        "Edit this file: it now takes the place of the packaged prompt.",
        f"Your programs find it with FREYA_PROMPT_DIR={folder}",
    ]
    assert path.read_bytes() == packaged(SOUL).encode() + b"\n"
    assert f"({path})" in run("show", SOUL, FREYA_PROMPT_DIR=str(folder)).stderr


def test_a_skill_is_copied_into_its_own_folder(tmp_path: Path) -> None:
    assert run("override", "skills/step_by_step", FREYA_PROMPT_DIR=str(tmp_path)).exit_code == 0
    assert (tmp_path / "skills" / "step_by_step" / "SKILL.md").is_file()
    assert "skills/step_by_step     " in run("list", "--dir", tmp_path).stdout


@pytest.mark.parametrize("text", ["Mine.", "", "\xff"])
def test_what_is_there_is_never_overwritten(tmp_path: Path, text: str) -> None:
    path = own(tmp_path, f"{SOUL}.md", text)
    done = run("override", SOUL, "--dir", tmp_path)
    assert done.exit_code == 1
    assert f"{path} is there already, and stays as it is." in done.stderr
    assert path.read_text(encoding="utf-8") == text


def test_without_a_folder_it_says_how_to_name_one_and_writes_nowhere() -> None:
    done = run("override", SOUL)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "FREYA_PROMPT_DIR=~/.freya-teach/prompts" in done.stderr


def test_a_place_that_cannot_be_written_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "step_by_step").write_text("a file", encoding="utf-8")
    done = run("override", "skills/step_by_step", "--dir", tmp_path)
    assert done.exit_code == 1
    assert "Traceback" not in done.stderr
    assert str(tmp_path) in done.stderr


# ---- diff -----------------------------------------------------------------------------------


def test_the_difference_is_told_line_by_line(tmp_path: Path) -> None:
    lines = packaged(TOOLS).split("\n")
    path = own(tmp_path, f"{TOOLS}.md", "\n".join([lines[0], "Be wild [red]."]))
    shown = run("diff", TOOLS, "--dir", tmp_path)
    assert (shown.exit_code, shown.stdout.splitlines()) == (
        0,
        [
            f"--- packaged/{TOOLS}.md",
            f"+++ {path}",
            "@@ -1,2 +1,2 @@",
            f" {lines[0]}",
            f"-{lines[1]}",
            "+Be wild [red].",
        ],
    )


def test_without_a_difference_that_is_said(tmp_path: Path) -> None:
    assert run("diff", SOUL, "--dir", tmp_path).stdout == f"{SOUL} is not overridden.\n"
    run("override", SOUL, "--dir", tmp_path)
    assert "says the same as the packaged prompt" in run("diff", SOUL, "--dir", tmp_path).stdout


def test_ones_own_skill_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    own(tmp_path, "skills/haiku/SKILL.md", "---\nname: Haiku\ndescription: d\n---\nThree lines.")
    shown = run("diff", "skills/haiku", "--dir", tmp_path)
    assert shown.exit_code == 1
    assert shown.stderr == "skills/haiku is your own: the package has none of this name.\n"


@pytest.mark.parametrize("words", [["list"], ["show", SOUL], ["diff", SOUL]])
def test_a_prompt_that_cannot_be_read_is_told_with_its_place(
    tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / f"{SOUL}.md").write_bytes(b"caf\xe9")
    shown = run(*words, "--dir", tmp_path)
    assert shown.exit_code == 1
    assert "is not UTF-8: byte 3 is 0xe9" in shown.stderr
    assert str(tmp_path / f"{SOUL}.md") in shown.stderr


def test_settings_that_make_no_sense_are_told_in_words() -> None:
    shown = run("list", FREYA_MAX_TURNS="many")
    assert shown.exit_code == 1
    assert "FREYA_MAX_TURNS" in shown.stderr
