"""What a tool may know about the call it answers; the model never sees it. (chapter 4.3)

A parameter annotated `ToolContext` is filled in by the runner. It is no part of the arguments, so
nothing of ours gets into the schema, into what is shown of a call or into the log, and a model
cannot forge it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from freya_teach.ambient import Ambient

if TYPE_CHECKING:
    from freya_teach.tools.workspace import Workspace


class CancelToken:
    """Says that nobody waits for the result any more. Any thread may ask it.

    A thread cannot be stopped from outside, so a sync tool with a long loop asks now and then.
    """

    def __init__(self) -> None:
        self._cancelled = False
        self._waiting: list[threading.Event] = []
        """One for each thread in `wait`. For speed none is made before: it takes 2 µs, and hardly
        a tool waits."""

    @property
    def cancelled(self) -> bool:
        """Whether the tool has been given up: its time is over, or its run was cancelled."""
        return self._cancelled

    def wait(self, seconds: float) -> bool:
        """Sleep for so many seconds, or until the tool is given up; say whether it was."""
        given_up = threading.Event()
        self._waiting.append(given_up)  # before it looks, since `cancel` wakes behind the fact
        try:
            return self._cancelled or given_up.wait(seconds)
        finally:
            self._waiting.remove(given_up)

    def cancel(self) -> None:
        """Give the tool up."""
        self._cancelled = True
        for thread in self._waiting.copy():
            thread.set()


class Active(Protocol):
    """What a session has switched on. A tool may change it; that counts from the next turn on."""

    @property
    def active_toolboxes(self) -> tuple[str, ...]:
        """The ids of the toolboxes that are on."""
        ...

    @property
    def active_skill(self) -> str:
        """The id of the skill that is on, or nothing."""
        ...

    def activate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox on, beside those that are on."""
        ...

    def deactivate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox off."""
        ...

    def activate_skill(self, skill_id: str) -> None:
        """Switch this skill on, and any other off; "" switches off."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The call, its session, and what the kernel lends to the tool."""

    call_id: str
    session_id: str
    active: Active | None = None
    """What the session has switched on; None where nothing can be switched."""
    workspace: Workspace | None = None
    """The one folder in which a tool may read and write; None means: no files."""
    ambient: Ambient = field(default_factory=Ambient)
    cancel: CancelToken = field(default_factory=CancelToken)
