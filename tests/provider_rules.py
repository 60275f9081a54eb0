"""What the two providers refuse in a request, written down without the builders that it judges.

Each rule is one reported refusal, in the provider's own words where it has some. A fault is
reported as the text of the refusal; a request without faults gives an empty list.
"""

import re
from typing import Any

from freya_teach.llm.gemini import UNSIGNED

Content = dict[str, Any]

# ---- api.openai.com ------------------------------------------------------------------------


def openai_faults(body: dict[str, Any]) -> list[str]:
    """All faults of a request to /v1/chat/completions."""
    messages = body["messages"]
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    return [
        *_unpaired(messages),
        *("expected a string, got null" for m in messages if _is_null(m)),
        *("empty array" for m in messages if [] in (m.get("content"), m.get("tool_calls"))),
        *(fault for call in calls for fault in _faults_of_call(call)),
        *(["ids are not unique"] if len({call["id"] for call in calls}) < len(calls) else []),
    ]


def _unpaired(messages: list[Any]) -> list[str]:
    """Each result answers a call of the nearest message with calls, before anyone else speaks."""
    faults = []
    waiting: list[str] = []
    for message in [*messages, {"role": "the end"}]:
        if message["role"] != "tool":
            if waiting:
                faults.append("tool_call_ids did not have response messages")
            waiting = [call["id"] for call in message.get("tool_calls") or []]
        elif message["tool_call_id"] in waiting:
            waiting.remove(message["tool_call_id"])
        else:
            faults.append("'tool' must be a response to a preceding message with 'tool_calls'")
    return faults


def _is_null(message: dict[str, Any]) -> bool:
    return message.get("content") is None and not message.get("tool_calls")


def _faults_of_call(call: dict[str, Any]) -> list[str]:
    faults = []
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]):
        faults.append("function.name: string does not match pattern")
    if not isinstance(call["function"]["arguments"], str):
        faults.append("arguments: expected a string")
    if not 1 <= len(call["id"]) <= 40:
        faults.append("id: string too long. Expected a string with maximum length 40")
    return faults


# ---- generativelanguage.googleapis.com -----------------------------------------------------


def gemini_faults(body: dict[str, Any], *, must_be_signed: bool = True) -> list[str]:
    """All faults of a request to generateContent; 3 and later want signatures."""
    contents = body["contents"]
    if not contents:
        return ["contents is not specified"]
    nothing: Content = {"role": "", "parts": []}
    faults = _faults_at_the_ends(contents)
    for before, content, behind in zip(
        [nothing, *contents], contents, [*contents[1:], nothing], strict=False
    ):
        faults += _faults_inside(content) + _faults_between(before, content, behind)
        if must_be_signed:
            faults += _faults_of_signatures(content)
    ids = [id_ for content in contents for id_, _ in named(content, "functionCall")]
    return faults + (["ids are not unique"] if len(set(ids)) < len(ids) else [])


def named(content: Content, kind: str) -> list[tuple[str, str]]:
    """Id and name of each call or result in this content."""
    return [(part[kind]["id"], part[kind]["name"]) for part in content["parts"] if kind in part]


def _faults_at_the_ends(contents: list[Content]) -> list[str]:
    faults = []
    if contents[0]["role"] != "user":
        faults.append("function call turn comes immediately after a user turn")
    if contents[-1]["role"] != "user":
        faults.append("Requests ending with a model turn are not supported")
    return faults


def _faults_inside(content: Content) -> list[str]:
    faults = []
    if content["role"] not in ("user", "model"):
        faults.append("Please use a valid role: user, model.")
    if not content["parts"]:
        faults.append("contents.parts must not be empty")
    if any(map(_has_no_data, content["parts"])):
        faults.append("required oneof field 'data' must have one initialized field")
    names = [
        name for kind in ("functionCall", "functionResponse") for _, name in named(content, kind)
    ]
    if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", name) for name in names):
        faults.append("Invalid function name")
    if len(named(content, "functionResponse")) not in (0, len(content["parts"])):
        faults.append("words beside function responses")
    return faults


def _has_no_data(part: dict[str, Any]) -> bool:
    """Whether a part has no data, more than one, or an empty text that nobody signed."""
    data = [key for key in part if key not in ("thought", "thoughtSignature")]
    return len(data) != 1 or (part.get("text") == "" and "thoughtSignature" not in part)


def _faults_between(before: Content, content: Content, behind: Content) -> list[str]:
    faults = []
    results = named(content, "functionResponse")
    if named(behind, "functionResponse") != named(content, "functionCall"):
        faults.append("number of function response parts is equal to function call parts")
    if results and named(before, "functionCall") != results:
        faults.append("function response turn comes immediately after a function call turn")
    if before["role"] == content["role"] and not results and not named(before, "functionResponse"):
        faults.append("multiturn requests alternate between user and model")
    return faults


def _faults_of_signatures(content: Content) -> list[str]:
    signatures = [p.get("thoughtSignature") for p in content["parts"] if "functionCall" in p]
    faults = []
    if signatures and not signatures[0]:
        faults.append("Function call is missing a thought_signature")
    if UNSIGNED in signatures[1:]:
        faults.append("a stand-in on a call that is not the first")
    return faults
