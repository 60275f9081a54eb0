"""Facts by the longest known beginning of a model's name."""

import re
from dataclasses import asdict
from datetime import date
from typing import Any

import pytest

from freya_teach.errors import ConfigError
from freya_teach.llm.models import (
    AS_OF,
    COMPATIBLE,
    KNOWN_MODELS,
    check_overrides,
    facts_for,
)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-3.5-turbo-0125", 16_385),
        ("gpt-4-0613", 8_192),
        ("gpt-4-turbo-preview", 128_000),
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


@pytest.mark.parametrize("name", KNOWN_MODELS)
def test_the_days_of_an_entry_are_days(name: str) -> None:
    facts = KNOWN_MODELS[name]
    assert facts.as_of == AS_OF
    assert not facts.ends or date.fromisoformat(facts.ends)
    assert not facts.guessed


# ---- overrides -----------------------------------------------------------------------------

OVERRIDES: dict[str, dict[str, Any]] = {
    "my-llama": {"window": 32_768, "output_limit_field": "max_completion_tokens"},
    "my-llama-large": {"window": 65_536},
    "gpt-5.6": {"window": 272_000},
    "@127.0.0.1:8080": {"strict": False, "window": 16_384},
}


@pytest.mark.parametrize(
    ("model", "host", "changed"),
    [
        ("my-llama-8b", "", {**OVERRIDES["my-llama"], "guessed": False}),
        ("My-Llama-Large", "", {"window": 65_536, "guessed": False}),
        ("gpt-5.6-terra", "", {"window": 272_000}),
        ("other", "127.0.0.1:8080", {"strict": False, "window": 16_384, "guessed": False}),
        (
            "my-llama-large",
            "127.0.0.1:8080",
            {"strict": False, "window": 65_536, "guessed": False},
        ),
        ("other", "127.0.0.1:8081", {}),
    ],
)
def test_the_settings_put_facts_right_by_model_and_by_server(
    model: str, host: str, changed: dict[str, Any]
) -> None:
    assert asdict(facts_for(model, host, OVERRIDES)) == {**asdict(facts_for(model)), **changed}


def test_a_fact_that_says_nothing_of_the_window_leaves_it_a_guess() -> None:
    assert facts_for("my", overrides={"my": {"strict": False}}).guessed
    assert not facts_for("my", overrides={"my": {"window": 9_000}}).guessed


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"windows": 1}, "models['m'] (FREYA_MODELS): there is no fact 'windows'. Known are: wind"),
        ({"window": "wide"}, "models['m'] (FREYA_MODELS): window: Input should be a valid integer"),
        ({"window": 0}, "models['m'] (FREYA_MODELS): a number of tokens is 1 or more"),
        ({"system_role": "boss"}, "system_role: Input should be 'system' or 'developer'"),
        ({"output_limit_field": "max"}, "output_limit_field: Input should be 'max_completion_tok"),
    ],
)
def test_a_fact_that_makes_no_sense_is_an_error_that_names_it(
    values: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        check_overrides({"m": values})
