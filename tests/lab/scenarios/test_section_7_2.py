"""The conversation of section 7.2: what it is said to hold stands where it is said to stand."""

import json

import pytest

from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.scenarios.section_7_2 import FACTS, SAID, Fact, conversation, turn
from freya_teach.lab.views.protocol_verdicts import verdict
from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import user
from freya_teach.llm.protocol import Adapter, ModelRequest, Route

WIRES: tuple[tuple[Wire, str, Adapter], ...] = (
    ("openai", "gpt-4o", openai.ADAPTER),
    ("gemini", "gemini-3.8-flash", gemini.ADAPTER),
)


def text_of(number: int) -> str:
    """All words of one turn."""
    return "\n".join(message.text for message in turn(number))


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_each_fact_is_told_in_its_turn_and_in_none_before(fact: Fact) -> None:
    assert fact.words in text_of(fact.turn)
    assert not any(fact.words in text_of(number) for number in range(1, fact.turn))


def test_no_fact_bears_the_words_of_one_in_its_name() -> None:
    assert not any(fact.words in other.name for fact in FACTS for other in FACTS)


def test_a_conversation_holds_the_system_prompt_and_whole_turns() -> None:
    assert conversation(0) == conversation()[:1]
    assert conversation(2) == (*conversation(0), *turn(1), *turn(2))
    assert conversation(len(SAID)) == conversation()


@pytest.mark.parametrize(("wire", "model", "adapter"), WIRES, ids=["openai", "gemini"])
def test_both_providers_would_answer_it(wire: Wire, model: str, adapter: Adapter) -> None:
    asked = user("Which port is it?")
    route = Route(wire, model, "https://example.org")
    request = adapter.build_request(ModelRequest((*conversation(), asked)), route)
    assert verdict(wire, model, json.loads(request.body)).accepted
