"""How full the model's window is, and with what. (chapter 8.1)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from freya_teach.llm.messages import system
from freya_teach.llm.protocol import ModelRequest
from freya_teach.llm.request_tokens import REPLY_TOKENS, RememberingCounter

if TYPE_CHECKING:
    from freya_teach.agent.executor import Agent
    from freya_teach.agent.history import History
    from freya_teach.kernel import Kernel
    from freya_teach.trace import RunResult


@dataclass(frozen=True, slots=True)
class Filling:
    """Tokens of the next request, and what the model takes."""

    tokens: int
    window: int
    is_estimated: bool
    """Whether `tokens` is the kernel's own count; else the server has told it."""
    is_guessed: bool
    """Whether nobody knows the window of this model."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the next request is made of, in tokens of the kernel's estimate."""

    prompt: int
    tools: int
    messages: int
    count: int
    """How many messages."""
    window: int
    is_guessed: bool
    compacted_over: int
    """With more than this the history is made smaller before the next request."""

    @property
    def total(self) -> int:
        """The whole request."""
        return self.prompt + self.tools + self.messages + REPLY_TOKENS


def parts(kernel: Kernel, agent: Agent, history: History) -> Parts:
    """Count what would be sent now. Raises `PromptError`."""
    counter = RememberingCounter(kernel.proxy.counter)
    tools = agent.registry.active(history.active_toolboxes)
    text = agent.instructions
    prompt = system(text(history, tools) if callable(text) else text)
    specs = tuple(tool.spec for tool in tools.values())
    facts = kernel.proxy.next_route(history.model).facts
    trigger = facts.window
    if agent.compaction is not None:
        room = agent.compaction.room_for(history, ModelRequest((prompt,), specs))
        trigger = room.budget(kernel.settings.compact_before).trigger + room.fixed
    return Parts(
        counter.message(prompt),
        counter.tools(specs),
        counter.messages(history.messages),
        len(history.messages),
        facts.window,
        facts.guessed,
        trigger,
    )


def filling(kernel: Kernel, agent: Agent, history: History, result: RunResult | None) -> Filling:
    """By the server's count of the last turn, if there is one; else by estimate."""
    facts = kernel.proxy.next_route(history.model).facts
    turns = result.trace.turns if result and result.stop_reason == "answer" else ()
    told = turns[-1].reply.usage.total_tokens if turns else 0
    tokens = told or parts(kernel, agent, history).total
    return Filling(tokens, facts.window, not told, facts.guessed)
