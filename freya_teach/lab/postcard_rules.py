"""What a Postcard server refuses, each in a sentence that says what to do. (chapter 9.1)

    fields    model (text), room (a number of tokens), cards; perhaps brief, tools, stream
    tools     at least one, or leave the field out: name, about, takes (a JSON Schema)
    cards     from guest and host in turns, a guest's first and last; no card without a line
    lines     each is one of text, call, result; calls are the host's, results the guest's
    calls     ticket, name, with; a ticket is used once, and `with` is an object
    results   ticket, text, ok; all results of a host's card stand first on the next card, once each

The rules are the course's own. It is not the kernel that is asked whether they are kept: a checker
that shares code with what it checks proves nothing.
"""

from __future__ import annotations

import json

import httpx

from freya_teach.lab.gateway.wire import Refused
from freya_teach.llm.messages import Json

Body = dict[str, Json]
PATH = "/v1/cards"
FIELDS = {"model", "brief", "room", "cards", "tools", "stream"}
KINDS = {"text", "call", "result"}


def refusal(message: str, code: str = "bad_card", *, status: int = 400) -> Refused:
    """A refusal in this wire's envelope."""
    return Refused(status, {"error": {"code": code, "message": message}})


def check_body(request: httpx.Request, content: bytes) -> Body:
    """The body of a request that keeps every rule. Raises `Refused`."""
    if (request.method, request.url.path) != ("POST", PATH):
        where = f"{request.method} {request.url.path}"
        raise refusal(f"{where}: nobody is here; cards are sent to POST {PATH}", status=404)
    if not request.headers.get("x-api-key"):
        raise refusal("the header x-api-key is missing: it holds the key", "no_key", status=401)
    body = _object(_parsed(content), "the body")
    _check_fields(body)
    _check_tools(body)
    _check_cards(body["cards"])
    return body


def _parsed(content: bytes) -> Json:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise refusal("the body is no JSON") from None


def _check_fields(body: Body) -> None:
    if unknown := sorted(set(body) - FIELDS):
        raise refusal(f"the field {unknown[0]!r} is unknown; there are {_listed(FIELDS)}")
    _text(body.get("model"), "model")
    room = body.get("room")
    if not isinstance(room, int) or isinstance(room, bool) or room < 1:
        raise refusal("room: how many tokens may the answer have? Send a whole number, 1 or more")
    if "brief" in body:
        _text(body["brief"], "brief")
    if not isinstance(body.get("stream", False), bool):
        raise refusal("stream: send true or false, or leave it out")


def _check_tools(body: Body) -> None:
    if "tools" not in body:
        return
    for number, each in enumerate(_list(body["tools"], "tools")):
        place = f"tools[{number}]"
        tool = _object(each, place)
        _text(tool.get("name"), f"{place}.name")
        _text(tool.get("about"), f"{place}.about")
        _object(tool.get("takes"), f"{place}.takes")


def _check_cards(value: Json) -> None:
    """Guest and host in turns; what the host has called is answered first on the next card."""
    cards = _list(value, "cards")
    open_tickets: list[str] = []
    seen: set[str] = set()
    for number, each in enumerate(cards):
        place, sender = f"cards[{number}]", "host" if number % 2 else "guest"
        card = _object(each, place)
        if card.get("from") not in ("guest", "host"):
            raise refusal(f"{place}.from: {card.get('from')!r} is nobody; write guest or host")
        if card["from"] != sender:
            raise refusal(
                f"{place} is from the {card['from']}, and it is the {sender}'s turn: guest and "
                "host write in turns, the guest first. What one of them has to say in a row "
                "stands on one card"
            )
        lines = _list(card.get("lines"), f"{place}.lines")
        read = [_line(line, sender, f"{place}.lines[{n}]") for n, line in enumerate(lines)]
        if sender == "guest":
            _check_results(read, open_tickets, place)
        open_tickets = _tickets(read, seen, place)
    if len(cards) % 2 == 0:
        raise refusal("the last card is the host's: there is nothing to answer")


def _line(value: Json, sender: str, place: str) -> Body:
    line = _object(value, place)
    if len(line) != 1 or not set(line) <= KINDS:
        raise refusal(f"{place}: a line is one of {_listed(KINDS)}, and has no other field")
    ((kind, content),) = line.items()
    if kind == "text":
        _text(content, f"{place}.text")
        return line
    writer = "host" if kind == "call" else "guest"
    if sender != writer:
        raise refusal(f"{place}: a {kind} stands on a card of the {writer}, this is the {sender}'s")
    (_call if kind == "call" else _result)(_object(content, f"{place}.{kind}"), place)
    return line


def _call(call: Body, place: str) -> None:
    _text(call.get("ticket"), f"{place}.call.ticket")
    _text(call.get("name"), f"{place}.call.name")
    if isinstance(call.get("with"), str):
        raise refusal(f"{place}.call.with is a text; send the object that it stands for")
    _object(call.get("with"), f"{place}.call.with")


def _result(result: Body, place: str) -> None:
    _text(result.get("ticket"), f"{place}.result.ticket")
    if not isinstance(result.get("text"), str):
        raise refusal(f"{place}.result.text: send a text")
    if not isinstance(result.get("ok"), bool):
        raise refusal(f"{place}.result.ok: send true, or false for a tool that has failed")


def _check_results(lines: list[Body], expected: list[str], place: str) -> None:
    """Every open ticket once, before any words; no other ticket."""
    kinds = [next(iter(line)) for line in lines]
    if kinds != sorted(kinds, key=lambda kind: kind != "result"):
        raise refusal(f"{place}: words stand before a result; results come first")
    left = list(expected)
    for ticket in (line["result"]["ticket"] for line in lines if "result" in line):
        if ticket not in left:
            raise refusal(f"{place}: a result for ticket {ticket!r}, which is not open here")
        left.remove(ticket)
    if left:
        raise refusal(f"{place}: the result for ticket {left[0]!r} is missing")


def _tickets(lines: list[Body], seen: set[str], place: str) -> list[str]:
    """The tickets of a card's calls, each of them new."""
    tickets = [line["call"]["ticket"] for line in lines if "call" in line]
    for ticket in tickets:
        if ticket in seen:
            raise refusal(f"{place}: the ticket {ticket!r} was used before")
        seen.add(ticket)
    return tickets


# ---- one value --------------------------------------------------------------------------------


def _text(value: Json, place: str) -> None:
    if not isinstance(value, str) or not value:
        raise refusal(f"{place}: send a text that is not empty")


def _list(value: Json, place: str) -> list[Json]:
    if not isinstance(value, list) or not value:
        raise refusal(f"{place}: send a list with at least one entry")
    return value


def _object(value: Json, place: str) -> Body:
    if not isinstance(value, dict):
        raise refusal(f"{place}: send an object")
    return value


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))
