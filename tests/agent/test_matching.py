"""Whatever ids a server gives: each result is found by whoever looks for its call."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.config import Settings
from freya_teach.kernel import build_kernel
from freya_teach.lab.gateway import Call, Gateway, Move, Policy, Question, answer, gateway
from freya_teach.lab.lesson import frozen_ambient
from freya_teach.llm.transcript import calls_in
from freya_teach.trace import RunResult

ids = st.sampled_from(["", "search:0", "search:1", "call_1", "call_2", "x" * 40, "y" * 41])
rounds = st.lists(st.lists(ids, min_size=1, max_size=3), min_size=1, max_size=3)


def search(words: str) -> str:
    """Search for words."""
    return f"found {words}"


def insists_on_a_match(given_ids: list[list[str]]) -> Policy:
    """Calls with these ids, and makes a call again as long as its result is not to be found."""
    fresh = map(str, count())
    left = iter(given_ids)

    def policy(question: Question) -> Move:
        results = {result.call_id: result.text for result in question.results}
        for made in question.calls:
            words = made.arguments["words"] if isinstance(made.arguments, dict) else ""
            if results.get(made.id) != f"found {words}":
                return Move(calls=(Call("search", {"words": words}),))
        calls = tuple(Call("search", {"words": next(fresh)}, id_) for id_ in next(left, ()))
        return Move(calls=calls) if calls else answer("Every result was found.")

    return policy


async def run(provider: Gateway, wire: str) -> RunResult:
    chosen = Settings.model_validate({"provider": wire, "api_key": "no-key-needed"})
    return (
        await build_kernel(chosen, provider.client(), frozen_ambient())
        .agent([search])
        .run("Go on.")
    )


@pytest.mark.parametrize("wire", ["openai", "gemini"])
@given(given_ids=rounds)
@settings(max_examples=25, deadline=None)
async def test_no_call_is_made_again_for_want_of_a_match(
    wire: str, given_ids: list[list[str]]
) -> None:
    result = await run(gateway(insists_on_a_match(given_ids)), wire)
    made = calls_in(turn.exchange.reply.message for turn in result.trace.turns)
    assert result.text == "Every result was found."
    assert len(made) == sum(map(len, given_ids))
    assert len({call.id for call in made}) == len(made)


@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_the_same_answers_get_the_same_ids_in_every_run(wire: str) -> None:
    given_ids = [["", "search:0", "search:0"], ["search:0", "y" * 41]]
    packets = []
    for _ in range(2):
        result = await run(gateway(insists_on_a_match(given_ids)), wire)
        packets.append([turn.packet for turn in result.trace.turns])
    assert packets[0] == packets[1]
