"""Which file a prompt comes from: the user's own, else the packaged one. (chapter 3.3)

    ~/my-prompts/core.prompt.identity.md     override, read first
    prompts/core.prompt.identity.md          packaged default, read when there is no override

Only "there is no such file" leads from the first to the second. A prompt that cannot be read is
an error: an agent that runs with the wrong identity, or with none, looks like one that works.
"""

from __future__ import annotations

import logging
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from freya_teach.errors import PromptError
from freya_teach.prompt.files import entries_in, read_text
from freya_teach.prompt.skills import SKILL_FILE, Skill, parse_skill
from freya_teach.prompt.strays import strays

logger = logging.getLogger(__name__)

DEVICES = r"(?!(con|prn|aux|nul|com\d|lpt\d)(\.|$))"
"""Names that Windows keeps for devices, whatever follows the first dot."""
KEY = re.compile(DEVICES + r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
"""A key becomes a file's name, so it may hold nothing that leads out of its folder."""
SKILL_ID = re.compile(DEVICES + r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text, and where it came from."""

    key: str
    text: str
    path: Path
    overridden: bool

    @property
    def origin(self) -> str:
        """Where it came from, in a word."""
        return "override" if self.overridden else "packaged"


@dataclass(frozen=True, slots=True)
class Folders:
    """The two folders, and the reading of one thing out of them."""

    packaged: Path
    override: Path | None

    def prompt(self, key: str) -> Prompt:
        """Read the prompt of this key. Raises `PromptError`."""
        if not KEY.fullmatch(key):
            raise PromptError(f"{key!r} is no prompt key: words of a-z, 0-9 and _, joined by dots")
        name = f"{key}.md"
        found = self._dual_read(name)
        if found is None:
            raise PromptError(f"there is no prompt {name!r}.{self._places(name)}")
        text, path, overridden = found
        if overridden and not text:
            logger.warning("the override %s is empty, so the prompt %s is empty too", path, key)
        return Prompt(key, text, path, overridden)

    def skills(self) -> tuple[Skill, ...]:
        """Read all skills, by id. Raises `PromptError`."""
        entries = [entries_in(f / "skills") for f in (self.packaged, self.override) if f]
        names = {name for each in entries for name, is_folder in each.items() if is_folder}
        return tuple(skill for name in sorted(names) if (skill := self._skill(name)))

    def _skill(self, name: str) -> Skill | None:
        """The skill in the folder of this name, or None when there is no skill in it."""
        found = self._dual_read(f"skills/{name}/{SKILL_FILE}")
        if found is None:
            return None
        if not SKILL_ID.fullmatch(name):
            raise PromptError(
                f"{name!r} is no name for a skill's folder: small letters, digits, - and _"
            )
        text, path, overridden = found
        return parse_skill(name, text, path, overridden=overridden)

    def _dual_read(self, name: str) -> tuple[str, Path, bool] | None:
        """Text, file, and whether it is an override; None when neither folder has it.

        Raises `PromptError` that names both files.
        """
        packaged = self.packaged / name
        override = self.override / name if self.override else None
        try:
            if override is not None and (text := read_text(override)) is not None:
                return text, override, True
            if (text := read_text(packaged)) is not None:
                return text, packaged, False
        except PromptError as problem:
            raise PromptError(f"{problem}.{self._places(name)}") from None
        return None

    def _places(self, name: str) -> str:
        looked = f"\n  packaged: {self.packaged / name}"
        return f"\n  override: {self.override / name}{looked}" if self.override else looked


class Edition:
    """What has been read since the last reload. A turn takes all of its prompt from one edition."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self.prompts: dict[str, Prompt] = {}
        self.all_skills: dict[str, Skill] | None = None

    def get(self, key: str) -> Prompt:
        """The prompt of this key, such as `core.prompt.identity`. Raises `PromptError`."""
        prompt = self.prompts.get(key)
        if prompt is None:  # two threads may both read it; they get the same one
            prompt = self.prompts.setdefault(key, self._folders.prompt(key))
        return prompt

    def skills(self) -> dict[str, Skill]:
        """All skills of both folders, by id; an override of the same id wins."""
        if self.all_skills is None:
            self.all_skills = {skill.id: skill for skill in self._folders.skills()}
        return self.all_skills

    def skill(self, skill_id: str) -> Skill:
        """One skill. Raises `PromptError` that names those there are."""
        skills = self.skills()
        if skill_id not in skills:
            known = ", ".join(skills) or "none"
            raise PromptError(f"there is no skill {skill_id[:80]!r}; there are: {known}")
        return skills[skill_id]

    def read_again(self) -> Edition:
        """A new edition of the same prompts. Raises `PromptError`."""
        new = Edition(self._folders)
        for key in list(self.prompts):
            new.get(key)
        if self.all_skills is not None:
            new.skills()
        return new

    def contents(self) -> dict[str, Prompt | Skill]:
        """Everything in it, by key; a skill's is `skills/<id>`."""
        skills = {f"skills/{name}": skill for name, skill in (self.all_skills or {}).items()}
        return {**self.prompts, **skills}


class PromptRegistry:
    """Reads each prompt when it is first asked for, and again on `reload`; safe under threads."""

    def __init__(self, packaged: Path, override: Path | None = None) -> None:
        self.folders = Folders(packaged, override)
        self.edition = Edition(self.folders)
        self._one_reload = threading.Lock()

    @property
    def packaged(self) -> Path:
        """The folder of the defaults."""
        return self.folders.packaged

    @property
    def override(self) -> Path | None:
        """The folder of the user's own, if there is one."""
        return self.folders.override

    def get(self, key: str) -> Prompt:
        """The prompt of this key, such as `core.prompt.identity`. Raises `PromptError`."""
        return self.edition.get(key)

    def skills(self) -> tuple[Skill, ...]:
        """All skills of both folders, by id. Raises `PromptError`."""
        return tuple(self.edition.skills().values())

    def skill(self, skill_id: str) -> Skill:
        """One skill. Raises `PromptError` that names those there are."""
        return self.edition.skill(skill_id)

    def reload(self) -> tuple[str, ...]:
        """Read again what has been read, and return the keys and skills that have changed.

        What is compared is the text, not its time stamp. A turn that is going on keeps the prompt
        that it has; the next one sees the new. If anything cannot be read, all stays as it was.
        Raises `PromptError`.
        """
        with self._one_reload:  # of two, the one that has read later must win
            old, new = self.edition, self.edition.read_again()
            self.edition = new
        before, after = old.contents(), new.contents()
        names = [*before, *(name for name in after if name not in before)]
        return tuple(name for name in names if before.get(name) != after.get(name))

    def keys(self) -> tuple[str, ...]:
        """The keys of all packaged prompts, in order."""
        names = entries_in(self.packaged)
        return tuple(name.removesuffix(".md") for name in names if name.endswith(".md"))

    def unused(self) -> dict[str, str]:
        """What overrides nothing in the override folder, each with the nearest name or ""."""
        return strays(self.override, self.keys()) if self.override else {}
