"""A conversation that changes its provider: nothing is lost, and nobody gets what is another's."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import TranscriptError
from freya_teach.llm import gemini, openai, transcript
from freya_teach.llm.call_arguments import as_object
from freya_teach.llm.gemini import CONTINUED, UNSIGNED
from freya_teach.llm.gemini_messages import read_request as read_gemini
from freya_teach.llm.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    user,
)
from freya_teach.llm.openai_messages import read_request as read_openai
from freya_teach.llm.protocol import ModelRequest, Route
from freya_teach.llm.proxy import Proxy
from freya_teach.llm.wirejson import legal_name
from tests.strategies import valid_histories

OPENAI = Route("openai", "gpt-5.6-terra", "https://api.openai.com")
GEMINI = Route("gemini", "gemini-3.8-flash", "https://generativelanguage.googleapis.com")
BUILD = {"openai": openai.build_request, "gemini": gemini.build_request}
ROUTES = {"openai": OPENAI, "gemini": GEMINI}


def body_for(provider: str, history: tuple[Message, ...]) -> Any:
    return json.loads(BUILD[provider](ModelRequest(history), ROUTES[provider]).body)


def meaning(messages: tuple[Message, ...]) -> list[tuple[str, Any]]:
    """What was said, called, answered and shown, in order; a result stands beside its call.

    The blank line that joins several instructions is not counted.
    """
    results = {m.call_id: m.text for m in messages if isinstance(m, ToolMessage)}
    said: list[tuple[str, Any]] = []
    leading = True
    for message in messages:
        leading = leading and message.role == "system"
        match message:
            case UserMessage() | AssistantMessage():
                for part in message.parts:
                    said += _meant(message.role, part, results)
            case ToolMessage():
                pass
            case _:  # one that comes later is the user's at Gemini
                text = message.text.replace("\n\n", "") if leading else message.text
                said.append(("system" if leading else "user", text))
    return _joined(said)


def _meant(role: str, part: Any, results: dict[str, str]) -> list[tuple[str, Any]]:
    match part:
        case TextPart():
            return [(role, part.text)]
        case ToolCall():
            arguments = json.dumps(as_object(part.arguments))
            return [("call", (part.id, legal_name(part.name), arguments, results[part.id]))]
        case ImagePart():
            return [("image", (part.media_type, part.data))]
    return []


def _joined(said: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Without empty texts and notes of ours; texts that follow each other are one."""
    joined: list[tuple[str, Any]] = []
    for kind, what in said:
        if what in ("", CONTINUED):
            continue
        if joined and isinstance(what, str) and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + what)
        else:
            joined.append((kind, what))
    return joined


@given(valid_histories())
def test_from_openai_to_gemini_and_back_nothing_is_lost(history: list[Message]) -> None:
    first = read_openai(body_for("openai", tuple(history))).messages
    second = read_gemini(body_for("gemini", first)).messages
    third = read_openai(body_for("openai", second)).messages
    assert meaning(second) == meaning(first)
    assert meaning(third) == meaning(first)


@given(valid_histories())
def test_from_gemini_to_openai_and_back_nothing_is_lost(history: list[Message]) -> None:
    first = read_gemini(body_for("gemini", tuple(history))).messages
    second = read_openai(body_for("openai", first)).messages
    third = read_gemini(body_for("gemini", second)).messages
    assert meaning(second) == meaning(first)
    assert meaning(third) == meaning(first)


@given(valid_histories())
def test_a_signature_survives_the_detour_and_openai_never_sees_it(history: list[Message]) -> None:
    before = body_for("gemini", tuple(history))
    body_for("openai", tuple(history))
    longer = (*history, user("And?"), assistant("Yes."), user("Really?"))
    after = body_for("gemini", longer)
    assert _signatures(after) == _signatures(before)
    sent = json.dumps(body_for("openai", longer))
    assert "thoughtSignature" not in sent
    assert "signature-" not in sent


def _signatures(body: Any) -> list[str]:
    parts = [part for content in body["contents"] for part in content["parts"]]
    return [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]


@pytest.mark.parametrize(
    ("model", "stand_in"), [("gemini-3.8-flash", UNSIGNED), ("gemini-2.5-flash", None)]
)
def test_a_strangers_call_gets_the_stand_in_only_where_the_target_demands_one(
    model: str, stand_in: str | None
) -> None:
    calls = ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}")
    history = (user("?"), assistant(*calls), ToolMessage("a", "1"), ToolMessage("b", "2"))
    wire = gemini.build_request(ModelRequest(history), Route("gemini", model, "https://a.example"))
    first, second = json.loads(wire.body)["contents"][1]["parts"]
    assert (first.get("thoughtSignature"), second.get("thoughtSignature")) == (stand_in, None)


# ---- a broken history ----------------------------------------------------------------------


@given(valid_histories(), st.sampled_from(["openai", "gemini"]), st.data())
def test_a_history_with_one_result_lost_doubled_or_moved_is_never_sent(
    history: list[Message], provider: str, at: st.DataObject
) -> None:
    places = [i for i, message in enumerate(history) if isinstance(message, ToolMessage)]
    if not places:
        return
    place = at.draw(st.sampled_from(places))
    result = history.pop(place)
    match at.draw(st.sampled_from(["lost", "doubled", "moved"])):
        case "doubled":
            history[place:place] = [result, result]
        case "moved":
            history.append(user("?"))
            history.append(result)

    def refuse(_: httpx.Request) -> httpx.Response:
        raise AssertionError("it was sent")

    http = httpx.AsyncClient(transport=httpx.MockTransport(refuse))
    proxy = Proxy((ROUTES[provider],), http, Settings(), Ambient())
    asking = proxy.complete(ModelRequest(tuple(history)))
    with pytest.raises(TranscriptError, match=r"message \d+"):
        asking.send(None)  # nothing is waited for before the history is looked at


def test_closing_the_open_calls_makes_such_a_history_sendable_again() -> None:
    calls = ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}")
    history: tuple[Message, ...] = (user("?"), assistant(*calls), ToolMessage("b", "2"))
    closed = (*history, *transcript.close_open_calls(history))
    for provider in BUILD:
        assert "was lost" in json.dumps(body_for(provider, closed))
