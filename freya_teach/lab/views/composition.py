"""What the composer view shows: choices, the prompt of them, and the one before. (chapter 3.3)

The files are read anew for each prompt, so what has just been edited is seen at the next click.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import get_args

from freya_teach.ambient import Ambient
from freya_teach.errors import PromptError
from freya_teach.prompt.clock import Granularity
from freya_teach.prompt.composer import Composer, SystemPrompt, common_prefix
from freya_teach.prompt.registry import PromptRegistry

GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
GAP = "\n\n"
"""What the composer puts between two parts."""
LATER = "a minute later"
ON_OFF = {"on": True, "off": False}


@dataclass(frozen=True, slots=True)
class Choice:
    """What can be switched."""

    override: bool
    skills: bool
    """Whether the skills are offered."""
    active: str
    """The skill that is on, or ""."""
    tools: bool
    granularity: Granularity
    minutes: int = 0
    """How far the clock has been moved on."""


Change = Callable[[Choice], Choice]


@dataclass(frozen=True, slots=True)
class Material:
    """What prompts are made of: two folders, a clock, and the tools' instructions."""

    packaged: Path
    override: Path | None
    ambient: Ambient
    instructions: tuple[str, ...] = ()

    def registry(self, *, override: bool) -> PromptRegistry:
        """The files as they are now, with the user's own or without."""
        return PromptRegistry(self.packaged, self.override if override else None)

    def compose(self, choice: Choice) -> SystemPrompt:
        """The prompt of this choice. Raises `PromptError`."""

        def now(zone: tzinfo) -> datetime:
            return (self.ambient.now(UTC) + timedelta(minutes=choice.minutes)).astimezone(zone)

        registry = self.registry(override=choice.override)
        composer = Composer(registry, replace(self.ambient, now=now), choice.granularity)
        return composer.compose(
            tool_instructions=self.instructions if choice.tools else (),
            offer_skills=choice.skills,
            active_skill=choice.active,
        )

    def changes(self) -> dict[str, Change]:
        """Every click that there is, by its name. Raises `PromptError`."""
        made: dict[str, Change] = {}
        if self.override:
            made |= {f"override {word}": _set(override=on) for word, on in ON_OFF.items()}
        if self.instructions:
            made |= {f"tools {word}": _set(tools=on) for word, on in ON_OFF.items()}
        made["skills off"] = _set(skills=False, active="")
        made["no skill"] = _set(skills=True, active="")
        for skill in self.registry(override=True).skills():
            made[f"skill {skill.id}"] = _set(skills=True, active=skill.id)
        made |= {f"time by {each}": _set(granularity=each) for each in GRANULARITIES}
        made[LATER] = lambda choice: replace(choice, minutes=choice.minutes + 1)
        return made


def _set(**values: object) -> Change:
    return lambda choice: replace(choice, **values)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Composition:
    """A prompt, and what it is compared with: the one before the last click."""

    choice: Choice
    prompt: SystemPrompt
    click: str = ""
    before: SystemPrompt | None = None
    problem: str = ""
    """Why the last click led nowhere."""

    def after(self, click: str, change: Change, material: Material) -> Composition:
        """The next state. A prompt that cannot be composed is told, and the old one stays."""
        choice = change(self.choice)
        try:
            prompt = material.compose(choice)
        except PromptError as problem:
            return replace(self, problem=f"{click}: {problem}")
        return replace(
            self, choice=choice, prompt=prompt, click=click, before=self.prompt, problem=""
        )

    @property
    def same(self) -> int:
        """Characters from the start that are as they were before the click."""
        return common_prefix(self.before.text, self.prompt.text) if self.before else 0

    @property
    def first_difference(self) -> str:
        """The title of the part in which the first difference is; "" where there is none."""
        if self.before is None or self.before.text == self.prompt.text:
            return ""
        end = 0
        for part in self.prompt.parts:
            end += len(part.block)
            if self.same < end:
                return part.title
            end += len(GAP)
        return ""

    def pieces(self) -> Iterator[tuple[bool, str]]:
        """The prompt part by part, each with whether it is as before, and so could be kept.

        The part with the first difference comes in two pieces, cut before the line it is in.
        """
        start, cut = 0, self._lines_kept()
        for part in self.prompt.parts:
            here = min(max(cut - start, 0), len(part.block))
            for same, piece in ((True, part.block[:here]), (False, part.block[here:])):
                if piece.strip("\n"):
                    yield same, piece.strip("\n")
            start += len(part.block) + len(GAP)

    def _lines_kept(self) -> int:
        """Characters of whole lines that are as before."""
        text, same = self.prompt.text, self.same
        if same == len(text) or (self.before and same == len(self.before.text)):
            return same
        return text.rfind("\n", 0, same) + 1
