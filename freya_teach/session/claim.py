"""One run at a time holds a conversation, and only it may add to it. (chapter 6.2)

    with claim.hold():
        …the run, and every task that it starts, may append

A message from outside could land between a call and its result, and no provider takes such a
history again. Who belongs to a run is told by a context variable, which the tasks of a run inherit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from freya_teach.errors import SessionBusy

_runs: ContextVar[tuple[object, ...]] = ContextVar("_runs", default=())
"""The runs that this code is a part of, the outermost first: a tool may run another agent."""


class Claim:
    """The right to hold one conversation."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._run: object = None
        """What stands for the run that holds it; None when it is free."""

    @property
    def is_free(self) -> bool:
        """Whether no run holds it."""
        return self._run is None

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold it for one run. Raises `SessionBusy` when a run holds it already."""
        self.check_free()
        outer = _runs.get()
        self._run = object()
        _runs.set((*outer, self._run))
        try:
            yield
        finally:
            self._run = None
            _runs.set(outer)  # not `reset`, which fails where a run ends in another context

    def check_free(self) -> None:
        """Raise `SessionBusy` when a run holds it."""
        if not self.is_free:
            raise SessionBusy(
                f"session {self._session_id!r} has a run in progress: wait for it, or use another "
                "session"
            )

    def check_writer(self) -> None:
        """Raise `SessionBusy` when a run holds it that the caller is no part of."""
        if not self.is_free and self._run not in _runs.get():
            raise SessionBusy(
                f"session {self._session_id!r} has a run in progress, and its history is the run's "
                "until it ends: append then"
            )
