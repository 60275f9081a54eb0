"""A run cut into steps."""

import dataclasses

import pytest

from freya_teach.lab.views.steps import NOT_KEPT, NOTHING, steps_of
from tests.lab.views.pictures import recorded, run_of, turn


@pytest.mark.parametrize("scenario", ["weather-openai", "weather-gemini", "weather-openai-stream"])
async def test_a_run_with_one_round_of_tools_has_six_steps(scenario: str) -> None:
    steps = steps_of(await recorded(scenario, stream=scenario.endswith("stream")))
    assert [(step.lane, step.name) for step in steps] == [
        ("harness", "question"),
        ("harness", "packet 1"),
        ("model", "calls"),
        ("tools", "tools run"),
        ("harness", "packet 2"),
        ("model", "answers"),
    ]
    assert steps[0].summary == ("What is the weather in Beijing today, and how much is 15 * 8?",)
    assert steps[2].summary == ("get_current_weather", "calculate")
    assert 'call: calculate({"expression":"15 * 8"})' in steps[2].detail


async def test_the_size_and_the_news_of_a_packet_are_told() -> None:
    result = await recorded("weather-openai")
    second = steps_of(result)[4]
    size = len(result.trace.turns[1].exchange.request.body)
    assert second.summary == ("5 messages", "3 new", f"{size:,} bytes")
    assert [line[0] for line in second.detail if line[0] in " +"] == list("  +++")


async def test_a_limit_is_a_step_of_its_own() -> None:
    last = steps_of(await recorded("max-turns", max_turns=1))[-1]
    assert (last.lane, last.name, last.summary) == ("harness", "run ends", ("■ max_turns",))
    assert last.detail == ("the limit of turns is reached: 1",)


def test_a_packet_that_was_not_kept_is_told_to_be_missing() -> None:
    first = turn(1, ("f", "{}", "1")).without_packets()
    steps = steps_of(run_of([first, turn(2, text="Done.")]))
    assert steps[1].detail == (NOT_KEPT,)
    assert steps[0].summary == (NOT_KEPT,)


def test_a_long_observation_is_cut_and_the_rest_counted() -> None:
    steps = steps_of(run_of([turn(1, ("f", "{}", "line\n" * 50)), turn(2, text="Done.")]))
    assert steps[3].detail[-1] == "(39 more lines)"


def test_a_failed_call_has_a_sign_and_a_word() -> None:
    made = turn(1, ("f", "{}", "no"))
    failed = dataclasses.replace(made.calls[0], state="failed")
    step = steps_of(run_of([dataclasses.replace(made, calls=(failed,))]))[3]
    assert step.summary == ("✗ no",)
    assert step.detail[0] == "✗ f failed:"


def test_a_run_without_turns_has_only_its_end() -> None:
    (only,) = steps_of(run_of([], "budget", "no time"))
    assert only.detail == ("no time",)
    assert steps_of(run_of([])) == (NOTHING,)
