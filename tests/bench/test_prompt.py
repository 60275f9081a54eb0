"""What composing the system prompt costs, against joining the same strings."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from freya_teach.ambient import Ambient, LocalZone
from freya_teach.llm.tokens import BytesCounter
from freya_teach.paths import course_folder
from freya_teach.prompt.composer import Composer, CountOnce
from freya_teach.prompt.registry import PromptRegistry
from tests.bench.pairs import HEADING, measure

PAIRS = 15
PROMPTS = 2_000
"""Prompts in one sample."""
AIM = 5.0
Report = dict[str, list[str]]
INSTRUCTIONS = ["Call `calculate` for every sum.", "Name cities in English."]


def composed(made: Composer) -> str:
    """Compose a prompt of all ten parts, and look at the clock for it."""
    return made.compose(
        tool_instructions=INSTRUCTIONS, offer_skills=True, active_skill="step_by_step"
    ).text


def seconds(action: Callable[[], object]) -> float:
    started = time.process_time()
    for _ in range(PROMPTS):
        action()
    return time.process_time() - started


@pytest.mark.bench
@pytest.mark.parametrize("zone", [UTC, ZoneInfo("Europe/Oslo"), LocalZone()], ids=str)
def test_composing_costs_little_more_than_joining_the_same_strings(
    report: Report, zone: tzinfo
) -> None:
    made = Composer(PromptRegistry(course_folder("prompts")), Ambient(zone=zone))
    parts = made.compose(
        tool_instructions=INSTRUCTIONS, offer_skills=True, active_skill="step_by_step"
    ).parts
    strings = [(part.title, part.text) for part in parts]

    def joined() -> str:
        return "\n\n".join([f"# {title}\n{text}" for title, text in strings])

    assert len(parts) == 10
    assert len(joined()) == len(composed(made))
    pairs = measure(lambda: seconds(joined), lambda: seconds(lambda: composed(made)), pairs=PAIRS)
    row = pairs.row(f"ten parts, {zone}", AIM, units=PROMPTS / 1000)
    report.setdefault(f"Composing 1,000 system prompts\n{HEADING}", []).append(row)
    assert pairs.ratio <= AIM


@pytest.fixture
def own_prompts(tmp_path: Path) -> PromptRegistry:
    return PromptRegistry(course_folder("prompts"), tmp_path)


def test_of_two_prompts_only_the_parts_that_differ_are_counted_again(
    own_prompts: PromptRegistry, tmp_path: Path
) -> None:
    asked: list[str] = []

    class Asked(BytesCounter):
        def count(self, text: str) -> int:
            asked.append(text.partition("\n")[0])
            return super().count(text)

    counter = CountOnce(Asked())
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    made = Composer(own_prompts, Ambient(now=noon.astimezone))
    first = made.compose().report(counter)
    assert made.compose().report(counter) == first
    assert len(asked) == len(set(asked)) == 7
    (tmp_path / "core.prompt.soul.md").write_text("Be wild.", encoding="utf-8")
    own_prompts.reload()
    later = Composer(own_prompts, Ambient(now=noon.replace(hour=13).astimezone))
    later.compose().report(counter)
    assert asked[7:] == ["# SOUL", "# CURRENT TIME"]
