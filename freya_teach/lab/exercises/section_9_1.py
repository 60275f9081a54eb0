"""Section 9.1: a toolbox, an adapter and a policy of one's own. (chapter 9.1)

The solutions and the wrong answers stand in `answers_9_1.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import httpx

from freya_teach.agent.history import InMemoryHistory
from freya_teach.config import Settings
from freya_teach.errors import ConfigError, FreyaError, TranscriptError
from freya_teach.kernel import build_kernel
from freya_teach.lab.exercises import answers_9_1 as answers
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.answers_9_1 import Library
from freya_teach.lab.exercises.exercise import Exercise, NotDone, NotYet, Raised, Wrong, expect
from freya_teach.lab.exercises.wording import error_text
from freya_teach.lab.gateway import Call, Move, Policy, Question, answer, call, gateway
from freya_teach.lab.lesson import frozen_ambient
from freya_teach.lab.policy import script
from freya_teach.lab.postcard import ADDRESS, MODEL, PostOffice
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.messages import (
    AssistantMessage,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import (
    ModelRequest,
    Reply,
    Route,
    ToolSpec,
    WireRequest,
)
from freya_teach.tools.lint import lint_schema
from freya_teach.tools.tool import Tool, tool
from freya_teach.trace import CallTrace, RunResult

NAMES = ("find_book", "borrow_book", "my_books")
BOOK_ID = re.compile(r"\bb\d+\b")


def _library(**lent_to: str) -> Library:
    """A catalogue: two copies of one book, one of another; `b12="ben"` says who has a copy."""
    titles = {"b31": "Dune", "b12": "Moby Dick", "b44": "Moby Dick", "b58": "Emma"}
    return {
        name: {"title": title, "lent_to": lent_to.get(name, "")} for name, title in titles.items()
    }


# ---- 9.1-a: a toolbox ------------------------------------------------------------------------


async def check_library_tools(library_tools: Answer) -> None:
    """Look at what the model is told, then let two people borrow."""
    library = _library()
    made = await _made(library_tools, library)
    for name in NAMES:
        if findings := lint_schema(made[name]):
            raise NotYet(f"a model would have to guess. {findings[0]}")
    for name, wanted in zip(NAMES, ({"title"}, {"book_id"}, set()), strict=True):
        offered = set(made[name].parameters.get("properties", {}))
        expect(
            offered == wanted,
            f"{name}: the model writes {_listed(wanted)}, and no more. Who is asking comes in a "
            "ToolContext, which no model can forge.",
            received=sorted(offered),
        )
    found = await _called(made, "maya", "find_book", title="moby")
    expect(
        {"b12", "b44"} <= set(BOOK_ID.findall(found.observation)),
        'find_book(title="moby") has to name both copies, b12 and b44, by their ids.',
        received=found.observation,
    )
    await _check_lending(made, library)
    await _check_guidance(made)


async def _check_lending(made: dict[str, Tool], library: Library) -> None:
    lent = await _called(made, "maya", "borrow_book", book_id="b12")
    expect(
        (lent.state, library["b12"]["lent_to"]) == ("completed", "maya"),
        "maya borrows b12, which is free. Then library['b12']['lent_to'] is her session's id.",
        received=library["b12"],
    )
    await _called(made, "ben", "borrow_book", book_id="b31")
    mine = (await _called(made, "maya", "my_books")).observation
    expect("Moby Dick" in mine, "my_books: maya has borrowed Moby Dick.", received=mine)
    expect("Dune" not in mine, "my_books: maya is told what ben has borrowed.", received=mine)


async def _check_guidance(made: dict[str, Tool]) -> None:
    """Maya has b12, ben has b31; nobody has b44."""
    taken = await _called(made, "ben", "borrow_book", book_id="b12")
    expect(
        taken.state == "failed",
        "ben asks for b12, which maya has. Whoever watches the events sees a success: raise "
        "ToolError.",
        received=taken.observation,
    )
    expect(
        "maya" not in taken.observation,
        "ben is told who has the book. That is nobody's business but hers.",
        received=taken.observation,
    )
    expect(
        "b44" in taken.observation,
        "b12 is lent out, and the model is not told what to do next. Another copy is free: b44.",
        received=taken.observation,
    )
    unknown = await _called(made, "ben", "borrow_book", book_id="b99")
    expect(
        unknown.state == "failed" and "find_book" in unknown.observation,
        "there is no b99. Fail, and say which tool knows the ids.",
        received=unknown.observation,
    )


async def _made(library_tools: Answer, library: Library) -> dict[str, Tool]:
    """The learner's three tools by name; what they do goes through the check's safe call."""
    given = await library_tools.call(library)
    expect(isinstance(given, list | tuple), "give back a list of your tools.", received=given)
    try:
        tools = [each if isinstance(each, Tool) else tool(each) for each in given]
    except (ConfigError, TypeError) as problem:
        raise NotYet(f"no tool can be made of it: {problem}") from None
    names = sorted(each.name for each in tools)
    expect(names == sorted(NAMES), f"the tools are called {', '.join(NAMES)}.", received=names)
    return {each.name: replace(each, function=_safe(library_tools, each)) for each in tools}


def _safe(library_tools: Answer, made: Tool) -> Callable[..., Any]:
    async def safe(**arguments: Any) -> Any:
        try:
            return await library_tools.run(made.function, **arguments)
        except Raised as raised:
            library_tools.findings.remove(raised)
            raise raised.problem from None

    return safe


async def _called(made: dict[str, Tool], session_id: str, name: str, **arguments: str) -> CallTrace:
    """Call one tool once, in a session of this name."""
    session = InMemoryHistory(session_id=session_id)
    result = await _run(script(call(name, **arguments)), made.values(), "?", session)
    return result.trace.calls[0]


async def _run(
    policy: Policy, tools: Iterable[Any], asked: str, session: InMemoryHistory, wire: str = "openai"
) -> RunResult:
    settings = Settings.model_validate({"api_key": "no-key-needed", "provider": wire})
    async with gateway(policy).client() as http:
        kernel = build_kernel(settings, http, frozen_ambient())
        return await kernel.agent(tools, instructions="").run(asked, session=session)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def library_tools_stub(library: Library) -> None:
    """As it stands in the notebook."""
    return None


# ---- 9.1-b: an adapter -----------------------------------------------------------------------

ROUTE = Route("postcard", MODEL, ADDRESS, "no-key-needed")
SUMS = ToolSpec(
    "calculate",
    "Work out an arithmetic expression.",
    {"type": "object", "properties": {"expression": {"type": "string"}}},
)
TWO_CALLS = Move(
    "One moment.",
    (Call("calculate", {"expression": "6 * 7"}), Call("calculate", {"expression": "1 / 0"})),
)
MADE = assistant(
    "One moment.",
    ToolCall("t1", "calculate", '{"expression": "6 * 7"}'),
    ToolCall("t2", "calculate", '{"expression": "1 / 0"}'),
)
ASKED = (system("Be brief."), user("How much is 6 * 7, and 1 / 0?"))
ANSWERED = (*ASKED, MADE, ToolMessage("t1", "42"), ToolMessage("t2", "error: …", is_error=True))


async def check_postcard(postcard: Answer) -> None:
    """Three steps, each on top of the one before: words, calls, results."""
    for name in ("build_request", "parse_chunk"):
        expect(
            callable(getattr(postcard.value, name, None)),
            f"give the class Postcard itself; it has a function {name}.",
            received=postcard.given,
        )
    steps = (("words", _check_words), ("calls", _check_calls), ("results", _check_results))
    for number, (name, step) in enumerate(steps, 1):
        try:
            await step(postcard)
        except NotYet as problem:
            raise NotYet(f"step {number} of {len(steps)}, {name}: {problem}") from None


async def _check_words(postcard: Answer) -> None:
    office = PostOffice(script(answer("It is sunny.")))
    briefs = (system("Be brief."), system("Be kind."), user("How is the weather?"))
    reply = await _ask(postcard, office, ModelRequest(briefs))
    said = {each.role: each.text for each in office.asked[0].said}
    expect(
        all(each.text in said.get("system", "") for each in briefs[:2]),
        "the instructions have not arrived, or not all of them. They go into `brief`, as one text.",
        received=said,
    )
    expect(
        said.get("user") == "How is the weather?",
        "the user's words have not arrived as they were said.",
        received=said,
    )
    expect(reply.message.text == "It is sunny.", "the answer's words are lost.", received=reply)
    expect(
        reply.finish_reason == "stop",
        'parse_chunk does not say why the answer ends. `said` is our FinishDelta("stop", …).',
        received=reply.finish_reason,
    )
    expect(
        reply.usage.total_tokens > 0,
        "the count is lost, and a budget of tokens would never be used up: yield a UsageDelta.",
        received=reply.usage,
    )


async def _check_calls(postcard: Answer) -> None:
    office = PostOffice(script(TWO_CALLS))
    reply = await _ask(postcard, office, ModelRequest(ASKED, (SUMS,), max_output_tokens=77))
    expect(office.bodies[0]["room"] == 77, "room: the request says max_output_tokens=77.")
    tools = [(each.name, each.description, each.parameters) for each in office.asked[0].tools]
    expect(
        tools == [(SUMS.name, SUMS.description, SUMS.parameters)],
        "the tool has not arrived as it was declared.",
        received=tools,
    )
    _check_reply(reply.message)


def _check_reply(message: AssistantMessage) -> None:
    expect(
        [made.name for made in message.tool_calls] == ["calculate", "calculate"],
        "the host makes two calls of `calculate`, after a few words. Yield a CallDelta for each.",
        received=message,
    )
    expect(
        [made.id for made in message.tool_calls] == ["t1", "t2"],
        "the tickets of the calls are lost. Without them no result finds its call.",
        received=[made.id for made in message.tool_calls],
    )
    for made, wanted in zip(message.tool_calls, TWO_CALLS.calls, strict=True):
        try:
            arguments = json.loads(made.arguments)
        except (TypeError, ValueError):
            arguments = None
        expect(
            arguments == wanted.arguments,
            "a call's arguments are a text of JSON, in our history; this one is not.",
            received=made.arguments,
        )


async def _check_results(postcard: Answer) -> None:
    office = PostOffice(script(answer("42, and an error."), answer("Yes."), answer("Well.")))
    await _ask(postcard, office, ModelRequest(ANSWERED, (SUMS,)))
    results = [line["result"] for line in office.bodies[0]["cards"][2]["lines"]]
    expect(
        [result["text"] for result in results] == ["42", "error: …"],
        "the results have not arrived as they are.",
        received=results,
    )
    expect(
        [result["ok"] for result in results] == [True, False],
        "a failed result has arrived as a good one, or a good one as a failed one: `is_error`.",
        received=results,
    )
    more = (*ANSWERED, user("Sure?"))
    await _ask(postcard, office, ModelRequest(more, (SUMS,)))
    expect(
        office.asked[1].asked == "Sure?",
        "what the user says right after the results is lost.",
        received=office.bodies[1]["cards"][-1],
    )
    await _check_broken(postcard, office)


async def _check_broken(postcard: Answer, office: PostOffice) -> None:
    """Arguments that were cut off, and a history that no server would take."""
    cut = assistant(ToolCall("t1", "calculate", '{"expression": "6 *'))
    messages = (*ASKED, cut, ToolMessage("t1", "error: no JSON", is_error=True))
    try:
        await _ask(postcard, office, ModelRequest(messages))
    except Raised as raised:
        postcard.findings.remove(raised)
        raise NotYet(
            "a model's arguments may be no JSON at all, cut off in the middle, and the wire wants "
            "an object (`as_object` makes one). "
            f"build_request raised {error_text(raised.problem)}"
        ) from None
    value = postcard.value
    try:
        await postcard.run(value.build_request, ModelRequest(ANSWERED[:-1]), ROUTE)
    except Raised as raised:
        postcard.findings.remove(raised)
        if isinstance(raised.problem, TranscriptError):
            return
    raise NotYet(
        "one of two results is missing, and build_request says nothing. Let `transcript.check` "
        "look at the messages first: it names the cause before anything is sent."
    )


async def _ask(postcard: Answer, office: PostOffice, request: ModelRequest) -> Reply:
    """Build, send, read, put together: what the kernel's client does, with safe calls."""
    adapter = postcard.value
    wire = await postcard.run(adapter.build_request, request, ROUTE)
    if wire is None:
        raise NotDone("not done yet: Postcard.build_request gives back None so far.")
    expect(isinstance(wire, WireRequest), "build_request gives back a WireRequest.", received=wire)
    response = await _sent(wire, office)
    if response.status_code != 200:
        says = response.json()["error"]["message"]
        raise NotYet(f"the server refuses it ({response.status_code}): {says}")
    deltas = await postcard.run(_listed_deltas, adapter.parse_chunk, response.json())
    if deltas is None:
        raise NotDone(
            "not done yet: the server has answered; Postcard.parse_chunk gives back None."
        )
    assembler = Assembler(frozenset(each.name for each in request.tools))
    try:
        for delta in deltas:
            assembler.add(delta)
        return assembler.finish(complete=True)
    except (FreyaError, AssertionError, AttributeError, TypeError):
        raise NotYet(f"no answer can be put together from these deltas.\n{deltas!r:.200}") from None


async def _sent(wire: WireRequest, office: PostOffice) -> httpx.Response:
    try:
        async with office.client() as http:
            return await http.request(
                wire.method, wire.url, headers=dict(wire.headers), content=wire.body
            )
    except (httpx.HTTPError, httpx.InvalidURL, TypeError, ValueError) as problem:
        raise NotYet(f"this request cannot be sent: {error_text(problem)}") from None


def _listed_deltas(parse_chunk: Callable[[Any], Any], chunk: Any) -> list[Any] | None:
    found = parse_chunk(chunk)
    return None if found is None else list(found)


class PostcardStub:
    """As it stands in the notebook."""

    @staticmethod
    def build_request(request: Any, route: Any) -> None:  # noqa: ARG004 - a stub
        """Nothing yet."""
        return None

    @staticmethod
    def parse_chunk(chunk: Any) -> None:  # noqa: ARG004 - a stub
        """Nothing yet."""
        return None


# ---- 9.1-c: a policy -------------------------------------------------------------------------

WANTED = 'Please borrow "Moby Dick" for me.'


async def check_librarian(librarian: Answer) -> None:
    """Five situations, on both wires: free, lent, all lent, unknown, and what is mine."""
    library = _library()
    session = InMemoryHistory(session_id="maya")
    done = await _served(librarian, library, WANTED, session)
    expect(
        "maya" in {library["b12"]["lent_to"], library["b44"]["lent_to"]},
        "Moby Dick is free, and nobody has borrowed it. find_book, then borrow_book.",
        received=done.text,
    )
    mine = await _served(librarian, library, "What have I borrowed?", session)
    expect(
        "my_books" in _names(mine) and "Moby Dick" in mine.text,
        "asked in the same session what is borrowed, it does not say so. Look at what came since "
        "the newest question: question.results, question.calls.",
        received=mine.text,
    )
    await _check_when_lent(librarian, done.text)
    unknown = await _served(librarian, _library(), 'Please borrow "Faust" for me.')
    expect(
        "borrow_book" not in _names(unknown),
        "there is no Faust in the catalogue, and something else was borrowed in its place.",
        received=[trace.call.arguments for trace in unknown.trace.calls],
    )
    expect(
        unknown.text != done.text, "there is no Faust, and it says the same as when all is well."
    )


async def _check_when_lent(librarian: Answer, when_done: str) -> None:
    library = _library(b12="ben")
    other = await _served(librarian, library, WANTED, wire="gemini")
    expect(
        library["b44"]["lent_to"] == "maya",
        "b12 is lent out, and the tool's answer names a copy that is free, b44. Read the newest "
        "result before you give up.",
        received=other.text,
    )
    none_left = await _served(librarian, _library(b12="ben", b44="ben"), WANTED, wire="gemini")
    expect(
        none_left.text != when_done,
        "every copy is lent out, and the person is told the same as when it was borrowed.",
        received=none_left.text,
    )


async def _served(
    librarian: Answer,
    library: Library,
    asked: str,
    session: InMemoryHistory | None = None,
    wire: str = "openai",
) -> RunResult:
    """One run with this policy, and what holds for every one."""

    async def safe(question: Question) -> Move:
        move = await librarian.call(question)
        expect(isinstance(move, Move), "give back a Move: answer(…) or call(…).", received=move)
        return move  # type: ignore[no-any-return]

    session = session or InMemoryHistory(session_id="maya")
    result = await _run(safe, answers.library_tools(library), asked, session, wire)
    expect(
        result.stop_reason == "answer",
        f"it went round and round until the kernel stopped it ({result.stop_reason}). A rule that "
        "looks at the question only decides the same for ever.",
        received=[trace.call.arguments for trace in result.trace.calls][-3:],
    )
    told = ""
    for trace in result.trace.calls:
        if trace.call.name == "borrow_book":
            asked_for = BOOK_ID.findall(trace.call.arguments)
            expect(
                asked_for and asked_for[0] in BOOK_ID.findall(told),
                "it borrows an id that no tool has named. Ids come from find_book.",
                received=trace.call.arguments,
            )
        told += trace.observation + "\n"
    return result


def _names(result: RunResult) -> list[str]:
    return [trace.call.name for trace in result.trace.calls]


def librarian_stub(question: Question) -> None:
    """As it stands in the notebook."""
    return None


LIBRARY_TOOLS_HINTS = (
    """\
Write three functions inside `library_tools`, each with a docstring, and give them back in a list.
Under `Args:` describe each parameter, with an example.""",
    """\
`lint_schema(tool(find_book))` lists what is weak. For an id it wants to know where the model gets
it from: name the tool that tells.""",
    """\
`borrow_book(book_id: str, context: ToolContext)`: the session is `context.session_id`. When the
copy is lent: `raise ToolError(…)`, with the ids of the free copies of the same title in it.""",
)

POSTCARD_HINTS = (
    """\
Begin with words. The body is a dict with model, room and cards; `encode(body)` makes the bytes.
`m.role` tells the kinds of message apart: system, user, assistant, tool.""",
    """\
What the model has to say stands in `for line in chunk["card"]["lines"]`. In our history a call's
arguments are text: `encode(call["with"]).decode()`; back on the wire they are `as_object(…)`.""",
    """\
Build the cards in one loop: while the sender stays the same (user and tool are both the guest),
add lines to the card; when it changes, begin a new one. `ok` is `not message.is_error`.""",
)

LIBRARIAN_HINTS = (
    """\
`question.results` is what the tools have said since the newest question, oldest first; each has
`name` and `text`. No result yet: look for the title, or call my_books.""",
    """\
Ids are found by `re.findall(r"\\bb\\d+\\b", text)`. Take one from the newest result that has not
been tried: `question.calls` are the calls so far, with their `arguments`.""",
    "When nothing is left to try, answer with what the newest result says: it is true either way.",
)

EXERCISES = (
    Exercise(
        id="9.1-a",
        title="A model can use these tools without guessing, and for nobody but the one who asks.",
        name="library_tools",
        check=check_library_tools,
        hints=LIBRARY_TOOLS_HINTS,
        solution=answers.library_tools,
        stub=library_tools_stub,
        wrong=(
            Wrong(answers.library_tools_bare, "a model would have to guess"),
            Wrong(answers.library_tools_forged, "which no model can forge"),
            Wrong(answers.library_tools_telling, "sees a success"),
            Wrong(answers.library_tools_gossip, "who has the book"),
            Wrong(answers.library_tools_curt, "not told what to do next"),
            Wrong(answers.library_tools_pythonic, "which tool knows the ids"),
            Wrong(answers.library_tools_shared, "what ben has borrowed"),
        ),
    ),
    Exercise(
        id="9.1-b",
        title="The kernel speaks a third wire: two pure functions, and nothing else has changed.",
        name="Postcard",
        check=check_postcard,
        hints=POSTCARD_HINTS,
        solution=answers.Postcard,
        stub=PostcardStub,
        wrong=(
            Wrong(answers.PostcardKeyless, "x-api-key is missing"),
            Wrong(answers.NoBrief, "instructions have not"),
            Wrong(answers.NoEnd, "why the"),
            Wrong(answers.NoTickets, "tickets of the calls are lost"),
            Wrong(answers.PythonText, "are a text of JSON"),
            Wrong(answers.TextArguments, "call.with is a text"),
            Wrong(answers.ManyCards, "write in turns"),
            Wrong(answers.AllIsWell, "arrived as a good one"),
            Wrong(answers.PostcardTrusting, "may be no JSON at all"),
            Wrong(answers.PostcardUnchecked, "build_request says nothing"),
        ),
    ),
    Exercise(
        id="9.1-c",
        title="Rules in the place of a model solve the task, and are honest where they cannot.",
        name="librarian",
        check=check_librarian,
        hints=LIBRARIAN_HINTS,
        solution=answers.librarian,
        stub=librarian_stub,
        wrong=(
            Wrong(answers.librarian_guessing, "an id that no tool has named"),
            Wrong(answers.librarian_stubborn, "went round and round"),
            Wrong(answers.librarian_discouraged, "before you give up"),
            Wrong(answers.librarian_boasting, "nobody has borrowed it"),
            Wrong(answers.librarian_cheerful, "the same as when it was borrowed"),
            Wrong(answers.librarian_remembering, "since the newest question"),
            Wrong(answers.librarian_generous, "something else was borrowed"),
            Wrong(answers.librarian_wordy, "give back a Move"),
        ),
    ),
)
