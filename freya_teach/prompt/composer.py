"""The system prompt: its parts, in their order, and where each one came from. (chapter 3.3)

    identity, soul, user, memory, tools, agents     files, dual-read
    current time                                    the clock
    tool instructions                               what the active tools add
    skills                                          those that could be switched on
    plugin prompt                                   the skill that is on

A part without text is left out. The order decides two things: what a provider's cache can keep
(everything before the first change), and what the model reads last (chapter 3.4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from typing import NamedTuple

from freya_teach.ambient import Ambient
from freya_teach.llm.tokens import BytesCounter, TokenCounter
from freya_teach.prompt.clock import Clock, Granularity
from freya_teach.prompt.registry import Edition, PromptRegistry
from freya_teach.prompt.skills import Skill

SECTIONS = (
    ("identity", "IDENTITY"),
    ("soul", "SOUL"),
    ("user", "USER INFO"),
    ("memory", "MEMORY"),
    ("tools", "TOOLS"),
    ("agents", "AGENTS"),
)
"""The parts that are files: `core.prompt.<name>`."""
OTHERS = {"time": ("CURRENT TIME", "clock"), "tool_instructions": ("TOOL INSTRUCTIONS", "tools")}
"""Title and origin of the parts that are no files."""


@dataclass(frozen=True)
class Part:
    """A piece of the system prompt, under its heading."""

    name: str
    title: str
    text: str
    origin: str

    @cached_property
    def block(self) -> str:
        """The part as the model reads it."""
        return f"# {self.title}\n{self.text}"


class Row(NamedTuple):
    """A line of the report: how much of the prompt is this part? `share` is between 0 and 1."""

    name: str
    origin: str
    characters: int
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """A composed prompt."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """What is sent."""
        return "\n\n".join([part.block for part in self.parts])

    def report(self, counter: TokenCounter | None = None) -> tuple[Row, ...]:
        """Each part's origin, characters, estimated tokens and share of the tokens."""
        counter = counter or BytesCounter()
        tokens = [counter.count(part.block) for part in self.parts]
        total = sum(tokens) or 1
        return tuple(
            Row(part.name, part.origin, len(part.block), count, count / total)
            for part, count in zip(self.parts, tokens, strict=True)
        )


class _Read:
    """The parts that come from files: built once for an edition of the registry."""

    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self._plugins: dict[str, Part] = {}

    @cached_property
    def files(self) -> tuple[Part, ...]:
        prompts = [self.edition.get(f"core.prompt.{name}") for name, _ in SECTIONS]
        return tuple(
            Part(name, title, prompt.text, prompt.origin)
            for (name, title), prompt in zip(SECTIONS, prompts, strict=True)
            if prompt.text
        )

    @cached_property
    def skills(self) -> Part:
        return Part("skills", "AVAILABLE SKILLS", _listed(self.edition.skills().values()), "skills")

    def plugin(self, skill_id: str) -> Part:
        if skill_id not in self._plugins:
            skill = self.edition.skill(skill_id)
            title = f"PLUGIN PROMPT [{skill.id}]"
            self._plugins[skill_id] = Part("plugin", title, skill.text, skill.origin)
        return self._plugins[skill_id]


class Composer:
    """Composes the system prompt for one turn."""

    def __init__(
        self,
        registry: PromptRegistry,
        ambient: Ambient | None = None,
        granularity: Granularity = "minute",
    ) -> None:
        self.registry = registry
        self.ambient = ambient or Ambient()
        self._clock = Clock(self.ambient.zone, granularity)
        self._read = _Read(registry.edition)
        self._newest: dict[str, Part] = {}

    def compose(
        self,
        *,
        tool_instructions: Iterable[str] = (),
        offer_skills: bool = False,
        active_skill: str = "",
    ) -> SystemPrompt:
        """The prompt as it is now. Raises `PromptError`."""
        read = self._reading()
        parts = [*read.files, self._part("time", self._clock.tell(self.ambient.now(UTC)))]
        if instructions := "\n\n".join(tool_instructions):
            parts.append(self._part("tool_instructions", instructions))
        if offer_skills and read.skills.text:
            parts.append(read.skills)
        if active_skill and read.plugin(active_skill).text:
            parts.append(read.plugin(active_skill))
        return SystemPrompt(tuple(parts))

    def _reading(self) -> _Read:
        """What has been read; all of one prompt comes from one edition, also during a reload."""
        read, edition = self._read, self.registry.edition
        if read.edition is not edition:
            read = self._read = _Read(edition)
        return read

    def _part(self, name: str, text: str) -> Part:
        """The part as it was, while its text stays the same: most turns change nothing."""
        part = self._newest.get(name)
        if part is None or part.text != text:
            title, origin = OTHERS[name]
            part = self._newest[name] = Part(name, title, text, origin)
        return part


def _listed(skills: Collection[Skill]) -> str:
    if not skills:
        return ""
    lines = [f"- {skill.name} (id `{skill.id}`): {skill.description}" for skill in skills]
    return "Switch one on with activate_skill when the task calls for it:\n" + "\n".join(lines)


def common_prefix(first: str, second: str) -> int:
    """Characters that two prompts have in common from their start: what a cache can keep.

    >>> common_prefix("It is 12:00.", "It is 12:01.")
    10
    """
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[:middle] == second[:middle] else (low, middle - 1)
    return low


class CountOnce:
    """A token counter that remembers, by the text itself, what it has counted."""

    def __init__(self, counter: TokenCounter, limit: int = 1_000) -> None:
        self._counter = counter
        self._limit = limit
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Tokens in `text`, counted once."""
        if text not in self._known:
            if len(self._known) >= self._limit:
                self._known.clear()
            self._known[text] = self._counter.count(text)
        return self._known[text]
