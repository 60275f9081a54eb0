"""What a request to a model may hold, and what of it is left for the history. (chapter 7.3)

The window comes from the route in use: after a failover to a smaller model it is another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from freya_teach.context.compactor import Budget
from freya_teach.errors import ContextOverflowError
from freya_teach.llm.models import ModelFacts
from freya_teach.llm.overflow import Overflow


@dataclass(frozen=True, slots=True)
class Room:
    """What a request to the model in use may hold, in tokens."""

    window: int
    """Input and answer together."""
    answer: int = 0
    """How much of it is kept free for the answer."""
    fixed: int = 0
    """What is in every request beside the history: system prompt, tools, notes."""
    route: str = ""
    """The model's name, to remember what it refused."""
    is_sure: bool = True
    """Whether the window is known; a guessed one is no reason to send nothing."""

    @property
    def input(self) -> int:
        """What the input may have."""
        return self.window - self.answer

    def in_units_of(self, tokens: float) -> Room:
        """The same room for whoever counts 1 where the server counts `tokens`."""
        return replace(self, window=int(self.input / tokens) + self.answer)

    def budget(self, share: float) -> Budget:
        """What the history may have, and how much of it before it is made smaller."""
        return Budget(self.input - self.fixed, int(self.input * share) - self.fixed)


def room_for(
    facts: ModelFacts, fixed: int, max_output_tokens: int | None = None, route: str = ""
) -> Room:
    """The room beside `fixed` tokens, and beside an answer of at least an eighth of the window.

    A limit that was chosen for the answer is kept free as a whole, up to half of the window: more
    would leave no conversation.
    """
    answer = min(max_output_tokens or facts.window // 8, facts.max_output, facts.window // 2)
    return Room(facts.window, answer, fixed, route, not facts.guessed)


def refused(room: Room, tokens: int, told: Overflow) -> Room:
    """What a route has room for that refused a history of so many tokens, in our estimate's units.

    If we took 1,000 tokens for 900, then 900 of ours fill a window of 1,000. Without numbers in the
    refusal, a quarter less than was sent is tried.
    """
    sent = tokens + room.fixed
    fits = room.input if told.input_limit is None else min(told.input_limit, room.input)
    if told.input_asked:
        fits = int(fits * min(1.0, sent / told.input_asked))
    if fits >= sent:
        fits = sent * 3 // 4
    return replace(room, window=fits + room.answer)


def too_large(tokens: int, room: Room) -> ContextOverflowError:
    """What is raised when the least that has to stay has more tokens than the room."""
    return ContextOverflowError(
        f"the request cannot be made to fit: its newest part has about {tokens:,} tokens, the "
        f"system prompt and the tools {room.fixed:,}, and the model takes {room.input:,} "
        f"({room.window:,}, of which {room.answer:,} are kept for the answer). Nothing was sent. "
        "Shorten the message, switch tools off, or use a model with a larger window."
    )
