"""What a notebook holds in its hands, from its first cell to its last."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from freya_teach import paths
from freya_teach.errors import ConfigError
from freya_teach.lab import Lesson, lesson
from freya_teach.lab.gateway import Move, Question, answer
from freya_teach.lab.lesson import frozen_ambient
from freya_teach.lab.network import shut_network
from freya_teach.lab.replay import ReplayMismatch, UnusedRecording
from freya_teach.lab.sample_tools import get_current_weather
from tests.lab.exchanges import URL, exchange, written
from tests.wire_answers import Answer

PROMPTS = paths.course_folder("prompts")
QUESTION = {"model": "m", "messages": [{"role": "user", "content": "Hi?"}]}
SETTINGS = {"base_url": "https://api.example.org", "model": "m"}


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a course of our own in the place of the real one, and be a learner, offline."""
    for variable in ("FREYA_LIVE", "FREYA_UPDATE_AUTHORED", "CI"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "freya_teach")
    hello = Answer("Hello.").to(httpx.Request("POST", URL, json=QUESTION)).json()
    section = tmp_path / "fixtures" / "1.2"
    written(section / "hello", exchange(QUESTION, hello))
    written(section / "two", exchange({"q": 1}, {"n": 1}), exchange({"q": 2}, {"n": 2}))
    shutil.copytree(PROMPTS, tmp_path / "prompts")
    return section


async def ask_all(lab: Lesson, *numbers: int) -> None:
    """Ask for exchanges of the scenario `two`."""
    async with lab.http("two") as http:
        for number in numbers:
            assert (await http.post(URL, json={"q": number})).json() == {"n": number}


async def miss(lab: Lesson) -> None:
    """Make a request that nothing answers, and swallow that."""
    async with lab.http("two") as http:
        with pytest.raises(ReplayMismatch):
            await http.post(URL, json={"q": 3})


# ---- opening and closing -------------------------------------------------------------------


def test_one_line_says_who_answers(capsys: pytest.CaptureFixture[str], course: Path) -> None:
    lab = lesson("1.2")
    assert capsys.readouterr().out == (
        "Lesson 1.2: replayed answers (authored), no key, no network.\n"
    )
    assert (lab.live, lab.other_end) == (False, "replayed answers (authored)")
    real = {"kind": "recorded", "server": "s", "model": "m", "date": "d", "command": "c"}
    written(course / "real", exchange({}, {}, provenance=real))
    assert lab.other_end == "replayed answers (authored and recorded)"
    assert lesson("9.9").other_end == "rules answer (the gateway)"


async def test_a_lesson_that_used_everything_closes_with_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    lab = lesson("1.2")
    await ask_all(lab, 2, 1)
    capsys.readouterr()
    lab.close()
    assert capsys.readouterr().out == "Lesson 1.2 is closed; every exchange was used.\n"


async def test_what_was_not_asked_for_is_a_remark_for_a_learner(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab = lesson("1.2")
    await ask_all(lab, 1)
    lab.http("hello")
    capsys.readouterr()
    lab.close()
    assert capsys.readouterr().out == (
        "Lesson 1.2 is closed; not asked for: hello/01.json, two/02.json\n"
    )


async def test_what_was_not_asked_for_is_an_error_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    lab = lesson("1.2")
    await ask_all(lab, 1)
    with pytest.raises(UnusedRecording, match=r"not asked for: two/02\.json"):
        lab.close()


async def test_a_scenario_opened_again_starts_again_and_what_was_used_stays_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")
    lab = lesson("1.2")
    await ask_all(lab, 1)
    await ask_all(lab, 1, 2)
    await ask_all(lab)
    lab.close()


def test_a_scenario_that_was_never_opened_is_nobodys_concern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")
    lesson("1.2").close()


def test_an_unknown_scenario_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"called 'tow' in section 1\.2; there are: hello, two"):
        lesson("1.2").http("tow")


# ---- a kernel ------------------------------------------------------------------------------


async def test_a_kernel_speaks_the_wire_of_its_recording_and_needs_no_key() -> None:
    lab = lesson("1.2")
    kernel = lab.kernel("hello", base_url="https://api.example.org")
    assert (kernel.settings.provider, kernel.settings.model) == ("openai", "m")
    assert str(await kernel.agent(instructions="").run("Hi?")) == "Hello."
    lab.close()


async def test_a_setting_can_be_chosen() -> None:
    kernel = lesson("1.2").kernel("hello", max_turns=3, provider="gemini")
    assert (kernel.settings.max_turns, kernel.settings.provider) == (3, "gemini")


def test_in_a_lesson_it_is_always_noon_and_ids_are_counted() -> None:
    one, other = frozen_ambient(), frozen_ambient()
    assert one.now(UTC) == other.now(UTC) == datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert [one.new_id("call"), one.new_id("call"), other.new_id("call")] == [
        "call_1",
        "call_2",
        "call_1",
    ]
    assert (one.monotonic(), one.random()) == (0.0, 0.5)


# ---- a miss that somebody swallowed --------------------------------------------------------


@pytest.mark.parametrize(
    "next_step",
    [
        lambda lab: lab.http("two"),
        lambda lab: lab.kernel("hello"),
        lambda lab: lab.close(),
    ],
    ids=["http", "kernel", "close"],
)
async def test_a_swallowed_miss_is_raised_at_the_next_step_and_then_forgotten(
    next_step: Any,
) -> None:
    lab = lesson("1.2")
    await miss(lab)
    with pytest.raises(ReplayMismatch, match="no recording of"):
        next_step(lab)
    next_step(lab)


async def test_a_tool_that_catches_everything_cannot_hide_a_miss() -> None:
    lab = lesson("1.2")

    async def fetch(number: int) -> str:
        """Fetch something."""
        try:
            async with lab.http("two") as http:
                return (await http.post(URL, json={"q": number})).text
        except Exception:  # noqa: BLE001 - the tool that this test is about
            return "Nothing was found."

    assert await fetch(3) == "Nothing was found."
    with pytest.raises(ReplayMismatch, match=r"sent 3"):
        lab.close()


async def test_the_first_of_several_misses_is_raised() -> None:
    lab = lesson("1.2")
    async with lab.http("two") as http:
        for number in (3, 4):
            with pytest.raises(ReplayMismatch):
                await http.post(URL, json={"q": number})
    with pytest.raises(ReplayMismatch, match="sent 3"):
        lab.close()


async def test_a_miss_that_the_notebook_has_shown_is_not_raised_again() -> None:
    lab = lesson("1.2")
    async with lab.http("two") as http:
        with pytest.raises(ReplayMismatch) as problem:
            await http.post(URL, json={"q": 3})
    problem.value._render_traceback_()  # as IPython does
    await ask_all(lab, 1, 2)
    lab.close()


async def test_the_newest_miss_can_be_looked_at_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    lab = lesson("1.2")
    await miss(lab)
    capsys.readouterr()
    lab.diff()
    assert '-    "q": 1' in capsys.readouterr().out
    lab.http("two")  # it has been seen


def test_two_packets_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    lab = lesson("1.2")
    capsys.readouterr()
    lab.diff({"n": 1}, {"n": 2})
    lab.diff({"n": 1}, {"n": 1})
    lab.diff()
    assert capsys.readouterr().out == (
        ' {\n-  "n": 1\n+  "n": 2\n }\n'
        "They are equal.\n"
        "No request has missed its recording, so there is nothing to compare.\n"
    )


# ---- the gateway ---------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_the_gateway_answers_what_no_recording_does(wire: str) -> None:
    kernel = lesson("1.2").kernel("gateway", provider=wire)
    result = await kernel.agent([get_current_weather]).run("Is it cold in Oslo?")
    assert str(result) == "In Oslo: snow, -3 °C."


async def test_a_policy_of_ones_own_plays_the_model() -> None:
    def shout(question: Question) -> Move:
        return answer(question.asked.upper())

    lab = lesson("1.2")
    assert str(await lab.kernel("gateway", policy=shout).agent().run("Hi?")) == "HI?"


async def test_a_policy_plays_the_model_even_when_the_lesson_is_live(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FREYA_LIVE", "1")
    lab = lesson("1.2")
    try:
        kernel = lab.kernel("gateway", policy=lambda _: answer("Not live."))
        assert str(await kernel.agent().run("Hi?")) == "Not live."
    finally:
        shut_network()


# ---- a folder, and an end ------------------------------------------------------------------


def test_a_lesson_has_a_folder_of_its_own_until_it_is_closed() -> None:
    lab = lesson("1.2")
    folder = lab.tmp
    assert lab.tmp == folder
    assert list(folder.iterdir()) == []
    (folder / "notes.md").write_text("Hi", encoding="utf-8")
    lab.close()
    assert not folder.exists()


def test_what_a_lesson_started_is_told_when_it_ends_the_last_one_first() -> None:
    lab, ended = lesson("1.2"), []
    lab.on_close(lambda: ended.append("first"))
    lab.on_close(lambda: ended.append("second"))
    lab.close()
    lab.close()
    assert ended == ["second", "first"]


# ---- printing ------------------------------------------------------------------------------


def test_a_packet_is_printed_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    lab = lesson("1.2")
    capsys.readouterr()
    lab.packet({"role": "user", "text": "x" * 200})
    text = "x" * 52 + "… (200 characters)"
    assert capsys.readouterr().out == f'{{\n  "role": "user",\n  "text": "{text}"\n}}\n'


def test_the_source_of_a_function_is_shown_with_its_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab = lesson("1.2")
    capsys.readouterr()
    lab.show(frozen_ambient)
    shown = capsys.readouterr().out
    assert "lesson.py" in shown or "not the kernel's" in shown
    assert "def frozen_ambient() -> Ambient:" in shown
