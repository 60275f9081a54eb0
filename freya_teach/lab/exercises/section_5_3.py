"""Section 5.3: repair an adapter, sort failures, fool whoever sorts by words. (chapter 5.3)"""

from __future__ import annotations

import json
from typing import Any

import httpx

from freya_teach.config import BASE_URLS, MODELS
from freya_teach.errors import LLMError, RequestRefused
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Wrong, expect
from freya_teach.lab.gateway import Question, answer, gateway
from freya_teach.lab.gateway.gemini_wire import signature
from freya_teach.lab.gateway.refusing import (
    bad_key,
    model_gone,
    overloaded,
    quota_exhausted,
    rate_limited,
    server_error,
)
from freya_teach.lab.gateway.trouble import Trouble
from freya_teach.lab.gateway.wire import mapping, mappings
from freya_teach.llm.messages import Json
from freya_teach.llm.refusal import raise_for_error

Body = dict[str, Json]
GEMINI = f"{BASE_URLS['gemini']}/v1beta/models/{MODELS['gemini']}:generateContent"
OPENAI = f"{BASE_URLS['openai']}/v1/chat/completions"

# ---- 5.3-a, repair: an adapter that loses and copies -----------------------------------------


def lossy_body(history: list[Body]) -> Body:
    """The adapter under repair, as in the notebook."""
    told = next((m["text"] for m in history if m["role"] == "system"), "")
    contents = [lossy_content(m) for m in history if m["role"] != "system"]
    return {"systemInstruction": {"parts": [{"text": told}]}, "contents": contents}


def lossy_content(message: Body) -> Body:
    """One message; the signature of a turn goes to each of its calls."""
    if message["role"] == "user":
        return {"role": "user", "parts": [{"text": message["text"]}]}
    if message["role"] == "tool":
        return {"role": "user", "parts": [result_part(message)]}
    seal = next((c["signature"] for c in message["calls"] if c.get("signature")), "")
    parts = [call_part(call, seal) for call in message["calls"]]
    return {"role": "model", "parts": parts}


def call_part(call: Body, seal: str = "") -> Body:
    """A call as a part, with a signature where there is one."""
    part: Body = {"functionCall": {key: call[key] for key in ("id", "name", "args")}}
    return {**part, "thoughtSignature": seal} if seal else part


def result_part(message: Body) -> Body:
    """A result as a part."""
    response = {"output": message["text"]}
    found = {"id": message["id"], "name": message["name"], "response": response}
    return {"functionResponse": found}


def _system(text: str) -> Body:
    return {"role": "system", "text": text}


def _call(call_id: str, path: str, seal: str = "") -> Body:
    call = {"id": call_id, "name": "read_file", "args": {"path": path}}
    return {**call, "signature": seal} if seal else call


def _result(call_id: str, text: str) -> Body:
    return {"role": "tool", "id": call_id, "name": "read_file", "text": text}


_USER: Body = {"role": "user", "text": "What is in notes.txt and in todo.txt?"}
_ONE: Body = {"role": "assistant", "calls": [_call("fc1", "notes.txt", signature("fc1"))]}
_TWO: Body = {"role": "assistant", "calls": [*_ONE["calls"], _call("fc2", "todo.txt")]}
_NEXT: Body = {"role": "assistant", "calls": [_call("fc3", "more.txt", signature("fc3"))]}
_BOTH = [_USER, _TWO, _result("fc1", "1. tidy"), _result("fc2", "2. test")]
LATE = "You have reached the limit of turns. Answer now."

HISTORIES: dict[str, list[Body]] = {
    "one call": [_system("Be brief."), _USER, _ONE, _result("fc1", "1. tidy")],
    "two calls": [_system("Be brief."), *_BOTH],
    "two system messages": [_system("Be brief."), _system("Speak English."), _USER],
    "two steps": [_system("Be brief."), *_BOTH, _NEXT, _result("fc3", "3. rest")],
    "a late system message": [_system("Be brief."), *_BOTH, _system(LATE)],
}


async def check_whole_body(whole_body: Answer) -> None:
    """Gemini takes every history, and nothing of it is lost, copied or moved."""
    for name, history in HISTORIES.items():
        body = await whole_body.call(history)
        expect(
            isinstance(body, dict) and isinstance(body.get("contents"), list),
            f"{name}: a body is wanted, a dict with `contents` and `systemInstruction`.",
            received=body,
        )
        status, said, question = await _ask_gemini(body)
        expect(status == 200, f"{name}: Gemini refuses it with {status}: {said}")
        assert question is not None
        _check_signatures(name, history, body)
        _check_words(name, history, question)
        _check_apart(name, body)


async def _ask_gemini(body: Body) -> tuple[int, str, Question | None]:
    """The status, the words of a refusal, and what the model has seen."""
    other_end = gateway(lambda _: answer("Thank you."))
    async with other_end.client() as http:
        response = await http.post(GEMINI, content=_json(body))
    said = mapping(response.json().get("error")).get("message", "").strip()
    return response.status_code, said, other_end.asked[-1] if other_end.asked else None


def _json(body: object) -> str:
    try:
        return json.dumps(body)
    except (TypeError, ValueError):
        raise NotYet("this cannot be written as JSON.") from None


def _parts(body: Body) -> list[list[Body]]:
    return [mappings(mapping(content).get("parts")) for content in body["contents"]]


def _check_signatures(name: str, history: list[Body], body: Body) -> None:
    calls = [call for message in history for call in message.get("calls", [])]
    kept = {call["id"]: call.get("signature", "") for call in calls}
    sent = {
        part["functionCall"].get("id", ""): part.get("thoughtSignature", "")
        for parts in _parts(body)
        for part in parts
        if "functionCall" in part
    }
    expect(
        sent == kept,
        f"{name}: a call has not the signature that it came with, or has one that is not its own.",
        received={call_id: bool(seal) for call_id, seal in sent.items()},
    )


def _check_words(name: str, history: list[Body], question: Question) -> None:
    roles = [message["role"] for message in history]
    first = next(i for i, role in enumerate(roles) if role != "system")
    told = " ".join(said.text for said in question.said if said.role == "system")
    for message in history[:first]:
        expect(
            message["text"] in told,
            f"{name}: of the instructions at the start, the model does not get "
            f"{message['text']!r}.",
            received=told,
        )
    late = [message["text"] for message in history[first:] if message["role"] == "system"]
    heard = [said.text for said in question.said if said.role == "user"]
    for text in late:
        expect(
            any(text in each for each in heard) or text in told,
            f"{name}: the system message that came late is lost. No error tells of it.",
            received=heard,
        )
        expect(
            text in heard[-1],
            f"{name}: the late system message has moved to the start. It was said after the "
            "results, and is about them: let it be a text of the user, at its place.",
        )


def _check_apart(name: str, body: Body) -> None:
    for parts in _parts(body):
        kinds = {"functionResponse" in part for part in parts}
        expect(
            len(kinds) < 2,
            f"{name}: words stand in one content with results. Some models then answer nothing "
            "(pydantic/pydantic-ai#4210): give them a content of their own.",
        )


def whole_body(history: list[Body]) -> Body:
    """One way to write it."""
    told: list[Body] = []
    contents: list[Body] = []
    before = ""
    for message in history:
        role = message["role"]
        if role == "system" and not contents:
            told.append({"text": message["text"]})
        elif role == "assistant":
            parts = [call_part(call, call.get("signature", "")) for call in message["calls"]]
            contents.append({"role": "model", "parts": parts})
        elif role == "tool" and before == "tool":
            contents[-1]["parts"].append(result_part(message))
        elif role == "tool":
            contents.append({"role": "user", "parts": [result_part(message)]})
        else:  # the user, or a late system message
            contents.append({"role": "user", "parts": [{"text": message["text"]}]})
        before = role
    return {"systemInstruction": {"parts": told}, "contents": contents}


def whole_body_stub(history: list[Body]) -> None:
    """As it stands in the notebook."""
    return None


def whole_body_stripped(history: list[Body]) -> Body:
    """Leaves all signatures out."""
    body = whole_body(history)
    for content in body["contents"]:
        for part in content["parts"]:
            part.pop("thoughtSignature", None)
    return body


def whole_body_copied(history: list[Body]) -> Body:
    """Has grouped the results, and still copies."""
    body = whole_body(history)
    for content in body["contents"]:
        seals = [p["thoughtSignature"] for p in content["parts"] if "thoughtSignature" in p]
        for part in content["parts"]:
            if "functionCall" in part and seals:
                part["thoughtSignature"] = seals[0]
    return body


def whole_body_first_only(history: list[Body]) -> Body:
    """Keeps the first system message and no other."""
    body = whole_body(history)
    body["systemInstruction"]["parts"] = body["systemInstruction"]["parts"][:1]
    return body


def whole_body_deaf(history: list[Body]) -> Body:
    """Takes the instructions at the start, and drops what comes late."""
    late = [m for m in history[2:] if m["role"] == "system"]
    return whole_body([m for m in history if m not in late])


def whole_body_hoisting(history: list[Body]) -> Body:
    """Moves every system message to the start."""
    return whole_body(sorted(history, key=lambda message: message["role"] != "system"))


def whole_body_mixed(history: list[Body]) -> Body:
    """Puts a late message into the content of the results."""
    body = whole_body(history)
    if len(body["contents"]) > 1 and "text" in body["contents"][-1]["parts"][0]:
        last = body["contents"].pop()
        body["contents"][-1]["parts"] += last["parts"]
    return body


# ---- 5.3-b, extend: wait, next or stop -------------------------------------------------------

CHOICES = ("wait", "next", "stop")
_REFUSED: Body = {
    "message": "Unrecognized request argument supplied: billing_quota",
    "type": "invalid_request_error",
    "param": None,
    "code": None,
}
TROUBLES: tuple[tuple[str, str, str, Trouble], ...] = (
    ("OpenAI's 429 that passes", OPENAI, "wait", rate_limited(retry_after=2)),
    ("Gemini's 429 for the minute", GEMINI, "wait", rate_limited(retry_after=12.5)),
    ("OpenAI's 429 without money", OPENAI, "next", quota_exhausted()),
    ("Gemini's 429 for the day", GEMINI, "next", quota_exhausted()),
    ("OpenAI's 401", OPENAI, "next", bad_key()),
    ("Gemini's 400 for a wrong key", GEMINI, "next", bad_key()),
    ("OpenAI's 503", OPENAI, "wait", overloaded()),
    ("Gemini's 500", GEMINI, "wait", server_error()),
    ("a model that is gone", OPENAI, "next", model_gone()),
)


async def check_what_next(what_next: Answer) -> None:
    """Each body is the provider's own; the answer is what one does about it."""
    for name, url, right, trouble in TROUBLES:
        status, body = await _refused_by(url, trouble)
        await _expect_choice(what_next, name, right, status, body)
    fault = "OpenAI's 400 for a field that it does not know"
    await _expect_choice(what_next, fault, "stop", 400, {"error": _REFUSED})


async def _refused_by(url: str, trouble: Trouble) -> tuple[int, Body]:
    asked: Body = {"model": MODELS["openai"], "messages": [{"role": "user", "content": "Hi"}]}
    other_end = gateway(lambda _: answer(""), troubles=[trouble])
    async with other_end.client() as http:
        response = await http.post(url, json=asked)
    return response.status_code, response.json()


async def _expect_choice(what_next: Answer, name: str, right: str, status: int, body: Body) -> None:
    received = await what_next.call(status, body)
    expect(
        received in CHOICES,
        f"{name}: the answer is one of {', '.join(CHOICES)}.",
        received=received,
    )
    expect(received == right, f"{name}: {_why(received, right)}", received=received)


def _why(received: str, right: str) -> str:
    """What a wrong choice would do."""
    match received, right:
        case "next", "wait":
            return "this passes by itself in a moment. Its words may sound worse than its fields."
        case "wait", "next":
            return "no waiting helps here, and somebody else can answer."
        case "stop", "next":
            return "the request was right; it is the key, the account or the model that is not."
        case "stop", "wait":
            return "the request was right, and the provider will be back."
    return "the request is at fault. Whoever else takes it hides the fault."


def what_next(status: int, body: Body) -> str:
    """One way to write it: symbols first, then the status; words never."""
    error = body["error"]
    symbols = [error.get("code"), error.get("type"), error.get("status")]
    for detail in error.get("details", []):
        symbols.append(detail.get("reason"))
        symbols += [each.get("quotaId") for each in detail.get("violations", [])]
    marks = ("insufficient_quota", "PerDay", "API_KEY_INVALID")
    if any(mark in str(symbol) for symbol in symbols for mark in marks):
        return "next"
    if status in (401, 403, 404):
        return "next"
    return "wait" if status == 429 or status >= 500 else "stop"


def what_next_stub(status: int, body: Body) -> None:
    """As it stands in the notebook."""
    return None


def what_next_by_words(status: int, body: Body) -> str:
    """Reads the message, as the lesson's `by_words` does."""
    text = body["error"]["message"].lower()
    if any(word in text for word in ("quota", "billing", "api key", "exist", "found")):
        return "next"
    return "wait" if status == 429 or status >= 500 else "stop"


def what_next_by_status(status: int, body: Body) -> str:
    """Looks at the status only."""
    if status in (401, 403, 404):
        return "next"
    return "wait" if status == 429 or status >= 500 else "stop"


def what_next_key_blind(status: int, body: Body) -> str:
    """Does not know that Gemini's wrong key is a 400."""
    return "stop" if status == 400 else what_next(status, body)


def what_next_never_stops(status: int, body: Body) -> str:
    """Asks somebody else whenever it is not sure."""
    chosen = what_next(status, body)
    return "next" if chosen == "stop" else chosen


def what_next_impatient(status: int, body: Body) -> str:
    """Gives a provider up that has one bad moment."""
    return "stop" if status >= 500 else what_next(status, body)


def what_next_bool(status: int, body: Body) -> bool:
    """Answers yes or no."""
    return status == 429


# ---- 5.3-c, attack: a refusal that sounds like another ---------------------------------------

OFF_WORDS = ("quota", "billing", "insufficient")


def by_words(text: str) -> str:
    """The sorting under attack, as in the notebook."""
    return "off for good" if any(word in text.lower() for word in OFF_WORDS) else "goes on"


async def check_attack(attack: Answer) -> None:
    """OpenAI refuses the body for a plain fault, and the words say that the account is empty."""
    body = await attack.call()
    expect(isinstance(body, dict), "give back the body of a request, as a dict.", received=body)
    async with gateway(lambda _: answer("Thank you.")).client() as http:
        response = await http.post(OPENAI, content=_json(body))
    expect(
        response.status_code >= 400,
        "OpenAI answers it. What a user says is quoted in no answer; put the word where it makes "
        "the request faulty.",
    )
    text = response.json()["error"]["message"]
    expect(
        by_words(text) == "off for good",
        "it is refused, and by_words is not fooled: the text quotes nothing of yours that it "
        "listens for.",
        received=text,
    )
    expect(
        isinstance(_read(response), RequestRefused),
        "the words fool it, but the route is at fault here as well: asking somebody else would be "
        "right. Find a fault that is the request's own, a 400.",
        received=text,
    )


def _read(response: httpx.Response) -> LLMError | None:
    """What the kernel makes of the answer."""
    try:
        raise_for_error("openai", response.status_code, response.json())
    except LLMError as problem:
        return problem
    return None


def _question(**more: Any) -> Body:
    return {"model": MODELS["openai"], "messages": [{"role": "user", "content": "Hi"}], **more}


def attack() -> Body:
    """One way to do it: a field that the provider does not know, which it then names."""
    hello = {"role": "user", "content": "Hello"}
    return {"model": "gpt-5.6-terra", "messages": [hello], "billing": "project-7"}


def attack_stub() -> None:
    """As it stands in the notebook."""
    return None


def attack_polite() -> Body:
    """Says the word in a message, which is answered."""
    return _question(messages=[{"role": "user", "content": "Is my quota used up?"}])


def attack_dull() -> Body:
    """Is refused, and quotes nothing."""
    return _question(messages=[])


def attack_model() -> Body:
    """Names a model that there is not."""
    return _question(model="gpt-4-billing-helper")


def attack_text() -> str:
    """Gives back words."""
    return "You exceeded your current quota."


WHOLE_BODY_HINTS = (
    """\
Three things are wrong, and Gemini tells of two. Run `lossy_body` on a history with two calls and
read the refusal; then mend one thing at a time.""",
    """\
A signature is stored with its call: `call_part(call, call.get('signature', ''))`. A result that
follows a result goes into the same content.""",
    """\
System messages before all contents become parts of `systemInstruction`, all of them. A later one
becomes a content of the user, in its place.""",
)

WHAT_NEXT_HINTS = (
    """\
Collect the symbols of a body first: `code`, `type`, `status`, and in `details` the `reason` and
each violation's `quotaId`.""",
    """\
`insufficient_quota`, a quota id with `PerDay`, `API_KEY_INVALID`: decide by these before you look
at the status. Both kinds of 429 have the same status.""",
    """\
After the symbols: 401, 403 and 404 are for the next route; 429 and 500 upwards are worth a wait;
the rest is the request's own fault.""",
)

ATTACK_HINTS = (
    """\
A provider quotes what it does not understand: a field, a role, an id. Which of them is yours to
name?""",
    "Add a field to a good request. The refusal names it.",
)

EXERCISES = (
    Exercise(
        id="5.3-a",
        title="Nothing lost, nothing copied, nothing moved: the adapter only translates.",
        name="whole_body",
        check=check_whole_body,
        hints=WHOLE_BODY_HINTS,
        solution=whole_body,
        stub=whole_body_stub,
        wrong=(
            Wrong(lossy_body, "number of function response parts"),
            Wrong(whole_body_stripped, "missing a thought_signature"),
            Wrong(whole_body_copied, "Corrupted thought signature"),
            Wrong(whole_body_first_only, "of the instructions at the start"),
            Wrong(whole_body_deaf, "that came late is lost"),
            Wrong(whole_body_hoisting, "has moved to the start"),
            Wrong(whole_body_mixed, "words stand in one content with results"),
        ),
    ),
    Exercise(
        id="5.3-b",
        title="Status, type and code say what to do; the words are for people.",
        name="what_next",
        check=check_what_next,
        hints=WHAT_NEXT_HINTS,
        solution=what_next,
        stub=what_next_stub,
        wrong=(
            Wrong(what_next_by_words, "sound worse than its fields"),
            Wrong(what_next_by_status, "no waiting helps here"),
            Wrong(what_next_key_blind, "it is the key, the account or the model"),
            Wrong(what_next_never_stops, "hides the fault"),
            Wrong(what_next_impatient, "the provider will be back"),
            Wrong(what_next_bool, "one of wait, next, stop"),
        ),
    ),
    Exercise(
        id="5.3-c",
        title="Who sorts failures by words can be told what to do by whoever writes the request.",
        name="attack",
        check=check_attack,
        hints=ATTACK_HINTS,
        solution=attack,
        stub=attack_stub,
        wrong=(
            Wrong(attack_polite, "OpenAI answers it"),
            Wrong(attack_dull, "by_words is not fooled"),
            Wrong(attack_model, "the route is at fault here as well"),
            Wrong(attack_text, "the body of a request"),
        ),
    ),
)
