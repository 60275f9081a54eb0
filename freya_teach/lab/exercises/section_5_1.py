"""Section 5.1: who refuses what, mend a history, tell the providers apart. (chapter 5.1)"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from freya_teach.config import MODELS
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.lab.gateway.gemini_wire import signature
from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.views.protocol import TWO_TOOLS
from freya_teach.lab.views.protocol_edits import remove, rename, split_results, up
from freya_teach.lab.views.protocol_rows import Row, Rows, gemini_body, openai_body, rows_of
from freya_teach.lab.views.protocol_verdicts import Verdict, verdict
from freya_teach.llm.messages import (
    AssistantMessage,
    Json,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    user,
)

Said = dict[str, Json]


def _said_to(rows: Rows, wire: Wire) -> Verdict:
    """What the provider says to these rows, translated as plainly as can be."""
    model = MODELS[wire]
    body = openai_body(rows, model) if wire == "openai" else gemini_body(rows)
    return verdict(wire, model, body)


# ---- 5.1-a, predict: who refuses -------------------------------------------------------------

_WHOLE = rows_of(TWO_TOOLS)  # 0 system, 1 user, 2 the calls, 3 and 4 their results
HISTORIES: dict[str, Rows] = {
    "swapped": up(_WHOLE, 4),
    "half": (*remove(_WHOLE, 4), Row("user", "And the sum?")),
    "apart": split_results(_WHOLE, 3),
    "renamed": rename(_WHOLE, 4),
    "headless": remove(_WHOLE, 1),
    "finished": (*_WHOLE, Row("assistant", "Sunny, 15 °C; and 120.")),
}
LOOK_AT = {
    "swapped": "how a result is tied to its call. Does anything in that tie count places?",
    "half": "the call that nobody has answered when the user speaks.",
    "apart": "what Gemini wants of the content behind the calls. OpenAI has a message each anyway.",
    "renamed": "whether a tool message has a name at all, and whether anybody compares names.",
    "headless": "who must speak before a function call, on each of the wires.",
    "finished": "who speaks last, and whom the packet then asks to go on.",
}
CHOICES = ("openai", "gemini", "both", "nobody")


def who_refuses(rows: Rows) -> str:
    """Which of the two providers refuses these rows."""
    openai, gemini = (_said_to(rows, wire).accepted for wire in ("openai", "gemini"))
    return {(True, True): "nobody", (False, False): "both"}.get(
        (openai, gemini), "gemini" if openai else "openai"
    )


async def check_who(who: Answer) -> None:
    """Compare each prediction with what the gateway says."""
    given = who.for_each_of(HISTORIES, "a value for each")
    for name, rows in HISTORIES.items():
        expect(
            given[name] in CHOICES,
            f"{name}: the value is one of {', '.join(CHOICES)}.",
            received=given[name],
        )
        expect(
            given[name] == who_refuses(rows),
            f"{name}: not so. Look at {LOOK_AT[name]}",
            received=given[name],
        )


WHO = {
    "swapped": "nobody",
    "half": "both",
    "apart": "gemini",
    "renamed": "nobody",
    "headless": "gemini",
    "finished": "gemini",
}


# ---- 5.1-b, repair: close what a crash has left open -----------------------------------------


def _asks(*ids: str) -> Said:
    function = {"name": "read_file", "arguments": '{"path": "notes.txt"}'}
    calls = [{"id": each, "type": "function", "function": function} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _found(call_id: str) -> Said:
    return {"role": "tool", "tool_call_id": call_id, "content": "1. tidy the registry"}


_USER: Said = {"role": "user", "content": "What is in notes.txt?"}
_AGAIN: Said = {"role": "user", "content": "Are you still there?"}
_DONE: Said = {"role": "assistant", "content": "One thing to do."}

BROKEN: dict[str, list[Said]] = {
    "a history without a fault": [_USER, _asks("call_1"), _found("call_1"), _DONE],
    "an open call at the end": [_USER, _asks("call_1")],
    "two calls, the second one answered": [_USER, _asks("call_1", "call_2"), _found("call_2")],
    "a user who went on behind an open call": [_USER, _asks("call_1"), _AGAIN, _DONE],
    "two crashes": [_USER, _asks("call_1"), _AGAIN, _asks("call_2", "call_3"), _found("call_2")],
}


async def check_mend(mend: Answer) -> None:
    """Every history must come back whole, closed, and not closed twice."""
    for name, history in BROKEN.items():
        mended = await mend.call(history)
        expect(
            isinstance(mended, list) and all(isinstance(each, dict) for each in mended),
            f"{name}: a list of messages is wanted.",
            received=mended,
        )
        kept = [each for each in mended if each in history]
        expect(
            kept == history,
            f"{name}: what was there must stay, each message once and in its order.",
            received=[each.get("role") for each in mended],
        )
        _check_closed(name, history, mended)
        expect(
            await mend.call(mended) == mended,
            f"{name}: mended once more, it changes again. There was nothing left to mend.",
        )


def _check_closed(name: str, history: list[Said], mended: list[Said]) -> None:
    """The provider takes it, and each new result says something."""
    said = verdict("openai", "gpt-4o", json.loads(json.dumps(_body(mended))))
    expect(said.accepted, f"{name}: OpenAI still refuses it: {said.words}")
    for each in mended:
        if each not in history:
            expect(
                isinstance(each.get("content"), str) and each["content"].strip(),
                f"{name}: a result of yours is empty. The model should read what happened.",
                received=each.get("content"),
            )


def _body(messages: list[Said]) -> Said:
    return {"model": "gpt-4o", "messages": messages}


LOST = "error: the result of this call was lost; the tool may or may not have run."


def mend(history: list[Said]) -> list[Said]:
    """One way to write it: each call's results are gathered behind it, then the open ones."""
    mended: list[Said] = []
    waiting: list[str] = []
    for message in [*history, None]:
        if message is None or message["role"] != "tool":
            mended += [{"role": "tool", "tool_call_id": each, "content": LOST} for each in waiting]
            waiting = [call["id"] for call in (message or {}).get("tool_calls") or []]
        elif message["tool_call_id"] in waiting:
            waiting.remove(message["tool_call_id"])
        if message is not None:
            mended.append(message)
    return mended


def mend_stub(history: list[Said]) -> None:
    """As it stands in the notebook."""
    return None


def mend_at_the_end(history: list[Said]) -> list[Said]:
    """Puts all missing results behind the last message."""
    answered = {each.get("tool_call_id") for each in history}
    calls = [call["id"] for each in history for call in each.get("tool_calls") or []]
    missing = [each for each in calls if each not in answered]
    return history + [{"role": "tool", "tool_call_id": each, "content": LOST} for each in missing]


def mend_by_dropping(history: list[Said]) -> list[Said]:
    """Takes out the messages whose calls are open."""
    answered = {each.get("tool_call_id") for each in history}
    return [
        each
        for each in history
        if all(call["id"] in answered for call in each.get("tool_calls") or [])
    ]


def mend_all(history: list[Said]) -> list[Said]:
    """Gives every call a result, the answered ones too."""
    mended: list[Said] = []
    for each in history:
        calls = each.get("tool_calls") or []
        results = [{"role": "tool", "tool_call_id": call["id"], "content": LOST} for call in calls]
        mended += [each, *results]
    return mended


def mend_with_nothing(history: list[Said]) -> list[Said]:
    """Closes each call with an empty text."""
    return [
        each | {"content": ""} if each.get("content") == LOST else each for each in mend(history)
    ]


def mend_by_order(history: list[Said]) -> list[Said]:
    """Thinks that the results come in the order of the calls."""
    mended: list[Said] = []
    for each in mend(history):
        mended.append(dict(each))
        if each.get("content") == LOST:
            mended[-1]["tool_call_id"] = "call_2"
    return mended


# ---- 5.1-c, attack: what OpenAI takes and Gemini does not -------------------------------------


async def check_attack(attack: Answer) -> None:
    """Both are asked; OpenAI must answer, and Gemini refuse the order."""
    messages = await attack.call()
    kinds = (SystemMessage, UserMessage, AssistantMessage, ToolMessage)
    expect(
        isinstance(messages, list | tuple) and all(isinstance(each, kinds) for each in messages),
        "give back a list of the kernel's messages: user(…), assistant(…), ToolMessage(…).",
        received=messages,
    )
    rows = _signed(rows_of(messages))
    openai, gemini = _said_to(rows, "openai"), _said_to(rows, "gemini")
    expect(openai.accepted, f"OpenAI refuses it: {openai.words}")
    expect(
        not gemini.accepted,
        "OpenAI answers, and so does Gemini. What does Gemini ask of the first turn, of the last "
        "one, or of the number of results, that OpenAI does not?",
    )
    if gemini.rule is None or not gemini.rule.name.startswith("order."):
        raise NotYet(f"Gemini refuses it, but not for its order: {gemini.words}")


def _signed(rows: Rows) -> Rows:
    """The rows with the signatures that Gemini's own calls would have."""
    return tuple(
        replace(row, calls=tuple(_sign(n, call) for n, call in enumerate(row.calls)))
        for row in rows
    )


def _sign(place: int, call: Any) -> Any:
    return call if place else replace(call, signature=signature(call.id or ""))


_CALL = ToolCall("call_1", "read_file", '{"path": "notes.txt"}')


def attack() -> Sequence[Message]:
    """One way to do it: the model speaks last."""
    return [user("What is in notes.txt?"), assistant("I will have a look.")]


def attack_headless() -> Sequence[Message]:
    """Another one: the history begins with the call."""
    return [assistant(_CALL), ToolMessage("call_1", "1. tidy"), user("And now?")]


def attack_stub() -> None:
    """As it stands in the notebook."""
    return None


def attack_whole() -> Sequence[Message]:
    """A history that both take."""
    return [user("What is in notes.txt?"), assistant(_CALL), ToolMessage("call_1", "1. tidy")]


def attack_foreign() -> Sequence[Message]:
    """The one of the lesson, which is for the other direction."""
    return [user("What is in notes.txt?"), assistant(_CALL), ToolMessage("call_9", "1. tidy")]


def attack_open() -> Sequence[Message]:
    """A call without a result, which both refuse."""
    return [user("What is in notes.txt?"), assistant(_CALL), user("Hello?")]


def attack_dicts() -> list[Said]:
    """OpenAI's messages in the place of the kernel's."""
    return [_USER, _DONE]


def attack_empty() -> Sequence[Message]:
    """The user says nothing: no matter of order."""
    return [user(""), assistant("Yes?"), user("What is in notes.txt?")]


WHO_HINTS = (
    "Ask two things of each history: is each result still tied to its call, and whose turn is it?",
    """\
OpenAI: all results behind the call, in any order, tied by id alone. Gemini: as many results as
calls, in the one next content; a user's turn before a call, and a user's turn at the end.""",
    "Put the default history on the bench, `lab.view.protocol()`, and click the change.",
)

MEND_HINTS = (
    "Go through the messages and keep a list of the ids that wait. When must it be empty?",
    "Before any message that is no tool message, and at the end: close whatever still waits.",
    "A tool message takes its id off the list. A message with `tool_calls` makes a new list.",
)

ATTACK_HINTS = (
    "Gemini counts turns where OpenAI only compares ids. Look at both ends of a history.",
    "`order.last` and `order.start` in the table of rules: one of them is enough.",
    "Let the model have the last word: `[user(…), assistant(…)]`.",
)

EXERCISES = (
    Exercise(
        id="5.1-a",
        title="Ids tie, turns alternate, and the two providers check different halves of it.",
        name="who",
        check=check_who,
        hints=WHO_HINTS,
        solution=WHO,
        stub=dict.fromkeys(WHO),
        wrong=(
            Wrong(WHO | {"swapped": "both"}, "Does anything in that tie count places?"),
            Wrong(WHO | {"half": "openai"}, "the call that nobody has answered"),
            Wrong(WHO | {"apart": "both"}, "OpenAI has a message each anyway"),
            Wrong(WHO | {"renamed": "gemini"}, "whether anybody compares names"),
            Wrong(WHO | {"headless": "both"}, "who must speak before a function call"),
            Wrong(WHO | {"finished": "nobody"}, "whom the packet then asks to go on"),
            Wrong(["swapped"], "a dictionary with these names"),
        ),
    ),
    Exercise(
        id="5.1-b",
        title="Every call has its result where both wires look for it, and nothing was dropped.",
        name="mend",
        check=check_mend,
        hints=MEND_HINTS,
        solution=mend,
        stub=mend_stub,
        wrong=(
            Wrong(mend_at_the_end, "OpenAI still refuses it"),
            Wrong(mend_by_dropping, "what was there must stay"),
            Wrong(mend_all, "OpenAI still refuses it"),
            Wrong(mend_with_nothing, "a result of yours is empty"),
            Wrong(mend_by_order, "OpenAI still refuses it"),
        ),
    ),
    Exercise(
        id="5.1-c",
        title="A history can be in order for one provider and not for the other.",
        name="attack",
        check=check_attack,
        hints=ATTACK_HINTS,
        solution=attack,
        stub=attack_stub,
        wrong=(
            Wrong(attack_whole, "OpenAI answers, and so does Gemini"),
            Wrong(attack_foreign, "OpenAI refuses it"),
            Wrong(attack_open, "OpenAI refuses it"),
            Wrong(attack_dicts, "a list of the kernel's messages"),
            Wrong(attack_empty, "not for its order"),
        ),
    ),
)
