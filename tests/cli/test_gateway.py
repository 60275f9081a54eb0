"""`freya-teach gateway`: says how to ask it, answers on both wires, and ends on Ctrl-C."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest
from typer.testing import CliRunner

from freya_teach.cli.main import build_app
from freya_teach.lab.gateway.days import DAYS

run = CliRunner()
COMMAND = [sys.executable, "-m", "freya_teach.cli", "gateway"]
ENDS = "Each request gets a line here:"

not_on_windows = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no SIGINT for one process"
)


@dataclass
class Child:
    """The command as a process of its own, and what it said before it was ready."""

    process: subprocess.Popen[str]
    said: str

    @property
    def url(self) -> str:
        """The address it printed for Google's client."""
        found = re.search(r'"base_url": "([^"]+)"', self.said)
        assert found
        return found[1]

    def stop(self, how: signal.Signals) -> tuple[int, str]:
        """End it; return the exit code and what it said in the meantime."""
        self.process.send_signal(how)
        assert self.process.stdout is not None
        rest = self.process.stdout.read()
        return self.process.wait(60), rest


@contextmanager
def started(*options: str) -> Iterator[Child]:
    """Start it and read until it says that it is ready."""
    process = subprocess.Popen(
        [*COMMAND, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "200"},
    )
    try:
        assert process.stdout is not None
        said = ""
        while ENDS not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        yield Child(process, said)
    finally:
        process.kill()
        process.communicate()


@not_on_windows
def test_it_answers_on_both_wires_whole_and_in_pieces_and_ends_on_ctrl_c() -> None:
    user = {"role": "user", "content": "My name is Ada."}
    contents = {"contents": [{"role": "user", "parts": [{"text": "My name is Ada."}]}]}
    with started() as child, httpx.Client(base_url=child.url, trust_env=False) as http:
        openai = {"model": "gpt-5.6-terra", "messages": [user]}
        whole = http.post("/v1/chat/completions", json=openai)
        assert whole.json()["choices"][0]["message"]["content"] == "Hello, Ada."
        pieces = http.post("/v1/chat/completions", json={**openai, "stream": True})
        assert pieces.text.endswith("data: [DONE]\n\n")
        gemini = "/v1beta/models/gemini-3.8-flash"
        whole = http.post(f"{gemini}:generateContent", json=contents)
        assert whole.json()["candidates"][0]["content"]["parts"] == [{"text": "Hello, Ada."}]
        pieces = http.post(f"{gemini}:streamGenerateContent?alt=sse", json=contents)
        assert pieces.headers["content-type"] == "text/event-stream"
        assert '"finishReason": "STOP"' in pieces.text
        code, rest = child.stop(signal.SIGINT)
    assert code == 0
    assert rest.splitlines() == [
        "",
        "POST /v1/chat/completions  200",
        "POST /v1/chat/completions  200",
        f"POST {gemini}:generateContent  200",
        f"POST {gemini}:streamGenerateContent  200",
        "",
        "Stopped.",
    ]


@not_on_windows
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_curl_commands_that_it_prints_work_as_they_are() -> None:
    with started() as child:
        commands = re.findall(r"^  (curl (?:.*\\\n)*.*\n(?: {6,}.*\n)*)", child.said, re.MULTILINE)
        assert len(commands) == 2
        for command in commands:
            words = [word for word in shlex.split(command) if word != "\n"]
            asked = subprocess.run(
                [*words, "-sS", "--noproxy", "*"], capture_output=True, text=True, check=True
            )
            assert "Hello, Ada." in asked.stdout, asked


@not_on_windows
def test_it_ends_with_a_client_still_waiting_and_leaves_the_port_free() -> None:
    with started("--trouble", "silent") as child:
        port = int(child.url.rpartition(":")[2])
        assert "The trouble 'silent': no request is answered" in child.said
        with socket.create_connection(("127.0.0.1", port)) as waiting:
            waiting.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 2\r\n\r\n{}"
            )
            assert child.process.stdout is not None
            while "left waiting" not in (line := child.process.stdout.readline()):
                assert line, "it ended"
            code, rest = child.stop(signal.SIGTERM)
            assert waiting.recv(100) == b""
    assert code == 143
    assert "Traceback" not in rest
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_that_is_taken_ends_it_with_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(
            [*COMMAND, "--port", str(port)], capture_output=True, text=True, check=False, timeout=60
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"the gateway cannot listen on 127.0.0.1, port {port}: ")
    assert ended.stdout == ""


def test_a_trouble_that_there_is_not_ends_it_with_the_names_of_those_there_are() -> None:
    result = run.invoke(build_app(), ["gateway", "--trouble", "flacky"])
    assert result.exit_code == 1
    assert "there is no trouble called 'flacky'" in result.output
    assert all(f"  {name}: " in result.output for name in DAYS)


def test_the_troubles_can_be_listed() -> None:
    result = run.invoke(build_app(), ["gateway", "--list"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(DAYS)


def test_the_help_shows_how_to_ask_either_wire() -> None:
    result = run.invoke(build_app(), ["gateway", "--help"], env={"COLUMNS": "100"})
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    assert "curl http://127.0.0.1:PORT/v1/chat/completions \\" in lines
    assert "curl http://127.0.0.1:PORT/v1beta/models/gemini-3.8-flash:generateContent \\" in lines
