"""Section 9.1: a solution for each part, and what typically goes wrong. (chapter 9.1)

How they are judged stands in `section_9_1.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from freya_teach.errors import ToolError, TranscriptError
from freya_teach.lab.gateway import Move, Question, answer, call
from freya_teach.llm import transcript
from freya_teach.llm.call_arguments import as_object
from freya_teach.llm.messages import AssistantMessage
from freya_teach.llm.protocol import (
    CallDelta,
    FinishDelta,
    FinishReason,
    ModelRequest,
    Route,
    TextDelta,
    Usage,
    UsageDelta,
    WireRequest,
)
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.wirejson import encode, legal_name
from freya_teach.tools.tool import ToolContext

Library = dict[str, dict[str, str]]
Lend = Callable[[str, ToolContext], str]

# ---- 9.1-a: a toolbox ------------------------------------------------------------------------


def library_tools(library: Library) -> list[Callable[..., Any]]:
    """One way to write it: three functions around one catalogue."""

    def find_book(title: str) -> str:
        """Find the copies of a book. Whether a copy is free, only `borrow_book` knows.

        Args:
            title: The title or a part of it, for example "Moby".
        """
        found = [
            f"{book_id}: {book['title']}"
            for book_id, book in library.items()
            if title.lower() in book["title"].lower()
        ]
        return "\n".join(found) or f"No title has {title!r} in it. Try one word of the title."

    def borrow_book(book_id: str, context: ToolContext) -> str:  # noqa: D417 - no model sees it
        """Borrow one copy for the person who is asking.

        Args:
            book_id: The id of a copy, for example "b7". `find_book` tells the ids.
        """
        if book_id not in library:
            raise ToolError(f"There is no copy {book_id!r}. Call find_book to learn the ids.")
        book = library[book_id]
        if book["lent_to"]:
            same = [name for name, other in library.items() if other["title"] == book["title"]]
            free = [name for name in same if not library[name]["lent_to"]]
            more = f"Free copies of it: {', '.join(free)}." if free else "No other copy is free."
            raise ToolError(f"This copy is lent out. {more}")
        book["lent_to"] = context.session_id
        return f"Borrowed: {book_id}, {book['title']}."

    def my_books(context: ToolContext) -> str:
        """List what the person who is asking has borrowed."""
        mine = [b["title"] for b in library.values() if b["lent_to"] == context.session_id]
        return ", ".join(mine) or "Nothing is borrowed."

    return [find_book, borrow_book, my_books]


def library_tools_bare(library: Library) -> list[Callable[..., Any]]:
    """Describes nothing."""

    def find_book(title: str) -> str:
        return title

    return [find_book, *library_tools(library)[1:]]


def library_tools_forged(library: Library) -> list[Callable[..., Any]]:
    """Lets the model say who it is working for."""

    def borrow_book(book_id: str, session_id: str) -> str:
        """Borrow one copy.

        Args:
            book_id: The id of a copy, for example "b7", from `find_book`.
            session_id: Who is asking, for example "maya"; the user has to give it.
        """
        library[book_id]["lent_to"] = session_id
        return "Borrowed."

    find_book, _, my_books = library_tools(library)
    return [find_book, borrow_book, my_books]


def library_tools_telling(library: Library) -> list[Callable[..., Any]]:
    """Returns a text about the failure."""

    def lend(borrow: Lend, book_id: str, context: ToolContext) -> str:
        try:
            return borrow(book_id, context)
        except ToolError as problem:
            return f"❌ {problem}"

    return _lending(library, lend)


def library_tools_gossip(library: Library) -> list[Callable[..., Any]]:
    """Tells who has the book."""

    def lend(borrow: Lend, book_id: str, context: ToolContext) -> str:
        if owner := library[book_id]["lent_to"]:
            raise ToolError(f"{owner} has it. Ask {owner}, or take b44.")
        return borrow(book_id, context)

    return _lending(library, lend)


def library_tools_curt(library: Library) -> list[Callable[..., Any]]:
    """Fails, and says no more."""

    def lend(borrow: Lend, book_id: str, context: ToolContext) -> str:
        if library[book_id]["lent_to"]:
            raise ToolError("This copy is lent out.")
        return borrow(book_id, context)

    return _lending(library, lend)


def library_tools_pythonic(library: Library) -> list[Callable[..., Any]]:
    """Leaves the unknown id to Python."""

    def lend(borrow: Lend, book_id: str, context: ToolContext) -> str:
        return borrow(book_id, context) if library[book_id] else ""

    return _lending(library, lend)


def _lending(library: Library, lend: Callable[[Lend, str, ToolContext], str]) -> list[Any]:
    """A toolbox that lends in this way."""
    find_book, borrow, my_books = library_tools(library)

    def borrow_book(book_id: str, context: ToolContext) -> str:  # noqa: D417 - no model sees it
        """Borrow one copy.

        Args:
            book_id: The id of a copy, for example "b7", from `find_book`.
        """
        return lend(borrow, book_id, context)

    return [find_book, borrow_book, my_books]


def library_tools_shared(library: Library) -> list[Callable[..., Any]]:
    """Lists everything that anybody has borrowed."""

    def my_books() -> str:
        """List the borrowed books."""
        return ", ".join(book["title"] for book in library.values() if book["lent_to"])

    return [*library_tools(library)[:2], my_books]


# ---- 9.1-b: an adapter -----------------------------------------------------------------------

END: dict[str, FinishReason] = {"said": "stop", "calls": "tool_calls", "full": "length"}


class Postcard:
    """One way to write it; it reads a stream, too."""

    @staticmethod
    def build_request(request: ModelRequest, route: Route) -> WireRequest:
        """One card for each turn of guest and host."""
        transcript.check(request.messages)
        body: dict[str, Any] = {
            "model": route.model,
            "room": request.max_output_tokens or route.facts.max_output,
            "cards": list(_cards(request.messages)),
        }
        if brief := "\n\n".join(m.text for m in request.messages if m.role == "system"):
            body["brief"] = brief
        if request.tools:
            body["tools"] = [
                {"name": each.name, "about": each.description, "takes": each.parameters}
                for each in request.tools
            ]
        if request.stream:
            body["stream"] = True
        headers = {"content-type": "application/json", "x-api-key": route.api_key}
        return WireRequest(f"{route.endpoint}/v1/cards", headers, encode(body))

    @staticmethod
    def parse_chunk(chunk: Any) -> Iterator[Any]:
        """A whole card has several lines; a piece of a stream is one."""
        raise_for_error("postcard", 200, chunk)
        for line in chunk["card"]["lines"] if "card" in chunk else [chunk]:
            if "text" in line:
                yield TextDelta(line["text"])
            if "call" in line:
                made = line["call"]
                written = encode(made["with"]).decode() if "with" in made else ""
                yield CallDelta(line.get("line"), made["ticket"], made["name"], written)
            if "with" in line:
                yield CallDelta(line["line"], arguments=line["with"])
        if "end" in chunk:
            yield FinishDelta(END.get(chunk["end"], "unknown"), chunk["end"])
            count = chunk["count"]
            yield UsageDelta(Usage(count["in"], count["out"], count["in"] + count["out"]))


def _cards(messages: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """What one side says in a row stands on one card."""
    card: dict[str, Any] = {}
    for message in messages:
        lines = _lines(message)
        sender = "host" if message.role == "assistant" else "guest"
        if card and lines and card["from"] != sender:
            yield card
            card = {}
        if lines:
            card = {"from": sender, "lines": [*card.get("lines", []), *lines]}
    if card:
        yield card


def _lines(message: Any) -> list[dict[str, Any]]:
    if message.role == "system":
        return []
    if message.role == "tool":
        ok = not message.is_error
        return [{"result": {"ticket": message.call_id, "text": message.text, "ok": ok}}]
    lines: list[dict[str, Any]] = [{"text": message.text}] if message.text else []
    for made in message.tool_calls if message.role == "assistant" else ():
        written, name = as_object(made.arguments), legal_name(made.name)  # there may be none
        lines.append({"call": {"ticket": made.id, "name": name, "with": written}})
    return lines


Body = dict[str, Any]


def _sends(name: str, change: Callable[[Body], None]) -> type[Postcard]:
    """An adapter whose body is changed before it is sent."""

    def build_request(request: ModelRequest, route: Route) -> WireRequest:
        wire = Postcard.build_request(request, route)
        body = json.loads(wire.body)
        change(body)
        return replace(wire, body=encode(body))

    return type(name, (Postcard,), {"build_request": staticmethod(build_request)})


def _reads(name: str, change: Callable[[Any], Any]) -> type[Postcard]:
    """An adapter that hands each delta on as `change` makes it, or not at all."""

    def parse_chunk(chunk: Any) -> list[Any]:
        return [new for delta in Postcard.parse_chunk(chunk) if (new := change(delta))]

    return type(name, (Postcard,), {"parse_chunk": staticmethod(parse_chunk)})


def _made_in(body: Body) -> Iterator[Body]:
    return (line["call"] for card in body["cards"] for line in card["lines"] if "call" in line)


def _arguments_as_text(body: Body) -> None:
    for made in _made_in(body):
        made["with"] = json.dumps(made["with"])


def _card_for_each_line(body: Body) -> None:
    body["cards"] = [
        {"from": card["from"], "lines": [line]} for card in body["cards"] for line in card["lines"]
    ]


def _all_is_well(body: Body) -> None:
    for card in body["cards"]:
        for line in card["lines"]:
            if "result" in line:
                line["result"]["ok"] = True


def _without_call_ids(delta: Any) -> Any:
    return replace(delta, id="") if isinstance(delta, CallDelta) else delta


def _as_python_writes(delta: Any) -> Any:
    if not isinstance(delta, CallDelta):
        return delta
    return replace(delta, arguments=str(json.loads(delta.arguments)))


NoBrief = _sends("NoBrief", lambda body: body.pop("brief", None))
NoEnd = _reads("NoEnd", lambda delta: None if isinstance(delta, FinishDelta) else delta)
NoTickets = _reads("NoTickets", _without_call_ids)
PythonText = _reads("PythonText", _as_python_writes)
TextArguments = _sends("TextArguments", _arguments_as_text)
ManyCards = _sends("ManyCards", _card_for_each_line)
AllIsWell = _sends("AllIsWell", _all_is_well)


class PostcardTrusting(Postcard):
    """Believes that a model writes JSON."""

    @staticmethod
    def build_request(request: ModelRequest, route: Route) -> WireRequest:
        """Reads each call's arguments as they are."""
        for message in request.messages:
            if isinstance(message, AssistantMessage):
                [json.loads(made.arguments) for made in message.tool_calls]
        return Postcard.build_request(request, route)


class PostcardUnchecked(Postcard):
    """Sends whatever it is given."""

    @staticmethod
    def build_request(request: ModelRequest, route: Route) -> WireRequest:
        """Leaves the broken part out of the check."""
        try:
            return Postcard.build_request(request, route)
        except TranscriptError:
            return Postcard.build_request(replace(request, messages=request.messages[:2]), route)


class PostcardKeyless(Postcard):
    """Forgets the key."""

    @staticmethod
    def build_request(request: ModelRequest, route: Route) -> WireRequest:
        """Sends no header."""
        return replace(Postcard.build_request(request, route), headers={})


# ---- 9.1-c: a policy -------------------------------------------------------------------------


def librarian(question: Question) -> Move:
    """One way to write it: what is asked for, what has been tried, what the newest result names."""
    wanted = re.search('"(.+)"', question.asked)
    if not question.results:
        return call("find_book", title=wanted[1]) if wanted else call("my_books")
    newest, tried = question.results[-1], [made.arguments for made in question.calls]
    for book_id in re.findall(r"\bb\d+\b", newest.text):
        if {"book_id": book_id} not in tried:
            return call("borrow_book", book_id=book_id)
    return answer(f"The library says: {newest.text}")


def librarian_guessing(question: Question) -> Move:
    """Knows an id by heart."""
    if question.results or "borrow" not in question.asked:
        return librarian(question)
    return call("borrow_book", book_id="b12")


def librarian_stubborn(question: Question) -> Move:
    """Looks at the question only."""
    wanted = re.search('"(.+)"', question.asked)
    return call("find_book", title=wanted[1]) if wanted else call("my_books")


def librarian_discouraged(question: Question) -> Move:
    """Gives up at the first no."""
    if question.results and question.results[-1].name == "borrow_book":
        return answer(question.results[-1].text)
    return librarian(question)


def librarian_boasting(question: Question) -> Move:
    """Says that it is done."""
    return (
        answer("I have borrowed it for you.")
        if "borrow " in question.asked
        else librarian(question)
    )


def librarian_cheerful(question: Question) -> Move:
    """Tries everything, and then says the same whatever came of it."""
    move = librarian(question)
    if move.calls or '"' not in question.asked or '"Faust"' in question.asked:
        return move
    return answer("Done.")


def librarian_remembering(question: Question) -> Move:
    """Takes the first result of the whole conversation for an answer to the newest question."""
    old = [said for said in question.said if said.role == "user"][:-1]
    return answer("That is done already.") if old else librarian(question)


def librarian_generous(question: Question) -> Move:
    """Borrows something when the book is not there."""
    if len(question.results) == 1 and "No title" in question.results[0].text:
        return call("find_book", title="Dune")
    return librarian(question)


def librarian_wordy(question: Question) -> str:
    """Gives back words."""
    return f"Looking for {question.asked}"
