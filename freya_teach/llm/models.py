"""What is known of the models: windows, and what their servers insist on. (chapter 7.1)

Facts are data, matched by the longest known beginning of the model's name, and each can be
overridden. Numbers as of 2026-11-30; for Gemini, `GET /v1beta/models/{model}` tells them too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a request for this model must look like. Windows are in tokens."""

    window: int
    max_output: int
    output_limit_field: str = "max_completion_tokens"
    """OpenAI renamed `max_tokens`; most compatible servers know only the old name."""
    effort_with_tools: str = ""
    """GPT-5.4 and later refuse function tools on this endpoint unless reasoning is "none"."""
    needs_signature: bool = False
    """Gemini 3 and later want a thought signature on the first call of each step."""


COMPATIBLE = ModelFacts(8_192, 4_096, output_limit_field="max_tokens")
"""A model nobody has told us about: a small window and the older field name are the safe guess."""

GPT_5_4 = ModelFacts(922_000, 128_000, effort_with_tools="none")
GEMINI_3 = ModelFacts(1_048_576, 65_536, needs_signature=True)

KNOWN_MODELS: dict[str, ModelFacts] = {
    "gpt-4o": ModelFacts(128_000, 16_384),
    "gpt-4.1": ModelFacts(1_047_576, 32_768),
    "gpt-5": ModelFacts(272_000, 128_000),
    "gpt-5.4": GPT_5_4,
    "gpt-5.4-mini": ModelFacts(272_000, 128_000, effort_with_tools="none"),
    "gpt-5.4-nano": ModelFacts(272_000, 128_000, effort_with_tools="none"),
    "gpt-5.5": GPT_5_4,
    "gpt-5.6": GPT_5_4,
    "gpt-6": GPT_5_4,
    "o3": ModelFacts(200_000, 100_000),
    "o4-mini": ModelFacts(200_000, 100_000),
    "gemini-": GEMINI_3,
    "gemini-1": ModelFacts(1_048_576, 8_192),
    "gemini-2": ModelFacts(1_048_576, 65_536),
    "gemini-4": ModelFacts(1_048_576, 1_048_576, needs_signature=True),
    "llama-3-8b": ModelFacts(8_192, 8_192, output_limit_field="max_tokens"),
    "llama-3.1-8b": ModelFacts(131_072, 8_192, output_limit_field="max_tokens"),
}


def facts_for(model: str) -> ModelFacts:
    """The facts of the model, by the longest known beginning of its name.

    >>> facts_for("gpt-5.6-terra").effort_with_tools
    'none'
    """
    name = model.lower().removeprefix("models/")
    matches = [known for known in KNOWN_MODELS if name.startswith(known)]
    return KNOWN_MODELS[max(matches, key=len)] if matches else COMPATIBLE
