"""A script in the place of a model, for what is about the loop and not about packets."""

import pytest

from freya_teach.errors import ConfigError
from freya_teach.lab.gateway import Call, Move, answer, call
from freya_teach.lab.sample_tools import calculate
from freya_teach.lab.scripted import ScriptedClient


async def test_an_agent_plays_the_script_with_real_tools() -> None:
    client = ScriptedClient(call("calculate", expression="6 * 7"), answer("It is 42."))
    result = await client.agent([calculate]).run("How much is six times seven?")
    assert (str(result), result.trace.calls[0].observation) == ("It is 42.", "42")
    assert [len(request.messages) for request in client.requests] == [1, 3]


async def test_words_may_come_beside_calls_and_arguments_may_be_no_json() -> None:
    move = Move("Let me see.", (Call("calculate", '{"expression": '),))
    result = await ScriptedClient(move, answer("It is 42.")).agent([calculate]).run("Go on.")
    assert result.trace.turns[0].reply.message.text == "Let me see."
    assert result.trace.calls[0].state == "failed"


async def test_the_words_are_streamed_to_whoever_listens() -> None:
    agent = ScriptedClient(answer("Hello.")).agent()
    said = [event.text async for event in agent.stream("Hi?") if event.name == "text:delta"]
    assert said == ["Hello."]


async def test_a_script_that_is_too_short_says_so() -> None:
    agent = ScriptedClient(call("calculate", expression="6 * 7")).agent([calculate])
    with pytest.raises(ConfigError, match="the script has 1 moves, and another was asked for"):
        await agent.run("Go on.")


async def test_settings_are_the_kernels() -> None:
    client = ScriptedClient(call("calculate", expression="6 * 7"), answer("Half an answer."))
    result = await client.agent([calculate], max_turns=1).run("Go on.")
    assert result.stop_reason == "max_turns"
