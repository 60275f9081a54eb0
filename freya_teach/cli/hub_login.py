"""How JupyterHub asks our list of logins; only the hub imports this module. (start)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyterhub.auth import Authenticator
from traitlets import Unicode

from freya_teach.cli.class_list import is_right, read_list


class ClassList(Authenticator):  # type: ignore[misc]  # jupyterhub has no types
    """Let in who is on the list with the right password, and nobody else."""

    logins_file = Unicode(config=True, help="The file that `freya-teach classroom` writes.")

    async def authenticate(self, handler: Any, data: dict[str, str]) -> str | None:
        """Return the name, or None when name or password is wrong."""
        del handler
        name = self.normalize_username(data["username"])
        stored = read_list(Path(self.logins_file)).get(name)
        return name if stored and is_right(data["password"], stored) else None
