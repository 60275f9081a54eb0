"""The truncation knife: what each cut leaves, and who would cut there."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from freya_teach.context.window import cuts, system_end
from freya_teach.lab.source_compactor import source_safe_index
from freya_teach.lab.views.knife import KnifeView, knife
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, system, user
from tests.lab.views.pictures import assert_told, lab, words_in
from tests.lab.views.test_words import ANY_TEXT
from tests.strategies import valid_histories


def turn(number: int, rounds: int) -> list[Message]:
    made: list[Message] = [user(f"Question {number}?")]
    for each in range(rounds):
        one, other = f"a{number}{each}", f"b{number}{each}"
        made += [
            assistant(ToolCall(one, "read", "{}"), ToolCall(other, "read", "{}")),
            ToolMessage(one, "1"),
            ToolMessage(other, "2"),
        ]
    return made


HISTORY: list[Message] = [
    system("Be brief."),
    *turn(0, 1),  # rows 1 to 4
    assistant("Answer 0."),  # row 5
    *turn(1, 3),  # rows 6 to 15
]


def test_the_words_name_everything_that_each_picture_shows() -> None:
    view = knife(HISTORY)
    for step in range(1, len(view.frames) + 1):
        assert_told(view.at(step))


@pytest.mark.parametrize(
    ("row", "openai_gemini_survives"),
    [
        (1, (True, True, True)),
        (2, (True, False, True)),
        (3, (False, False, True)),
        (4, (False, False, True)),
        (6, (True, True, True)),
        (7, (True, False, False)),
        (9, (False, False, False)),
        (10, (True, False, False)),
        (13, (True, False, False)),
    ],
)
def test_both_providers_are_asked_about_what_stays(
    row: int, openai_gemini_survives: tuple[bool, bool, bool]
) -> None:
    now = knife(HISTORY, at=row).now
    verdicts = now.verdict("openai").accepted, now.verdict("gemini").accepted
    assert (*verdicts, now.request_survives) == openai_gemini_survives


def test_calls_that_lose_their_results_are_named() -> None:
    assert "✗ calls A, B: cut off from the results" in knife(HISTORY, at=3).text
    assert "cut off from the results" not in knife(HISTORY, at=2).text


def test_the_source_is_asked_with_its_own_count_of_messages() -> None:
    view = knife(HISTORY, keep_turns=2)
    assert view.now.at == 1 + source_safe_index(HISTORY[1:], 2)
    assert "▶ source: it cuts here" in view.text
    assert "✗ the newest request, row 6, is lost" in view.text


def test_the_kernel_keeps_the_request_where_the_plain_knife_loses_it() -> None:
    told = knife(HISTORY, at=13).text
    assert "Gemini: ✗ 400 INVALID_ARGUMENT" in told
    assert "it keeps row 6, the request, too: OpenAI ✓ 200 accepted, Gemini ✓ 200" in told


def test_the_kernel_button_goes_through_all_its_cuts_and_begins_anew() -> None:
    view = knife(HISTORY, at=1)
    seen = [view.play(["kernel"]).now.at for _ in range(6)]
    places = sorted({cut.at for cut in cuts(HISTORY, 1)})
    assert seen == [*places[1:], *places][:6]


def test_a_summary_in_front_hides_the_loss_of_the_request_from_the_provider() -> None:
    view = knife(HISTORY, at=13).play(["summary on"])
    assert view.now.verdict("gemini").accepted
    assert "✂ the knife: a summary stands here" in view.text
    assert "✗ the newest request, row 6, is lost" in view.text
    assert not view.play(["summary off"]).now.verdict("gemini").accepted


def test_a_history_that_ends_with_an_answer_is_asked_with_a_next_question() -> None:
    view = knife([*HISTORY, assistant("Answer 1.")], at=6)
    assert "next question of the user's" in view.text
    assert view.now.verdict("gemini").accepted


def test_the_clicks_move_the_knife_and_stop_at_both_ends() -> None:
    view = lab().view.knife(HISTORY, at=5)
    assert view.play(["later", "later", "earlier"]).now.at == 6
    assert view.play(["cut 15", "later"]).now.at == 15
    assert view.play([1, "earlier"]).now.at == 1
    assert "✂ the knife: nothing is cut off" in view.text


def test_places_and_clicks_that_there_are_not_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match="before row 0: the knife can stand before rows 1 to 15"):
        knife(HISTORY, at=0)
    with pytest.raises(ValueError, match="no cut before row 16"):
        knife(HISTORY).play(["cut 16"])
    with pytest.raises(ValueError, match=r"no click 'left'\. There are: \"earlier\""):
        knife(HISTORY).play(["left"])
    with pytest.raises(ValueError, match="nothing to cut"):
        knife([system("Be brief.")])


def test_a_long_history_shows_the_rows_around_the_knife() -> None:
    long = [message for number in range(9) for message in turn(number, 2)]
    view = knife(long, at=30)
    assert "‹ 22 earlier rows · 25 later rows ›" in view.text
    assert_told(view.picture)


def test_a_row_says_that_it_stays_or_goes_and_does_not_only_look_so() -> None:
    shown = words_in(knife(HISTORY, at=6).svg)
    assert shown.count("✗ goes") == 5
    assert shown.count("✓ stays") == 11


def controls_of(view: KnifeView) -> tuple[list[Any], Any, Any, Any]:
    buttons, (row, summary), picture = (
        getattr(each, "children", each) for each in view.widget().children
    )
    return list(buttons), row, summary, picture


def test_the_buttons_the_slider_and_the_box_click() -> None:
    view = knife(HISTORY, at=5)
    (earlier, later, source, kernel), row, summary, picture = controls_of(view)
    later.click()
    assert (view.now.at, row.value) == (6, 6)
    row.value = 3
    assert view.now.at == 3
    assert "before row 3" in picture.value
    earlier.click()
    kernel.click()
    assert row.value == 5
    source.click()
    assert view.now.at == view.now.source_at
    summary.value = True
    assert view.now.summary
    assert [each.tooltip for each in (row, summary)]
    assert all(each.tooltip for each in (earlier, later, source, kernel))


def test_a_history_of_one_message_has_a_slider_that_stands_still() -> None:
    _, row, _, picture = controls_of(knife([user("Hi.")]))
    assert row.disabled
    assert "before row 0" in picture.value


@settings(max_examples=30, deadline=None)
@given(valid_histories(), st.data())
def test_no_cut_of_the_kernels_tears_calls_from_their_results(
    history: list[Message], data: st.DataObject
) -> None:
    assume(system_end(history) < len(history))
    view = knife(history)
    at = data.draw(st.sampled_from(sorted({cut.at for cut in view.now.kernel_cuts})))
    assert not view.play([at]).now.torn
    assert_told(view.picture)


@settings(max_examples=30)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_in_any_place_gives_a_sound_picture(one: str, other: str) -> None:
    call = ToolCall("c", one or "f", other)
    assert_told(knife([user(one), assistant(other, call), ToolMessage("c", one)], at=1).picture)
