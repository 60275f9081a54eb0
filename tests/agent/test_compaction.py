"""A history that is kept inside a window: what is sent, what is stored, and nothing lost."""

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach import InMemoryHistory, Settings
from freya_teach.agent.compaction import Compaction
from freya_teach.context.numbered import OMITTED, summary_message
from freya_teach.context.room import Room
from freya_teach.errors import ContextOverflowError, ServerFailed
from freya_teach.events import ContextCompacted, Event
from freya_teach.llm import transcript
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    user,
)
from freya_teach.llm.protocol import ToolSpec, Usage
from tests.agent.writers import SUMMARY, Act, Writer, Written, never
from tests.context.conversations import HISTORIES, newest_request, text_of, tokens
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

USAGE = Usage(70, 30, 100)
ROOM = Room(window=2_000, answer=200, fixed=100, route="a/model")


class Estimate:
    """Counts messages as the tests do."""

    def message(self, message: Message) -> int:
        return tokens(message)

    def messages(self, messages: tuple[Message, ...]) -> int:
        return sum(map(tokens, messages))

    def tools(self, tools: tuple[ToolSpec, ...]) -> int:
        return 30 * len(tools)


def compaction(writer: Writer, **settings: Any) -> Compaction:
    chosen = {"summary_tokens": 200, "summary_reasoning_tokens": 300, **settings}
    return Compaction(writer, Settings.model_validate(chosen), "Summarise.", Estimate)


def talk(turns: int, chars: int = 200) -> list[Message]:
    """Make turns of a question and an answer, and a question that is open."""
    asked = [(user(f"Question {i}. {text_of(chars)}"), assistant("Yes.")) for i in range(turns)]
    return [*(message for pair in asked for message in pair), user("And the key?")]


def size(history: InMemoryHistory) -> int:
    return sum(map(tokens, history.messages))


def ignore(event: Event) -> None:
    """Listen to nothing."""


# ---- before a call -------------------------------------------------------------------------


async def test_a_history_that_is_small_enough_costs_nothing_and_stays() -> None:
    writer, history = Writer(), InMemoryHistory(talk(20))
    assert size(history) <= 0.85 * ROOM.input - ROOM.fixed
    await compaction(writer).before_call(history, ROOM, ignore)
    assert (writer.requests, history.messages, history.revision) == ([], tuple(talk(20)), 0)


async def test_over_the_threshold_the_older_turns_become_one_summary() -> None:
    writer, before, seen = Writer(), talk(30), list[Event]()
    history = InMemoryHistory(before)
    await compaction(writer).before_call(history, ROOM, seen.append)
    kept = len(history.messages) - 1
    assert history.messages == (summary_message(SUMMARY), *before[-kept:])
    assert history.snapshots == [tuple(before[:-kept])]
    assert len(writer.requests) == 1
    assert seen == [
        ContextCompacted(
            sum(map(tokens, before)) + 100, size(history) + 100, summarised=True, usage=USAGE
        )
    ]


async def test_the_request_for_a_summary_has_the_guidance_the_conversation_and_a_limit() -> None:
    writer, history = Writer(), InMemoryHistory(talk(30))
    await compaction(writer).before_call(history, ROOM, ignore)
    (request,) = writer.requests
    guidance, text = request.messages
    assert guidance.role == "system"
    assert isinstance(text, UserMessage)
    assert text.text.startswith("<conversation>\nUser: Question 0. What was measured")
    assert request.max_output_tokens == 500
    assert request.tools == ()


async def test_the_next_summary_is_made_from_the_earlier_one() -> None:
    writer = Writer([Written("The first summary."), Written("The second summary.")])
    history, compact = InMemoryHistory(talk(30)), compaction(writer)
    await compact.before_call(history, ROOM, ignore)
    await history.append(*talk(20))
    await compact.before_call(history, ROOM, ignore)
    asked = writer.requests[1].messages[1]
    assert isinstance(asked, UserMessage)
    assert "The first summary." in asked.text
    assert history.messages[0] == summary_message("The second summary.")
    assert "The first summary." not in str(history.messages)


FAILURES: dict[str, Act] = {
    "it is empty": Written(" \n"),
    "it ended with 'length'": Written("Ada looks for", "length"),
    "it ended with 'content_filter'": Written("", "content_filter"),
    "it has 254 tokens; 200 were allowed": Written(text_of(964)),
    "ServerFailed('busy')": ServerFailed("busy"),
    "TimeoutError()": never,
}


@pytest.mark.parametrize(("why", "act"), FAILURES.items(), ids=FAILURES)
async def test_without_a_usable_summary_the_oldest_is_left_out_and_the_log_says_why(
    why: str, act: Act, caplog: pytest.LogCaptureFixture
) -> None:
    writer, before = Writer([act]), talk(30)
    history = InMemoryHistory(before)
    await compaction(writer, summary_seconds=0.01).before_call(history, ROOM, ignore)
    kept = len(history.messages) - 1
    assert history.messages == (OMITTED, *before[-kept:])
    assert history.snapshots == [tuple(before[:-kept])]
    assert len(writer.requests) == 1
    assert why in caplog.text


async def test_a_failing_summariser_is_not_asked_again_before_it_is_needed_again() -> None:
    writer = Writer([ServerFailed("busy")])
    history, compact = InMemoryHistory(talk(30)), compaction(writer)
    for _ in range(5):
        await compact.before_call(history, ROOM, ignore)
    assert len(writer.requests) == 1


async def test_an_input_that_is_larger_than_the_window_is_cut_for_the_summariser_too() -> None:
    writer, history = Writer(), InMemoryHistory(talk(300, chars=3_000))
    await compaction(writer).before_call(history, ROOM, ignore)
    (request,) = writer.requests
    assert sum(map(tokens, request.messages)) + (request.max_output_tokens or 0) <= ROOM.window


async def test_in_a_tiny_window_the_summarisers_thinking_gets_half_of_it_at_most() -> None:
    writer, history = Writer(), InMemoryHistory(talk(30))
    tiny = Room(window=700, answer=50, fixed=50)
    await compaction(writer, summary_reasoning_tokens=2_000).before_call(history, tiny, ignore)
    (request,) = writer.requests
    assert request.max_output_tokens == 350
    assert sum(map(tokens, request.messages)) <= 350


async def test_what_cannot_fit_is_an_error_before_anything_is_sent() -> None:
    writer, history = Writer(), InMemoryHistory([*talk(5), user(text_of(8_000))])
    before = history.messages
    with pytest.raises(ContextOverflowError, match=r"about 2,0\d\d tokens, .* takes 1,800") as no:
        await compaction(writer).before_call(history, ROOM, ignore)
    assert "Nothing was sent." in str(no.value)
    assert (writer.requests, history.messages, history.snapshots) == ([], before, [])


async def test_a_summary_for_a_beginning_that_was_replaced_meanwhile_is_thrown_away() -> None:
    history = InMemoryHistory(talk(30))

    async def while_somebody_else_compacts() -> Written:
        await history.replace(39, [user("Another beginning.")], revision=history.revision)
        return Written()

    writer = Writer([while_somebody_else_compacts])
    await compaction(writer).before_call(history, ROOM, ignore)
    assert history.messages == (user("Another beginning."), *talk(30)[40:])
    assert history.snapshots == [tuple(talk(30)[:40])]


# ---- after a reply -------------------------------------------------------------------------


async def test_after_a_reply_the_summary_is_made_while_nobody_waits() -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def slowly() -> Written:
        started.set()
        await go_on.wait()
        return Written()

    writer, seen = Writer([slowly]), list[Event]()
    history, compact = InMemoryHistory(talk(20)), compaction(writer)
    compact.after_reply(history, ROOM, seen.append)
    compact.after_reply(history, ROOM, seen.append)
    await started.wait()
    await history.append(assistant("In the hall."), user("Thank you."))
    assert len(history.messages) == 43
    go_on.set()
    await compact.close()
    assert history.messages[0] == summary_message(SUMMARY)
    assert history.messages[-2:] == (assistant("In the hall."), user("Thank you."))
    assert [event.name for event in seen] == ["context:compacted"]
    assert len(writer.requests) == 1


async def test_a_call_that_needs_room_waits_for_the_summary_that_is_being_made() -> None:
    go_on = asyncio.Event()

    async def slowly() -> Written:
        await go_on.wait()
        return Written()

    writer = Writer([slowly])
    history, compact = InMemoryHistory(talk(30)), compaction(writer)
    compact.after_reply(history, ROOM, ignore)
    waiting = asyncio.ensure_future(compact.before_call(history, ROOM, ignore))
    await asyncio.sleep(0)
    assert not waiting.done()
    go_on.set()
    await waiting
    assert history.messages[0] == summary_message(SUMMARY)
    assert len(writer.requests) == 1


async def test_a_summary_in_the_background_that_is_not_enough_is_not_followed_by_another() -> None:
    writer = Writer()
    history, compact = InMemoryHistory(talk(30)), compaction(writer)
    compact.after_reply(history, ROOM, ignore)
    smaller = Room(window=500, answer=50, fixed=50, route="b/small")
    await compact.before_call(history, smaller, ignore)
    assert len(writer.requests) == 1
    assert size(history) <= smaller.input - smaller.fixed


@pytest.mark.parametrize("act", [ServerFailed("busy"), Written(""), KeyError("a bug")])
async def test_a_failure_in_the_background_changes_nothing_and_is_not_repeated(act: Act) -> None:
    writer, before = Writer([act]), talk(20)
    history, compact = InMemoryHistory(before), compaction(writer)
    for _ in range(3):
        compact.after_reply(history, ROOM, ignore)
        await compact.close()
    assert history.messages == tuple(before)
    assert len(writer.requests) == 1


async def test_after_a_failure_in_the_background_the_next_call_truncates_and_a_later_one_asks() -> (
    None
):
    writer, history = Writer([ServerFailed("busy"), Written()]), InMemoryHistory(talk(30))
    compact = compaction(writer)
    compact.after_reply(history, ROOM, ignore)
    await compact.close()
    await compact.before_call(history, ROOM, ignore)
    assert (len(writer.requests), history.messages[0]) == (1, OMITTED)
    await history.append(*talk(20))
    await compact.before_call(history, ROOM, ignore)
    assert (len(writer.requests), history.messages[0]) == (2, summary_message(SUMMARY))


@pytest.mark.parametrize("settings", [{"compact_after": None}, {"compact_after": 1.0}])
async def test_the_background_can_be_switched_off_and_has_its_own_threshold(
    settings: dict[str, Any],
) -> None:
    writer, history = Writer(), InMemoryHistory(talk(20))
    compact = compaction(writer, **settings)
    compact.after_reply(history, ROOM, ignore)
    await compact.close()
    assert writer.requests == []


# ---- after a refusal -----------------------------------------------------------------------


def refusal(words: str) -> ContextOverflowError:
    return ContextOverflowError("HTTP 400", status=400, provider_text=words)


async def test_the_providers_number_decides_how_much_smaller_the_history_gets() -> None:
    """We took 1,190 tokens for what the server counts as 2,380: its 1,200 are 600 of ours."""
    history, compact = InMemoryHistory(talk(20)), compaction(Writer())
    sent = size(history) + ROOM.fixed
    error = refusal(f"request ({2 * sent} tokens) exceeds the available context size (1200 tokens)")
    assert await compact.make_smaller(history, ROOM, error, ignore)
    assert size(history) + ROOM.fixed <= 600
    history = InMemoryHistory(talk(12))  # the next conversation on this route
    assert size(history) + ROOM.fixed > 600
    await compact.before_call(history, ROOM, ignore)
    assert size(history) + ROOM.fixed <= 600


async def test_a_refusal_without_numbers_takes_off_a_quarter_or_more() -> None:
    history, compact = InMemoryHistory(talk(20)), compaction(Writer())
    sent = size(history) + ROOM.fixed
    assert await compact.make_smaller(history, ROOM, refusal("too long"), ignore)
    assert size(history) + ROOM.fixed <= sent * 3 // 4


async def test_a_smaller_route_is_a_smaller_room() -> None:
    history, compact = InMemoryHistory(talk(20)), compaction(Writer())
    smaller = Room(window=800, answer=100, fixed=100, route="b/small")
    await compact.before_call(history, smaller, ignore)
    assert size(history) <= smaller.input - smaller.fixed
    history = InMemoryHistory(talk(20))
    await compact.before_call(history, ROOM, ignore)
    assert len(history.messages) == 41


# ---- for every history ---------------------------------------------------------------------


@given(
    HISTORIES,
    st.integers(50, 9_000),
    st.sampled_from([0.3, 0.85, 1.0]),
    st.sampled_from([Written(), Written(""), Written("cut", "length"), ServerFailed("busy")]),
)
def test_every_history_fits_afterwards_with_nothing_lost_or_an_error_says_that_it_cannot(
    messages: list[Message], window: int, share: float, act: Act
) -> None:
    asyncio.run(compact_and_check(messages, Room(window), share, act))


async def compact_and_check(messages: list[Message], room: Room, share: float, act: Act) -> None:
    writer, history = Writer([act]), InMemoryHistory(messages)
    compact = compaction(writer, compact_before=share)
    try:
        await compact.before_call(history, room, ignore)
    except ContextOverflowError:
        assert history.messages == tuple(messages)
        assert writer.requests == []
        return
    assert size(history) <= room.input
    assert len(writer.requests) <= 1
    transcript.check(history.messages)
    assert newest_request(history.messages) is newest_request(messages)
    places = Counter(id(m) for part in (history.messages, *history.snapshots) for m in part)
    assert all(places[id(message)] == times for message, times in counted(messages))
    once, requests = history.messages, len(writer.requests)
    await compact.before_call(history, room, ignore)
    assert history.messages == once
    assert len(writer.requests) == requests


def counted(messages: list[Message]) -> list[tuple[Message, int]]:
    """Tell how often each object stands in the list: a strategy may use one twice."""
    times = Counter(map(id, messages))
    return [(message, times[id(message)]) for message in messages if message != OMITTED]


# ---- over the wire -------------------------------------------------------------------------

every_wire = pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)


def is_for_a_summary(body: dict[str, Any]) -> bool:
    return "Summarise the conversation below" in str(body)


@every_wire
async def test_a_session_grows_over_its_window_and_goes_on(spoken: dict[str, Any]) -> None:
    def answer(request: httpx.Request) -> Answer:
        return Answer(SUMMARY if b"Summarise the conversation below" in request.content else "Yes.")

    model = Model(*[answer] * 60)
    agent = model.kernel(model="a-small-model", **spoken).agent(instructions="Be brief.")
    history = InMemoryHistory()
    for number in range(40):
        await agent.run(f"Question {number}. {text_of(1_500)}", session=history)
    await agent.close()
    assert history.messages[0] == summary_message(SUMMARY)
    assert 1 <= sum(map(is_for_a_summary, model.bodies)) <= 8
    assert max(len(str(body)) for body in model.bodies) < 4 * 8_192


TOO_LONG = (
    "This model's maximum context length is 4096 tokens. However, your messages resulted in "
    "6000 tokens. Please reduce the length of the messages."
)


def too_long(_: httpx.Request) -> httpx.Response:
    error = {"message": TOO_LONG, "code": 400, "status": "INVALID_ARGUMENT"}
    return httpx.Response(400, json={"error": error})


@every_wire
async def test_a_refused_request_is_made_smaller_and_sent_once_more(spoken: dict[str, Any]) -> None:
    model = Model(too_long, Answer(SUMMARY), Answer("In the hall."))
    agent = model.kernel(model="a-small-model", **spoken).agent(instructions="Be brief.")
    history = InMemoryHistory(talk(20, chars=600)[:-1])
    result = await agent.run("And the key?", session=history)
    await agent.close()
    assert result.text == "In the hall."
    assert [is_for_a_summary(body) for body in model.bodies] == [False, True, False]
    assert len(str(model.bodies[2])) < len(str(model.bodies[0])) * 2 // 3
    assert history.messages[0] == summary_message(SUMMARY)


async def test_a_second_refusal_is_an_error() -> None:
    model = Model(too_long, Answer(SUMMARY), too_long)
    agent = model.kernel(model="a-small-model").agent(instructions="Be brief.")
    history = InMemoryHistory(talk(20, chars=600)[:-1])
    with pytest.raises(ContextOverflowError, match="maximum context length is 4096"):
        await agent.run("And the key?", session=history)
    assert history.messages[-1] == user("And the key?")


async def test_a_long_run_keeps_its_question_and_its_newest_results() -> None:
    """One question, forty rounds, on a window that has room for a few of them."""

    async def read(page: int) -> str:
        """Read a page."""
        return f"Page {page}: {text_of(3_000)}"

    pages = [Answer("", [("read", {"page": page})]) for page in range(40)]

    def answer(request: httpx.Request) -> Answer:
        if b"Summarise the conversation below" in request.content:
            return Answer(SUMMARY)
        return pages.pop(0) if pages else Answer("All read.")

    model = Model(*[answer] * 80)
    agent = model.kernel(model="a-small-model", max_turns=50).agent([read])
    history = InMemoryHistory()
    result = await agent.run("Read all the pages.", session=history)
    await agent.close()
    assert result.text == "All read."
    assert history.messages[0] == summary_message(SUMMARY)
    assert user("Read all the pages.") in history.messages
    for body in model.bodies:
        assert "Read all the pages." in str(body)
        assert len(str(body)) < 4 * 8_192


@pytest.mark.parametrize(("session", "requests"), [(None, 3), (InMemoryHistory(), 4)])
async def test_a_conversation_that_nobody_keeps_is_not_summarised_afterwards(
    session: InMemoryHistory | None, requests: int
) -> None:
    async def read(page: int) -> str:
        """Read a page."""
        return f"Page {page}: {text_of(10_000)}"

    pages = [Answer("", [("read", {"page": page})]) for page in range(2)]
    model = Model(*pages, Answer("All read."), Answer(SUMMARY))
    agent = model.kernel(model="a-small-model").agent([read], instructions="Be brief.")
    await agent.run("Read both pages.", session=session)
    await agent.close()
    assert len(model.requests) == requests


async def test_a_run_that_was_shortened_in_the_middle_pairs_calls_and_results() -> None:
    calls = [assistant(ToolCall(f"c{i}", "read", "{}")) for i in range(9)]
    results = [ToolMessage(f"c{i}", text_of(900)) for i in range(9)]
    rounds = [message for pair in zip(calls, results, strict=True) for message in pair]
    history = InMemoryHistory([user("Read."), *rounds])
    await compaction(Writer()).before_call(history, ROOM, ignore)
    transcript.check(history.messages)
    assert history.messages[:2] == (summary_message(SUMMARY), user("Read."))
    assert isinstance(history.messages[2], AssistantMessage)
