"""Verdicts, hints and solutions as a notebook gets them."""

from pathlib import Path

import pytest

from freya_teach.errors import ConfigError
from freya_teach.lab import progress
from freya_teach.lab.exercises import (
    Answer,
    check,
    every_exercise,
    expect,
    find,
    hint,
    judge,
    reveal,
)
from freya_teach.lab.exercises.registry import natural_order
from freya_teach.lab.exercises.section_2_3 import hands_back_the_value, observe
from freya_teach.lab.exercises.wording import clean, error_text, short
from tests.lab.exercises.exercises_for_tests import exercise


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chosen = tmp_path / "progress.json"
    monkeypatch.setenv("FREYA_PROGRESS_FILE", str(chosen))
    return chosen


async def test_a_pass_is_noted_and_nothing_else_is(notes: Path) -> None:
    assert not (await check("2.3-a", hands_back_the_value)).passed
    assert progress.passed_exercises(notes) == {}
    verdict = await check("2.3-a", observe)
    assert verdict.passed
    assert str(verdict) == f"✓ 2.3-a: passed. {find('2.3-a').title}"
    assert list(progress.passed_exercises(notes)) == ["2.3-a"]


async def test_a_pass_that_cannot_be_noted_is_a_pass_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    monkeypatch.setenv("FREYA_PROGRESS_FILE", str(tmp_path / "file" / "progress.json"))
    first, second = await check("2.3-a", observe), await check("2.3-a", observe)
    assert first.passed
    assert "Your progress cannot be noted" in first.text
    assert "cannot be noted" not in second.text


@pytest.mark.parametrize("unknown", ["2.3-z", "99.9-a", "", "observe", "../x-a"])
async def test_an_unknown_id_is_told_with_those_there_are(unknown: str) -> None:
    with pytest.raises(ConfigError, match=r"there is no exercise .*; there are: .*2\.3-a"):
        await check(unknown, observe)
    with pytest.raises(ConfigError):
        hint(unknown)


def test_hints_come_one_by_one_and_then_it_says_how_to_go_on() -> None:
    hints = find("2.3-a").hints
    told = [hint("2.3-a") for _ in range(len(hints) + 2)]
    for number, text in enumerate(hints, start=1):
        assert told[number - 1] == f"2.3-a, hint {number} of {len(hints)}: {text}"
    assert told[-1] == told[-2]
    assert 'lab.reveal("2.3-a")' in told[-1]


def test_a_solution_is_shown_as_source_and_a_value_as_itself() -> None:
    source = reveal("2.3-a")
    assert "import json\n" in source
    assert "\n\n\ndef observe(call: dict[str, Any]) -> str:\n" in source
    assert "# whatever a tool raises, the model reads it" in source


def test_sections_come_in_the_order_in_which_they_are_taught() -> None:
    taught = ["2.9-a", "2.9-b", "2.10-a", "10.1-a", "gemini_over_raw_http-a"]
    assert sorted(set(taught), key=natural_order) == taught
    ids = [exercise.id for exercise in every_exercise()]
    assert ids == sorted(ids, key=natural_order)


async def test_a_class_is_an_answer_and_its_methods_are_called_as_safely() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def up(self) -> int:
            self.count += 1
            return self.count

        def for_ever(self) -> None:
            while True:
                pass

    async def counts(answer: Answer) -> None:
        made = await answer.call()
        expect(await answer.run(made.up) == 1, "Begin at 0.")

    async def hangs(answer: Answer) -> None:
        made = await answer.call()
        await answer.run(made.for_ever)

    assert (await judge(exercise(counts), Counter)).passed
    verdict = await judge(exercise(hangs, seconds=0.2), Counter)
    assert verdict.state == "stopped"
    assert "\n    line " in verdict.text


async def test_a_stub_is_not_done_even_where_a_caller_swallows_what_it_raises() -> None:
    async def swallows(answer: Answer) -> None:
        try:
            await answer.call()
        except Exception:  # noqa: BLE001 - as the kernel does with a tool
            return

    for given in (None, ..., lambda: None):
        assert (await judge(exercise(swallows), given)).state == "not done"


def test_no_address_and_no_folder_of_this_machine_is_shown() -> None:
    assert short(object()) == "<object object>"
    assert clean(f"cannot import name 'x' ({Path(__file__)})").endswith("test_judge.py)")
    assert str(Path.cwd()) not in error_text(ImportError(f"no {Path.cwd() / 'x.py'}"))
