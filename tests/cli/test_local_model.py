"""`freya-teach local-model`: says what it does, and leaves nothing running."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from freya_teach.cli.main import build_app
from tests.lab.stand_ins import installed, only_from
from tests.lab.test_local_model import free_port

run = CliRunner()


def test_what_is_there_already_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_MODEL_DIR", str(installed(tmp_path)))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "pip", None)
    result = run.invoke(build_app(), ["local-model", "--download-only"])
    assert result.output == f"The model is in {tmp_path}.\n"
    assert result.exit_code == 0


def test_without_pip_and_uv_it_ends_with_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_MODEL_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "pip", None)
    result = run.invoke(build_app(), ["local-model", "--download-only"])
    assert result.exit_code == 1
    assert "Neither pip nor uv is here" in result.output


def test_a_failed_download_says_why_and_its_bar_is_plain_text_where_no_terminal_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in only_from(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FREYA_MODEL_DIR", str(tmp_path / "models"))
    result = run.invoke(build_app(), ["local-model", "--download-only"])
    if "Neither pip nor uv" in result.output:
        pytest.skip("neither pip nor uv is installed here")
    assert result.exit_code == 1
    assert "xllamacpp 2026.10.11549 could not be fetched: " in result.output
    assert "\x1b" not in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_tells_how_to_use_the_server_and_stops_with_it(
    stop: signal.Signals, code: int, tmp_path: Path
) -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "freya_teach.cli", "local-model", "--port", str(port)],
        env={**os.environ, "FREYA_MODEL_DIR": str(installed(tmp_path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = ""
    while "Stop it with Ctrl-C." not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    assert f"FREYA_BASE_URL=http://127.0.0.1:{port} FREYA_MODEL=smollm2-135m-instruct" in said
    assert httpx.get(f"http://127.0.0.1:{port}").status_code == 200
    process.send_signal(stop)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in rest
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
