"""What is a loop and what is none."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.agent.loop_guard import LoopGuard
from freya_teach.llm.messages import ToolCall


def call(arguments: str = "{}", name: str = "look") -> ToolCall:
    """Make a call; its id plays no part."""
    return ToolCall("id", name, arguments)


def noted(guard: LoopGuard, *turns: list[tuple[ToolCall, str]]) -> list[list[bool]]:
    """Give a guard these turns and say which results got a note."""
    return [[bool(note) for note in guard.notes(turn)] for turn in turns]


def test_a_loop_is_noted_first_and_stopped_then() -> None:
    guard = LoopGuard(warn=2, stop=4)
    stopped = []
    for _ in range(4):
        guard.notes([(call('{"a": 1}'), "same")])
        stopped.append(guard.stopped)
    assert stopped == [
        "",
        "",
        "",
        'look({"a": 1}) was called in 4 turns with the same result each time',
    ]


def test_the_note_counts_and_says_what_to_do() -> None:
    guard = LoopGuard(warn=2, stop=9)
    first, second, third = (guard.notes([(call(), "same")])[0] for _ in range(3))
    assert first == ""
    assert "this is turn 2 in which you make this very call" in second
    assert "this is turn 3 in which you make this very call" in third
    assert "use the result, try something else, or answer the user" in third


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a": 1, "b": [1, 2]}', '{"b":[1,2],\n "a":1}', True),
        ('{"a": {"x": 1, "y": 2}}', '{"a": {"y": 2, "x": 1}}', True),
        ("", "{}", True),
        ('{"city": "\\u5317\\u4eac"}', '{"city": "北京"}', True),
        ('{"broken', '{"broken', True),
        ('{"broken', '{"broken"', False),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', False),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": null}', "{}", False),
        ("[" * 100_000, "[" * 100_000, True),
    ],
    ids=lambda value: str(value)[:30],
)
def test_arguments_are_the_same_when_they_mean_the_same(
    one: str, other: str, *, same: bool
) -> None:
    guard = LoopGuard(warn=2, stop=9)
    assert noted(guard, [(call(one), "r")], [(call(other), "r")]) == [[False], [same]]


def shuffled(value: Any, *, reverse: bool) -> str:
    """Write JSON down with its keys in another order and other white space."""
    if not isinstance(value, dict):
        return json.dumps(value, indent=3 if reverse else None)
    keys = sorted(value, reverse=reverse)
    inside = " ,".join(
        f"{json.dumps(key)} : {shuffled(value[key], reverse=reverse)}" for key in keys
    )
    return f" {{ {inside} }} "


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.text(),
        st.integers() | st.text() | st.none() | st.dictionaries(st.text(), st.booleans()),
    )
)
def test_neither_key_order_nor_white_space_hides_a_loop(arguments: dict[str, Any]) -> None:
    guard = LoopGuard(warn=2, stop=2)
    guard.notes([(call(shuffled(arguments, reverse=False)), "r")])
    guard.notes([(call(shuffled(arguments, reverse=True)), "r")])
    assert guard.stopped


def test_another_tool_or_another_result_is_another_thing() -> None:
    guard = LoopGuard(warn=2, stop=2)
    turns = [[(call(), "10 %")], [(call(), "20 %")], [(call(name="see"), "10 %")]]
    assert noted(guard, *turns) == [[False]] * 3
    assert guard.stopped == ""


def test_a_retry_after_an_error_is_no_loop() -> None:
    guard = LoopGuard(warn=2, stop=2)
    assert noted(guard, [(call(), "look failed")], [(call(), "found it")]) == [[False]] * 2
    assert guard.stopped == ""


def test_the_same_call_twice_in_one_turn_counts_once() -> None:
    guard = LoopGuard(warn=2, stop=2)
    assert noted(guard, [(call(), "r"), (call(" {} "), "r")]) == [[False, False]]
    assert guard.stopped == ""
    assert noted(guard, [(call(), "r")]) == [[True]]
    assert guard.stopped


def test_going_round_in_a_circle_of_two_is_a_loop_too() -> None:
    guard = LoopGuard(warn=2, stop=3)
    there, back = [(call('{"to": "a"}'), "r")], [(call('{"to": "b"}'), "r")]
    assert noted(guard, there, back, there, back, there) == [
        [False],
        [False],
        [False],  # until here there was something new
        [True],
        [True],
    ]
    assert guard.stopped == ""
    assert noted(guard, back) == [[True]]
    assert guard.stopped


def test_a_test_that_fails_alike_while_the_code_is_edited_is_no_loop() -> None:
    guard = LoopGuard(warn=2, stop=3)
    for attempt in range(9):
        edit = (call(json.dumps({"text": f"attempt {attempt}"}), name="edit"), "saved")
        run = (call(name="run_tests"), "1 failed")
        assert noted(guard, [edit], [run]) == [[False], [False]]
    assert guard.stopped == ""
