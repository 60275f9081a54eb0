"""What a request says, read from its JSON by a few lines that share nothing with the kernel."""

import base64
import hashlib
import itertools
import json
import re
from typing import Any

Meaning = tuple[str, ...]
TURNS_OF_OURS = ("user", "(continued)")
"""Said by the Gemini adapter where the protocol wants a user turn; it means nothing."""


def openai_meaning(body: dict[str, Any]) -> list[Meaning]:
    """What is said, called and answered, in order; calls and results by the number of the call."""
    said: list[Meaning] = []
    numbers: dict[str, str] = {}
    for message in body["messages"]:
        role = {"developer": "system"}.get(message["role"], message["role"])
        for field in ("reasoning_content", "reasoning"):
            if message.get(field) and not message.get("reasoning_details"):
                said.append(("reasoning", message[field]))
                break
        details = message.get("reasoning_details") or []
        said += [("reasoning", json.dumps(detail, sort_keys=True)) for detail in details]
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        if role == "tool":
            said.append(("result", numbers[message["tool_call_id"]], _texts(parts)))
            continue
        said += [_openai_part(role, part) for part in parts if part.get("text") != ""]
        for call in message.get("tool_calls") or []:
            numbers[call["id"]] = str(len(numbers))
            function = call["function"]
            arguments = _as_json(_unwrapped(function["arguments"] or "{}"))
            said.append(("call", numbers[call["id"]], function["name"], arguments))
    return said


def _unwrapped(arguments: str) -> str:
    """What the model wrote, where it is no JSON and was put into an object."""
    try:
        return str(json.loads(arguments)["_raw"])
    except (ValueError, KeyError, TypeError):
        return arguments


def _openai_part(role: str, part: dict[str, Any]) -> Meaning:
    if part["type"] == "text":
        return (role, part["text"])
    if part["type"] == "image_url":
        url = part["image_url"]
        url = url if isinstance(url, str) else url["url"]
        found = re.fullmatch(r"data:(.*?);base64,(.*)", url, re.DOTALL)
        return ("image", found[1], _hash(found[2])) if found else ("image", url)
    return ("opaque", json.dumps(part, sort_keys=True))


def gemini_meaning(body: dict[str, Any]) -> list[Meaning]:
    """The same for Gemini; a result belongs to the call with its id, else to one of its name."""
    instruction = body.get("systemInstruction") or {}
    parts = instruction.get("parts") or []
    parts = [parts] if isinstance(parts, dict) else parts
    said: list[Meaning] = [("system", part["text"]) for part in parts if part.get("text")]
    open_calls: list[tuple[str, str, str]] = []
    count = 0
    for content in body["contents"]:
        for raw in sorted(content["parts"], key=lambda p: "esponse" not in "".join(p)):
            part = camel(raw)
            if call := part.get("functionCall"):
                said.append(("call", str(count), call["name"], _sorted(call.get("args") or {})))
                open_calls.append((call.get("id", ""), call["name"], str(count)))
                count += 1
            elif result := part.get("functionResponse"):
                found = _find(open_calls, result)
                open_calls.remove(found)
                said.append(("result", found[2], _output(result["response"])))
            else:
                said += _gemini_words(content["role"], part)
            if part.get("thoughtSignature"):
                said.append(("signature", part["thoughtSignature"]))
    return said


def _gemini_words(role: str, part: dict[str, Any]) -> list[Meaning]:
    if "text" in part:
        kind = "thought" if part.get("thought") and role == "model" else role
        return [(kind, part["text"])] if part["text"] else []
    inline = camel(part.get("inlineData") or {})
    if inline.get("mimeType", "").startswith("image/"):
        return [("image", inline["mimeType"], _hash(inline["data"]))]
    return [("opaque", _sorted({k: v for k, v in part.items() if k != "thoughtSignature"}))]


def _find(calls: list[tuple[str, str, str]], result: dict[str, Any]) -> tuple[str, str, str]:
    by_id = [call for call in calls if call[0] and call[0] == result.get("id")]
    return (by_id + [call for call in calls if call[1] == result["name"]])[0]


def _output(response: dict[str, Any]) -> str:
    value = response.get("output", response.get("error", response))
    return _as_json(value if isinstance(value, str) else _sorted(value))


def _as_json(text: str) -> str:
    """JSON in one spelling; any other text as it is."""
    try:
        return _sorted(json.loads(text))
    except ValueError:
        return text


def _texts(parts: list[dict[str, Any]]) -> str:
    return _as_json("".join(part["text"] for part in parts))


def joined(said: list[Meaning]) -> list[Meaning]:
    """System messages at the start as one, as the OpenAI adapter sends them."""
    leading = list(itertools.takewhile(lambda meaning: meaning[0] == "system", said))
    texts = "\n\n".join(meaning[1] for meaning in leading)
    return ([("system", texts)] if leading else []) + said[len(leading) :]


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _hash(data: str) -> str:
    return hashlib.sha256(base64.b64decode(data)).hexdigest()


def camel(value: dict[str, Any]) -> dict[str, Any]:
    """Keys in the spelling of the documentation; both are accepted by the server."""
    return {re.sub(r"_(\w)", lambda m: m[1].upper(), key): item for key, item in value.items()}
