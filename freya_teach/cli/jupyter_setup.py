"""How JupyterLab is started for the course: on this machine only, with this Python. (start)

The folder `jupyter/` beside this module is put before Jupyter's own search paths. It holds a
kernel spec whose `python` Jupyter replaces by the Python it runs on, so that a notebook runs where
freya_teach is installed whatever other kernels the machine has, and it turns off the question
about news. The learner's own JupyterLab settings stay as they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

JUPYTER_FOLDER = Path(__file__).resolve().parent / "jupyter"


def lab_command(root: Path, *, port: int | None = None, browser: bool = True) -> list[str]:
    """Return the command line that opens JupyterLab on a folder."""
    command = [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1"]
    command += ["--ServerApp.answer_yes=True"]
    command += ["--Application.log_level=WARN"]  # the address is printed all the same
    command += course_options(root)
    if port is not None:
        command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        command.append("--no-browser")
    return command


def course_options(root: Path) -> list[str]:
    """Return what every server of the course is told, a learner's own or one in a classroom."""
    options = [f"--ServerApp.root_dir={root}"]
    options += ["--LabApp.news_url=", "--LabApp.extension_manager=readonly"]
    options += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    options += ["--KernelManager.transport_encryption=auto"]  # or every kernel warns of it
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # as in most containers
    return options


def lab_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the course's Jupyter folder put first."""
    added = {
        name: os.pathsep.join(filter(None, [str(JUPYTER_FOLDER), environ.get(name)]))
        for name in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH")
    }
    return {**environ, **added}
