"""What each generation of models insists on, as the gateway knows it. (chapter 5.2)

Providers change their minds with each generation, so a rule asks here before it refuses. The
numbers are those of 2026-11-30. They are written down a second time on purpose: the kernel keeps
its own (`llm/models.py`), and a judge that borrows from the judged proves nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from freya_teach.lab.gateway.question import Wire

NO_TOOLS_WITH_EFFORT = (
    "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
)
USE_RESPONSES = NO_TOOLS_WITH_EFFORT + "Please use /v1/responses instead."
USE_NONE = (
    NO_TOOLS_WITH_EFFORT
    + "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
)
MODEL_LAST = "Requests ending with a model turn are not supported."
MODEL_LAST_1 = "Please ensure that multiturn requests ends with a user role or a function response."


@dataclass(frozen=True, slots=True)
class Generation:
    """Models that are judged alike. Limits are in tokens; 0 means that none is known."""

    name: str
    wire: Wire
    pattern: str
    """The whole name of a model matches it; the first generation that matches is taken."""
    models: tuple[str, ...]
    """What `GET /models` lists."""
    window: int
    max_output: int
    source: str

    # OpenAI
    compatible: bool = False
    """Not OpenAI's own server: only what every server refuses is refused."""
    overflow: Literal["classic", "configured", "llama.cpp"] = "classic"
    """In which words too long a prompt is refused."""
    reasons: bool = False
    """Knows `reasoning_effort`, and `max_completion_tokens` in the place of `max_tokens`."""
    tools_need_none: Literal["", "said", "always"] = ""
    """Refuses tools beside another effort than "none": if it was said, or by default, too."""
    effort_refusal: str = ""
    refuses_system: bool = False
    responses_only: bool = False
    retired: bool = False
    searches: bool = False
    hears: bool = False

    # Gemini
    signs: bool = False
    """Signs the first call of each step, and wants to see the signature again."""
    model_last: str = ""
    """The text that refuses a request whose last turn is the model's."""
    refuses_role_function: bool = False
    alternates: bool = False
    """Demands that user and model take turns."""
    thinks_by: Literal["", "budget", "level"] = ""
    refuses_minimal: bool = False
    embeds: bool = False
    """Counts and embeds, and generates nothing."""


def _openai(
    name: str, pattern: str, models: str, limits: tuple[int, int], source: str, **more: object
) -> Generation:
    return Generation(name, "openai", pattern, tuple(models.split()), *limits, source, **more)  # type: ignore[arg-type]


def _gemini(name: str, pattern: str, models: str, source: str, **more: object) -> Generation:
    limits: dict[str, object] = {"window": 1_048_576, "max_output": 65_536, **more}
    return Generation(name, "gemini", pattern, tuple(models.split()), source=source, **limits)  # type: ignore[arg-type]


TABLE = "litellm 1.110.2, model_prices_and_context_window"
GPT_5_4 = "pipecat-ai/pipecat#4043"
GPT_5_6 = "GoogleChromeLabs/webmcp-tools#417, onyx-dot-app/onyx#15008"

OPENAI = (
    _openai("gpt-3.5 of 2023", r"gpt-3\.5-turbo-(0301|0613)", "", (4_096, 4_096),
            "recorded: 404, deprecated", retired=True),
    _openai("gpt-3.5", r"gpt-3\.?5-turbo(-.*)?", "gpt-3.5-turbo", (16_385, 4_096), TABLE),
    _openai("gpt-4", r"gpt-4(-\d{4})?", "gpt-4", (8_192, 4_096), TABLE),
    _openai("gpt-4-turbo", r"gpt-4-(turbo|1106|0125|vision)(-.*)?", "gpt-4-turbo",
            (128_000, 4_096), TABLE),
    _openai("gpt-4o-search", r"gpt-4o(-mini)?-search(-.*)?", "gpt-4o-search-preview",
            (128_000, 16_384), f"{TABLE}; recorded: web_search_options answered", searches=True),
    _openai("gpt-4o-audio", r"gpt-(4o-)?(mini-)?audio(-.*)?", "gpt-4o-audio-preview",
            (128_000, 16_384), TABLE, hears=True),
    _openai("gpt-4o", r"(chat)?gpt-4o(-.*)?", "gpt-4o gpt-4o-mini", (128_000, 16_384), TABLE),
    _openai("gpt-4.1", r"gpt-4\.1(-.*)?", "gpt-4.1 gpt-4.1-mini", (1_047_576, 32_768), TABLE),
    _openai("o1-mini", r"o1-(mini|preview)(-.*)?", "o1-mini", (128_000, 65_536),
            "pydantic-ai's recordings: role not supported", reasons=True, refuses_system=True),
    _openai("responses only",
            r"(o[13]-pro|o\d(-mini)?-deep-research|gpt-5(\.\d)?-(pro|codex))(-.*)?", "gpt-5-pro",
            (272_000, 128_000), "egoist/chatwise-releases#1122", responses_only=True, reasons=True),
    _openai("o-series", r"o[134](-mini)?(-\d.*)?", "o3 o3-mini o4-mini", (200_000, 100_000),
            f"{TABLE}; griptape-ai/ComfyUI-Griptape#312", reasons=True),
    _openai("gpt-5", r"gpt-5(\.[12])?(-(mini|nano|chat.*))?(-\d.*)?",
            "gpt-5 gpt-5-mini gpt-5-nano gpt-5.1 gpt-5.2", (272_000, 128_000),
            "RooCodeInc/Roo-Code#6856", overflow="configured", reasons=True),
    _openai("gpt-5.4-mini", r"gpt-5\.4-(mini|nano)(-.*)?", "gpt-5.4-mini gpt-5.4-nano",
            (272_000, 128_000), f"{TABLE}; {GPT_5_4} tells it of gpt-5.4", overflow="configured",
            reasons=True, tools_need_none="said", effort_refusal=USE_RESPONSES),
    _openai("gpt-5.4", r"gpt-5\.4(-\d.*)?", "gpt-5.4", (922_000, 128_000), GPT_5_4,
            overflow="configured", reasons=True, tools_need_none="said",
            effort_refusal=USE_RESPONSES),
    _openai("gpt-5.5", r"gpt-5\.5(-.*)?", "gpt-5.5", (922_000, 128_000),
            f"{GPT_5_4}; openai/openai-openapi#541", overflow="configured", reasons=True,
            tools_need_none="always", effort_refusal=USE_RESPONSES),
    _openai("gpt-5.6", r"gpt-5\.6-(sol|terra|luna)(-.*)?",
            "gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna", (922_000, 128_000), GPT_5_6,
            overflow="configured", reasons=True, tools_need_none="always",
            effort_refusal=USE_NONE),
    _openai("gpt-6", r"gpt-6(\.1)?-(sol|terra|luna|astra)(-.*)?",
            "gpt-6-sol gpt-6-luna gpt-6-astra gpt-6.1-sol gpt-6.1-terra", (922_000, 128_000),
            "Wei-Shaw/sub2api#6740", overflow="configured", reasons=True,
            tools_need_none="always", effort_refusal=USE_NONE),
    _openai("llama-3-8b", r"(meta-llama/)?(meta-)?llama-?3-8b.*|llama3(:8b)?", "llama-3-8b",
            (8_192, 8_192), f"{TABLE}: ollama/llama3", compatible=True, overflow="llama.cpp"),
)  # fmt: skip

GEMINI = (
    _gemini("embedding", r"(gemini|text)-embedding.*", "gemini-embedding-2-preview",
            "recorded: countTokens only", window=8_192, embeds=True),
    _gemini("gemini-1", r"gemini-1\.[05]-.*|gemini-pro(-vision)?", "",
            "songquanpeng/one-api#836; NousResearch/hermes-agent#55125", max_output=8_192,
            alternates=True, model_last=MODEL_LAST_1),
    _gemini("gemini-2.0", r"gemini-2\.0-(flash|pro).*", "gemini-2.0-flash", TABLE,
            max_output=8_192),
    _gemini("gemini-2.5", r"gemini-2\.5-(flash|pro|computer-use).*",
            "gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite",
            "googleapis proto; QwenLM/qwen-code#9094", thinks_by="budget"),
    _gemini("gemini-3-pro", r"gemini-3(\.1)?-pro.*", "gemini-3.1-pro-preview",
            "Gemini API, thought signatures; QwenLM/qwen-code#9094", signs=True,
            thinks_by="level", refuses_minimal=True),
    _gemini("gemini-3", r"gemini-3(\.1)?-flash.*|gemini-3\.5-flash(?!-lite).*",
            "gemini-3-flash-preview gemini-3.1-flash-lite gemini-3.5-flash",
            "Gemini API, thought signatures", signs=True, thinks_by="level"),
    _gemini("gemini-3.5-flash-lite", r"gemini-3\.5-flash-lite.*", "gemini-3.5-flash-lite",
            "pipecat-ai/pipecat#5821", signs=True, thinks_by="level", model_last=MODEL_LAST),
    _gemini("gemini-3.6", r"gemini-3\.6-.*", "gemini-3.6-flash",
            "blakeblackshear/frigate#24013; pipecat-ai/pipecat#5821", signs=True,
            thinks_by="level", model_last=MODEL_LAST, refuses_role_function=True),
    _gemini("gemini-3.7", r"gemini-3\.[78]-.*|gemini-(flash|flash-lite|pro)-latest",
            "gemini-3.7-flash gemini-3.8-flash",
            "blakeblackshear/frigate#24013; pipecat-ai/pipecat#5821; QwenLM/qwen-code#9094",
            signs=True, thinks_by="level", model_last=MODEL_LAST, refuses_role_function=True,
            refuses_minimal=True),
    _gemini("gemini-4", r"gemini-4-(argon|hydrogen).*", "gemini-4-argon gemini-4-hydrogen",
            f"{TABLE}; the rest as for 3.8", max_output=1_048_576, signs=True,
            thinks_by="level", model_last=MODEL_LAST, refuses_role_function=True,
            refuses_minimal=True),
    _gemini("gemma", r"gemma-.*", "gemma-3-27b-it", "recorded: text answered",
            window=131_072, max_output=8_192),
)  # fmt: skip

GENERATIONS = OPENAI + GEMINI
COMPATIBLE = _openai("compatible", ".*", "", (0, 0), "", compatible=True)
UNKNOWN = _gemini("unknown", ".*", "", "", window=0, max_output=0)


@lru_cache(maxsize=256)
def generation_of(model: str, wire: Wire = "openai") -> Generation:
    """The generation of a model: the first whose pattern is the whole name.

    A name that no generation has is "compatible" on OpenAI's wire, which many servers speak, and
    "unknown" on Gemini's.

    >>> generation_of("gpt-5.6-terra").tools_need_none
    'always'
    >>> generation_of("qwen3").name
    'compatible'
    """
    table, other = (OPENAI, COMPATIBLE) if wire == "openai" else (GEMINI, UNKNOWN)
    name = model.lower().removeprefix("models/")
    return next((each for each in table if re.fullmatch(each.pattern, name)), other)
