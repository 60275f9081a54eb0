"""JupyterHub's configuration for a classroom, as data that an instructor can read and copy. (start)

Source: JupyterHub's documentation, "Configuration reference". Any traitlets application takes its
configuration as JSON: class, then setting, then value.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freya_teach.cli.class_list import TEACHER

SECONDS_TO_START = 180
"""A server's start takes seconds; when a whole class starts at once, each waits for the others."""

AT_ONCE = 4
"""So many servers start at the same time; the others are asked to wait, and tried again."""

FILE = "jupyterhub_config.json"
LOGINS = "logins.json"
HOMES = "homes"
REVEAL = "reveal.json"
"""While it says so, `lab.reveal` shows no student a solution."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the hub is reached (by people, by servers, by its own proxy); all on loopback."""

    public: int
    hub: int
    proxy: int


def hub_config(folder: Path, ports: Ports, proxy: Path) -> dict[str, Any]:
    """The settings for a classroom in this folder, on this machine only."""
    return {
        "JupyterHub": {
            "bind_url": f"http://127.0.0.1:{ports.public}",
            "hub_bind_url": f"http://127.0.0.1:{ports.hub}",
            "authenticator_class": "freya_teach.cli.hub_login.ClassList",
            "spawner_class": "simple",
            "concurrent_spawn_limit": AT_ONCE,
            "db_url": f"sqlite:///{folder / 'hub.sqlite'}",
            "cookie_secret_file": str(folder / "cookie_secret"),
        },
        "ConfigurableHTTPProxy": {
            "api_url": f"http://127.0.0.1:{ports.proxy}",
            "command": [str(proxy)],
            "pid_file": str(folder / "proxy.pid"),
        },
        "ClassList": {
            "logins_file": str(folder / LOGINS),
            "allow_all": True,  # everybody who is on the list
            "admin_users": [TEACHER],
        },
        "SimpleLocalProcessSpawner": {
            "home_dir_template": f"{folder / HOMES}/{{username}}",
        },
        "Spawner": {
            "cmd": [sys.executable, "-m", "freya_teach.cli", "student"],
            "default_url": "/lab/tree/start_here.ipynb",
            # The hub hands on few variables of its own; this one reaches every server and kernel.
            "environment": {"FREYA_REVEAL_FILE": str(folder / REVEAL)},
            "start_timeout": SECONDS_TO_START,
            "http_timeout": SECONDS_TO_START,
        },
    }
