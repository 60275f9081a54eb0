"""One place for every default, read from the environment only when asked."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from freya_teach import Settings
from freya_teach.config import MODELS, RouteSettings
from freya_teach.errors import ConfigError


def test_without_a_word_the_public_api_of_the_first_provider_is_meant() -> None:
    settings = Settings()
    assert (settings.provider, settings.model_name, settings.endpoint) == (
        "openai",
        MODELS["openai"],
        "https://api.openai.com",
    )
    assert (settings.max_turns, settings.stream) == (20, False)


def test_the_other_provider_brings_its_own_model_and_address() -> None:
    settings = Settings(provider="gemini")
    assert (settings.model_name, settings.endpoint) == (
        MODELS["gemini"],
        "https://generativelanguage.googleapis.com",
    )


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080"),
        ("https://example.org/api/v1beta/", "https://example.org/api"),
        ("https://v1.example.org", "https://v1.example.org"),
    ],
)
def test_an_address_is_taken_with_or_without_its_version(base_url: str, expected: str) -> None:
    assert Settings(base_url=base_url).endpoint == expected


def test_settings_do_not_change_and_know_no_other_names() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().max_turns = 3  # type: ignore[misc]
    with pytest.raises(ValidationError, match="max_turn"):
        Settings(max_turn=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "nonsense",
    [
        {"provider": "openia"},
        {"provider": "mine", "model": "m"},
        {"base_url": "foo"},
        {"base_url": "localhost:8080"},
        {"base_url": "ftp://localhost"},
        {"base_url": "http://"},
        {"base_url": "http://:8080"},
        {"base_url": "http://[::1"},
        {"base_url": "http://localhost:many"},
        {"fallbacks": "openai:m@localhost:1"},
        {"retry_seconds": -1},
        {"fallbacks": [{"provider": "openia"}]},
        {"fallbacks": "gemini"},
        {"models": "no JSON"},
        {"max_turns": 0},
        {"max_calls": -1},
        {"max_tokens": 0},
        {"max_seconds": 0},
        {"max_seconds": float("nan")},
        {"parallel_tools": 0},
        {"tool_seconds": -1},
        {"loop_warn": 1},
        {"read_seconds": 0},
        {"max_log_bytes": 1},
        {"time_granularity": "century"},
    ],
    ids=str,
)
def test_a_limit_that_makes_no_sense_is_refused(nonsense: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(nonsense))):
        Settings.model_validate(nonsense)


# ---- the environment -----------------------------------------------------------------------


def test_every_setting_can_come_from_a_variable() -> None:
    environ = {
        "FREYA_PROVIDER": "gemini",
        "FREYA_MODEL": "gemini-test",
        "FREYA_BASE_URL": "http://127.0.0.1:1/v1beta",
        "FREYA_API_KEY": "no-key-needed",
        "FREYA_STREAM": "1",
        "FREYA_MAX_TURNS": "3",
        "FREYA_MAX_SECONDS": "2.5",
        "FREYA_PROMPT_DIR": "my/prompts",
        "FREYA_TIME_ZONE": "Europe/Oslo",
        "FREYA_TIME_GRANULARITY": "hour",
        "FREYA_LOG_DIR": "my/log",
        "FREYA_MAX_LOG_BYTES": "100000",
        "UNRELATED": "x",
    }
    settings = Settings.from_env(environ)
    assert settings == Settings(
        provider="gemini",
        model="gemini-test",
        base_url="http://127.0.0.1:1/v1beta",
        api_key="no-key-needed",  # type: ignore[arg-type]
        stream=True,
        max_turns=3,
        max_seconds=2.5,
        prompt_dir=Path("my/prompts"),
        time_zone="Europe/Oslo",
        time_granularity="hour",
        log_dir=Path("my/log"),
        max_log_bytes=100_000,
    )


def test_a_folder_in_the_users_home_is_found_there() -> None:
    """A file of settings says `~/prompts`, and no shell has put the home in."""
    environ = {"FREYA_PROMPT_DIR": "~/prompts", "FREYA_LOG_DIR": "~/log"}
    settings = Settings.from_env(environ)
    assert (settings.prompt_dir, settings.log_dir) == (Path.home() / "prompts", Path.home() / "log")


@pytest.mark.skipif(os.name == "nt", reason="Windows guesses where the home of any user is")
def test_a_home_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"FREYA_PROMPT_DIR.* begins with ~, and no home folder"):
        Settings.from_env({"FREYA_PROMPT_DIR": "~nobody-of-this-name/prompts"})


def test_an_empty_variable_is_no_variable_and_white_space_around_one_is_dropped() -> None:
    """A key that was read from a file has a line end, which no header can carry."""
    environ = {"FREYA_MODEL": "", "FREYA_MAX_TURNS": " 3 ", "OPENAI_API_KEY": "no-key-needed\n"}
    settings = Settings.from_env(environ)
    assert (settings.model, settings.max_turns) == ("", 3)
    assert settings.api_key.get_secret_value() == "no-key-needed"


@pytest.mark.parametrize(
    ("provider", "environ", "expected"),
    [
        ("openai", {"OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}, "o"),
        ("gemini", {"OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}, "g"),
        ("gemini", {"OPENAI_API_KEY": "o"}, ""),
        ("gemini", {"GEMINI_API_KEY": "g", "FREYA_API_KEY": "f"}, "f"),
        ("openai", {}, ""),
    ],
)
def test_the_key_falls_back_to_the_providers_own_variable(
    provider: str, environ: dict[str, str], expected: str
) -> None:
    settings = Settings.from_env({"FREYA_PROVIDER": provider, **environ})
    assert settings.api_key.get_secret_value() == expected


def test_a_keyword_wins_over_a_variable() -> None:
    environ = {"FREYA_PROVIDER": "openai", "FREYA_MAX_TURNS": "3", "GEMINI_API_KEY": "g"}
    settings = Settings.from_env(environ, provider="gemini", max_turns=5)
    assert (settings.provider, settings.max_turns) == ("gemini", 5)
    assert settings.api_key.get_secret_value() == "g"


def test_without_a_mapping_the_environment_of_the_process_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FREYA_MAX_TURNS", "4")
    assert Settings.from_env().max_turns == 4


def test_a_wire_of_ones_own_needs_a_model_and_an_address() -> None:
    settings = Settings(provider="mine", model="m", base_url="https://api.example/v1")
    assert (settings.model_name, settings.endpoint) == ("m", "https://api.example")


FALLBACKS = (
    RouteSettings(provider="gemini", model="gemini-3.8-flash", api_key="g"),  # type: ignore[arg-type]
    RouteSettings(provider="openai", model="qwen3:8b", base_url="http://me@127.0.0.1:8080/v1"),
)


@pytest.mark.parametrize(
    "written",
    [
        "gemini:gemini-3.8-flash, openai:qwen3:8b@http://me@127.0.0.1:8080/v1",
        """[{"provider": "gemini", "model": "gemini-3.8-flash"},
            {"provider": "openai", "model": "qwen3:8b",
             "base_url": "http://me@127.0.0.1:8080/v1"}]""",
    ],
    ids=["words", "json"],
)
def test_fallbacks_come_from_a_variable_each_with_the_key_of_its_provider(written: str) -> None:
    environ = {"FREYA_FALLBACKS": written, "GEMINI_API_KEY": "g"}
    assert Settings.from_env(environ).fallbacks == FALLBACKS


def test_a_fallback_at_the_first_routes_address_has_its_key_and_keeps_one_of_its_own() -> None:
    environ = {
        "FREYA_API_KEY": "f",
        "FREYA_FALLBACKS": "openai:gpt-5.4-mini",
        "OPENAI_API_KEY": "o",
    }
    (fallback,) = Settings.from_env(environ).fallbacks
    assert fallback.api_key.get_secret_value() == "f"
    environ["FREYA_FALLBACKS"] = '[{"model": "m", "api_key": "own"}]'
    (fallback,) = Settings.from_env(environ).fallbacks
    assert fallback.api_key.get_secret_value() == "own"
    environ["FREYA_FALLBACKS"] = "openai:m@http://127.0.0.1:1"
    (fallback,) = Settings.from_env(environ).fallbacks
    assert fallback.api_key.get_secret_value() == "o"


def test_facts_of_models_come_from_a_variable_as_json() -> None:
    environ = {"FREYA_MODELS": '{"my-llama": {"window": 32768}}'}
    assert Settings.from_env(environ).models == {"my-llama": {"window": 32_768}}


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"FREYA_FALLBACKS": "gemini"}, r"route 1 is not of the form provider:model\[@base_url\]"),
        ({"FREYA_FALLBACKS": "[{"}, r"FREYA_FALLBACKS"),
        (
            {"FREYA_BASE_URL": "foo"},
            r"base_url \(FREYA_BASE_URL\): An address begins with http:// or https:// and a host",
        ),
        (
            {"FREYA_FALLBACKS": "openai:m@localhost:1"},
            r"fallbacks.0.base_url \(FREYA_FALLBACKS\): An address begins with http://",
        ),
        ({"FREYA_MODELS": "{"}, r"FREYA_MODELS"),
        ({"FREYA_MODELS": "[]"}, r"FREYA_MODELS"),
        ({"FREYA_PROVIDER": "mine", "FREYA_MODEL": "m"}, r"needs model and base_url too"),
        ({"FREYA_PROVIDER": "openia"}, r"provider \(FREYA_PROVIDER\): Input should be 'openai' or"),
        (
            {"FREYA_MAX_TURNS": "many"},
            r"max_turns \(FREYA_MAX_TURNS\): Input should be a valid int",
        ),
        ({"FREYA_STREAM": "perhaps"}, r"stream \(FREYA_STREAM\): Input should be a valid boolean"),
    ],
)
def test_nonsense_in_a_variable_is_an_error_that_names_it(
    environ: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        Settings.from_env(environ)


def test_every_faulty_variable_is_named_at_once_and_no_value_is_repeated() -> None:
    environ = {"FREYA_MAX_TURNS": "secret-1", "FREYA_TOOL_SECONDS": "secret-2"}
    environ |= {"FREYA_BASE_URL": "me:secret-3@localhost"}
    with pytest.raises(ConfigError) as problem:
        Settings.from_env(environ)
    assert "FREYA_MAX_TURNS" in str(problem.value)
    assert "FREYA_TOOL_SECONDS" in str(problem.value)
    assert "FREYA_BASE_URL" in str(problem.value)
    assert "secret" not in str(problem.value)


def test_no_way_of_printing_the_settings_shows_the_key() -> None:
    settings = Settings.from_env({"OPENAI_API_KEY": "no-key-but-secret"})
    settings = settings.model_copy(update={"fallbacks": (RouteSettings(api_key=settings.api_key),)})
    shown = [repr(settings), str(settings), settings.model_dump_json(), str(settings.model_dump())]
    assert [("no-key-but-secret" in text) for text in shown] == [False] * 4
    assert "**********" in shown[0]
