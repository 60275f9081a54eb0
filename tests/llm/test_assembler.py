"""Deltas to one reply: how servers label the pieces of a call, and what is never lost or doubled.

The rows of the table are peculiarities of real servers, each reported in public; the report is
named beside it.
"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import BadResponse, ResponseCut
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.messages import ProviderData, ReasoningPart, TextPart, ToolCall
from freya_teach.llm.openai import parse_chunk
from freya_teach.llm.protocol import (
    CallDelta,
    Delta,
    FinishDelta,
    FinishReason,
    ReasoningDelta,
    Reply,
    TextDelta,
    Usage,
    UsageDelta,
)
from tests.strategies import ANY_TEXT

STOP = FinishDelta("stop", "stop")
KNOWN = frozenset({"get_weather", "calculate", "edit_existing_file"})
Fragment = tuple[int | None, str, str, str]
"""Index, id, name and arguments of one piece, as the server sends them."""


def assemble(*deltas: Delta, complete: bool = False, names: frozenset[str] = KNOWN) -> Reply:
    """Return the reply that these deltas make."""
    assembler = Assembler(names)
    for delta in deltas:
        assembler.add(delta)
    return assembler.finish(complete=complete)


def calls_from(*fragments: Fragment) -> list[tuple[str, str, str]]:
    """Return id, name and arguments of each call in the reply that these pieces make."""
    reply = assemble(*(CallDelta(*fragment) for fragment in fragments), STOP)
    return [(call.id, call.name, call.arguments) for call in reply.message.tool_calls]


OSLO = ("a", "get_weather", '{"city":"Oslo"}')
SUM = ("b", "calculate", '{"expression":"15*8"}')


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        pytest.param(
            [
                (0, "a", "get_weather", ""),
                (0, "", "", '{"city":'),
                (0, "", "", '"Oslo"}'),
                (1, "b", "calculate", ""),
                (1, "", "", '{"expression":"15*8"}'),
            ],
            [OSLO, SUM],
            id="as OpenAI sends them",
        ),
        pytest.param(
            [
                (0, "a", "get_weather", ""),
                (1, "b", "calculate", ""),
                (0, "", "", '{"city":'),
                (1, "", "", '{"expression":'),
                (0, "", "", '"Oslo"}'),
                (1, "", "", '"15*8"}'),
            ],
            [OSLO, SUM],
            id="interleaved",
        ),
        pytest.param(
            [(None, *OSLO), (None, *SUM)],
            [OSLO, SUM],
            id="no index, whole calls (ollama#7881)",
        ),
        pytest.param(
            [
                (None, "a", "get_weather", ""),
                (None, "", "", '{"city":'),
                (None, "", "", '"Oslo"}'),
                (None, "b", "calculate", '{"expression":'),
                (None, "", "", '"15*8"}'),
            ],
            [OSLO, SUM],
            id="no index, in pieces (openai-python#2806)",
        ),
        pytest.param(
            [
                (None, "a", "get_weather", '{"city":'),
                (None, "b", "calculate", '{"expression":'),
                (None, "a", "", '"Oslo"}'),
                (None, "b", "", '"15*8"}'),
            ],
            [OSLO, SUM],
            id="no index, interleaved by id",
        ),
        pytest.param(
            [
                (None, "", "get_weather", ""),
                (None, "", "", '{"city":"Oslo"}'),
                (None, "", "calculate", ""),
                (None, "", "", '{"expression":"15*8"}'),
            ],
            [("", *OSLO[1:]), ("", *SUM[1:])],
            id="neither index nor id (chatanywhere#254)",
        ),
        pytest.param(
            [(None, "a", "get_weather", '{"city":'), (0, "a", "", '"Oslo"'), (0, "", "", "}")],
            [OSLO],
            id="the index comes later than the id",
        ),
        pytest.param(
            [(0, "", "get_weather", '{"city":'), (0, "a", "", '"Oslo"}')],
            [OSLO],
            id="the id comes later than the name",
        ),
        pytest.param(
            [(None, "", *OSLO[1:]), (None, *SUM)],
            [("", *OSLO[1:]), SUM],
            id="the first call has neither index nor id, the second an id",
        ),
        pytest.param(
            [(0, *OSLO), (0, *SUM)],
            [OSLO, SUM],
            id="index 0 for every call (ollama#15457)",
        ),
        pytest.param(
            [
                (0, "a", "get_weather", '{"city":'),
                (0, "", "", '"Oslo"}'),
                (0, "b", "calculate", '{"expression":'),
                (0, "", "", '"15*8"}'),
            ],
            [OSLO, SUM],
            id="index 0 for every call, in pieces",
        ),
        pytest.param(
            [(0, "", "get_weather", "{}"), (0, "", "calculate", "{}")],
            [("", "get_weather", "{}"), ("", "calculate", "{}")],
            id="index 0 for every call, and no id",
        ),
        pytest.param(
            [(1, *OSLO), (2, *SUM)],
            [OSLO, SUM],
            id="the index starts at 1 (bedrock-access-gateway#134)",
        ),
        pytest.param(
            [(-1, *OSLO)],
            [OSLO],
            id="index -1 (GLM-4.5#17)",
        ),
        pytest.param(
            [
                (0, "a", "get_weather", ""),
                (0, "a", "get_weather", '{"city":'),
                (0, "a", "get_weather", '"Oslo"}'),
                (0, "a", "get_weather", ""),
            ],
            [OSLO],
            id="id and name in every piece (hermes-agent#11984)",
        ),
        pytest.param(
            [
                (0, "a", "no_such_tool", ""),
                (0, "a", "no_such_tool", '{"city":'),
                (0, "a", "no_such_tool", '"Oslo"}'),
            ],
            [("a", "no_such_tool", '{"city":"Oslo"}')],
            id="the same with a name that nobody declared",
        ),
        pytest.param(
            [(0, "a", "edit_ex", ""), (0, "", "isting_file", ""), (0, "", "", "{}")],
            [("a", "edit_existing_file", "{}")],
            id="the name in pieces (continue#5849)",
        ),
        pytest.param(
            [(0, "", "", '{"city":'), (0, "", "", '"Oslo"}'), (0, "a", "get_weather", "")],
            [OSLO],
            id="arguments before the name (vercel/ai#15879)",
        ),
        pytest.param(
            [(None, "", "", '{"city":"Oslo"}'), (None, "a", "get_weather", "")],
            [OSLO],
            id="arguments before the name, and no index",
        ),
        pytest.param(
            [(0, "a", "get_weather", '{"city":"Oslo"}'), (0, "", "", '{"city":"Oslo"}')],
            [OSLO],
            id="the whole arguments once more at the end (opencodex#361)",
        ),
        pytest.param(
            [
                (0, "a", "get_weather", '{"city":'),
                (0, "a", "get_weather", '"Oslo"}'),
                (0, "a", "get_weather", '{"city":"Oslo"}'),
            ],
            [OSLO],
            id="the whole call once more at the end (simonw/llm#1130)",
        ),
        pytest.param(
            [(0, "a", "get_weather", ""), (0, "", "", "")],
            [("a", "get_weather", "")],
            id="empty arguments stay empty (aichat#1217)",
        ),
        pytest.param(
            [(0, "a", "get_weather", '{"a":{"b":'), (0, "", "", "{}"), (0, "", "", "}}")],
            [("a", "get_weather", '{"a":{"b":{}}}')],
            id="an object inside the arguments is not taken for a repeat",
        ),
        pytest.param(
            [(0, "a", "get_weather", '{"n":1'), (0, "", "", "1}")],
            [("a", "get_weather", '{"n":11}')],
            id="arguments that repeat a digit are not taken for a repeat",
        ),
        pytest.param(
            [(0, "x", *OSLO[1:]), (1, "x", *SUM[1:])],
            [("x", *OSLO[1:]), ("x", *SUM[1:])],
            id="one id for two calls (nanobot#4059)",
        ),
        pytest.param(
            [(0, "x", "calculate", '{"n":1}'), (0, "x", "calculate", '{"n":2}')],
            [("x", "calculate", '{"n":1}'), ("x", "calculate", '{"n":2}')],
            id="one id and one index for two calls",
        ),
    ],
)
def test_each_servers_way_to_label_pieces_gives_the_calls_that_were_meant(
    fragments: list[Fragment], calls: list[tuple[str, str, str]]
) -> None:
    assert calls_from(*fragments) == calls


def test_two_pieces_of_one_call_in_one_chunk_are_both_kept() -> None:
    """openai-python#3201: its own client once kept the last one only."""
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": '{"city":'}},
        {"index": 0, "function": {"arguments": '"Oslo"}'}},
    ]
    chunk = {"choices": [{"delta": {"tool_calls": pieces}, "finish_reason": "tool_calls"}]}
    assert assemble(*parse_chunk(chunk)).message.tool_calls == (ToolCall(*OSLO),)


def test_whole_calls_are_never_joined_even_if_they_look_the_same() -> None:
    call = CallDelta(None, "", "get_weather", "{}", whole=True)
    assert len(assemble(call, call, call, STOP).message.tool_calls) == 3


@given(
    calls=st.lists(st.tuples(st.sampled_from(sorted(KNOWN)), ANY_TEXT), min_size=1, max_size=4),
    at=st.data(),
)
def test_any_cut_and_any_mix_of_labelled_pieces_gives_the_calls_back(
    calls: list[tuple[str, str]], at: st.DataObject
) -> None:
    """OpenAI's own labels: index always, id and name in the first piece of a call."""
    waiting: list[list[CallDelta]] = []
    for index, (name, text) in enumerate(calls):
        cut = at.draw(st.integers(0, len(text)))
        head = CallDelta(index, f"id{index}", name, "")
        rest = [CallDelta(index, arguments=part) for part in ("<" + text[:cut], text[cut:])]
        waiting.append([head, *rest])
    deltas: list[Delta] = []
    while any(waiting):
        deltas.append(at.draw(st.sampled_from([w for w in waiting if w])).pop(0))
    found = {c.id: (c.name, c.arguments) for c in assemble(*deltas, STOP).message.tool_calls}
    assert found == {f"id{i}": (name, "<" + text) for i, (name, text) in enumerate(calls)}


# ---- parts ---------------------------------------------------------------------------------


def signed(signature: str) -> ProviderData:
    return ProviderData("gemini", {"signature": signature})


def test_parts_keep_the_order_in_which_the_model_made_them() -> None:
    call = CallDelta(0, "a", "get_weather", "{}")
    parts = assemble(
        ReasoningDelta("Hm"), ReasoningDelta("m."), TextDelta("I"), TextDelta(" look."), call, STOP
    ).message.parts
    assert parts == (ReasoningPart("Hmm."), TextPart("I look."), ToolCall("a", "get_weather", "{}"))


def test_a_signed_text_is_joined_with_nothing_before_or_behind_it() -> None:
    deltas = [TextDelta("a"), TextDelta("b", signed("1")), TextDelta("c"), TextDelta("d"), STOP]
    assert assemble(*deltas).message.parts == (
        TextPart("a"),
        TextPart("b", signed("1")),
        TextPart("cd"),
    )


def test_two_texts_with_equal_signatures_stay_two_parts() -> None:
    parts = assemble(TextDelta("a", signed("1")), TextDelta("b", signed("1")), STOP).message.parts
    assert parts == (TextPart("a", signed("1")), TextPart("b", signed("1")))


def test_an_empty_text_is_kept_if_it_is_signed_and_dropped_if_not() -> None:
    """vercel/ai#12402: the signature of a streamed text comes on an empty part at its end."""
    deltas = [TextDelta(""), TextDelta("Done."), TextDelta("", signed("1")), TextDelta(""), STOP]
    assert assemble(*deltas).message.parts == (TextPart("Done."), TextPart("", signed("1")))


def test_a_signature_stays_on_the_call_that_it_came_with() -> None:
    first = CallDelta(name="get_weather", arguments="{}", whole=True, provider_data=signed("1"))
    second = CallDelta(name="calculate", arguments="{}", whole=True)
    calls = assemble(first, second, STOP).message.tool_calls
    assert [call.provider_data.data for call in calls] == [{"signature": "1"}, {}]


def test_two_equal_pieces_of_reasoning_with_details_stay_two() -> None:
    """Each detail goes back as it came; joined, the second would be lost."""
    detail = ProviderData("openai", {"detail": {"type": "reasoning.text", "text": "ha"}})
    parts = assemble(ReasoningDelta("ha", detail), ReasoningDelta("ha", detail), STOP).message.parts
    assert parts == (ReasoningPart("ha", detail), ReasoningPart("ha", detail))


# ---- the end -------------------------------------------------------------------------------

CALL = CallDelta(0, "a", "get_weather", '{"city":"Oslo"}')


def test_a_stream_without_a_finish_is_cut_off_and_gives_no_calls() -> None:
    with pytest.raises(ResponseCut, match="without saying why"):
        assemble(TextDelta("I look."), CALL)


def test_a_body_that_says_it_is_complete_needs_no_finish_reason() -> None:
    reply = assemble(TextDelta("Hello."), complete=True)
    assert (reply.message.text, reply.finish_reason, reply.raw_finish_reason) == (
        "Hello.",
        "unknown",
        "",
    )


def test_a_complete_body_in_which_there_is_no_answer_is_not_an_empty_answer() -> None:
    with pytest.raises(BadResponse, match="holds no text, no tool call and no reason"):
        assemble(UsageDelta(Usage(1, 0, 1)), complete=True)


def test_an_empty_answer_with_a_reason_is_one() -> None:
    assert assemble(FinishDelta("length", "length")).message.parts == ()


@pytest.mark.parametrize(
    ("reason", "calls", "final"),
    [
        ("stop", 1, "tool_calls"),
        ("tool_calls", 1, "tool_calls"),
        ("unknown", 1, "tool_calls"),
        ("length", 1, "length"),
        ("content_filter", 1, "content_filter"),
        ("error", 1, "error"),
        ("stop", 0, "stop"),
        ("tool_calls", 0, "stop"),
        ("unknown", 0, "unknown"),
        ("length", 0, "length"),
    ],
)
def test_what_the_answer_holds_outranks_what_the_provider_calls_it(
    reason: FinishReason, calls: int, final: FinishReason
) -> None:
    """opencode#14973, mastra#14187: a loop that trusts the word ends too early, or never."""
    deltas: list[Delta] = [TextDelta("x"), *[CALL] * calls, FinishDelta(reason, "raw")]
    reply = assemble(*deltas)
    assert (reply.finish_reason, reply.raw_finish_reason) == (final, "raw")


def test_the_last_usage_and_the_last_reason_count() -> None:
    """Streams repeat both, and Gemini's total may even go down; a sum would be wrong."""
    reply = assemble(
        TextDelta("x"),
        UsageDelta(Usage(10, 1, 145)),
        FinishDelta("unknown", "odd"),
        UsageDelta(Usage(10, 5, 100)),
        STOP,
    )
    assert (reply.usage.total_tokens, reply.raw_finish_reason) == (100, "stop")


# ---- size ----------------------------------------------------------------------------------


def seconds(pieces: int, *, index: int | None) -> float:
    """The processor time for one call whose arguments come in so many pieces, at best."""
    times = []
    for _ in range(3):
        started = time.process_time()
        assembler = Assembler(KNOWN)
        assembler.add(CallDelta(0, "a", "get_weather", '{"text":"'))
        for _ in range(pieces):
            assembler.add(CallDelta(index, arguments="{x"))
        assembler.add(STOP)
        assembler.finish(complete=False)
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize("index", [0, None])
def test_the_time_for_a_call_in_many_pieces_grows_with_their_number(index: int | None) -> None:
    few, many = (seconds(pieces, index=index) for pieces in (2_000, 10_000))
    assert many / few < 15
