"""What Gemini refuses in the turns and the fields of a request. (chapter 5.2)

Each check is one refusal with the provider's own words; `RULES` at the end is the list, in the
order in which it is gone through. Unreadable fields are in `gemini_fields.py`, tools in
`gemini_tool_rules.py`, thought signatures in `gemini_signature_rules.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

from freya_teach.lab.gateway.gemini_fields import DATA, only_known_fields
from freya_teach.lab.gateway.gemini_signature_rules import RULES as SIGNATURE_RULES
from freya_teach.lab.gateway.gemini_tool_rules import RULES as TOOL_RULES
from freya_teach.lab.gateway.gemini_wire import field, no_contents, refusal, snake
from freya_teach.lab.gateway.request import Request, Turn
from freya_teach.lab.gateway.rule import Rule
from freya_teach.lab.gateway.wire import Refused, count_tokens, mapping

NO_KEY = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use "
    "API Key or other form of API consumer identity to call this API."
)
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
ROLES = ("user", "model", None)
"""A content without a role counts as the user's."""
MORE_ROLES = "SYSTEM, SYSTEM_1, USER, ASSISTANT, DEVELOPER, CONTEXT, USER_CONTEXT, MODEL, USER"

# ---- who asks, and whom --------------------------------------------------------------------


def _key(request: Request) -> None:
    if not request.keys or request.key in request.keys:
        return
    if not request.key:
        raise refusal(NO_KEY, 403, "PERMISSION_DENIED")
    reason = {"@type": ERROR_INFO, "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    says = "API key not valid. Please pass a valid API key."
    raise refusal(says, details=[reason])


def no_such_model(model: str) -> Refused:
    """A model that is not there, or that cannot do what is asked."""
    says = (
        f"models/{model} is not found for API version v1beta, or is not supported for "
        "generateContent. Call ListModels to see the list of available models and their "
        "supported methods."
    )
    return refusal(says, 404, "NOT_FOUND")


def _model_is_known(request: Request) -> None:
    if request.generation.name == "unknown" or request.generation.embeds:
        raise no_such_model(request.model)


# ---- turns one by one ----------------------------------------------------------------------


def _some_contents(request: Request) -> None:
    if not request.body.get("contents"):
        raise no_contents()


def _roles(request: Request) -> None:
    for turn in request.turns:
        if turn.role in ROLES:
            continue
        if request.generation.refuses_role_function:
            says = f"Role '{turn.role}' is not supported. Please use a valid role: {MORE_ROLES}."
            raise refusal(says)
        if turn.role != "function":
            raise refusal("Please use a valid role: user, model.")


def _some_parts(request: Request) -> None:
    empty = [turn.place for turn in request.turns if not turn.parts]
    if empty:
        raise _invalid(f"contents[{n}].parts: contents.parts must not be empty." for n in empty)


def _parts_hold_data(request: Request) -> None:
    empty = [
        f"contents[{turn.place}].parts[{n}]"
        for turn in request.turns
        for n, part in enumerate(turn.parts)
        if not any(snake(name) in DATA for name in part)
    ]
    if empty:
        says = "required oneof field 'data' must have one initialized field"
        raise _invalid(f"{place}.data: {says}" for place in empty)


def _responses_are_named(request: Request) -> None:
    for turn in request.turns:
        for n, part in enumerate(turn.parts):
            response = field(part, "functionResponse")
            if isinstance(response, dict) and not response.get("name"):
                place = f"contents[{turn.place}].parts[{n}].function_response.name"
                raise _invalid([f"{place}: Name cannot be empty."])


def _invalid(faults: Iterable[str]) -> Refused:
    return refusal("".join(f"* GenerateContentRequest.{fault}\n" for fault in faults))


# ---- turns in their order ------------------------------------------------------------------


def _calls_follow_the_user(request: Request) -> None:
    """A history must not begin with a call, as it does when it was cut in the wrong place."""
    first = request.turns[0]
    if first.is_model and first.calls:
        says = (
            "Please ensure that function call turn comes immediately after a user turn or after a "
            "function response turn."
        )
        raise refusal(says)


def _responses_follow_calls(request: Request) -> None:
    before: Turn | None = None
    for turn in request.turns:
        # Responses after responses are one answer in pieces; that is for the count to refuse.
        if turn.responses and not (before and (before.calls or before.responses)):
            raise _response_alone()
        before = turn


def _response_alone() -> Refused:
    says = "Please ensure that function response turn comes immediately after a function call turn."
    return refusal(says)


def _as_many_responses(request: Request) -> None:
    """Calls may stand in several contents of the model; their results stand in the next one."""
    calls, answered = 0, False
    for turn in request.turns:
        if turn.is_model:
            calls, answered = calls + turn.calls, False
        elif turn.responses != calls and (calls or answered):
            raise _counts_differ()
        else:
            calls, answered = 0, turn.responses > 0
    if calls and not request.generation.model_last:
        raise _counts_differ()


def _counts_differ() -> Refused:
    says = (
        "Please ensure that the number of function response parts is equal to the number of "
        "function call parts of the function call turn."
    )
    return refusal(says)


def _model_is_not_last(request: Request) -> None:
    if request.generation.model_last and request.turns[-1].is_model:
        raise refusal(request.generation.model_last)


def _alternation(request: Request) -> None:
    pairs = pairwise(request.turns)
    if request.generation.alternates and any(a.is_model == b.is_model for a, b in pairs):
        says = "Please ensure that multiturn requests alternate between user and model."
        raise refusal(says)


# ---- the other fields ----------------------------------------------------------------------


def _thinking(request: Request) -> None:
    thinking = mapping(field(mapping(field(request.body, "generationConfig")), "thinkingConfig"))
    level, budget = field(thinking, "thinkingLevel"), field(thinking, "thinkingBudget")
    if level is None:
        return
    if request.generation.thinks_by != "level":
        raise refusal("thinking_level is not supported by this model")
    if budget is not None:
        raise refusal("You can only set only one of thinking budget and thinking level.")
    if request.generation.refuses_minimal and str(level).upper() == "MINIMAL":
        says = "Thinking level MINIMAL is not supported for this model. Please retry with other "
        raise refusal(f"{says}thinking level.")


def _fits_the_window(request: Request) -> None:
    window, total = request.generation.window, count_tokens(request.body)
    if window and total > window:
        says = f"The input token count ({total}) exceeds the maximum number of tokens allowed"
        raise refusal(f"{says} ({window}).")


# ---- the list ------------------------------------------------------------------------------

_rule = partial(Rule, "gemini")
_QUOTED = "Google's text, quoted"

RULES: tuple[Rule, ...] = (
    _rule("auth", "There is a key (else 403), and it is accepted (else 400, not 401).",
          "recorded: 403; can1357/oh-my-pi#449", _key),
    _rule("fields.known", "No unknown field, no list for one value, one datum per part.",
          "lijunzh/koda#1097; vercel/ai#3589; googleapis/nodejs-agentplatform#494; "
          "crmne/ruby_llm#521", only_known_fields),
    _rule("contents.some", "There is at least one content.",
          "langchain-ai/langchain-google#1393", _some_contents),
    _rule("contents.parts", "A content has parts.", "egoist/chatwise-releases#250", _some_parts),
    _rule("contents.data", "A part has data.", "router-for-me/CLIProxyAPI#1292", _parts_hold_data),
    _rule("contents.name", "A function response names its function.", _QUOTED,
          _responses_are_named),
    *TOOL_RULES,
    _rule("model.known", "The model exists and generates.", "recorded: 404", _model_is_known),
    _rule("contents.role", "A role is user or model; older models take function, too.",
          "recorded: 400; blakeblackshear/frigate#24013", _roles,
          "role function: gemini-3.6 and later"),
    _rule("order.start", "A function call follows the user, so it is never first.",
          "google-gemini/gemini-cli#11814; lbjlaq/Antigravity-Manager#3396",
          _calls_follow_the_user),
    _rule("order.responses", "A function response follows its call.",
          "langchain-ai/langchain#27799", _responses_follow_calls),
    _rule("order.last", "The last turn is the user's.",
          "pipecat-ai/pipecat#5821; songquanpeng/one-api#836", _model_is_not_last,
          "gemini-1, gemini-3.5-flash-lite, gemini-3.6 and later"),
    _rule("order.counts", "As many responses as calls, all in the next content.",
          "google-gemini/gemini-cli#16415; cloudwego/eino-ext#572", _as_many_responses),
    _rule("order.alternate", "User and model take turns.",
          "NousResearch/hermes-agent#55125; recorded: later models do not ask it", _alternation,
          "gemini-1 only"),
    *SIGNATURE_RULES,
    _rule("thinking", "A thinking level from gemini-3 on, a budget before, never both.",
          "pydantic-ai; QwenLM/qwen-code#9094; Google's texts, quoted", _thinking,
          "MINIMAL: not 3-pro, 3.1-pro, 3.7 and later"),
    _rule("window", "The prompt fits into the model's window.",
          "google-gemini/gemini-cli#6678", _fits_the_window),
)  # fmt: skip
