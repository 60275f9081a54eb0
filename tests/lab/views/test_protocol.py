"""The bench: a history is broken, and both providers say so in their own words."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.lab.gateway import answer, gateway
from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.views.protocol import BenchView, protocol
from freya_teach.lab.views.protocol_edits import BREAKAGES, EDITS, name_of
from freya_teach.lab.views.protocol_state import MODELS_ON_THE_BENCH
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, user
from tests.lab.views.pictures import assert_told, lab, words_in
from tests.strategies import valid_histories

FINE = "-"
SAYS: list[tuple[str, str, str]] = [
    # the click                the rule of OpenAI   the rule of Gemini
    ("remove 0", FINE, FINE),
    ("remove 1", FINE, "order.start"),
    ("remove 2", "order.pairs", "order.responses"),
    ("remove 3", "order.pairs", "order.counts"),
    ("up 4", FINE, FINE),
    ("up 3", "order.pairs", "order.responses"),
    ("down 0", FINE, "contents.role"),
    ("empty 1", "messages.content", "contents.parts"),
    ("drop id 2", "calls.whole", FINE),
    ("drop id 3", "order.pairs", FINE),
    ("repeat id 2", "order.pairs", FINE),
    ("repeat id 4", "order.results", FINE),
    ("long id 2", "calls.id", FINE),
    ("rename 3", FINE, FINE),
    ("swap results 3", FINE, FINE),
    ("cut arguments 2", FINE, "fields.known"),
    ("unpack arguments 2", "calls.arguments", FINE),
    ("drop signature 2", FINE, "signature.missing"),
    ("copy signature 2", FINE, "signature.copied"),
    ("foreign signature 2", FINE, "signature.foreign"),
    ("placeholder 2", FINE, FINE),
    ("split results 3", FINE, "order.counts"),
    ("role function 3", "order.pairs", "contents.role"),
]


def rule_of(bench: BenchView, wire: Wire) -> str:
    found = bench.now.verdict(wire)
    assert found.accepted is (found.rule is None)
    return found.rule.name if found.rule else FINE


def test_the_history_that_it_begins_with_is_accepted_by_every_generation_on_the_bench() -> None:
    for wire, models in MODELS_ON_THE_BENCH.items():
        for model in models:
            bench = protocol().play([f"{wire} {model}"])
            if model == "o1-mini":
                assert "does not support 'system' with this model" in bench.text
            else:
                assert "OpenAI accepts · Gemini accepts" in bench.text, model


@pytest.mark.parametrize(("click", "openai", "gemini"), SAYS)
def test_each_breakage_is_noticed_by_whom_it_concerns(click: str, openai: str, gemini: str) -> None:
    bench = protocol().play([click])
    assert not bench.now.problem
    assert (rule_of(bench, "openai"), rule_of(bench, "gemini")) == (openai, gemini)
    assert_told(bench.picture)


def test_every_breakage_is_in_that_table_or_has_nothing_to_do_at_first() -> None:
    tried = {click.rpartition(" ")[0] for click, _, _ in SAYS}
    assert {name_of(edit) for edit in BREAKAGES} - tried == {"sign"}
    assert "sign 2: it is so already" in protocol().play(["sign 2"]).text
    assert protocol().play(["drop signature 2", "sign 2"]).now.rows == protocol().now.rows


def test_a_refusal_is_told_with_its_words_its_rule_and_who_saw_it() -> None:
    told = protocol().play(["remove 3"]).text.splitlines()
    place = told.index("OpenAI · gpt-5.6-terra: ✗ 400 invalid_request_error")
    words, rule, who = (line.strip() for line in told[place + 1 : place + 4])
    assert words.startswith("“An assistant message with 'tool_calls' must be followed by")
    assert words.endswith("did not have response messages: call_1”")
    assert rule.startswith("rule order.pairs: ")
    assert who.startswith("who: all models · seen: miurla/morphic#136; ")


def test_the_generation_decides() -> None:
    bench = protocol().play(["drop signature 2"])
    assert rule_of(bench, "gemini") == "signature.missing"
    assert rule_of(bench.play(["gemini gemini-2.5-flash"]), "gemini") == FINE
    bench.play(["reset", "role function 3"])
    assert rule_of(bench, "gemini") == FINE
    assert rule_of(bench.play(["gemini gemini-3.6-flash"]), "gemini") == "contents.role"


def test_a_model_that_there_is_not_is_refused_with_404() -> None:
    bench = protocol().play(["openai gpt-99", "gemini gemini-99-flash"])
    assert (bench.now.verdict("openai").status, bench.now.verdict("gemini").status) == (404, 404)


def test_nothing_is_repaired_in_silence() -> None:
    bench = protocol().play(["drop id 3", "up 4"])
    results = bench.body("openai")["messages"][3:]
    assert [each.get("tool_call_id", "none") for each in results] == ["call_2", "none"]
    parts = bench.body("gemini")["contents"][2]["parts"]
    assert [part["functionResponse"].get("id", "none") for part in parts] == ["call_2", "none"]


def test_the_switch_tells_what_the_kernel_says_before_anything_is_sent() -> None:
    bench = protocol().play(["remove 3"])
    assert "kernel" not in bench.text
    bench.play(["kernel on"])
    assert bench.text.count("kernel: stops before anything is sent") == 2
    assert bench.text.count("TranscriptError: ") == 2
    assert "kernel: " not in bench.play(["kernel off"]).text


def test_the_switch_tells_too_what_the_kernel_repairs() -> None:
    bench = protocol().play(["kernel on", "split results 3"])
    assert "kernel: sends the same body: ✓ 200 accepted" in bench.text
    assert "kernel: sends another body: ✓ 200 accepted" in bench.text
    bench.play(["reset", "drop id 3"])
    assert "ValueError: a tool result needs the id of the call that it answers" in bench.text


def test_undo_goes_a_click_back_and_next_does_it_again() -> None:
    bench = protocol().play(["remove 3", "remove 3", "undo"])
    assert len(bench.now.rows) == 4
    assert len(bench.play(["next"]).now.rows) == 3
    assert len(bench.play(["undo", "undo", "undo", "undo"]).now.rows) == 5


def test_reset_brings_the_rows_back_and_keeps_the_models() -> None:
    bench = protocol().play(["gemini gemini-2.5-flash", "remove 0", "remove 0", "reset"])
    assert bench.now.rows == bench.now.original
    assert "gemini-2.5-flash" in bench.text
    assert len(bench.play(["undo"]).now.rows) == 3


def test_a_click_without_a_number_is_for_the_selected_row() -> None:
    bench = protocol().play(["select 2", "drop id"])
    assert bench.body("openai")["messages"][2]["tool_calls"][0].keys() == {"type", "function"}
    assert bench.play(["reset", "select 4", "up", "up"]).now.selected == 2


def test_an_edit_that_has_nothing_to_do_there_is_told_and_changes_nothing() -> None:
    bench = protocol().play(["drop signature 1"])
    assert "✗ Nothing has changed. drop signature 1: it has no calls" in bench.text
    assert len(bench.frames) == 1
    assert bench.now.rows == protocol().now.rows
    assert "Nothing has changed" not in bench.play(["select 0"]).text


def test_a_click_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r'There is no click "?.*drop ids.*"drop id"'):
        protocol().play(["drop ids 2"])
    with pytest.raises(ValueError, match="There is no row 9: the rows are 0 to 4"):
        protocol().play(["remove 9"])


def test_when_all_rows_are_gone_both_refuse_and_reset_still_works() -> None:
    bench = protocol().play(["remove 0"] * 5)
    assert "0 rows · OpenAI refuses · Gemini refuses" in bench.text
    assert_told(bench.picture)
    for click in ("up", "remove 0"):
        assert f"{click}: there is no row left" in bench.play([click]).text
    assert len(bench.play(["reset"]).now.rows) == 5


def test_a_changed_row_and_the_selected_one_are_marked_by_signs() -> None:
    shown = words_in(protocol().play(["swap results 3"]).svg)
    assert shown.count("≠ changed") == 2
    assert shown.count("▶") == 1


def test_tools_are_declared_and_judged_too() -> None:
    def calculate(expression: str) -> str:
        """Work it out."""
        return expression

    bench = protocol(tools=[calculate])
    assert rule_of(bench, "openai") == "tools.effort"
    assert rule_of(bench.play(["openai gpt-4o"]), "openai") == FINE
    assert rule_of(bench, "gemini") == FINE


def test_a_history_of_ones_own_may_be_broken_from_the_start() -> None:
    broken: list[Message] = [user("Hi."), assistant(ToolCall("c", "f", "{}")), user("Hello?")]
    assert rule_of(protocol(broken), "openai") == "order.pairs"
    assert rule_of(protocol([*broken, ToolMessage("z", "1")]), "openai") == "order.pairs"


def test_the_lesson_offers_it() -> None:
    assert lab().view.protocol().text == protocol().text


@pytest.mark.parametrize("click", [click for click, _, _ in SAYS])
async def test_the_gateway_says_the_same_over_http(click: str) -> None:
    """The bench asks the rules itself; here the same bodies go the whole way."""
    bench = protocol().play([click])
    paths: dict[Wire, str] = {
        "openai": "/v1/chat/completions",
        "gemini": f"/v1beta/models/{bench.now.gemini}:generateContent",
    }
    strict = gateway(lambda _: answer("Fine."))
    for wire, path in paths.items():
        body = json.dumps(bench.body(wire))
        request = httpx.Request("POST", f"https://host.example{path}", content=body)
        response = await strict.answer(request)
        found = bench.now.verdict(wire)
        assert response.status_code == found.status
        if not found.accepted:
            assert json.loads(await response.aread())["error"]["message"].strip() == found.words


@settings(max_examples=12)
@given(valid_histories(), st.lists(st.sampled_from(sorted(EDITS)), max_size=4), st.integers(0, 9))
def test_any_history_and_any_edits_give_a_sound_picture(
    messages: list[Message], edits: list[str], row: int
) -> None:
    bench = protocol(messages)
    if messages:
        bench.play([f"select {min(row, len(messages) - 1)}", "kernel on", *edits])
    assert_told(bench.picture)
    assert bench.picture == bench.picture


# ---- the controls ------------------------------------------------------------------------------


def buttons(bench: BenchView) -> dict[str, Any]:
    rows = bench.widget().children[:2]
    return {each.description: each for row in rows for each in row.children}


def test_the_buttons_click_for_the_selected_row_and_the_list_follows() -> None:
    bench = protocol()
    found = buttons(bench)
    found["Row"].value = 2
    found["Drop signature"].click()
    assert [frame.click for frame in bench.frames[1:]] == ["select 2", "drop signature"]
    found["▼ Down"].click()
    assert found["Row"].value == 3
    found["✕ Remove"].click()
    assert len(found["Row"].options) == 4
    found["↶ Undo"].click()
    assert len(found["Row"].options) == 5
    found["Reset"].click()
    assert bench.now.rows == bench.now.original
    assert bench.widget().children[-1].value == bench.picture.html


def test_the_models_and_the_switch_click_and_follow_played_clicks() -> None:
    bench = protocol()
    openai, gemini, kernel = bench.widget().children[2].children
    gemini.value = "gemini-2.5-flash"
    kernel.value = True
    assert [f.click for f in bench.frames[1:]] == ["gemini gemini-2.5-flash", "kernel on"]
    bench.play(["openai my-own-model", "kernel off"])
    assert (openai.value, kernel.value) == ("my-own-model", False)
    assert len(bench.frames) == 5


def test_the_list_of_rows_survives_that_all_rows_are_removed() -> None:
    bench = protocol()
    found = buttons(bench)
    for _ in range(5):
        found["✕ Remove"].click()
    assert found["Row"].value is None
    found["Reset"].click()
    assert found["Row"].index == 4
    assert len(found["Row"].options) == 5


def test_every_control_has_a_name_for_a_screen_reader() -> None:
    for row in protocol().widget().children[:-1]:
        assert all(each.description and each.tooltip for each in row.children)
