"""Finds the exercises: one module per section, `section_2_3.py` for section 2.3. (start)"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

from freya_teach.errors import ConfigError
from freya_teach.lab.exercises.exercise import Exercise

PREFIX = "section_"


def find(exercise_id: str) -> Exercise:
    """The exercise with this id, such as "2.3-a". Raises `ConfigError` naming those there are."""
    module = module_of(str(exercise_id).rpartition("-")[0])
    if module in _modules():
        for exercise in _load(module):
            if exercise.id == exercise_id:
                return exercise
    known = ", ".join(exercise.id for exercise in every_exercise())
    raise ConfigError(f"there is no exercise {exercise_id!r}; there are: {known}")


def every_exercise() -> list[Exercise]:
    """All exercises of the course, in the order of their sections."""
    found = [exercise for module in _modules() for exercise in _load(module)]
    return sorted(found, key=lambda exercise: natural_order(exercise.id))


def module_of(section: str) -> str:
    """The module that holds a section's exercises: 2.3 → section_2_3."""
    return PREFIX + section.replace(".", "_")


def natural_order(name: str) -> list[tuple[bool, int, str]]:
    """Sort key by which 2.10 comes after 2.9, and names without a number come last."""
    parts = re.findall(r"\d+|[^\d.]+", name)
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _modules() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return [name for name in names if name.startswith(PREFIX)]


def _load(module: str) -> tuple[Exercise, ...]:
    loaded = importlib.import_module(f"{__package__}.{module}")
    declared: tuple[Exercise, ...] = loaded.EXERCISES
    return declared
