"""What OpenAI refuses: the list, and what concerns the key, the model, the fields. (chapter 5.2)

Each check is one refusal with the provider's own words; `RULES` at the end is the list, in the
order in which it is gone through. What is said of messages is in `openai_message_rules.py`, what
is said of tools in `openai_tool_rules.py`.
"""

from __future__ import annotations

import re
from functools import partial

from freya_teach.lab.gateway.openai_message_rules import MESSAGE_RULES, ORDER_RULES
from freya_teach.lab.gateway.openai_tool_rules import RULES as TOOL_RULES
from freya_teach.lab.gateway.openai_wire import refusal
from freya_teach.lab.gateway.request import Request
from freya_teach.lab.gateway.rule import Rule
from freya_teach.lab.gateway.wire import Refused, count_tokens

OWN_NAMES = re.compile(r"gpt-\d|chatgpt-|o\d")
"""Models that begin so are OpenAI's, whoever serves them."""
KNOWN = """
    messages model audio frequency_penalty function_call functions logit_bias logprobs
    max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls
    prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention
    reasoning_effort response_format safety_identifier seed service_tier stop store stream
    stream_options temperature tool_choice tools top_logprobs top_p user verbosity
    web_search_options
"""
FIELDS = frozenset(KNOWN.split())
NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header "
    "using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with "
    "blank username) if you're accessing the API from your browser and are prompted for a "
    "username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys."
)

# ---- who asks, and whom --------------------------------------------------------------------


def _key(request: Request) -> None:
    if not request.keys or request.key in request.keys:
        return
    if not request.key:
        raise refusal(NO_KEY, status=401)
    shown = f"{request.key[:5]}***{request.key[-2:]}" if len(request.key) > 8 else "***"
    where = "You can find your API key at https://platform.openai.com/account/api-keys."
    message = f"Incorrect API key provided: {shown}. {where}"
    raise refusal(message, code="invalid_api_key", status=401)


def _model_is_known(request: Request) -> None:
    """A server of somebody else may have a model of any name; only OpenAI's own may not."""
    if request.generation.name != "compatible":
        return
    if request.host == "api.openai.com" or OWN_NAMES.match(request.model):
        message = f"The model `{request.model}` does not exist or you do not have access to it."
        raise refusal(message, code="model_not_found", status=404)


def _model_is_not_retired(request: Request) -> None:
    if request.generation.retired:
        where = "https://platform.openai.com/docs/deprecations"
        message = f"The model `{request.model}` has been deprecated, learn more here: {where}"
        raise refusal(message, code="model_not_found", status=404)


def _model_is_for_chat(request: Request) -> None:
    if request.generation.responses_only:
        message = "This model is only supported in v1/responses and not in v1/chat/completions."
        raise refusal(message, "model", status=404)


# ---- the other fields ----------------------------------------------------------------------


def _known_fields(request: Request) -> None:
    unknown = [name for name in request.body if name not in FIELDS]
    if "reasoning_effort" in request.body and not request.generation.reasons:
        unknown.append("reasoning_effort")
    if unknown:
        several = "s" if len(unknown) > 1 else ""
        raise refusal(f"Unrecognized request argument{several} supplied: {', '.join(unknown)}")


def _usage_in_streams_only(request: Request) -> None:
    if request.body.get("stream_options") is not None and request.body.get("stream") is not True:
        says = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise refusal(says, "stream_options")


def _max_tokens_has_a_new_name(request: Request) -> None:
    if request.generation.reasons and request.body.get("max_tokens") is not None:
        says = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        )
        raise refusal(says, "max_tokens", "unsupported_parameter")


def _max_output(request: Request) -> None:
    limit = request.generation.max_output
    for name in ("max_tokens", "max_completion_tokens"):
        asked = request.body.get(name)
        if isinstance(asked, int) and asked > limit:
            says = (
                f"{name} is too large: {asked}. This model supports at most {limit} completion "
                f"tokens, whereas you provided {asked}."
            )
            raise refusal(says, name)


def _search_where_there_is_one(request: Request) -> None:
    if "web_search_options" in request.body and not request.generation.searches:
        says = "Web search options not supported with this model."
        raise refusal(says, "web_search_options")


# ---- the window ----------------------------------------------------------------------------


def _fits_the_window(request: Request) -> None:
    window = request.generation.window
    if not window:
        return
    said = count_tokens(request.body.get("messages"))
    offered = count_tokens(request.body["tools"]) if request.body.get("tools") else 0
    if said + offered > window:
        raise _overflow(request, said, offered)
    wanted = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
    if request.generation.overflow == "classic" and isinstance(wanted, int):
        _room_for_the_answer(window, said, offered, wanted)


def _overflow(request: Request, said: int, offered: int) -> Refused:
    """Three wordings for one thing: a client that looks for one of them misses the others."""
    window, total = request.generation.window, said + offered
    if request.generation.overflow == "llama.cpp":
        message = (
            f"request ({total} tokens) exceeds the available context size ({window} tokens), try "
            "increasing it"
        )
        error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
        return Refused(400, {"error": {**error, "n_prompt_tokens": total, "n_ctx": window}})
    if request.generation.overflow == "configured":
        message = (
            f"Input tokens exceed the configured limit of {window} tokens. Your messages resulted "
            f"in {total} tokens. Please reduce the length of the messages."
        )
        return refusal(message, "messages", "context_length_exceeded")
    parts = f" ({said} in the messages, {offered} in the functions)" if offered else ""
    message = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted "
        f"in {total} tokens{parts}. Please reduce the length of the messages"
        f"{' or functions' if offered else ''}."
    )
    return refusal(message, "messages", "context_length_exceeded")


def _room_for_the_answer(window: int, said: int, offered: int, wanted: int) -> None:
    if said + offered + wanted <= window:
        return
    functions = f"{offered} in the functions, " if offered else ""
    message = (
        f"This model's maximum context length is {window} tokens. However, you requested "
        f"{said + offered + wanted} tokens ({said} in the messages, {functions}{wanted} in the "
        "completion). Please reduce the length of the messages or completion."
    )
    raise refusal(message, "messages", "context_length_exceeded")


# ---- the list ------------------------------------------------------------------------------

_rule = partial(Rule, "openai")
_GPT_5 = "o-series, gpt-5 and later"

RULES: tuple[Rule, ...] = (
    _rule("auth", "The key is one of those that are accepted.",
          "continuedev/continue#11409; OpenAI's text without a key is quoted in many places", _key,
          everywhere=True),
    *MESSAGE_RULES,
    *TOOL_RULES,
    *ORDER_RULES,
    _rule("model.known", "The model exists.", "recorded: 404", _model_is_known, everywhere=True),
    _rule("model.retired", "The model is still served.", "recorded: 404", _model_is_not_retired,
          "gpt-3.5 of 2023"),
    _rule("model.chat", "The model is served by this endpoint.", "egoist/chatwise-releases#1122",
          _model_is_for_chat, "pro, codex and deep-research models"),
    _rule("fields.known", "No field that the provider does not know.",
          "nashsu/llm_wiki#336; reasoning_effort before the o-series: coroot/coroot#698",
          _known_fields),
    _rule("fields.stream_options", "stream_options goes with stream.",
          "OpenAI's text, quoted", _usage_in_streams_only),
    _rule("fields.max_tokens", "max_tokens is called max_completion_tokens.",
          "griptape-ai/ComfyUI-Griptape#312", _max_tokens_has_a_new_name, _GPT_5),
    _rule("fields.max_output", "Not more output is asked for than the model can give.",
          "OpenAI's text, quoted with its envelope", _max_output),
    _rule("fields.search", "Only search models search.", "recorded: gpt-4o, 400",
          _search_where_there_is_one),
    _rule("window", "Prompt and answer fit into the model's window.",
          "bytedance/deer-flow#310; Chanzhaoyu/chatgpt-web#354; RooCodeInc/Roo-Code#6856; "
          "llama.cpp's server",
          _fits_the_window, everywhere=True),
)  # fmt: skip
