"""`freya-teach demo`: not here yet. (start)"""

from __future__ import annotations

import typer


def demo() -> None:
    """Answer one question over both wires."""
    print("The demo is not here yet.")
    raise typer.Exit(1)
