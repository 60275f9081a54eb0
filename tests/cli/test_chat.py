"""`freya-teach chat`: questions from a pipe, commands, settings, failures in words."""

import asyncio
import importlib
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console
from typer.testing import CliRunner

from freya_teach import Ambient, SessionManager
from freya_teach.cli.advice import advice
from freya_teach.cli.chat import ctrl_c_goes_to
from freya_teach.cli.chat_answering import Choice, answering, other_end
from freya_teach.cli.chat_commands import COMMANDS
from freya_teach.cli.chat_input import TO_LEAVE, Typed
from freya_teach.cli.chat_screen import Screen
from freya_teach.cli.chat_talk import talk
from freya_teach.cli.configured import configured
from freya_teach.cli.main import build_app
from freya_teach.errors import FreyaError, LLMError
from freya_teach.lab.gateway import Move, Policy, Question, answer, gateway
from freya_teach.lab.gateway.server import serve
from freya_teach.lab.policy import assistant
from freya_teach.llm.messages import Message
from freya_teach.llm.transcript import check

KEY = f"sk-{'0123456789' * 3}"
TWO_TOOLS = "What is the weather in Beijing today, and how much is 15 * 8?"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x9b]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def chat(folder: Path, tmp_path: Path) -> Any:
    """Run a chat on these lines; nothing of this machine's user counts."""
    config = tmp_path / "config.toml"
    config.touch()

    def run(*lines: str, options: tuple[str, ...] = (), **variables: str) -> Any:
        mine = ("FREYA_", "OPENAI_", "GEMINI_", "NO_COLOR", "FORCE_COLOR")
        environment: dict[str, str | None] = {n: None for n in os.environ if n.startswith(mine)}
        environment |= {"FREYA_CONFIG_FILE": str(config), "FREYA_SESSION_DIR": str(folder)}
        environment |= {"FREYA_TIME_ZONE": "UTC", **variables}
        text = "".join(f"{line}\n" for line in lines)
        data = os.fsencode(text)
        return CliRunner().invoke(build_app(), ["chat", *options], env=environment, input=data)

    return run


def stored(folder: Path) -> list[tuple[Message, ...]]:
    """The messages of every stored conversation, the newest first."""

    async def read() -> list[tuple[Message, ...]]:
        async with SessionManager(folder, Ambient()) as sessions:
            infos = await sessions.list()
            return [(await sessions.open(info.id)).messages for info in infos]

    return asyncio.run(read())


def the_id(output: str) -> str:
    """The session that the chat named at its end."""
    found = re.search(r"chat --session (\S+)", output)
    assert found, output
    return found[1]


@contextmanager
def served(policy: Policy = assistant, keys: tuple[str, ...] = ()) -> Iterator[str]:
    """A provider at an address, in a thread: for a chat, it is a real one."""
    where: list[str] = []
    ready, done = Event(), Event()

    async def run() -> None:
        async with serve(gateway(policy, keys=keys)) as here:
            where.append(here.url)
            ready.set()
            await asyncio.to_thread(done.wait)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(asyncio.run, run())
        try:
            assert ready.wait(30)
            yield where[0]
        finally:
            done.set()
            running.result()


# ---- a question and its answer ---------------------------------------------------------------


def test_a_question_from_a_pipe_is_answered_in_plain_lines(chat: Any) -> None:
    told = chat(TWO_TOOLS)
    assert told.exit_code == 0
    lines = told.stdout.splitlines()
    assert lines[0].startswith("Offline: rules in the place of a model answer.")
    assert f"> {TWO_TOOLS}" in lines
    assert "In Beijing: sunny, 15 °C. The calculation gives 120." in lines
    assert any(
        re.fullmatch(r'  ✓ calculate \{"expression": "15 \* 8"\}  completed, \S+ s, 3 char.*', line)
        for line in lines
    )
    assert any(re.fullmatch(r"  0\.1% of the context: \S+ of 922,000 tokens", x) for x in lines)
    assert not CONTROL.search(told.stdout)


def test_an_answer_is_printed_as_it_was_written(chat: Any) -> None:
    code = "[red]if a:[/red]\n\tb  \n\n" + "long " * 50
    with served(lambda _: answer(code)) as url:
        told = chat("Write.", options=("--base-url", url)).stdout
    assert f"\n{code}\n" in told


def test_no_variable_makes_plain_output_colourful_or_a_spinner_turn(chat: Any) -> None:
    told = chat("My name is Ada.", NO_COLOR="1", TERM="xterm-256color")
    assert "Hello, Ada." in told.stdout.splitlines()
    assert not CONTROL.search(told.stdout)
    assert "waiting" not in told.stdout


def test_a_failed_tool_says_why_in_its_line(chat: Any) -> None:
    told = chat("What is the weather in Atlantis?")
    assert '  ✗ get_current_weather {"city": "Atlantis"}  failed' in told.stdout
    assert "No weather is known for 'Atlantis'" in told.stdout


def test_nothing_that_a_model_writes_moves_the_cursor(chat: Any) -> None:
    with served(lambda _: answer("One\x1b[2Jtwo\x07.")) as url:
        told = chat("Clear \x1b[2J it.", options=("--base-url", url)).stdout
    assert "One\N{REPLACEMENT CHARACTER}[2Jtwo\N{REPLACEMENT CHARACTER}." in told
    assert not CONTROL.search(told)


def test_an_empty_line_is_no_question_and_one_in_another_encoding_does_not_end_it(
    chat: Any,
) -> None:
    told = chat("", "   ", os.fsdecode(b"Caf\xe9?"), "My name is Ada.")
    assert told.exit_code == 0
    assert [line for line in told.stdout.splitlines() if line.startswith("> ")] == [
        "> Caf\N{REPLACEMENT CHARACTER}?",
        "> My name is Ada.",
    ]


# ---- what is kept ----------------------------------------------------------------------------


def test_a_chat_is_kept_and_can_be_gone_on_with(chat: Any, folder: Path) -> None:
    first = the_id(chat("My name is Ada.").stdout)
    other = the_id(chat("My name is Bo.").stdout)
    again = chat("What is my name?", options=("--session", first))
    assert "Your name is Ada." in again.stdout
    assert f"Going on with {first}: 2 messages." in again.stdout
    assert "Your name is Ada." in chat("What is my name?", options=("--continue",)).stdout
    assert "Your name is Bo." in chat("What is my name?", options=("--session", other[:12])).stdout
    assert [len(messages) for messages in stored(folder)] == [4, 6]


def test_a_chat_without_a_session_leaves_no_file(chat: Any, folder: Path) -> None:
    told = chat("My name is Ada.", "What is my name?", options=("--no-session",))
    assert "Your name is Ada." in told.stdout
    assert "go on with" not in told.stdout
    assert not folder.exists()


def test_a_chat_in_which_nothing_was_asked_leaves_no_session(chat: Any, folder: Path) -> None:
    assert "kept" not in chat("/help").stdout
    assert stored(folder) == []


def test_to_continue_without_a_conversation_begins_one(chat: Any) -> None:
    told = chat("My name is Ada.", options=("--continue",))
    assert "no conversation is stored yet" in told.stdout
    assert "Hello, Ada." in told.stdout


def test_a_session_that_there_is_not_ends_it_with_words(chat: Any) -> None:
    told = chat(options=("--session", "nobody"))
    assert told.exit_code == 1
    assert "There is no session 'nobody'" in told.stderr


def test_ways_to_keep_that_exclude_each_other_are_refused(chat: Any) -> None:
    assert chat(options=("--session", "x", "--no-session")).exit_code == 2


async def test_a_folder_that_another_program_has_is_told_with_a_way_out(
    chat: Any, folder: Path
) -> None:
    async with SessionManager(folder, Ambient()):
        told = await asyncio.to_thread(chat, "Hi")
    assert told.exit_code == 1
    assert "--no-session" in told.stderr


def test_a_toolbox_of_an_earlier_day_that_is_missing_is_left_out(chat: Any, tmp_path: Path) -> None:
    there = {"FREYA_WORKSPACE_DIR": str(tmp_path)}
    first = the_id(chat("/toolbox files", "My name is Ada.", **there).stdout)
    told = chat("What is my name?", options=("--session", first))
    assert "the toolbox 'files' is not here today" in told.stdout
    assert "Your name is Ada." in told.stdout


def test_without_a_named_folder_it_is_kept_where_the_sessions_command_looks(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path / "data")
    name = the_id(chat("My name is Ada.", FREYA_SESSION_DIR="").stdout)
    assert (tmp_path / "data" / "sessions").is_dir()
    empty = {"FREYA_SESSION_DIR": ""}
    listed = CliRunner().invoke(build_app(), ["sessions", "list"], env=empty)
    assert name in listed.stdout


# ---- commands --------------------------------------------------------------------------------


def test_every_command_is_in_the_help(chat: Any) -> None:
    told = chat("/help").stdout
    assert all(f"  /{name}" in told for name in COMMANDS)


def test_a_word_that_comes_close_to_a_command_gets_the_hint(chat: Any) -> None:
    assert "There is no command /modle. Did you mean /model?" in chat("/modle").stdout


def test_the_commands_tell_what_a_chat_is_made_of(chat: Any, tmp_path: Path) -> None:
    told = chat(
        "/log", TWO_TOOLS, "/context", "/prompt", "/log", FREYA_WORKSPACE_DIR=str(tmp_path)
    ).stdout
    assert "No model call of this chat has been answered yet." in told
    assert re.search(r"5 messages +\d+ tokens \(estimated\)", told)
    assert "\n# IDENTITY\n" in told
    assert "  tool answers call_2: 120" in told
    assert "→ POST https://api.openai.com/v1/chat/completions" in told


def test_a_toolbox_is_switched_on_and_off(chat: Any, tmp_path: Path) -> None:
    told = chat("/toolbox files", "/toolbox files", "/toolbox x", FREYA_WORKSPACE_DIR=str(tmp_path))
    states = re.findall(r"  files \((on|off)\): read_file, ", told.stdout)
    assert states == ["on", "off"]
    assert "There is no toolbox 'x'. There are: default, files." in told.stdout


def test_a_skill_that_is_switched_on_is_in_the_prompt(chat: Any) -> None:
    told = chat("/skill weather_report", "/prompt", "/skill off", "/skill x").stdout
    assert "  weather_report (on): " in told
    assert "# PLUGIN PROMPT [weather_report]" in told
    assert told.count("  weather_report (off): ") == 1
    assert "There is no skill 'x'." in told


def test_another_model_goes_on_with_the_same_conversation(chat: Any) -> None:
    told = chat("My name is Ada.", "/model gemini:gemini-3.8-flash", "What is my name?", "/log")
    assert "  gemini/gemini-3.8-flash: a window of 1,048,576 tokens" in told.stdout
    assert "Your name is Ada." in told.stdout
    assert "models/gemini-3.8-flash:streamGenerateContent" in told.stdout


def test_a_model_without_a_provider_is_asked_of_the_same_one_and_the_chat_says_so(
    chat: Any,
) -> None:
    told = chat("/model", "/model gemini-3.8-flash", "/model gemini:gemini-3.8-flash").stdout
    assert "  openai/gemini-3.8-flash: a window of 1,048,576 tokens" in told
    note = "· asked as a model of openai; /model PROVIDER:NAME takes another provider"
    assert told.count(f"{note} (openai, gemini)\n") == 1


def test_an_address_without_http_and_a_host_is_no_address(chat: Any) -> None:
    needed = "base_url (FREYA_BASE_URL): An address begins with http:// or https:// and a host, "
    told = chat(options=("--base-url", "foo"))
    assert (told.exit_code, told.stdout) == (1, "")
    assert f"{needed}for example http://127.0.0.1:8080" in told.stderr
    told = chat("/model openai:x@localhost:1", "/model", "/model openai:x@http://localhost:1")
    assert told.stdout.count(needed) == 1
    assert told.stdout.count("  openai/gpt-5.6-terra: ") == 1
    assert told.stdout.count("  openai/x: ") == 1


def test_a_new_conversation_knows_nothing_of_the_last_one_and_both_are_kept(
    chat: Any, folder: Path
) -> None:
    told = chat("My name is Ada.", "/new", "What is my name?", "/sessions").stdout
    assert "You have not told me your name." in told
    assert re.search(r" \*session_\w+ +2 messages  What is my name\?", told)
    assert re.search(r"  session_\w+ +2 messages  My name is Ada\.", told)
    assert len(stored(folder)) == 2


def test_a_stored_conversation_can_be_changed_to(chat: Any) -> None:
    first = the_id(chat("My name is Ada.").stdout)
    told = chat(f"/sessions {first}", "What is my name?", "/sessions nobody", "/quit", "never")
    assert "Your name is Ada." in told.stdout
    assert "There is no session 'nobody'" in told.stdout
    assert "never" not in told.stdout


# ---- settings --------------------------------------------------------------------------------


def test_an_option_counts_before_a_variable_before_the_file_before_the_default(
    chat: Any, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('model = "of-the-file"\nmax_turns = 7\n')

    def model_of(*options: str, **variables: str) -> str:
        told = chat("/model", options=options, **variables).stdout
        return str(re.findall(r"^  openai/(\S+):", told, re.MULTILINE)[0])

    config = ("--config", str(file))
    assert model_of() == "gpt-5.6-terra"
    assert model_of(*config) == "of-the-file"
    assert model_of(FREYA_CONFIG_FILE=str(file)) == "of-the-file"
    assert model_of(*config, FREYA_MODEL="of-the-variable") == "of-the-variable"
    assert model_of(*config, "--model", "mine", FREYA_MODEL="of-the-variable") == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('modle = "x"', "sets 'modle', which is no setting. Did you mean 'model'?"),
        ("model = x", "is not TOML: Invalid value (at line 1, column 9)"),
        ("max_turns = 0", "max_turns (FREYA_MAX_TURNS): Input should be greater than"),
        (f'api_key = "{KEY}"', "holds a key (api_key)"),
        (f'[openai]\napi-key = "{KEY}"', "holds a key (api-key)"),
        (f'[[fallbacks]]\nprovider = "gemini"\napi_key = "{KEY}"', "holds a key (api_key)"),
        (f'base_url = "http://me:{KEY}@127.0.0.1:1"', "holds a key (the address in base_url)"),
    ],
)
def test_a_config_file_that_is_wrong_is_told_with_its_name_and_without_a_key(
    chat: Any, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    told = chat("Hi", options=("--config", str(file)))
    assert told.exit_code == 1
    assert said in told.stderr
    assert str(file) in told.stderr
    assert KEY not in told.output


def test_two_routes_with_addresses_are_no_key(chat: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('fallbacks = "openai:a@http://127.0.0.1:1,openai:b@http://127.0.0.1:2"')
    assert "openai/b" in chat("/model", options=("--config", str(file))).stdout


def test_a_config_file_that_was_named_has_to_be_there(chat: Any, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.toml")
    for told in (chat(options=("--config", missing)), chat(FREYA_CONFIG_FILE=missing)):
        assert told.exit_code == 1
        assert f"There is no config file {missing}." in told.stderr


# ---- a live model ----------------------------------------------------------------------------


def test_a_server_at_an_address_answers_and_the_chat_says_who_it_is(chat: Any) -> None:
    with served() as url:
        told = chat(TWO_TOOLS, options=("--base-url", url, "--model", "my-llama"))
    host = url.removeprefix("http://")
    assert told.stdout.startswith(f"Live: openai/my-llama at {host} answers (no key).\n")
    assert "The calculation gives 120." in told.stdout
    assert "of 8,192 tokens, a guess" in told.stdout


def test_a_key_is_sent_and_stands_nowhere_else(chat: Any, folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    variables = {"OPENAI_API_KEY": KEY, "FREYA_LOG_DIR": str(log)}
    words = (TWO_TOOLS, "/model", "/context", "/log", "/prompt", "/sessions")
    with served(keys=(KEY,)) as url:
        told = chat(*words, options=("--base-url", url), **variables)
        refused = chat("Hi", options=("--base-url", url), OPENAI_API_KEY=f"{KEY}x")
    assert "(key from the environment)" in told.stdout
    assert "The calculation gives 120." in told.stdout
    assert "HTTP 401" in refused.stdout
    files = [path for place in (folder, log) for path in place.rglob("*") if path.is_file()]
    assert any(path.parent == log for path in files)
    everything = [told.output, refused.output, *(path.read_text() for path in files)]
    assert all(KEY not in text for text in everything)


def test_a_configured_model_is_not_asked_offline(chat: Any) -> None:
    told = chat("My name is Ada.", options=("--offline",), OPENAI_API_KEY=KEY)
    assert told.stdout.startswith("Offline: ")
    assert "Hello, Ada." in told.stdout


async def test_the_rules_are_given_no_key(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.touch()
    environ = {"OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY, "FREYA_FALLBACKS": "gemini:gemini-x"}
    found = configured({}, file, environ, keyring=lambda _: KEY)
    assert found.is_live
    http, is_live = other_end(Choice({}, offline=True), found)
    async with http:
        made = answering(Choice({}, offline=True, keep=False), found, http, is_live=is_live)
    assert [route.api_key for route in made.kernel.proxy.routes] == ["", ""]


def test_a_trouble_belongs_to_the_offline_gateway(chat: Any) -> None:
    told = chat("Hi", options=("--trouble", "flaky"), OPENAI_API_KEY=KEY)
    assert told.exit_code == 1
    assert "Add --offline" in told.stderr
    assert "no trouble called 'x'" in chat("Hi", options=("--trouble", "x")).stderr


def test_a_provider_without_a_key_is_not_changed_to(chat: Any) -> None:
    told = chat("/model gemini:gemini-3.8-flash", "/model", OPENAI_API_KEY=KEY).stdout
    assert "There is no key for gemini: set GEMINI_API_KEY" in told
    assert told.count("Live: openai/gpt-5.6-terra") == 2


# ---- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "said", "what_helps"),
    [
        ("bad-key", "HTTP 401", "Check the key: `freya-teach key show openai`"),
        ("model-gone", "HTTP 404", "Name another model with /model"),
        ("quota", "HTTP 429", "Waiting does not help"),
        ("overflow", "HTTP 400", "Begin a new conversation with /new"),
        ("html", "HTTP 502", "ask again in a moment"),
        ("cut", "broke", "The connection broke in the middle of the answer"),
        ("hang-up", "All connection attempts failed", "See that the server is running"),
        ("overloaded", "HTTP 503", "ask again in a moment"),
    ],
)
def test_a_failure_is_told_with_what_to_do_and_the_chat_goes_on(
    chat: Any, trouble: str, said: str, what_helps: str
) -> None:
    told = chat("Hi", "/help", options=("--trouble", trouble), FREYA_RETRY_SECONDS="0")
    assert told.exit_code == 1  # there is a pipe, and nobody who reads along
    failure = told.stdout[told.stdout.index("✗ ") :]
    assert said in failure
    assert what_helps in failure
    assert "/quit" in failure


@pytest.mark.parametrize("line", ["/modle x", "/model openai:x@localhost:1", "/sessions nobody"])
def test_a_command_in_a_pipe_that_is_not_carried_out_is_in_the_exit_code(
    chat: Any, line: str
) -> None:
    told = chat(line, "My name is Ada.")
    assert "✗ " in told.stdout
    assert "Hello, Ada." in told.stdout
    assert told.exit_code == 1


def test_a_route_that_stands_in_for_another_one_is_named(chat: Any) -> None:
    told = chat(
        "My name is Ada.",
        options=("--trouble", "half-down"),
        FREYA_FALLBACKS="gemini:gemini-3.8-flash",
        FREYA_RETRY_SECONDS="0",
    ).stdout
    assert "· openai/gpt-5.6-terra has failed (server): " in told
    assert "Hello, Ada." in told
    assert "· answered by gemini/gemini-3.8-flash, because openai/gpt-5.6-terra failed" in told


def test_a_context_that_is_made_smaller_is_told(chat: Any) -> None:
    window = {"FREYA_MODELS": json.dumps({"small": {"window": 4_000, "max_output": 100}})}
    long = "My name is Ada. " * 250
    told = chat(*[long] * 5, options=("--model", "small"), **window).stdout
    assert re.search(r"· (in the background: )?context compacted: .* → \S+ tokens", told)


def test_an_answer_that_no_tool_and_no_limit_ends_says_why_it_stopped(chat: Any) -> None:
    told = chat("Hi", options=("--trouble", "filter")).stdout
    assert "· ended (content_filter): " in told


def kinds_below(kind: type[FreyaError]) -> list[type[FreyaError]]:
    return [kind, *(each for below in kind.__subclasses__() for each in kinds_below(below))]


@pytest.mark.parametrize("kind", kinds_below(LLMError), ids=lambda kind: kind.kind)
def test_for_every_failure_of_the_other_end_there_is_advice(kind: type[FreyaError]) -> None:
    assert advice(kind("It failed.")).endswith(".")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_stops_an_answer_and_the_next_line_of_the_pipe_is_asked(
    chat: Any, folder: Path
) -> None:
    def presses(question: Question) -> Move:
        """While the model thinks about a question with this word, somebody presses Ctrl-C."""
        if "stop" in question.asked:
            os.kill(os.getpid(), signal.SIGINT)
        return assistant(question)

    with served(presses) as url:
        told = chat("Please stop.", "My name is Ada.", options=("--base-url", url))
    assert told.exit_code == 0
    assert "· stopped." in told.stdout
    assert "Hello, Ada." in told.stdout
    messages = stored(folder)[0]
    check(messages)
    assert [message.role for message in messages] == ["user", "user", "assistant"]


async def test_a_ctrl_c_just_after_an_answer_says_how_to_leave_and_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.toml"
    config.touch()
    choice = Choice({}, config, offline=True, keep=False)
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        source = Typed(None)
        screen = Screen(Console(), animated=False)
        async with talk(choice, screen) as here:
            with ctrl_c_goes_to(here, source):
                await here.ask("My name is Ada.")
                signal.raise_signal(signal.SIGINT)
                keys.send_text("What is my name?\r")
                assert await source.next() == "What is my name?"
                assert capsys.readouterr().out.endswith(f"\n{TO_LEAVE}\n")
                await here.ask("What is my name?")
                signal.raise_signal(signal.SIGINT)
                with pytest.raises(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
    assert "Your name is Ada." in capsys.readouterr().out


# ---- the keyring -----------------------------------------------------------------------------


def test_without_the_library_a_key_cannot_be_stored_and_the_message_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring.errors", None)
    monkeypatch.setitem(sys.modules, "keyring", None)
    told = CliRunner().invoke(build_app(), ["key", "set", "openai"], input=f"{KEY}\n")
    assert told.exit_code == 1
    assert 'pip install "freya-teach[keyring]"' in told.stderr
    assert KEY not in told.output


@pytest.mark.parametrize("word", [KEY, "open ai", "x" * 30])
def test_a_key_in_the_place_of_a_provider_is_not_taken(word: str) -> None:
    told = CliRunner().invoke(build_app(), ["key", "set", word], input="\n")
    assert told.exit_code == 1
    assert word not in told.output


def test_a_stored_key_is_used_shown_as_set_and_deleted(
    chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("FREYA_API_KEY", raising=False)
    with the_keyring_is(in_memory):
        key = CliRunner()
        stored_ = key.invoke(build_app(), ["key", "set", "openai"], input=f"{KEY}\n")
        shown = key.invoke(build_app(), ["key", "show", "openai"])
        with served(keys=(KEY,)) as url:
            told = chat("My name is Ada.", options=("--base-url", url))
        deleted = key.invoke(build_app(), ["key", "delete", "openai"])
        after = key.invoke(build_app(), ["key", "show", "openai"])
    assert "the system's keyring: a key is set  (this one is used)" in shown.stdout
    assert "(key from the system's keyring)" in told.stdout
    assert "Hello, Ada." in told.stdout
    assert "is deleted" in deleted.stdout
    assert "the system's keyring: none" in after.stdout
    said = [each.output for each in (stored_, shown, told, deleted, after)]
    assert all(KEY not in text for text in said)


def test_a_misspelt_provider_gets_no_key_and_one_that_the_settings_name_does() -> None:
    def key(*words: str, **variables: str) -> Any:
        env: dict[str, str | None] = {n: None for n in os.environ if n.startswith("FREYA_")}
        env |= {"FREYA_CONFIG_FILE": os.devnull, **variables}
        return CliRunner().invoke(build_app(), ["key", *words], env=env, input=f"{KEY}\n")

    with the_keyring_is(in_memory) as ring:
        ring.set_password("freya-teach", "opnai", KEY)  # stored before it was refused
        for command in ("set", "show"):
            told = key(command, "opnai")
            assert told.exit_code == 1
            assert "No provider is called 'opnai'. There are: openai, gemini." in told.stderr
        assert "is deleted" in key("delete", "opnai").stdout
        mine = {"FREYA_FALLBACKS": "mine:a-model@http://127.0.0.1:1"}
        assert key("set", "mine").exit_code == 1
        assert key("set", "mine", **mine).exit_code == 0
        assert "the system's keyring: a key is set" in key("show", "mine", **mine).stdout
        assert list(ring.keys) == [("freya-teach", "mine")]


def test_a_system_without_a_keyring_is_told_in_whole_sentences() -> None:
    with the_keyring_is(lambda: importlib.import_module("keyring.backends.fail").Keyring()):
        told = CliRunner().invoke(build_app(), ["key", "set", "openai"], input=f"{KEY}\n")
    assert told.exit_code == 1
    assert told.stderr == (
        "This system has no keyring that could be used: its service is not installed, or does not "
        "run. Set OPENAI_API_KEY in the environment.\n"
    )


def test_what_a_keyring_says_is_not_cut_within_a_word() -> None:
    with the_keyring_is(in_memory) as ring:
        ring.trouble = "The collection is locked, " * 20
        told = CliRunner().invoke(build_app(), ["key", "set", "openai"], input=f"{KEY}\n")
    said = re.fullmatch(
        r"The system's keyring cannot be used: (.{150,200} …)\. Unlock it, or set OPENAI_API_KEY "
        r"in the environment\.\n",
        told.stderr,
    )
    assert said, told.stderr
    assert set(re.findall(r"\w+", said[1])) == set(re.findall(r"\w+", ring.trouble))


@contextmanager
def the_keyring_is(make: Callable[[], Any]) -> Iterator[Any]:
    """Another keyring for as long as the block lasts."""
    keyring = pytest.importorskip("keyring", reason="the library keyring is not installed")
    before = keyring.get_keyring()
    keyring.set_keyring(ring := make())
    try:
        yield ring
    finally:
        keyring.set_keyring(before)


def in_memory() -> Any:
    """A keyring that is gone when the test ends; `trouble` is why it does not open."""
    backend = importlib.import_module("keyring.backend")

    class Memory(backend.KeyringBackend):  # type: ignore[misc, name-defined]
        priority = 1

        def __init__(self) -> None:
            super().__init__()
            self.keys: dict[tuple[str, str], str] = {}
            self.trouble = ""

        def get_password(self, service: str, username: str) -> str | None:
            return self.keys.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            if self.trouble:
                raise importlib.import_module("keyring.errors").KeyringLocked(self.trouble)
            self.keys[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.keys[service, username]

    return Memory()
