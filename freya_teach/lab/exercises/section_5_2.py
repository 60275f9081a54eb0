"""Section 5.2: predict two packets, translate a history, fool a careful reader. (chapter 5.2)"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from freya_teach.config import BASE_URLS, MODELS
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.lab.gateway import Call, Question, Said, answer, gateway
from freya_teach.lab.gateway.wire import mapping, mappings
from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import Json, Message, ToolCall, ToolMessage, assistant, system, user
from freya_teach.llm.protocol import ModelRequest, Route

Body = dict[str, Json]
MODEL = "gemini-2.5-flash"
"""A generation that asks for no signatures: they are the subject of 5.3."""
URL = f"{BASE_URLS['gemini']}/v1beta/models/{MODEL}:generateContent"

# ---- 5.2-a, predict: one history, two packets ------------------------------------------------

HISTORY: tuple[Message, ...] = (
    system("Be brief."),
    user("What is in notes.txt and in todo.txt?"),
    assistant(
        "I read both.",
        ToolCall("call_1", "read_file", '{"path": "notes.txt"}'),
        ToolCall("call_2", "read_file", '{"path": "todo.txt"}'),
    ),
    ToolMessage("call_1", "1. tidy the registry"),
    ToolMessage("call_2", "There is no file todo.txt.", is_error=True),
)
"""As in the notebook."""
LOOK_AT = {
    "openai: messages": "the history. OpenAI gets a message for each of its messages.",
    "openai: role of a result": "who speaks when a tool has run: OpenAI has a role for it.",
    "openai: names in the results": "the keys of a `tool` message in section 2.",
    "gemini: contents": "what is no content at all on Gemini's wire, and what shares one.",
    "gemini: role of a result": "the roles that Gemini has: there are two.",
    "gemini: parts of the model's turn": "the words, and how many calls go into one part.",
    "gemini: names in the results": "the keys of a `functionResponse` in section 3.",
    "gemini: key of the failed result": "the table of section 3: what stands under `response`?",
}


def packets() -> dict[str, int | str]:
    """What is true of the two bodies that the adapters make of the history."""
    request = ModelRequest(HISTORY)
    routes = {name: Route(name, MODELS[name], BASE_URLS[name]) for name in MODELS}
    said = json.loads(openai.build_request(request, routes["openai"]).body)["messages"]
    contents = json.loads(gemini.build_request(request, routes["gemini"]).body)["contents"]
    responses = [part["functionResponse"] for part in contents[-1]["parts"]]
    return {
        "openai: messages": len(said),
        "openai: role of a result": said[-1]["role"],
        "openai: names in the results": sum("name" in each for each in said[-2:]),
        "gemini: contents": len(contents),
        "gemini: role of a result": contents[-1]["role"],
        "gemini: parts of the model's turn": len(contents[1]["parts"]),
        "gemini: names in the results": sum("name" in each for each in responses),
        "gemini: key of the failed result": next(iter(responses[-1]["response"])),
    }


async def check_packet(packet: Answer) -> None:
    """Compare each prediction with the packets that the kernel makes."""
    given = packet.for_each_of(LOOK_AT, "a value for each")
    for name, right in packets().items():
        kind = "a number" if isinstance(right, int) else "a text, such as a role or a key"
        expect(
            isinstance(given[name], type(right)),
            f"{name}: the value is {kind}.",
            received=given[name],
        )
        expect(
            given[name] == right, f"{name}: not so. Look at {LOOK_AT[name]}", received=given[name]
        )


PACKET: dict[str, int | str] = {
    "openai: messages": 5,
    "openai: role of a result": "tool",
    "openai: names in the results": 0,
    "gemini: contents": 3,
    "gemini: role of a result": "user",
    "gemini: parts of the model's turn": 3,
    "gemini: names in the results": 2,
    "gemini: key of the failed result": "error",
}

# ---- 5.2-b, extend: an adapter for three kinds of messages -----------------------------------


def _asks(**calls: tuple[str, str]) -> Body:
    wire = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, (name, arguments) in calls.items()
    ]
    return {"role": "assistant", "content": None, "tool_calls": wire}


def _found(call_id: str, text: str) -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


_USER: Body = {"role": "user", "content": "What is in notes.txt and in todo.txt?"}
_NOTES = ("read_file", '{"path": "notes.txt"}')
_TODO = ("read_file", '{"path": "todo.txt"}')
_TWO = [_USER, _asks(call_1=_NOTES, call_2=_TODO)]

HISTORIES: dict[str, list[Body]] = {
    "one call": [_USER, _asks(call_1=_NOTES), _found("call_1", "1. tidy")],
    "two calls of one tool": [*_TWO, _found("call_1", "1. tidy"), _found("call_2", "2. test")],
    "results in another order": [*_TWO, _found("call_2", "2. test"), _found("call_1", "1. tidy")],
    "two rounds": [
        _USER,
        _asks(call_1=_NOTES),
        _found("call_1", "see today"),
        _asks(call_2=("today", "{}")),
        _found("call_2", "2026-11-30"),
    ],
    "a call without arguments": [_USER, _asks(call_1=("today", "")), _found("call_1", "Monday")],
}


async def check_to_gemini(to_gemini: Answer) -> None:
    """The gateway must take each packet, and understand what was meant."""
    for name, history in HISTORIES.items():
        contents = await to_gemini.call(history)
        expect(
            isinstance(contents, list) and all(isinstance(each, dict) for each in contents),
            f"{name}: a list of contents is wanted, each a dict with `role` and `parts`.",
            received=contents,
        )
        _compare(name, history, await _understood(name, contents))


async def _understood(name: str, contents: list[Body]) -> Question:
    """What the gateway's model sees of these contents."""
    other_end = gateway(lambda _: answer("Thank you."))
    try:
        body = json.dumps({"contents": contents})
    except (TypeError, ValueError):
        raise NotYet(f"{name}: this cannot be written as JSON.") from None
    async with other_end.client() as http:
        response = await http.post(URL, content=body)
    if response.status_code != 200:
        said = response.json()["error"]["message"].strip()
        raise NotYet(f"{name}: Gemini refuses it with {response.status_code}: {said}")
    return other_end.asked[-1]


def _compare(name: str, history: list[Body], question: Question) -> None:
    """Calls and results, as they were meant and as they have arrived."""
    meant = [call for message in history for call in message.get("tool_calls", [])]
    came = [call for said in question.said for call in said.calls]
    expect(
        [call["function"]["name"] for call in meant] == [call.name for call in came],
        f"{name}: not all calls have arrived, under their names and in their order.",
        received=[call.name for call in came],
    )
    expect(
        [json.loads(call["function"]["arguments"] or "{}") for call in meant]
        == [call.arguments for call in came],
        f"{name}: the arguments have not arrived. Gemini's `args` are an object, not a text.",
        received=[call.arguments for call in came],
    )
    expect(
        [call["id"] for call in meant] == [call.id for call in came],
        f"{name}: a call has lost its id. Two calls of one tool are told apart by it.",
        received=[call.id for call in came],
    )
    _compare_results(name, history, question)


def _compare_results(name: str, history: list[Body], question: Question) -> None:
    names = {
        call["id"]: call["function"]["name"]
        for message in history
        for call in message.get("tool_calls", [])
    }
    texts = {m["tool_call_id"]: m["content"] for m in history if m["role"] == "tool"}
    results = [said for said in question.said if said.role == "tool"]
    expect(
        {said.call_id: said.text for said in results} == texts,
        f"{name}: the results do not stand at their calls, with their texts under `output`.",
        received={said.call_id: said.text for said in results},
    )
    for said in results:
        expect(
            said.name == names[said.call_id],
            f"{name}: a result comes under a name that its call does not have.",
            received=said.name,
        )


def to_gemini(messages: list[Body]) -> list[Body]:
    """One way to write it."""
    names: dict[str, str] = {}
    contents: list[Body] = []
    for message in messages:
        if message["role"] == "user":
            contents.append({"role": "user", "parts": [{"text": message["content"]}]})
        elif message["role"] == "assistant":
            contents.append({"role": "model", "parts": []})
            for call in message["tool_calls"]:
                names[call["id"]] = call["function"]["name"]
                args = json.loads(call["function"]["arguments"] or "{}")
                made = {"id": call["id"], "name": names[call["id"]], "args": args}
                contents[-1]["parts"].append({"functionCall": made})
        else:
            if contents[-1]["role"] == "model":
                contents.append({"role": "user", "parts": []})
            call_id = message["tool_call_id"]
            response = {"output": message["content"]}
            found = {"id": call_id, "name": names[call_id], "response": response}
            contents[-1]["parts"].append({"functionResponse": found})
    return contents


def to_gemini_stub(messages: list[Body]) -> None:
    """As it stands in the notebook."""
    return None


def to_gemini_array(messages: list[Body]) -> list[Body]:
    """Has an array of calls, as the source draws it."""
    contents = to_gemini(messages)
    for content in contents:
        if content["role"] == "model":
            calls = [part["functionCall"] for part in content["parts"]]
            content["parts"] = [{"functionCalls": calls}]
    return contents


def to_gemini_apart(messages: list[Body]) -> list[Body]:
    """Makes a content of each result."""
    return [
        {"role": content["role"], "parts": parts}
        for content in to_gemini(messages)
        for parts in (
            [content["parts"]]
            if content["role"] == "model"
            else [[part] for part in content["parts"]]
        )
    ]


def to_gemini_text(messages: list[Body]) -> list[Body]:
    """Sends the result's text where an object is wanted."""
    contents = to_gemini(messages)
    for content in contents:
        for part in content["parts"]:
            if "functionResponse" in part:
                part["functionResponse"]["response"] = part["functionResponse"]["response"][
                    "output"
                ]
    return contents


def to_gemini_raw(messages: list[Body]) -> list[Body]:
    """Leaves the arguments as the text that they are on OpenAI's wire."""
    contents = to_gemini(messages)
    for content, message in zip(contents, messages, strict=False):
        for part, call in zip(content["parts"], message.get("tool_calls", []), strict=False):
            part["functionCall"]["args"] = call["function"]["arguments"]
    return contents


def to_gemini_without_ids(messages: list[Body]) -> list[Body]:
    """Strips the ids, as the source does."""
    contents = to_gemini(messages)
    for content in contents:
        for part in content["parts"]:
            for body in part.values():
                if isinstance(body, dict):
                    body.pop("id", None)
    return contents


def to_gemini_one_name(messages: list[Body]) -> list[Body]:
    """Has a name for the results whose call it does not look for."""
    contents = to_gemini(messages)
    for content in contents:
        for part in content["parts"]:
            if "functionResponse" in part:
                part["functionResponse"]["name"] = "default_tool"
    return contents


# ---- 5.2-c, attack: results that change places -----------------------------------------------

FILES = {"notes.txt": "1. tidy the registry", "todo.txt": "2. test the adapter"}
"""As in the notebook: what is in the two files."""


def careful(calls: Sequence[Call], results: Sequence[Said]) -> list[Said]:
    """The result of each call: by id where there is one, else the first of its name."""
    left, found = list(results), []
    for call in calls:
        same_id = [each for each in left if call.id and each.call_id == call.id]
        same_name = [each for each in left if not each.call_id and each.name == call.name]
        found.append((same_id or same_name or left)[0])
        left.remove(found[-1])
    return found


async def check_attack(attack: Answer) -> None:
    """The provider takes it, every result is true, and the reader takes one for the other."""
    contents = await attack.call()
    expect(
        isinstance(contents, list) and all(isinstance(each, dict) for each in contents),
        "give back a list of contents, as in section 3: user, model, user.",
        received=contents,
    )
    question = await _understood("your packet", contents)
    calls = {str(mapping(call.arguments).get("path")): call for call in question.calls}
    expect(
        set(calls) == set(FILES) and {call.name for call in calls.values()} == {"read_file"},
        "the model's turn has two calls of `read_file`, one for each of the two files.",
        received=[(call.name, call.arguments) for call in question.calls],
    )
    texts = [said.text for said in question.results]
    expect(
        sorted(texts) == sorted(FILES.values()),
        "each file's text comes back once, as it is in FILES.",
        received=texts,
    )
    _check_honest(contents)
    paired = careful(list(calls.values()), question.results)
    right = [said.text == FILES[path] for path, said in zip(calls, paired, strict=True)]
    expect(
        not all(right),
        "the reader is not fooled: it gives each call its own text. What does it go by when the "
        "ids do not help it?",
    )


def _check_honest(contents: list[Body]) -> None:
    """A result that bears the id of a call has the text of that call's file."""
    parts = [part for content in contents for part in mappings(content.get("parts"))]
    asked = [part["functionCall"] for part in parts if "functionCall" in part]
    paths = {call.get("id"): call["args"]["path"] for call in asked}
    for part in parts:
        response: dict[str, Any] = part.get("functionResponse", {})
        if response.get("id") in paths and response.get("id"):
            said = next(iter(response["response"].values()), "")
            expect(
                said == FILES[paths[response["id"]]],
                "a result lies: under the id of one call it has the text of the other file. Fool "
                "the reader with the truth.",
                received=response,
            )


def _packet(calls: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]]) -> list[Body]:
    """The three contents: (id, path) of the calls, and of the results; no id where it is empty."""
    asked = [
        {"functionCall": _with_id(id_, name="read_file", args={"path": path})}
        for id_, path in calls
    ]
    answers = [
        {"functionResponse": _with_id(id_, name="read_file", response={"output": FILES[path]})}
        for id_, path in results
    ]
    return [
        {"role": "user", "parts": [{"text": _USER["content"]}]},
        {"role": "model", "parts": asked},
        {"role": "user", "parts": answers},
    ]


def _with_id(id_: str, **fields: Json) -> Body:
    return {"id": id_, **fields} if id_ else fields


def attack() -> list[Body]:
    """One way to do it: no ids, and the results in the order in which they were done."""
    return _packet([("", "notes.txt"), ("", "todo.txt")], [("", "todo.txt"), ("", "notes.txt")])


def attack_stub() -> None:
    """As it stands in the notebook."""
    return None


def attack_with_ids() -> list[Body]:
    """Changes the places, and leaves the ids."""
    calls = [("fc_1", "notes.txt"), ("fc_2", "todo.txt")]
    return _packet(calls, calls[::-1])


def attack_in_order() -> list[Body]:
    """Takes the ids away, and leaves the places."""
    calls = [("", "notes.txt"), ("", "todo.txt")]
    return _packet(calls, calls)


def attack_one() -> list[Body]:
    """Leaves one result out."""
    return _packet([("", "notes.txt"), ("", "todo.txt")], [("", "todo.txt")])


def attack_lie() -> list[Body]:
    """Puts the texts under the wrong ids."""
    calls = [("fc_1", "notes.txt"), ("fc_2", "todo.txt")]
    return _packet(calls, [("fc_2", "notes.txt"), ("fc_1", "todo.txt")])


def attack_one_file() -> list[Body]:
    """Reads one file twice."""
    calls = [("", "notes.txt"), ("", "notes.txt")]
    return _packet(calls, calls)


PACKET_HINTS = (
    "Build the packets in your head, message by message. What becomes a field of its own?",
    "On Gemini's wire, results of one turn share a content, and instructions are no content.",
    "`lab.view.wires(history)` shows both packets. Look only after you have written yours down.",
)

TO_GEMINI_HINTS = (
    """\
Three kinds: `user` becomes a part `text`, `assistant` parts `functionCall`, `tool` a part
`functionResponse` in a content of the user.""",
    "A tool message has no name. Keep a dict from call id to name while you go through the calls.",
    """\
All results of one turn share a content: make a new one only when the last is the model's. `args`
is `json.loads` of the arguments, and of `{}` where they are an empty text.""",
)

ATTACK_HINTS = (
    "With ids the reader cannot go wrong. Must a packet have ids?",
    "Without ids both results have the same name. The reader takes the first one that is left.",
    "Leave the ids out on both sides, and put the result of todo.txt first.",
)

EXERCISES = (
    Exercise(
        id="5.2-a",
        title="One history, two packets: what is a message on one wire is a part on the other.",
        name="packet",
        check=check_packet,
        hints=PACKET_HINTS,
        solution=PACKET,
        stub=dict.fromkeys(PACKET),
        wrong=(
            Wrong(PACKET | {"openai: messages": 4}, "a message for each of its messages"),
            Wrong(PACKET | {"gemini: contents": 5}, "what is no content at all"),
            Wrong(PACKET | {"gemini: role of a result": "function"}, "there are two"),
            Wrong(PACKET | {"gemini: parts of the model's turn": 2}, "how many calls go into one"),
            Wrong(PACKET | {"openai: names in the results": 2}, "the keys of a `tool` message"),
            Wrong(PACKET | {"gemini: key of the failed result": "output"}, "under `response`"),
            Wrong(PACKET | {"gemini: contents": "three"}, "the value is a number"),
        ),
    ),
    Exercise(
        id="5.2-b",
        title="A translation that the other side accepts, and understands as it was meant.",
        name="to_gemini",
        check=check_to_gemini,
        hints=TO_GEMINI_HINTS,
        solution=to_gemini,
        stub=to_gemini_stub,
        wrong=(
            Wrong(to_gemini_array, 'Unknown name "functionCalls"'),
            Wrong(to_gemini_apart, "number of function response parts"),
            Wrong(to_gemini_text, "function_response.response"),
            Wrong(to_gemini_raw, "function_call.args"),
            Wrong(to_gemini_without_ids, "a call has lost its id"),
            Wrong(to_gemini_one_name, "a name that its call does not have"),
        ),
    ),
    Exercise(
        id="5.2-c",
        title="Where only the place ties a result to its call, a change of places is a lie.",
        name="attack",
        check=check_attack,
        hints=ATTACK_HINTS,
        solution=attack,
        stub=attack_stub,
        wrong=(
            Wrong(attack_with_ids, "the reader is not fooled"),
            Wrong(attack_in_order, "the reader is not fooled"),
            Wrong(attack_one, "Gemini refuses it with 400"),
            Wrong(attack_lie, "Fool the reader with the truth"),
            Wrong(attack_one_file, "one for each of the two files"),
        ),
    ),
)
