"""What OpenAI refuses in messages: each for itself, and in their order. (chapter 5.1)"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from freya_teach.lab.gateway.openai_wire import (
    bad_role,
    empty_array,
    missing,
    no_messages,
    refusal,
    too_long,
    wrong_type,
)
from freya_teach.lab.gateway.request import Body, Request
from freya_teach.lab.gateway.rule import Rule
from freya_teach.lab.gateway.wire import Refused, mapping, mappings, text_of

MAX_ID = 40
ROLES = {"system", "developer", "user", "assistant", "tool", "function"}

# ---- messages one by one -------------------------------------------------------------------


def _some_messages(request: Request) -> None:
    if not isinstance(request.body.get("messages"), list):
        raise no_messages()
    if not request.messages:
        raise empty_array("messages")


def _roles(request: Request) -> None:
    for n, message in enumerate(request.messages):
        if message.get("role") not in ROLES:
            raise bad_role(message.get("role"), n)
        if request.generation.refuses_system and message["role"] == "system":
            place = f"messages[{n}].role"
            says = f"Unsupported value: '{place}' does not support 'system' with this model."
            raise refusal(says, place, "unsupported_value")


def _content(request: Request) -> None:
    for n, message in enumerate(request.messages):
        content = message.get("content")
        if isinstance(content, str):
            continue
        if content is None and not _speaks_otherwise(message):
            says = "Invalid value for 'content': expected a string, got null."
            raise refusal(says, f"messages.[{n}].content")
        if content == []:
            raise empty_array(f"messages[{n}].content")
        if content is not None and not isinstance(content, list):
            raise wrong_type(
                f"messages[{n}].content", "one of a string or array of objects", content
            )


def _speaks_otherwise(message: Body) -> bool:
    return message["role"] == "assistant" and any(
        message.get(name) is not None
        for name in ("tool_calls", "function_call", "refusal", "audio")
    )


def _audio_where_it_is_heard(request: Request) -> None:
    if request.generation.hears:
        return
    for n, message in enumerate(request.messages):
        if any(part.get("type") == "input_audio" for part in mappings(message.get("content"))):
            says = "Content blocks are expected to be either text or image_url type."
            raise refusal(f"Invalid 'messages[{n}]'. {says}", f"messages[{n}]", "invalid_value")


def _calls(request: Request) -> Iterator[tuple[str, Body]]:
    """Every tool call with its place."""
    for n, message in enumerate(request.messages):
        for c, call in enumerate(mappings(message.get("tool_calls"))):
            yield f"messages[{n}].tool_calls[{c}]", call


def _calls_are_whole(request: Request) -> None:
    for n, message in enumerate(request.messages):
        if message.get("tool_calls") == []:
            raise empty_array(f"messages[{n}].tool_calls")
    for place, call in _calls(request):
        for name in ("id", "type"):
            if name not in call:
                raise missing(f"{place}.{name}")
        function = mapping(call.get("function"))
        for name in ("name", "arguments"):
            if call["type"] == "function" and name not in function:
                raise missing(f"{place}.function.{name}")


def _ids_are_short(request: Request) -> None:
    for place, call in _calls(request):
        if len(text_of(call.get("id"))) > MAX_ID:
            raise too_long(f"{place}.id", call["id"], MAX_ID)
    for n, message in enumerate(request.messages):
        if len(text_of(message.get("tool_call_id"))) > MAX_ID:
            raise too_long(f"messages[{n}].tool_call_id", message["tool_call_id"], MAX_ID)


def _arguments_are_text(request: Request) -> None:
    for place, call in _calls(request):
        arguments = mapping(call.get("function")).get("arguments", "")
        if not isinstance(arguments, str):
            raise wrong_type(f"{place}.function.arguments", "a string", arguments)


# ---- messages in their order ---------------------------------------------------------------


def _order(request: Request) -> None:
    """Results answer the nearest calls, all of them, before anybody else speaks."""
    called: list[str] = []
    waiting: list[str] = []
    for n, message in enumerate(request.messages):
        if message.get("role") == "tool":
            answered = _answered(message, n, called)
            waiting = [each for each in waiting if each != answered]
            continue
        if waiting:
            raise _unanswered(waiting, n)
        called = [text_of(call.get("id")) for call in mappings(message.get("tool_calls"))]
        waiting = list(called)
    if waiting:
        raise _unanswered(waiting, len(request.messages))


def _answered(message: Body, n: int, called: list[str]) -> str:
    """The id of the call that a tool message answers; refuses one that answers none."""
    if not called:
        says = (
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'."
        )
        raise refusal(says, f"messages.[{n}].role")
    if "tool_call_id" not in message:
        raise missing(f"messages[{n}].tool_call_id")
    answered = text_of(message["tool_call_id"])
    if answered not in called:
        says = (
            f"Invalid parameter: 'tool_call_id' of '{answered}' not found in 'tool_calls' of "
            "previous message."
        )
        raise refusal(says, f"messages.[{n}].tool_call_id")
    return answered


def _unanswered(waiting: list[str], n: int) -> Refused:
    says = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
    )
    return refusal(says + ", ".join(waiting), f"messages.[{n}].role")


def _one_result_per_call(request: Request) -> None:
    seen: dict[str, int] = {}
    for n, message in enumerate(request.messages):
        if message.get("role") != "tool" or "tool_call_id" not in message:
            continue
        call_id = text_of(message["tool_call_id"])
        if call_id in seen:
            says = (
                f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call_id}', in "
                f"messages[{seen[call_id]}] and messages[{n}]."
            )
            raise refusal(says, f"messages.[{n}].tool_call_id")
        seen[call_id] = n


# ---- the list ------------------------------------------------------------------------------

_rule = partial(Rule, "openai")

MESSAGE_RULES: tuple[Rule, ...] = (
    _rule("messages.some", "There is at least one message.",
          "OpenAI's text, quoted with its envelope in public cassettes", _some_messages,
          everywhere=True),
    _rule("messages.role", "A role is system, developer, user, assistant or tool.",
          "OpenAI's text, quoted with its envelope; o1-mini: pydantic-ai's recordings", _roles,
          everywhere=True),
    _rule("messages.content", "Only an assistant message with calls may have no content.",
          "run-llama/llama_index#17921; openai/openai-node#1341; coze-dev/coze-studio#2317",
          _content),
    _rule("messages.audio", "Only audio models listen.", "recorded: gpt-5-mini, 400",
          _audio_where_it_is_heard),
    _rule("calls.whole", "A list of calls is not empty, and a call has id, type, name, arguments.",
          "openai/openai-node#1341; form of openai/openai-cookbook#1248", _calls_are_whole),
    _rule("calls.id", "The id of a call has at most 40 characters.",
          "vercel/ai#5171, agno-agi/agno#5382", _ids_are_short),
    _rule("calls.arguments", "Arguments are text that holds JSON, not an object.",
          "aaif-goose/goose-mobile#20", _arguments_are_text),
)  # fmt: skip

ORDER_RULES: tuple[Rule, ...] = (
    _rule("order.results", "A call's result comes once.",
          "agno-agi/agno#5116, for neighbours; over the whole history: ours",
          _one_result_per_call),
    _rule("order.pairs", "All calls of a message are answered by the tool messages right after it.",
          "miurla/morphic#136; router-for-me/CLIProxyAPI#2798; OpenAI's text, quoted", _order,
          everywhere=True),
)  # fmt: skip
