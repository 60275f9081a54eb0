"""Buttons where there are any: the one place that looks for ipywidgets. (start)

A view is drawn without it. Controls are added in a notebook, where somebody can click; not in a
plain Python, and not where FREYA_VIEWS=static asks for pages that will be read without a kernel.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

WIDGET = "application/vnd.jupyter.widget-view+json"


def widgets() -> Any:
    """The module `ipywidgets`, or None where it is not installed."""
    try:
        return importlib.import_module("ipywidgets")
    except ImportError:
        return None


def somebody_can_click() -> bool:
    """Whether this Python runs behind a notebook that shows widgets."""
    if os.environ.get("FREYA_VIEWS") == "static":
        return False
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None and widgets() is not None


def mime(widget: Any) -> dict[str, Any]:
    """How a notebook is told to show this widget."""
    return {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}


def at_home(handler: Callable[..., None]) -> Callable[..., None]:
    """The handler, run in the thread and the event loop that are current now.

    JupyterLab delivers clicks in a thread of their own, so that they arrive while a cell runs. A
    future or a task of the loop must not be touched from there.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return handler
    home = threading.get_ident()

    def hop(*values: Any) -> None:
        if threading.get_ident() == home:
            handler(*values)
        else:
            loop.call_soon_threadsafe(handler, *values)

    return hop


def button(caption: str, tip: str, on_click: Callable[[], None], style: str = "") -> Any:
    """A button; the keyboard reaches it with Tab."""
    made = widgets().Button(description=caption, tooltip=tip, button_style=style)
    made.on_click(lambda _: on_click())
    return made
