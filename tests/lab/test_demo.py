"""The course's first question, over both wires, streamed and not: what a good run is."""

from dataclasses import replace
from typing import Any

import pytest

from freya_teach import RunResult, Trace
from freya_teach.lab.demo import ask, checks, demo_lab, scenario_name
from freya_teach.llm.messages import ToolCall
from freya_teach.llm.protocol import Usage
from freya_teach.trace import CallTrace, TurnTrace
from tests.wire_answers import EVERY_WIRE, way_of_asking


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sure that no real model is asked, whatever the environment says."""
    monkeypatch.delenv("FREYA_LIVE", raising=False)
    monkeypatch.delenv("FREYA_UPDATE_AUTHORED", raising=False)


async def good_run(provider: str = "openai", *, stream: bool = False) -> RunResult:
    """Ask the question once."""
    return await ask(demo_lab(), provider, stream=stream)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_the_question_is_answered_by_a_good_run(spoken: dict[str, Any]) -> None:
    lab = demo_lab()
    result = await ask(lab, spoken["provider"], stream=spoken["stream"])
    assert [check.text for check in checks(result) if not check.holds] == []
    first, second = result.trace.turns
    assert [
        (t.call.name, t.call.arguments.replace(" ", ""), t.observation) for t in first.calls
    ] == [
        (
            "get_current_weather",
            '{"city":"Beijing"}',
            '{"city": "Beijing", "condition": "sunny", "temperature_celsius": 15}',
        ),
        ("calculate", '{"expression":"15*8"}', "120"),
    ]
    assert second.calls == ()
    assert result.text == "It is sunny in Beijing today, at 15 °C, and 15 * 8 = 120."
    assert result.trace.usage.total_tokens == sum(
        turn.reply.usage.total_tokens for turn in result.trace.turns
    )
    lab.close()


@pytest.mark.usefixtures("offline")
async def test_all_four_ways_of_asking_give_the_same_calls_and_the_same_answer() -> None:
    runs = [await good_run(spoken["provider"], stream=spoken["stream"]) for spoken in EVERY_WIRE]
    assert len({run.text for run in runs}) == 1
    told = {tuple((t.call.name, t.observation) for t in run.trace.calls) for run in runs}
    assert len(told) == 1


@pytest.mark.usefixtures("offline")
async def test_a_streamed_run_and_a_whole_one_of_one_wire_differ_in_nothing_that_was_meant() -> (
    None
):
    for provider in ("openai", "gemini"):
        whole, streamed = [await good_run(provider, stream=stream) for stream in (False, True)]
        assert (whole.text, whole.trace.usage) == (streamed.text, streamed.trace.usage)


def test_every_way_of_asking_has_its_own_recordings() -> None:
    names = [scenario_name(s["provider"], stream=s["stream"]) for s in EVERY_WIRE]
    assert names == [
        "weather-openai",
        "weather-openai-stream",
        "weather-gemini",
        "weather-gemini-stream",
    ]


# ---- a check that cannot fail is none ------------------------------------------------------


def changed(result: RunResult, *turns: TurnTrace) -> RunResult:
    """Give a run other turns."""
    return replace(result, trace=Trace(turns))


def with_calls(turn: TurnTrace, *calls: CallTrace) -> TurnTrace:
    """Give a turn other calls."""
    return replace(turn, calls=calls)


def free_of_charge(turn: TurnTrace) -> TurnTrace:
    """Take the token count out of a turn."""
    reply = replace(turn.reply, usage=Usage())
    return replace(turn, exchange=replace(turn.exchange, reply=reply))


@pytest.mark.usefixtures("offline")
async def test_each_check_fails_on_a_run_that_is_bad_in_its_way() -> None:
    good = await good_run()
    first, second = good.trace.turns
    weather, sum_ = first.calls
    again = replace(weather, call=ToolCall("id", "get_current_weather", '{"city": "Oslo"}'))
    bad = {
        "exactly two model calls": [
            changed(good, first),
            changed(good, first, second, second),
            changed(good),
        ],
        "each tool called once": [
            changed(good, with_calls(first, weather), second),
            changed(good, with_calls(first, weather, sum_, again), second),
            changed(good, with_calls(first, weather, again), second),
        ],
        "both in the first turn": [
            changed(good, with_calls(first, weather), with_calls(second, sum_)),
            changed(good, with_calls(first), with_calls(second, weather, sum_)),
            changed(good),
        ],
        "no call repeated": [changed(good, with_calls(first, weather, sum_, sum_), second)],
        "every call succeeded": [
            changed(good, with_calls(first, replace(weather, state="failed"), sum_), second),
            changed(good, with_calls(first, weather, replace(sum_, state="refused")), second),
        ],
        "the answer holds both results": [
            replace(good, text="15 * 8 = 120."),
            replace(good, text="It is sunny at 15 °C."),
            replace(good, text=""),
            replace(good, stop_reason="max_turns"),
        ],
        "the tokens were counted": [changed(good, *map(free_of_charge, good.trace.turns))],
    }
    assert list(bad) == [check.text for check in checks(good)]
    for text, runs in bad.items():
        for run in runs:
            assert text in [check.text for check in checks(run) if not check.holds]
