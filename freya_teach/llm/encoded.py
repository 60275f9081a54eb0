"""What a conversation has said before is not written again. (chapter 5.3)

Each request repeats the whole conversation. Its messages are frozen, so the wire form of one can be
made once, and its bytes can be kept: a `RememberingWriter` does that for one run, and ends with it.

    writer = RememberingWriter()
    ModelRequest(messages, writer=writer)      turn after turn: only what is new becomes JSON

Measured over 100 turns of 8 calls each, the mean of all requests: OpenAI's body in 0.18 ms instead
of 1.43, Gemini's in 0.41 instead of 2.15.

All bodies of that run then share what was made for the earlier ones, so an adapter's steps build
new objects and change none. Steps of your own need not care: they get a `Writer`, which remembers
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, lru_cache
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
    """

    def __init__(self) -> None:
        self.checked = Checked()
        self._known: dict[str, tuple[Hashable, Known]] = {}

    def each(
        self, form: str, given: Hashable, items: Sequence[Item], make: Callable[[Item], Body]
    ) -> list[Body]:
        """The same, made only where the item is new. The forms are shared: change none."""
        known = self._known_as(form, given)
        forms: list[Body] = []
        for item in items:
            key: Hashable = tuple(map(id, item)) if isinstance(item, tuple) else id(item)
            found = known.get(key)
            if found is None:  # holds the item, too: as long as it lives, its id is its own
                found = known[key] = item, _kept(make(item))
            forms.append(found[1])
        if len(known) > 2 * len(items):
            _forget_others(known, forms)
        return forms

    def encode(self, body: Body) -> bytes:
        """The same bytes, joined from those that are there."""
        return _joined(body)

    def _known_as(self, form: str, given: Hashable) -> Known:
        before, known = self._known.get(form, (given, {}))
        if before != given:  # another model, say: what is known is of no use
            known = {}
        self._known[form] = given, known
        return known


class Encoded(dict[str, Json]):
    """A JSON object that nobody changes any more, and its bytes."""

    @cached_property
    def bytes(self) -> bytes:
        """The object as JSON, made when it is first asked for."""
        return encode(self)


Known = dict[Hashable, tuple[object, Encoded]]
"""Which object an item is → the item and its form."""


def _forget_others(known: Known, forms: Iterable[Body]) -> None:
    keep = set(map(id, forms))
    for key in [key for key, (_, form) in known.items() if id(form) not in keep]:
        del known[key]


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
        return b"[%b]" % b",".join([_joined(item) for item in value])
    return _word(value) if type(value) is str and len(value) < 20 else encode(value)


@lru_cache(maxsize=256)
def _key(key: str) -> bytes:
    return encode(key) + b":"


_word = lru_cache(maxsize=256)(encode)
"""Roles and their like, which stand in every message."""
