"""The whole way on the real small model: question, stream, two tools side by side, answer.

The model has 135 million parameters. It calls tools only after it was shown twice how that goes
(`examples`), and then it needs no forced grammar. What is judged here is the kernel: pieces come
one by one, both calls are made in one turn, and their results come back.
"""

import socket
from collections import Counter
from pathlib import Path

import httpx
import pytest

from freya_teach import Settings, build_kernel
from freya_teach.events import RunDone, TextDelta, ToolStatus
from freya_teach.lab.local_model import MODEL, PACKAGES, model_folder
from freya_teach.lab.local_model.fetch import is_whole
from freya_teach.lab.local_model.running import serving
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.scenarios.section_2_1 import INSTRUCTIONS, QUESTION, examples
from freya_teach.llm import transcript


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.soak
async def test_the_two_tool_question_is_answered_piece_by_piece_by_a_real_model(
    tmp_path: Path,
) -> None:
    models = model_folder()
    missing = [package.name for package in PACKAGES if not is_whole(package.folder(models))]
    if missing:
        pytest.skip(f"not here: {', '.join(missing)}. `freya-teach local-model` fetches them")
    for package in PACKAGES:  # a folder of its own: the note in it may tell of a running server
        folder = package.folder(models)
        (tmp_path / folder.name).symlink_to(folder, target_is_directory=True)
    with serving(tmp_path, free_port()) as url:
        settings = Settings(base_url=url, model=MODEL, api_key="none", stream=True, max_turns=3)
        async with httpx.AsyncClient() as http:
            agent = build_kernel(settings, http).agent(
                [get_current_weather, calculate], instructions=INSTRUCTIONS
            )
            session = examples()
            events = [event async for event in agent.stream(QUESTION, session=session)]
    told = [f"{e.call.name} {e.state}" for e in events if isinstance(e, ToolStatus)]
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    last = events[-1]
    assert isinstance(last, RunDone)
    print(f"\n{told}\n{pieces}\n{last.result}")
    states = Counter(told)
    assert states["get_current_weather completed"] == states["calculate completed"] == 1
    assert [len(turn.calls) for turn in last.result.trace.turns] == [2, 0]
    assert len(pieces) > 5
    assert "".join(pieces) == last.result.text
    assert "120" in last.result.text
    assert last.result.stop_reason == "answer"
    transcript.check(session.messages)
