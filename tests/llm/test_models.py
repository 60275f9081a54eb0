"""Facts by the longest known beginning of a model's name."""

import pytest

from freya_teach.llm.models import COMPATIBLE, KNOWN_MODELS, facts_for


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-5-nano", 272_000),
        ("gpt-5.1", 272_000),
        ("gpt-5.4", 922_000),
        ("gpt-5.4-mini", 272_000),
        ("gpt-5.4-nano", 272_000),
        ("gpt-5.6-terra", 922_000),
        ("gpt-6.1-sol", 922_000),
        ("o3", 200_000),
        ("gemini-2.5-flash-lite", 1_048_576),
        ("gemini-3.8-flash", 1_048_576),
        ("models/gemini-3.8-flash", 1_048_576),
        ("Llama-3-8B-instruct", 8_192),
        ("qwen3-32b", 8_192),
    ],
)
def test_a_window_is_that_of_the_longest_known_beginning(model: str, window: int) -> None:
    assert facts_for(model).window == window


@pytest.mark.parametrize(
    ("model", "needed"),
    [
        ("gemini-2.5-pro", False),
        ("gemini-1.5-flash", False),
        ("gemini-3-flash-preview", True),
        ("gemini-3.8-flash", True),
        ("gemini-4-argon", True),
        ("gemini-flash-latest", True),
        ("gpt-5.6-terra", False),
    ],
)
def test_gemini_needs_signatures_from_the_third_generation_on(model: str, *, needed: bool) -> None:
    assert facts_for(model).needs_signature is needed


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-4o", ""),
        ("gpt-5-mini", ""),
        ("gpt-5.2", ""),
        ("gpt-5.4", "none"),
        ("gpt-5.4-mini", "none"),
        ("gpt-5.5", "none"),
        ("gpt-5.6-luna", "none"),
        ("gpt-6-astra", "none"),
        ("some-other-model", ""),
    ],
)
def test_function_tools_need_reasoning_switched_off_from_gpt_5_4_on(
    model: str, effort: str
) -> None:
    assert facts_for(model).effort_with_tools == effort


def test_a_model_nobody_knows_gets_the_older_name_of_the_output_limit() -> None:
    assert facts_for("qwen3-32b") is COMPATIBLE
    assert COMPATIBLE.output_limit_field == "max_tokens"
    assert facts_for("gpt-4o").output_limit_field == "max_completion_tokens"


@pytest.mark.parametrize("name", KNOWN_MODELS)
def test_a_known_name_finds_its_own_entry_and_its_output_fits_its_window(name: str) -> None:
    assert facts_for(name) is KNOWN_MODELS[name]
    assert facts_for(name).max_output <= facts_for(name).window
