"""What is known of the models: windows, and what their servers insist on. (chapter 7.1)

Facts are data, matched by the longest known beginning of the model's name. Whatever is wrong or
missing here, the settings put right, for a model or for all models of a server:

    Settings(models={"my-llama": {"window": 32_768}, "@127.0.0.1:8080": {"strict": False}})

Source of the numbers: the model tables of both providers, as of `AS_OF`. For Gemini,
`GET /v1beta/models/{model}` tells them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from freya_teach.errors import ConfigError

AS_OF = "2026-11-30"
"""The day on which the numbers below were looked up."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a request for this model must look like. Windows are in tokens."""

    window: int
    """Tokens of input that the server takes; where a window is shared with the answer, all."""
    max_output: int
    """Tokens of one answer, thinking included."""
    output_limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """OpenAI renamed `max_tokens`; most compatible servers know only the old name."""
    reasoning_room: int = 0
    """Tokens that are added to the output limit for thinking, which counts inside it."""
    effort_with_tools: str = ""
    """GPT-5.4 and later refuse function tools on this endpoint unless reasoning is "none"."""
    strict: bool = True
    """Whether `strict` may stand in a tool's declaration. Some compatible servers refuse it."""
    system_role: Literal["system", "developer"] = "system"
    """The role of instructions. OpenAI takes both, since o1; most other servers only "system"."""
    content_with_calls: Literal[""] | None = None
    """An assistant message's content where it has calls and no words: null; LM Studio wants ""."""
    needs_signature: bool = False
    """Gemini 3 and later want a thought signature on the first call of each step."""
    guessed: bool = False
    """Nobody knows this model: its window is a careful guess, on which nothing is refused."""
    ends: str = ""
    """The day on which the provider switches the model off; empty when none is announced."""
    as_of: str = AS_OF


COMPATIBLE = ModelFacts(8_192, 4_096, output_limit_field="max_tokens", guessed=True)
"""A model nobody has told us about: a small window and the older field name are the safe guess."""

GPT_5_4 = ModelFacts(922_000, 128_000, effort_with_tools="none")
GPT_5_4_SMALL = replace(GPT_5_4, window=272_000)
GEMINI_2 = ModelFacts(1_048_576, 65_536)
GEMINI_3 = replace(GEMINI_2, needs_signature=True)

KNOWN_MODELS: dict[str, ModelFacts] = {
    "gpt-3.5-turbo": ModelFacts(16_385, 4_096, ends="2026-10-23"),
    "gpt-4": ModelFacts(8_192, 4_096, ends="2026-10-23"),
    "gpt-4-turbo": ModelFacts(128_000, 4_096, ends="2026-10-23"),
    "gpt-4o": ModelFacts(128_000, 16_384, ends="2027-01-14"),
    "gpt-4.1": ModelFacts(1_047_576, 32_768, ends="2027-01-14"),
    "gpt-4.1-nano": ModelFacts(1_047_576, 32_768, ends="2026-10-23"),
    "gpt-5": ModelFacts(272_000, 128_000, ends="2026-12-11"),
    "gpt-5.1": ModelFacts(272_000, 128_000, ends="2027-04-01"),
    "gpt-5.2": ModelFacts(272_000, 128_000),
    "gpt-5.4": GPT_5_4,
    "gpt-5.4-mini": GPT_5_4_SMALL,
    "gpt-5.4-nano": replace(GPT_5_4_SMALL, ends="2027-04-01"),
    "gpt-5.5": GPT_5_4,
    "gpt-5.6": GPT_5_4,
    "gpt-6": GPT_5_4,
    "o3": ModelFacts(200_000, 100_000, ends="2026-12-11"),
    "o4-mini": ModelFacts(200_000, 100_000, ends="2026-10-23"),
    "gemini-": GEMINI_3,
    "gemini-1": ModelFacts(1_048_576, 8_192),
    "gemini-2": GEMINI_2,
    "gemini-2.5-pro": replace(GEMINI_2, ends="2026-12-01"),
    "gemini-2.5-flash": replace(GEMINI_2, ends="2026-12-01"),
    "gemini-2.5-flash-lite": GEMINI_2,
    "gemini-4": replace(GEMINI_3, max_output=1_048_576),
    "llama-3-8b": ModelFacts(8_192, 8_192, output_limit_field="max_tokens"),
    "llama-3.1-8b": ModelFacts(131_072, 8_192, output_limit_field="max_tokens"),
}

Overrides = Mapping[str, Mapping[str, object]]
"""The beginning of a model's name, or `@host:port` for a server → the facts to replace."""


def facts_for(model: str, host: str = "", overrides: Overrides | None = None) -> ModelFacts:
    """The facts of the model, by the longest known beginning of its name; then the overrides.

    A server's override counts before what the table says, a model's before a server's. Raises
    `ConfigError` for an override of something that is no fact.

    >>> facts_for("gpt-5.6-terra").effort_with_tools
    'none'
    >>> facts_for("my-llama-3", overrides={"my-llama": {"window": 32_768}}).window
    32768
    """
    name = model.lower().removeprefix("models/")
    known = _longest(KNOWN_MODELS, name)
    facts = KNOWN_MODELS[known] if known else COMPATIBLE
    if not overrides:
        return facts
    by_name = {key.lower().removeprefix("models/"): key for key in overrides}
    for match in (f"@{host}" if host else "", _longest(by_name, name)):
        if match in by_name:
            facts = _overridden(facts, by_name[match], overrides[by_name[match]])
    return facts


def check_overrides(overrides: Overrides) -> None:
    """Raise `ConfigError` for an override that makes no sense, whether or not it is used."""
    for key, values in overrides.items():
        _overridden(COMPATIBLE, key, values)


def _longest(beginnings: Mapping[str, object], name: str) -> str:
    return max((known for known in beginnings if name.startswith(known)), key=len, default="")


def _overridden(facts: ModelFacts, key: str, values: Mapping[str, object]) -> ModelFacts:
    names = [each.name for each in fields(ModelFacts)]
    if unknown := sorted(set(values) - set(names)):
        raise ConfigError(
            f"models[{key!r}] (FREYA_MODELS): there is no fact {', '.join(map(repr, unknown))}. "
            f"Known are: {', '.join(names)}"
        )
    guessed = facts.guessed and "window" not in values
    try:
        new = TypeAdapter(ModelFacts).validate_python(
            {**asdict(facts), "guessed": guessed, **values}
        )
    except ValidationError as problem:
        wrong = "; ".join(
            f"{each['loc'][0]}: {each['msg']}"
            for each in problem.errors(include_url=False, include_input=False)
        )
        raise ConfigError(f"models[{key!r}] (FREYA_MODELS): {wrong}") from None
    if new.window < 1 or new.max_output < 1 or new.reasoning_room < 0:
        raise ConfigError(f"models[{key!r}] (FREYA_MODELS): a number of tokens is 1 or more")
    return new
