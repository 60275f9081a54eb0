"""Every tool call has exactly one result: checked against the rule written down a second time."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import TranscriptError
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    ProviderData,
    TextPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.transcript import (
    LOST_RESULT,
    MAX_ID_CHARS,
    assign_ids,
    call_names,
    check,
    close_open_calls,
)
from tests.strategies import ISSUERS, RAW_IDS, valid_histories


def call(id_: str, name: str = "get_weather") -> ToolCall:
    return ToolCall(id_, name, "{}")


def result(id_: str) -> ToolMessage:
    return ToolMessage(id_, "cloudy")


def is_valid(messages: Sequence[Message]) -> bool:
    """The rule, in another way than `check` has it: cut the history into blocks."""
    ids = [c.id for m in messages if isinstance(m, AssistantMessage) for c in m.tool_calls]
    if "" in ids or len(ids) != len(set(ids)):
        return False
    rest = list(messages)
    while rest:
        first = rest.pop(0)
        if isinstance(first, ToolMessage):
            return False
        calls = first.tool_calls if isinstance(first, AssistantMessage) else ()
        block, rest = rest[: len(calls)], rest[len(calls) :]
        answered = [m.call_id for m in block if isinstance(m, ToolMessage)]
        if sorted(answered) != sorted(c.id for c in calls):
            return False
    return True


def is_accepted(messages: Sequence[Message]) -> bool:
    try:
        check(messages)
    except TranscriptError:
        return False
    return True


# ---- check ---------------------------------------------------------------------------------

ANY_MESSAGE = st.one_of(
    st.just(user("Hello")),
    st.just(system("Be brief")),
    st.just(assistant("Hi")),
    st.lists(st.sampled_from("abcd"), max_size=3).map(lambda ids: assistant(*map(call, ids))),
    st.sampled_from("abcd").map(result),
    st.sampled_from("abcd").map(result),
)


@given(st.lists(ANY_MESSAGE, max_size=7))
def test_check_accepts_exactly_the_histories_that_keep_the_rule(messages: list[Message]) -> None:
    assert is_accepted(messages) == is_valid(messages)


@given(valid_histories())
def test_check_accepts_every_history_that_an_agent_builds(messages: list[Message]) -> None:
    check(messages)


@given(valid_histories(), st.data())
def test_check_refuses_a_valid_history_with_one_result_lost_doubled_or_moved(
    messages: list[Message], at: st.DataObject
) -> None:
    places = [i for i, m in enumerate(messages) if isinstance(m, ToolMessage)]
    if not places:
        return
    place = at.draw(st.sampled_from(places))
    moved = messages[:place] + messages[place + 1 :]
    assert not is_accepted(moved)
    assert not is_accepted([*moved, user("and then?"), messages[place]])
    assert not is_accepted([messages[place], *moved])
    assert not is_accepted([*messages[:place], messages[place], *messages[place:]])


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([user("?"), result("a")], "message 1 is the result of call 'a', which was never made"),
        ([assistant(call("a")), result("b")], "'b', which was never made"),
        ([assistant(call("a")), result("a"), result("a")], "message 2 .*'a', .*answered already"),
        (
            [assistant(call("a")), user("?")],
            r"message 1 \(user\) comes before the result of get_weather \(a\)",
        ),
        ([assistant(call("a"), call("b")), result("b")], r"ends without .* get_weather \(a\)"),
        ([assistant(call("a"), call("a"))], "message 0: the id 'a' of get_weather is not unique"),
        ([assistant(call(""))], "message 0: the id '' of get_weather is not unique"),
    ],
)
def test_the_error_names_the_message_and_the_call(messages: list[Message], words: str) -> None:
    with pytest.raises(TranscriptError, match=words):
        check(messages)


def test_results_may_come_in_any_order() -> None:
    check([assistant(call("a"), call("b")), result("b"), result("a")])


def test_a_result_cannot_be_built_without_the_id_of_its_call() -> None:
    with pytest.raises(ValueError, match="needs the id"):
        ToolMessage("", "cloudy")


def test_call_names_finds_the_name_that_a_result_lacks() -> None:
    messages = [assistant(call("a", "calculate")), result("a"), assistant(call("b"))]
    assert call_names(messages) == {"a": "calculate", "b": "get_weather"}


# ---- close_open_calls ----------------------------------------------------------------------


@given(valid_histories(), st.data())
def test_a_history_cut_off_anywhere_is_valid_once_its_open_calls_are_closed(
    messages: list[Message], at: st.DataObject
) -> None:
    cut = messages[: at.draw(st.integers(0, len(messages)))]
    missing = close_open_calls(cut)
    check([*cut, *missing])
    assert close_open_calls([*cut, *missing]) == []
    assert is_valid(cut) == (missing == [])


def test_only_the_results_that_are_missing_are_made_up_and_they_say_so() -> None:
    messages = [user("?"), assistant("I look.", call("a"), call("b"), call("c")), result("b")]
    assert close_open_calls(messages) == [
        ToolMessage("a", LOST_RESULT, is_error=True),
        ToolMessage("c", LOST_RESULT, is_error=True),
    ]
    assert close_open_calls(messages, "gone")[0].text == "gone"


# ---- assign_ids ----------------------------------------------------------------------------

RAW_MESSAGES = st.lists(
    st.lists(
        st.builds(call, RAW_IDS | st.text(max_size=3)) | st.builds(TextPart, st.text(max_size=3)),
        max_size=5,
    ).map(lambda parts: assistant(*parts)),
    max_size=4,
)


@given(RAW_MESSAGES, ISSUERS)
def test_assigned_ids_are_unique_short_and_the_same_each_time(
    messages: list[AssistantMessage], issuer: str
) -> None:
    def all_ids() -> tuple[list[str], set[str]]:
        used: set[str] = set()
        named = [assign_ids(message, used, issuer) for message in messages]
        return [c.id for message in named for c in message.tool_calls], used

    ids, used = all_ids()
    assert len(ids) == len(set(ids))
    assert set(ids) == used
    assert all(1 <= len(id_) <= MAX_ID_CHARS for id_ in ids)
    assert all_ids()[0] == ids


@given(RAW_MESSAGES, ISSUERS)
def test_only_ids_that_do_not_serve_are_replaced_and_the_provider_gets_its_own_back(
    messages: list[AssistantMessage], issuer: str
) -> None:
    used: set[str] = set()
    for message in messages:
        before = set(used)
        named = assign_ids(message, used, issuer)
        assert [type(part) for part in named.parts] == [type(part) for part in message.parts]
        for old, new in zip(message.tool_calls, named.tool_calls, strict=True):
            assert (new.name, new.arguments) == (old.name, old.arguments)
            if old.id and old.id not in before and len(old.id) <= MAX_ID_CHARS:
                assert new == old
            else:
                assert new.id.startswith("call_")
                assert new.provider_data.for_issuer(issuer).get("id", "") == old.id
            before.add(new.id)
        assert assign_ids(named, set(), issuer) == named


def test_an_id_that_comes_again_each_round_is_replaced() -> None:
    """openclaw#40996: some servers number each answer's calls anew, from `search:0` on."""
    used: set[str] = set()
    ids = [assign_ids(assistant(call("search:0")), used, "openai").tool_calls[0].id for _ in "123"]
    assert ids == ["search:0", "call_2", "call_3"]


def test_a_signature_survives_the_change_of_an_id() -> None:
    signed = ToolCall("i" * 41, "f", "{}", ProviderData("gemini", {"signature": "s"}))
    (new,) = assign_ids(assistant(signed), set(), "gemini").tool_calls
    assert (new.id, new.provider_data) == (
        "call_1",
        ProviderData("gemini", {"signature": "s", "id": "i" * 41}),
    )
