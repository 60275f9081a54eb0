"""What the composer view compares, without a picture."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.ambient import Ambient
from freya_teach.lab.views.composition import Choice, Composition, Material
from freya_teach.prompt.composer import Part, SystemPrompt, common_prefix

NOON = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
PLAIN = Choice(override=True, skills=False, active="", tools=True, granularity="minute")
BLOCKS = st.lists(st.text(alphabet="ab\n", max_size=6), min_size=1, max_size=4)


def material(folder: Path, *instructions: str, override: bool = True) -> Material:
    packaged, mine = folder / "packaged", folder / "mine"
    mine.mkdir(exist_ok=True)
    for name in ("identity", "soul", "user", "memory", "tools", "agents"):
        path = packaged / f"core.prompt.{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"The {name}.", encoding="utf-8")
    skill = packaged / "skills" / "brief" / "SKILL.md"
    skill.parent.mkdir(parents=True, exist_ok=True)
    skill.write_text("---\nname: Brief\ndescription: d\n---\nBe brief.", encoding="utf-8")
    ambient = Ambient(now=NOON.astimezone)
    return Material(packaged, mine if override else None, ambient, instructions)


def prompt(*texts: str) -> SystemPrompt:
    return SystemPrompt(
        tuple(Part(f"p{n}", f"P{n}", text, "tools") for n, text in enumerate(texts))
    )


def clicked(stuff: Material, *clicks: str) -> Composition:
    now = Composition(PLAIN, stuff.compose(PLAIN))
    for click in clicks:
        now = now.after(click, stuff.changes()[click], stuff)
    return now


def test_there_is_a_click_for_every_change_that_can_be_made(tmp_path: Path) -> None:
    assert list(material(tmp_path, "Use metric units.").changes()) == [
        *("override on", "override off", "tools on", "tools off"),
        *("skills off", "no skill", "skill brief"),
        *("time by second", "time by minute", "time by hour", "time by day"),
        "a minute later",
    ]


def test_what_is_not_there_cannot_be_switched(tmp_path: Path) -> None:
    names = material(tmp_path, override=False).changes()
    assert not [name for name in names if name.startswith(("override", "tools"))]


@pytest.mark.parametrize(
    ("clicks", "names"),
    [
        ([], ["time", "tool_instructions"]),
        (["tools off"], ["time"]),
        (["no skill"], ["time", "tool_instructions", "skills"]),
        (["skill brief"], ["time", "tool_instructions", "skills", "plugin"]),
        (["skill brief", "skills off"], ["time", "tool_instructions"]),
    ],
)
def test_a_click_adds_or_takes_away_its_part(
    tmp_path: Path, clicks: list[str], names: list[str]
) -> None:
    now = clicked(material(tmp_path, "Use metric units."), *clicks)
    assert [part.name for part in now.prompt.parts[6:]] == names


def test_minutes_add_up_and_the_time_is_told_as_finely_as_asked(tmp_path: Path) -> None:
    now = clicked(material(tmp_path), "time by second", "a minute later", "a minute later")
    assert "2026-11-30 12:02:30 (Monday, UTC)" in now.prompt.text


def test_a_file_that_has_just_been_written_is_seen_at_the_next_click(tmp_path: Path) -> None:
    stuff = material(tmp_path)
    now = clicked(stuff)
    (tmp_path / "mine" / "core.prompt.soul.md").write_text("Mine.", encoding="utf-8")
    now = now.after("override on", stuff.changes()["override on"], stuff)
    assert now.first_difference == "SOUL"
    assert {part.name: part.origin for part in now.prompt.parts}["soul"] == "override"


def test_a_prompt_that_cannot_be_composed_is_told_and_the_old_one_stays(tmp_path: Path) -> None:
    stuff = material(tmp_path)
    (tmp_path / "mine" / "core.prompt.soul.md").mkdir()
    now = Composition(PLAIN, Material(stuff.packaged, None, stuff.ambient).compose(PLAIN))
    after = now.after("time by day", stuff.changes()["time by day"], stuff)
    assert (after.choice, after.prompt, after.before) == (now.choice, now.prompt, None)
    assert after.problem.startswith("time by day: ")
    assert "is a folder, and a file is needed there" in after.problem


def test_without_a_click_before_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    now = clicked(material(tmp_path))
    assert (now.same, now.first_difference) == (0, "")


@pytest.mark.parametrize(
    ("before", "after", "title"),
    [
        (["one", "two"], ["one", "too"], "P1"),
        (["one"], ["one", "two"], "P1"),  # added: the difference is in what is new
        (["one", "two"], ["one"], ""),  # taken away from the end: all that is there is the same
        (["one"], ["one"], ""),
        (["one", "two"], ["eno", "two"], "P0"),
    ],
)
def test_the_part_of_the_first_difference_is_named(
    before: list[str], after: list[str], title: str
) -> None:
    assert Composition(PLAIN, prompt(*after), before=prompt(*before)).first_difference == title


@given(BLOCKS, BLOCKS)
def test_pieces_hold_the_whole_prompt_and_call_only_the_same_the_same(
    before: list[str], after: list[str]
) -> None:
    now = Composition(PLAIN, prompt(*after), before=prompt(*before))
    pieces = list(now.pieces())
    assert "".join("".join(text for _, text in pieces).split()) == "".join(now.prompt.text.split())
    kept = [same for same, _ in pieces]
    assert kept == sorted(kept, reverse=True)  # first what is the same, then what is not
    told = sum(len("".join(text.split())) for same, text in pieces if same)
    assert told <= len("".join(now.prompt.text[: now.same].split()))
    assert now.same == common_prefix(prompt(*before).text, prompt(*after).text)
