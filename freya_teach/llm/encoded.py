"""What a conversation has said before is not written again. (chapter 5.3)

Each request repeats the whole conversation. Its messages are frozen, so the wire form of one can be
made once, and its bytes can be kept: a `RememberingWriter` does that for one run, and ends with it.

    writer = RememberingWriter()
    ModelRequest(messages, writer=writer)      turn after turn: only what is new becomes JSON

Measured over 100 turns of 8 calls each, the mean of all requests: OpenAI's body in 0.11 ms instead
of 0.73, Gemini's in 0.33 instead of 2.0.

All bodies of that run then share what was made for the earlier ones, so an adapter's steps build
new objects and change none. Steps of your own need not care: they get a `Writer`, which remembers
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import is_
from typing import TypeVar

from freya_teach.llm.messages import Json
from freya_teach.llm.transcript import Checked
from freya_teach.llm.wirejson import encode

Body = dict[str, Json]
Item = TypeVar("Item")


class Writer:
    """Writes everything anew, each time."""

    checked: Checked | None = None
    """How far the conversation has been checked; None to check all of it."""

    @property
    def tools(self) -> Writer:
        """Who writes the tools' declarations, which are the same in all conversations."""
        return self

    def each(
        self, form: str, given: Hashable, items: Sequence[Item], make: Callable[[Item], Body]
    ) -> list[Body]:
        """Make the form of this name of each item; `given` is all else that it depends on."""
        del form, given  # they are for whoever remembers
        return [make(item) for item in items]

    def encode(self, body: Body) -> bytes:
        """The body as JSON."""
        return encode(body)


class RememberingWriter(Writer):
    """Writes one conversation: each message, and each tool's declaration, once.

    An item is known by which object it is, as in `RememberingCounter`, and a tuple by which objects
    are in it. What has left the conversation is forgotten when it is more than what is in it.

    `tools` is another one, which an agent keeps from run to run: with three tools, the first
    request of a conversation leaves after 0.30 ms instead of 0.35 on Gemini's wire, and after 0.32
    instead of 0.34 on OpenAI's.
    """

    def __init__(self, tools: RememberingWriter | None = None) -> None:
        self.checked = Checked()
        self._tools = tools
        self._memory: dict[str, Memory] = {}

    @property
    def tools(self) -> Writer:
        """Who writes the tools' declarations."""
        return self if self._tools is None else self._tools

    def each(
        self, form: str, given: Hashable, items: Sequence[Item], make: Callable[[Item], Body]
    ) -> list[Body]:
        """The same, made only where the item is new. The forms are shared: change none."""
        memory = self._memory.get(form)
        if memory is None or memory.given != given:  # another model, say: nothing is of use
            memory = self._memory[form] = Memory(given)
        forms = memory.beginning_of(items)
        for item in items[len(forms) :]:
            key: Hashable = tuple(map(id, item)) if isinstance(item, tuple) else id(item)
            found = memory.known.get(key)
            if found is None:  # holds the item, too: as long as it lives, its id is its own
                found = memory.known[key] = item, _kept(make(item))
            forms.append(found[1])
        memory.keep(items, forms)
        return forms.copy()

    def encode(self, body: Body) -> bytes:
        """The same bytes, joined from those that are there."""
        return _joined(body)


class Encoded(dict[str, Json]):
    """A JSON object that nobody changes any more, and its bytes."""

    @cached_property
    def bytes(self) -> bytes:
        """The object as JSON, made when it is first asked for."""
        return encode(self)


@dataclass(slots=True)
class Memory:
    """What is known of one form, and what was asked for last."""

    given: Hashable
    known: dict[Hashable, tuple[object, Encoded]] = field(default_factory=dict)
    """Which object an item is → the item and its form."""
    items: tuple[object, ...] = ()
    forms: list[Body] = field(default_factory=list)

    def beginning_of(self, items: Sequence[object]) -> list[Body]:
        """The forms of last time, if these items begin with the very same: 800 take 12 µs."""
        is_longer = len(items) >= len(self.items)
        return self.forms.copy() if is_longer and all(map(is_, self.items, items)) else []

    def keep(self, items: Sequence[object], forms: list[Body]) -> None:
        """Remember these, and forget the others when they are more."""
        self.items, self.forms = tuple(items), forms
        if len(self.known) > 2 * len(items):
            here = set(map(id, forms))
            self.known = {key: pair for key, pair in self.known.items() if id(pair[1]) in here}


def _kept(form: Body) -> Encoded:
    """The form with its bytes, and each part of it with its own: a step may put parts together."""
    if isinstance(form, Encoded):
        return form
    return Encoded(
        {
            key: [Encoded(part) if type(part) is dict else part for part in value]
            if type(value) is list
            else value
            for key, value in form.items()
        }
    )


def _joined(value: Json) -> bytes:
    if isinstance(value, Encoded):
        return value.bytes
    if type(value) is dict:
        return b"{%b}" % b",".join([_key(key) + _joined(item) for key, item in value.items()])
    if type(value) is list:
        return b"[%b]" % b",".join(
            [item.bytes if type(item) is Encoded else _joined(item) for item in value]
        )
    return _word(value) if type(value) is str and len(value) < 20 else encode(value)


@lru_cache(maxsize=256)
def _key(key: str) -> bytes:
    return encode(key) + b":"


_word = lru_cache(maxsize=256)(encode)
"""Roles and their like, which stand in every message."""
