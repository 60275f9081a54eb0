"""The system prompt holds each part once, in order, and tells where each came from."""

import itertools
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.ambient import Ambient
from freya_teach.errors import PromptError
from freya_teach.llm.tokens import BytesCounter
from freya_teach.prompt.composer import (
    SECTIONS,
    Composer,
    CountOnce,
    Part,
    SystemPrompt,
    common_prefix,
)
from freya_teach.prompt.registry import PromptRegistry

NOON = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
ORDER = [name for name, _ in SECTIONS] + ["time", "tool_instructions", "skills", "plugin"]


def composer(folder: Path, moment: datetime = NOON, **texts: str) -> Composer:
    """A composer over files with these texts; what is not named is empty."""
    packaged = folder / "packaged"
    skill = packaged / "skills" / "brief" / "SKILL.md"
    skill.parent.mkdir(parents=True, exist_ok=True)
    skill.write_text("---\nname: Brief\ndescription: d\n---\nBe brief.", encoding="utf-8")
    for name, _ in SECTIONS:
        (packaged / f"core.prompt.{name}.md").write_text(texts.get(name, ""), encoding="utf-8")
    return Composer(PromptRegistry(packaged, folder / "mine"), Ambient(now=moment.astimezone))


@pytest.mark.parametrize("files", list(itertools.product([False, True], repeat=3)))
@pytest.mark.parametrize("instructions", [(), ("Use metric units.",)])
@pytest.mark.parametrize("offer", [False, True])
@pytest.mark.parametrize("active", ["", "brief"])
def test_each_part_is_there_once_and_in_order_for_every_subset(
    tmp_path: Path,
    files: tuple[bool, ...],
    instructions: tuple[str, ...],
    active: str,
    *,
    offer: bool,
) -> None:
    wanted = dict(
        zip([("identity", "tools"), ("soul", "memory"), ("user", "agents")], files, strict=True)
    )
    texts = {
        name: f"This is {name}." for names, is_there in wanted.items() if is_there for name in names
    }
    prompt = composer(tmp_path, **texts).compose(
        tool_instructions=instructions, offer_skills=offer, active_skill=active
    )
    there = {"time", *texts}
    there |= {"tool_instructions"} if instructions else set()
    there |= {"skills"} if offer else set()
    there |= {"plugin"} if active else set()
    assert [part.name for part in prompt.parts] == [name for name in ORDER if name in there]
    for part in prompt.parts:
        assert prompt.text.count(part.block) == 1
    assert prompt.text == "\n\n".join(part.block for part in prompt.parts)


def test_the_parts_tell_where_they_came_from(tmp_path: Path) -> None:
    made = composer(tmp_path, identity="Packaged.", soul="Calm.")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "core.prompt.soul.md").write_text("Wild.", encoding="utf-8")
    rows = made.compose(tool_instructions=["Hi."], active_skill="brief").report()
    assert [(row.name, row.origin) for row in rows] == [
        ("identity", "packaged"),
        ("soul", "override"),
        ("time", "clock"),
        ("tool_instructions", "tools"),
        ("plugin", "packaged"),
    ]


@given(st.lists(st.text(min_size=1), max_size=8))
def test_the_report_counts_every_character_and_its_shares_make_a_whole(texts: list[str]) -> None:
    prompt = SystemPrompt(
        tuple(Part(f"p{i}", "T", text, "packaged") for i, text in enumerate(texts))
    )
    rows = prompt.report()
    between = 2 * max(len(rows) - 1, 0)
    assert sum(row.characters for row in rows) + between == len(prompt.text)
    assert [row.tokens for row in rows] == [BytesCounter().count(p.block) for p in prompt.parts]
    assert sum(row.share for row in rows) == pytest.approx(1 if rows else 0)


def test_a_turn_sees_what_was_reloaded(tmp_path: Path) -> None:
    made = composer(tmp_path, identity="Old.")
    before = made.compose()
    (tmp_path / "packaged" / "core.prompt.identity.md").write_text("New.", encoding="utf-8")
    assert made.compose() == before
    made.registry.reload()
    assert "New." in made.compose().text


def test_a_prompt_is_of_one_edition_also_while_it_is_reloaded(tmp_path: Path) -> None:
    """All parts change together, 30 times; no prompt holds an old part beside a new one."""
    names = [name for name, _ in SECTIONS]
    made = composer(tmp_path, **dict.fromkeys(names, "0"))
    made.compose()
    done = threading.Event()

    def change() -> None:
        for number in range(1, 31):
            composer(tmp_path, **dict.fromkeys(names, str(number)))
            made.registry.reload()
        done.set()

    writer = threading.Thread(target=change)
    writer.start()
    seen = set()
    while not done.is_set():
        texts = {part.text for part in made.compose().parts if part.name in names}
        assert len(texts) == 1
        seen |= texts
    writer.join()
    assert len(seen) > 1
    assert {part.text for part in made.compose().parts if part.name in names} == {"30"}


def test_what_has_not_changed_is_not_built_again(tmp_path: Path) -> None:
    made = composer(tmp_path, identity="I.")
    first, second = (
        made.compose(tool_instructions=["Hi."], offer_skills=True, active_skill="brief").parts
        for _ in range(2)
    )
    assert [id(part) for part in first] == [id(part) for part in second]


def test_an_unknown_skill_that_is_on_is_an_error_and_not_left_out(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="there is no skill 'gone'; there are: brief"):
        composer(tmp_path).compose(active_skill="gone")


# ---- what a cache can keep -----------------------------------------------------------------


@given(st.text(), st.text(), st.text())
def test_the_common_prefix_is_the_longest_one(start: str, first: str, second: str) -> None:
    length = common_prefix(start + first, start + second)
    assert length >= len(start)
    assert (start + first)[:length] == (start + second)[:length]
    assert (start + first)[: length + 1] != (start + second)[: length + 1] or length == min(
        len(start + first), len(start + second)
    )


def test_two_prompts_within_a_minute_are_the_same_and_a_minute_later_differ_at_the_clock(
    tmp_path: Path,
) -> None:
    first = composer(tmp_path, NOON, agents="Alone.").compose().text
    same = composer(tmp_path, NOON.replace(second=59), agents="Alone.").compose().text
    later = composer(tmp_path, NOON.replace(minute=1), agents="Alone.").compose().text
    assert first == same
    assert first[common_prefix(first, later) :].startswith("0 (Monday")


def test_a_text_is_counted_once() -> None:
    asked: list[str] = []

    class Slow:
        def count(self, text: str) -> int:
            asked.append(text)
            return len(text)

    counter = CountOnce(Slow(), limit=2)
    assert [counter.count(text) for text in ("a", "bb", "a", "bb")] == [1, 2, 1, 2]
    assert asked == ["a", "bb"]
    counter.count("ccc")
    assert counter.count("a") == 1
    assert asked == ["a", "bb", "ccc", "a"]
