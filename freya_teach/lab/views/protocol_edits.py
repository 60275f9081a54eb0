"""What can be done to a history on the bench: move it, cut it, break it. (chapter 5.2)

An edit gets the rows and the place of the selected one, counted from 0, and returns the rows as
they are afterwards. One that has nothing to do there raises `NotHere`, and nothing changes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace

from freya_teach.lab.gateway.gemini_wire import signature
from freya_teach.lab.views.protocol_rows import Call, Row, Rows, with_row
from freya_teach.llm.gemini import UNSIGNED

Edit = Callable[[Rows, int], Rows]
LONG = "_so_long_that_it_has_more_than_40_signs"
FOREIGN = base64.b64encode(b"signed by somebody else").decode("ascii")


class NotHere(ValueError):
    """The edit has nothing to do at this row."""


# ---- order ---------------------------------------------------------------------------------


def remove(rows: Rows, place: int) -> Rows:
    """Take the row out."""
    return rows[:place] + rows[place + 1 :]


def up(rows: Rows, place: int) -> Rows:
    """Swap the row with the one above it."""
    if place == 0:
        raise NotHere("it is the first row")
    return (*rows[: place - 1], rows[place], rows[place - 1], *rows[place + 1 :])


def down(rows: Rows, place: int) -> Rows:
    """Swap the row with the one below it."""
    if place == len(rows) - 1:
        raise NotHere("it is the last row")
    return up(rows, place + 1)


# ---- any row -------------------------------------------------------------------------------


def empty(rows: Rows, place: int) -> Rows:
    """Nothing said: no content (OpenAI: null), no text part (Gemini)."""
    return with_row(rows, place, text=None)


# ---- ids -----------------------------------------------------------------------------------


def drop_id(rows: Rows, place: int) -> Rows:
    """Leave the id out: of the calls, or of the result."""
    row = rows[place]
    if row.calls:
        return _calls(rows, place, [replace(call, id=None) for call in row.calls])
    _result(row)
    return with_row(rows, place, call_id=None)


def repeat_id(rows: Rows, place: int) -> Rows:
    """The first call's id for all calls of the row; the id of the result above for a result."""
    row = rows[place]
    if len(row.calls) > 1:
        return _calls(rows, place, [replace(call, id=row.calls[0].id) for call in row.calls])
    _result(row, "it takes a row with two calls, or a result")
    above = [each.call_id for each in rows[:place] if each.role == "tool"]
    if not above:
        raise NotHere("there is no result above it")
    return with_row(rows, place, call_id=above[-1])


def long_id(rows: Rows, place: int) -> Rows:
    """An id of more than 40 characters, on the calls and on their results alike."""
    old = {call.id for call in _with_calls(rows[place]).calls if call.id}
    if not old:
        raise NotHere("its calls have no id")
    longer = {id_: f"{id_}{LONG}" for id_ in old}
    calls = [replace(call, id=longer.get(call.id or "", call.id)) for call in rows[place].calls]
    return tuple(
        replace(row, call_id=longer.get(row.call_id or "", row.call_id))
        for row in _calls(rows, place, calls)
    )


def rename(rows: Rows, place: int) -> Rows:
    """The result comes under another name than the call's (OpenAI's wire has no such name)."""
    return with_row(rows, place, name=f"{_result(rows[place]).name}_v2")


# ---- contents ------------------------------------------------------------------------------


def swap_results(rows: Rows, place: int) -> Rows:
    """The words of this result and of the next one change places; the ids stay."""
    here = _result(rows[place])
    if place + 1 == len(rows) or rows[place + 1].role != here.role:
        raise NotHere("the row below is no result")
    changed = with_row(rows, place, text=rows[place + 1].text)
    return with_row(changed, place + 1, text=here.text)


def cut_arguments(rows: Rows, place: int) -> Rows:
    """The first call's arguments break off, as when the answer was cut at its token limit."""
    first, *others = _with_calls(rows[place]).calls
    text = first.arguments if isinstance(first.arguments, str) else json.dumps(first.arguments)
    return _calls(rows, place, [replace(first, arguments=text[: len(text) // 2]), *others])


def unpack_arguments(rows: Rows, place: int) -> Rows:
    """The arguments as an object, not as text (right for Gemini, wrong for OpenAI)."""
    calls = _with_calls(rows[place]).calls
    return _calls(rows, place, [replace(call, arguments=_object(call)) for call in calls])


def _object(call: Call) -> object:
    try:
        return json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    except ValueError:
        raise NotHere(f"the arguments of call {call.letter} are not JSON") from None


# ---- signatures ----------------------------------------------------------------------------


def drop_signature(rows: Rows, place: int) -> Rows:
    """Gemini's signature is lost, as in a history that keeps names and arguments only."""
    return _signed(rows, place, "")


def copy_signature(rows: Rows, place: int) -> Rows:
    """The first call's signature on its siblings, too."""
    first, *others = _with_calls(rows[place]).calls
    if not first.signature or not others:
        raise NotHere("it takes a signed call and a second one")
    return _signed(rows, place, first.signature, others=first.signature)


def foreign_signature(rows: Rows, place: int) -> Rows:
    """A signature that Gemini did not make, on the first call."""
    return _signed(rows, place, FOREIGN)


def placeholder(rows: Rows, place: int) -> Rows:
    """Google's documented stand-in for a signature, on the first call."""
    return _signed(rows, place, UNSIGNED)


def sign(rows: Rows, place: int) -> Rows:
    """The signature that Gemini (here: the gateway) has given the first call."""
    return _signed(rows, place, signature(_with_calls(rows[place]).calls[0].id or ""))


def _signed(rows: Rows, place: int, first: str, others: str = "") -> Rows:
    one, *siblings = _with_calls(rows[place]).calls
    signed = [replace(call, signature=others) for call in siblings]
    return _calls(rows, place, [replace(one, signature=first), *signed])


# ---- Gemini's contents ---------------------------------------------------------------------


def split_results(rows: Rows, place: int) -> Rows:
    """Each result in a content of its own, as OpenAI has a message for each."""
    kind = _result(rows[place]).role
    return tuple(replace(row, apart=True) if row.role == kind else row for row in rows)


def role_function(rows: Rows, place: int) -> Rows:
    """The results under the role `function`, as both wires once had it."""
    _result(rows[place])
    return tuple(replace(row, role="function") if row.role == "tool" else row for row in rows)


# ---- the list ------------------------------------------------------------------------------


def _calls(rows: Rows, place: int, calls: list[Call]) -> Rows:
    return with_row(rows, place, calls=tuple(calls))


def _with_calls(row: Row) -> Row:
    if not row.calls:
        raise NotHere("it has no calls")
    return row


def _result(row: Row, otherwise: str = "it is no result") -> Row:
    if row.role not in ("tool", "function"):
        raise NotHere(otherwise)
    return row


ORDER: tuple[Edit, ...] = (remove, up, down)
BREAKAGES: tuple[Edit, ...] = (
    empty,
    drop_id,
    repeat_id,
    long_id,
    rename,
    swap_results,
    cut_arguments,
    unpack_arguments,
    drop_signature,
    copy_signature,
    foreign_signature,
    placeholder,
    sign,
    split_results,
    role_function,
)


def name_of(edit: Edit) -> str:
    """What the button says: `drop_id` → "drop id"."""
    return edit.__name__.replace("_", " ")


EDITS: dict[str, Edit] = {name_of(edit): edit for edit in (*ORDER, *BREAKAGES)}
