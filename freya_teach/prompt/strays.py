"""Files among the user's prompts that override nothing, and what was probably meant. (chapter 3.4)

A file under a wrong name is no error for the registry: it is a file like any other. For its author
it is the prompt that does nothing, whatever is written into it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from freya_teach.prompt.files import entries_in
from freya_teach.prompt.skills import SKILL_FILE


def strays(override: Path, keys: Iterable[str]) -> dict[str, str]:
    """Each name in the folder that overrides none of these keys → the nearest that would, or "".

    Raises `PromptError` when the folder cannot be read.
    """
    known = [*(f"{key}.md" for key in keys), "skills"]
    names = [name for name in entries_in(override) if name not in known]
    return {name: _meant(name, known) for name in names} | _no_skills(override / "skills")


def _meant(name: str, known: list[str]) -> str:
    for candidate in known:
        if candidate.endswith(f".{name.lower()}"):  # the short form: soul.md
            return candidate
    return next(iter(difflib.get_close_matches(name.lower(), known, 1)), "")


def _no_skills(folder: Path) -> dict[str, str]:
    """What lies under `skills/` and is no folder with the one file that makes a skill of it."""
    found = {}
    for name, is_folder in entries_in(folder).items():
        if not is_folder or SKILL_FILE not in entries_in(folder / name):
            found[f"skills/{name}"] = f"skills/{Path(name).stem}/{SKILL_FILE}"
    return found
