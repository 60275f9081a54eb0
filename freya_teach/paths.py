"""Where the course's own files are, in a checkout and in an installed wheel alike. (start)"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from freya_teach.errors import ConfigError

CourseFolder = Literal["notebooks", "prompts", "fixtures"]

PACKAGE = Path(__file__).resolve().parent


def course_folder(name: CourseFolder) -> Path:
    """Return the folder of the notebooks, prompts or recordings; raises `ConfigError` without it.

    A wheel carries them inside the package, under `_course`; in a checkout they lie beside it.
    """
    for folder in (PACKAGE / "_course" / name, PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise ConfigError(f"The course's folder {name!r} is missing: install freya-teach again.")


def in_checkout() -> bool:
    """Say whether the package is used from its repository, where authors work."""
    return (PACKAGE.parent / "pyproject.toml").is_file() and not (PACKAGE / "_course").is_dir()
