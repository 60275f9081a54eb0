"""An agent on a stored session."""

import asyncio
from pathlib import Path

from freya_teach import Ambient, SessionManager
from freya_teach.errors import SessionBusy
from tests.wire_answers import Answer, Model


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_a_conversation_goes_on_after_a_restart(tmp_path: Path) -> None:
    model = Model(Answer(calls=[("add", {"a": 1, "b": 2})]), Answer("3."), Answer("Yes, 3."))
    agent = model.kernel().agent([add])
    async with SessionManager(tmp_path, Ambient()) as sessions:
        session = await sessions.create()
        await agent.run("1 + 2?", session=session)
    async with SessionManager(tmp_path, Ambient()) as sessions:
        session = await sessions.open(session.id)
        assert (await agent.run("Sure?", session=session)).text == "Yes, 3."
        roles = [message.role for message in session.messages]
        assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
        assert session.model == "openai/gpt-5.6-terra"


async def test_of_four_runs_on_one_session_one_starts_and_the_others_are_told(
    tmp_path: Path,
) -> None:
    async with SessionManager(tmp_path, Ambient()) as sessions:
        session = await sessions.create()
        agent = Model(Answer("One.")).kernel().agent()
        results = await asyncio.gather(
            *(agent.run("?", session=session) for _ in range(4)), return_exceptions=True
        )
        busy = [result for result in results if isinstance(result, SessionBusy)]
        assert len(busy) == 3
        assert [message.text for message in session.messages] == ["?", "One."]
