"""The user's own prompt wins; only "there is no such file" falls back; nothing else is hidden."""

import logging
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from freya_teach.errors import PromptError
from freya_teach.paths import course_folder
from freya_teach.prompt.files import MAX_PROMPT_BYTES
from freya_teach.prompt.registry import PromptRegistry

KEY = "core.prompt.identity"
NAME = f"{KEY}.md"


@pytest.fixture
def packaged(tmp_path: Path) -> Path:
    folder = tmp_path / "packaged"
    folder.mkdir()
    write(folder / NAME, "You are packaged.\n")
    return folder


@pytest.fixture
def override(tmp_path: Path) -> Path:
    folder = tmp_path / "override"
    folder.mkdir()
    return folder


@pytest.fixture
def registry(packaged: Path, override: Path) -> PromptRegistry:
    return PromptRegistry(packaged, override)


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def skill_text(name: str = "Brief", text: str = "Be brief.") -> str:
    return f"---\nname: {name}\ndescription: About {name}.\n---\n{text}\n"


# ---- which file ----------------------------------------------------------------------------


def test_without_an_override_the_packaged_prompt_is_read(registry: PromptRegistry) -> None:
    prompt = registry.get(KEY)
    assert (prompt.text, prompt.origin) == ("You are packaged.", "packaged")


def test_an_override_is_read_first(registry: PromptRegistry, override: Path) -> None:
    path = write(override / NAME, "You are mine.")
    prompt = registry.get(KEY)
    assert (prompt.text, prompt.origin, prompt.path) == ("You are mine.", "override", path)


@pytest.mark.parametrize("folder", [None, Path("nowhere")])
def test_an_override_folder_need_not_be_there(packaged: Path, folder: Path | None) -> None:
    assert PromptRegistry(packaged, folder).get(KEY).text == "You are packaged."


def test_both_missing_is_an_error_that_names_both_files(
    registry: PromptRegistry, packaged: Path, override: Path
) -> None:
    with pytest.raises(PromptError) as problem:
        registry.get("core.prompt.soul")
    for folder in (packaged, override):
        assert str(folder / "core.prompt.soul.md") in str(problem.value)


def test_an_empty_override_counts_and_is_warned_about(
    registry: PromptRegistry, override: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(override / NAME, " \n")
    with caplog.at_level(logging.WARNING):
        assert registry.get(KEY).text == ""
    assert "is empty" in caplog.text


@pytest.mark.parametrize("name", ["Core.Prompt.Identity.md", "core.prompt.identity.MD"])
def test_a_name_in_other_capitals_overrides_nothing_on_any_system(
    registry: PromptRegistry, override: Path, name: str
) -> None:
    """Windows and macOS would open it, Linux would not: a prompt must not depend on that."""
    write(override / name, "You are mine.")
    assert registry.get(KEY).origin == "packaged"
    assert registry.unused() == {name: NAME}


def test_the_override_folder_may_be_a_link(packaged: Path, override: Path, tmp_path: Path) -> None:
    write(override / NAME, "You are mine.")
    (tmp_path / "link").symlink_to(override, target_is_directory=True)
    assert PromptRegistry(packaged, tmp_path / "link").get(KEY).text == "You are mine."


def test_a_folder_that_is_a_link_to_nowhere_is_an_error_and_not_an_empty_folder(
    packaged: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "gone", target_is_directory=True)
    with pytest.raises(PromptError, match="is a link to a place that is not there") as problem:
        PromptRegistry(packaged, link).get(KEY)
    assert str(link) in str(problem.value)


@pytest.mark.parametrize("key", ["con", "nul", "aux.prompt", "com1", "lpt9.x"])
def test_a_key_is_no_device_of_windows(registry: PromptRegistry, key: str) -> None:
    with pytest.raises(PromptError, match="is no prompt key"):
        registry.get(key)


@pytest.mark.parametrize(
    "key", ["", "../secret", "a/b", "a\\b", ".hidden", "a..b", "A", "a b", "a.md/..", "ä", "a\0"]
)
def test_a_key_can_lead_nowhere_else(registry: PromptRegistry, key: str) -> None:
    with pytest.raises(PromptError, match="is no prompt key"):
        registry.get(key)


# ---- what cannot be read -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: write(path, b"caf\xe9"), "is not UTF-8: byte 3 is 0xe9"),
        (lambda path: write(path, b"x" * (MAX_PROMPT_BYTES + 1)), "is larger than 262,144 bytes"),
        (
            lambda path: path.symlink_to(path.with_name("nowhere")),
            "is a link to a place that is not there",
        ),
        (lambda path: path.symlink_to(path), "cannot be read"),
        pytest.param(
            getattr(os, "mkfifo", None),
            "is no regular file",
            marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes"),
        ),
    ],
    ids=[
        "folder",
        "latin-1",
        "too large",
        "dangling link",
        "link to itself",
        "pipe",
    ],
)
def test_anything_but_a_missing_file_is_an_error_that_names_both(
    registry: PromptRegistry,
    packaged: Path,
    override: Path,
    make: Callable[[Path], object],
    said: str,
) -> None:
    make(override / NAME)
    with pytest.raises(PromptError, match=re.escape(said)) as problem:
        registry.get(KEY)
    for folder in (packaged, override):
        assert str(folder / NAME) in str(problem.value)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_that_may_not_be_read_is_an_error(registry: PromptRegistry, override: Path) -> None:
    write(override / NAME, "Hi").chmod(0)
    with pytest.raises(PromptError, match="cannot be read: Permission denied"):
        registry.get(KEY)


def test_a_file_in_the_place_of_the_override_folder_is_an_error(
    packaged: Path, tmp_path: Path
) -> None:
    folder = write(tmp_path / "file", "no folder")
    with pytest.raises(PromptError, match="is a file, and a folder is needed there"):
        PromptRegistry(packaged, folder).get(KEY)


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfHi\r\nthere\r\n", b"\n\nHi\nthere", b"Hi\rthere"]
)
def test_the_marks_of_windows_editors_are_no_difference(
    registry: PromptRegistry, override: Path, content: bytes
) -> None:
    write(override / NAME, content)
    assert registry.get(KEY).text == "Hi\nthere"


# ---- reading again -------------------------------------------------------------------------


def test_a_prompt_is_read_once_until_it_is_reloaded(
    registry: PromptRegistry, override: Path
) -> None:
    registry.get(KEY)
    write(override / NAME, "You are mine.")
    assert registry.get(KEY).text == "You are packaged."
    assert registry.reload() == (KEY,)
    assert registry.get(KEY).text == "You are mine."
    assert registry.reload() == ()
    (override / NAME).unlink()
    assert registry.reload() == (KEY,)
    assert registry.get(KEY).text == "You are packaged."


def test_a_change_within_the_same_second_and_of_the_same_size_is_seen(
    registry: PromptRegistry, override: Path
) -> None:
    path = write(override / NAME, "Be kind.")
    registry.get(KEY)
    times = path.stat()
    write(path, "Be wild.")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert registry.reload() == (KEY,)
    assert registry.get(KEY).text == "Be wild."


def test_a_reload_that_fails_changes_nothing(
    registry: PromptRegistry, packaged: Path, override: Path
) -> None:
    write(packaged / "core.prompt.soul.md", "Calm.")
    registry.get(KEY)
    registry.get("core.prompt.soul")
    write(override / NAME, "You are mine.")
    write(override / "core.prompt.soul.md", b"\xff")
    with pytest.raises(PromptError):
        registry.reload()
    assert registry.get(KEY).text == "You are packaged."
    assert registry.get("core.prompt.soul").text == "Calm."


def test_whoever_reads_while_it_is_reloaded_sees_the_old_or_the_new(
    registry: PromptRegistry, packaged: Path, override: Path
) -> None:
    """Two prompts change together, 300 times; a reader never sees one of each time."""
    write(packaged / "core.prompt.soul.md", "0")
    write(packaged / NAME, "0")
    for key in (KEY, "core.prompt.soul"):
        registry.get(key)
    done = threading.Event()

    def change() -> None:
        for number in range(1, 301):
            write(override / NAME, str(number))
            registry.reload()
        done.set()

    writer = threading.Thread(target=change)
    writer.start()
    last = 0
    while not done.is_set():
        now = int(registry.get(KEY).text)
        assert now >= last
        last = now
    writer.join()
    assert registry.get(KEY).text == "300"


def test_an_edition_is_all_old_or_all_new(
    registry: PromptRegistry, packaged: Path, override: Path
) -> None:
    """Two prompts change together, 50 times; whoever takes both from one edition sees a pair."""
    keys = (KEY, "core.prompt.soul")
    for key in keys:
        write(packaged / f"{key}.md", "0")
        registry.get(key)
    done = threading.Event()

    def change() -> None:
        for number in range(1, 51):
            for key in keys:
                write(override / f"{key}.md", str(number))
            registry.reload()
        done.set()

    writer = threading.Thread(target=change)
    writer.start()
    while not done.is_set():
        edition = registry.edition
        assert len({edition.get(key).text for key in keys}) == 1
    writer.join()
    assert {registry.get(key).text for key in keys} == {"50"}


def test_reading_for_the_first_time_while_others_reload_breaks_nothing(
    registry: PromptRegistry, packaged: Path
) -> None:
    keys = [f"a{number}" for number in range(200)]
    for key in keys:
        write(packaged / f"{key}.md", key)
    problems: list[BaseException] = []

    def read(mine: list[str]) -> None:
        try:
            assert [registry.get(key).text for key in mine] == mine
        except BaseException as problem:
            problems.append(problem)
            raise

    readers = [threading.Thread(target=read, args=(keys[start::4],)) for start in range(4)]
    for reader in readers:
        reader.start()
    while any(reader.is_alive() for reader in readers):
        registry.reload()
    for reader in readers:
        reader.join()
    assert problems == []


# ---- skills --------------------------------------------------------------------------------


def test_skills_come_from_both_folders_and_an_override_wins(
    registry: PromptRegistry, packaged: Path, override: Path
) -> None:
    write(packaged / "skills/one/SKILL.md", skill_text("One"))
    write(packaged / "skills/two/SKILL.md", skill_text("Two"))
    write(override / "skills/two/SKILL.md", skill_text("My two"))
    write(override / "skills/three/SKILL.md", skill_text("Three"))
    assert [(skill.id, skill.name, skill.overridden) for skill in registry.skills()] == [
        ("one", "One", False),
        ("three", "Three", True),
        ("two", "My two", True),
    ]
    assert registry.skill("two").text == "Be brief."


def test_an_unknown_skill_is_an_error_that_names_the_others(
    registry: PromptRegistry, packaged: Path
) -> None:
    write(packaged / "skills/one/SKILL.md", skill_text())
    with pytest.raises(PromptError, match="there is no skill 'tow'; there are: one"):
        registry.skill("tow")


def test_a_skill_that_comes_changes_or_goes_is_seen_on_reload(
    registry: PromptRegistry, override: Path
) -> None:
    assert registry.skills() == ()
    path = write(override / "skills/one/SKILL.md", skill_text())
    assert registry.reload() == ("skills/one",)
    write(path, skill_text(text="Be long."))
    assert registry.reload() == ("skills/one",)
    path.unlink()
    assert registry.reload() == ("skills/one",)
    assert registry.skills() == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Be brief.", "does not begin with fields between two lines of ---"),
        ("", "does not begin with fields"),
        ("---\nname: One\n", "does not begin with fields"),
        ("---\nname: One\n---\nHi", "has no 'description'"),
        ("---\nname:\ndescription: d\n---\nHi", "has no 'name'"),
        ("---\nname: One\n- a list\n---\nHi", "line 3: a field looks like"),
        ("---\nname: One\nname: Two\n---\nHi", "line 3: 'name' stands there a second time"),
        ("---\nname: One\n  nested: field\n---\nHi", "line 3: a field looks like"),
    ],
)
def test_a_skill_that_is_not_written_well_is_an_error_with_its_place(
    registry: PromptRegistry, override: Path, content: str, said: str
) -> None:
    path = write(override / "skills/one/SKILL.md", content)
    with pytest.raises(PromptError, match=re.escape(said)) as problem:
        registry.skills()
    assert str(path) in str(problem.value)


def test_quotes_comments_and_colons_in_a_field_are_read(
    registry: PromptRegistry, override: Path
) -> None:
    text = "---\n# about this\n\nname: \"One: two\"\ndescription: 'd'\n---\n\n---\nHi\n"
    write(override / "skills/one/SKILL.md", text)
    skill = registry.skill("one")
    assert (skill.name, skill.description, skill.text) == ("One: two", "d", "---\nHi")


def test_the_folder_of_a_skill_needs_a_plain_name(registry: PromptRegistry, override: Path) -> None:
    write(override / "skills/My Skill/SKILL.md", skill_text())
    with pytest.raises(PromptError, match="'My Skill' is no name for a skill's folder"):
        registry.skills()


def test_quotes_inside_a_field_belong_to_it(registry: PromptRegistry, override: Path) -> None:
    text = '---\nname: \'Tis\ndescription: Answer with "Yes" or "No"\n---\nHi'
    write(override / "skills/one/SKILL.md", text)
    skill = registry.skill("one")
    assert (skill.name, skill.description) == ("'Tis", 'Answer with "Yes" or "No"')


def test_what_is_no_skill_among_the_skills_is_passed_over(
    registry: PromptRegistry, override: Path
) -> None:
    write(override / "skills/README.md", "about these")
    write(override / "skills/.DS_Store", b"\0")
    write(override / "skills/Half Done/notes.md", "later")
    write(override / "skills/one/SKILL.md", skill_text("One"))
    assert [skill.id for skill in registry.skills()] == ["one"]


def test_a_file_in_the_place_of_the_skills_is_an_error(
    registry: PromptRegistry, override: Path
) -> None:
    """Skills that vanish without a word would be looked for in the wrong place."""
    path = write(override / "skills", "no folder")
    with pytest.raises(PromptError, match="is a file, and a folder is needed there") as problem:
        registry.skills()
    assert str(path) in str(problem.value)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
@pytest.mark.parametrize("place", ["skills", "skills/one", "skills/one/SKILL.md"])
def test_skills_that_may_not_be_read_are_an_error(
    registry: PromptRegistry, override: Path, place: str
) -> None:
    write(override / "skills/one/SKILL.md", skill_text())
    (override / place).chmod(0)
    with pytest.raises(PromptError, match="cannot be read: Permission denied"):
        registry.skills()
    (override / place).chmod(0o700)


# ---- overrides that do nothing -------------------------------------------------------------


def test_a_file_that_overrides_nothing_is_found_with_the_name_that_was_meant(
    registry: PromptRegistry, override: Path
) -> None:
    for name in (NAME, "core.prompt.identiy.md", "notes.txt"):
        write(override / name, "Hi")
    assert registry.unused() == {
        "core.prompt.identiy.md": NAME,
        "notes.txt": "",
    }
    assert PromptRegistry(registry.packaged).unused() == {}


# ---- the course's own ----------------------------------------------------------------------


def test_every_packaged_prompt_and_skill_can_be_read() -> None:
    registry = PromptRegistry(course_folder("prompts"))
    assert len(registry.keys()) == 10
    assert all(registry.get(key).text for key in registry.keys())  # noqa: SIM118 - no dict
    assert len(registry.skills()) >= 2
