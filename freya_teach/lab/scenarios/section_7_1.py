"""A conversation that grows, and one that is too large for a real server. (chapter 7.1)"""

from __future__ import annotations

from functools import partial

from freya_teach.lab.scenarios import Scenario, Stage
from freya_teach.lab.scenarios.section_1_1 import words
from freya_teach.llm.messages import Json

QUESTIONS = (
    "My name is Mia. Tell me one sentence about the sea.",
    "One sentence about mountains, please.",
    "One sentence about deserts.",
    "One sentence about rivers.",
    "One sentence about snow.",
    "One sentence about forests.",
)
MOST = 60
"""Tokens of each answer."""
PAGES, NEARLY = 400, 245
"""Lines of the message that is too large, and of one that leaves hardly any room for an answer."""


def asked(text: str) -> dict[str, Json]:
    """A message of the user."""
    return {"role": "user", "content": text}


def book(pages: int = PAGES) -> str:
    """A long message: numbered lines that say little."""
    return "\n".join(f"Page {n}: the sea is wide and the wind is cold." for n in range(pages))


async def growing(stage: Stage, *, cached: bool = False) -> None:
    """Each request holds all that was said before."""
    messages: list[Json] = []
    for question in QUESTIONS:
        messages.append(asked(question))
        body: dict[str, Json] = {"messages": [*messages], "max_tokens": MOST}
        messages.append(words(await stage.ask(body | ({"cache_prompt": True} if cached else {}))))


async def too_large(stage: Stage) -> None:
    """More than the server's window; then a small request to the same server."""
    await stage.ask({"messages": [asked(book())], "max_tokens": MOST})
    await stage.ask({"messages": [asked(QUESTIONS[0])], "max_tokens": MOST})


async def no_room(stage: Stage) -> None:
    """The question fits, and its answer does not."""
    await stage.ask({"messages": [asked(book(NEARLY))], "max_tokens": MOST})


SCENARIOS: dict[str, Scenario] = {
    "growing": growing,
    "growing-cached": partial(growing, cached=True),
    "too-large": too_large,
    "no-room": no_room,
}
