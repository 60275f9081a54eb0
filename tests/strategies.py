"""Hypothesis strategies: conversations as a history may hold them, JSON as servers may send it."""

import copy
from collections.abc import Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from freya_teach.llm.messages import (
    AssistantPart,
    ImagePart,
    Message,
    ProviderData,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
)
from freya_teach.llm.transcript import assign_ids

# A slow machine is no fault of what is tested.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
"""With characters of every plane, control characters and halves of surrogate pairs."""
NAMES = st.sampled_from(["get_weather", "calculate", "functions.get weather", "天气", "", "x" * 70])
ARGUMENTS = st.sampled_from(
    ["", "  ", "{}", '{"city": "北京"}', '{"cut": ', "[1]", "null", '{"n": NaN}', '{"n": 1e999}']
)
RAW_IDS = st.sampled_from(["", "call_1", "call_2", "search:0", "i" * 40, "i" * 64])
ISSUERS = st.sampled_from(["openai", "gemini"])


@st.composite
def valid_histories(draw: st.DrawFn) -> list[Message]:
    """A history in which each call has its result; it may begin and end with anything."""
    messages: list[Message] = list(draw(st.lists(st.builds(SystemMessage, ANY_TEXT), max_size=3)))
    used_ids: set[str] = set()
    for _ in range(draw(st.integers(0, 6))):
        match draw(st.sampled_from(["user", "assistant", "tools", "system"])):
            case "user":
                messages.append(UserMessage(tuple(draw(st.lists(user_parts(), max_size=3)))))
            case "system":
                messages.append(SystemMessage(draw(ANY_TEXT)))
            case "assistant":
                parts = draw(st.lists(word_parts(), max_size=3))
                messages.append(assistant(*parts))
            case "tools":
                messages += draw(_tool_turns(used_ids))
    return _with_own_signatures(messages)


@st.composite
def _tool_turns(draw: st.DrawFn, used_ids: set[str]) -> list[Message]:
    """An assistant message with calls, and their results in the order in which they finished."""
    issuer = draw(ISSUERS)
    calls = draw(st.lists(st.builds(ToolCall, RAW_IDS, NAMES, ARGUMENTS), min_size=1, max_size=4))
    if issuer == "gemini" and draw(st.booleans()):  # Gemini signs the first call of a turn only
        signature = ProviderData("gemini", {"signature": "to be numbered"})
        calls[0] = ToolCall(calls[0].id, calls[0].name, calls[0].arguments, signature)
    message = assign_ids(
        assistant(*draw(st.lists(word_parts(), max_size=2)), *calls), used_ids, issuer
    )
    results = [
        ToolMessage(call.id, draw(ANY_TEXT), draw(st.booleans())) for call in message.tool_calls
    ]
    return [message, *draw(st.permutations(results))]


def user_parts() -> st.SearchStrategy[TextPart | ImagePart]:
    """What a user message holds. An image has its bytes: Gemini takes no addresses."""
    images = st.builds(ImagePart, st.just("image/png"), st.binary(min_size=1, max_size=8))
    return st.builds(TextPart, ANY_TEXT) | images


def word_parts() -> st.SearchStrategy[AssistantPart]:
    """Text and reasoning, plain or with what one provider attached to it."""
    attached = st.sampled_from(
        [
            ProviderData("", {}),
            ProviderData("gemini", {"signature": "to be numbered"}),
            ProviderData("openai", {"field": "reasoning_content"}),
            ProviderData("openai", {"detail": {"type": "reasoning.encrypted", "data": "x"}}),
        ]
    )
    return st.builds(TextPart, ANY_TEXT, attached) | st.builds(ReasoningPart, ANY_TEXT, attached)


def _with_own_signatures(messages: list[Message]) -> list[Message]:
    """Number the signatures, so that a test can tell which part each belongs to."""
    number = 0
    done: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            parts: list[AssistantPart] = []
            for part in message.parts:
                if "signature" in part.provider_data.data:
                    number += 1
                    part = _signed(part, f"signature-{number}")  # noqa: PLW2901 - the same part
                parts.append(part)
            message = assistant(*parts)  # noqa: PLW2901 - the same message
        done.append(message)
    return done


def _signed(part: AssistantPart, signature: str) -> AssistantPart:
    data = ProviderData(
        part.provider_data.issuer, {**part.provider_data.data, "signature": signature}
    )
    match part:
        case ToolCall():
            return ToolCall(part.id, part.name, part.arguments, data)
        case TextPart():
            return TextPart(part.text, data)
        case ReasoningPart():
            return ReasoningPart(part.text, data)


# ---- JSON ----------------------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.integers()
    | st.floats()
    | ANY_TEXT
    | st.sampled_from(["STOP", "stop", "tool_calls", "{}", '{"a":'])
)


def json_values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Any JSON value, whose objects mostly have these keys: a chunk gone wrong."""
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
        max_leaves=12,
    )


REPLACEMENTS = json_values(
    st.sampled_from(
        [
            *["error", "code", "message", "choices", "delta", "content", "text", "tool_calls"],
            *["index", "id", "name", "function", "arguments", "candidates", "parts", "usage"],
            *["functionCall", "args", "thought", "thoughtSignature", "finishReason", "details"],
        ]
    )
)


@st.composite
def mutations(draw: st.DrawFn, value: Any) -> Any:
    """The value with up to three places in it replaced, removed or doubled."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        paths = [path for path in _paths(value) if path]
        if not paths:
            return draw(REPLACEMENTS)
        *way, last = draw(st.sampled_from(paths))
        parent = value
        for step in way:
            parent = parent[step]
        change = draw(st.sampled_from(["replace", "remove", "double"]))
        if change == "replace":
            parent[last] = draw(REPLACEMENTS)
        elif change == "remove":
            del parent[last]
        elif isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
    return value


def keys_in(value: Any) -> set[str]:
    """All keys of all objects in a JSON value."""
    if isinstance(value, Mapping):
        return set(value) | {key for item in value.values() for key in keys_in(item)}
    return {key for item in value for key in keys_in(item)} if isinstance(value, list) else set()


def _paths(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        inner = [path for key, item in value.items() for path in _paths(item, (*way, key))]
    elif isinstance(value, list):
        inner = [path for place, item in enumerate(value) for path in _paths(item, (*way, place))]
    else:
        inner = []
    return [way, *inner]


@st.composite
def cuts(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The same bytes in any number of pieces, some of them empty."""
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
