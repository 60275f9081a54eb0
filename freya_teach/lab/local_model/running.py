"""The running server: started as a child, stopped with us, and described for recordings. (start)"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from freya_teach.errors import FreyaError
from freya_teach.lab.local_model import MODEL, SERVER, WEIGHTS, WEIGHTS_FILE, model_folder
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict, as_int

SETTINGS: dict[str, Json] = {"temperature": 0.0, "seed": 1, "threads": 1, "context": 4096}
"""Chosen so that the same question gets the same answer. More threads are no help on a busy
machine: they wait for each other."""
STOP_SECONDS = 5


class ServerFailed(FreyaError):
    """The server did not start; the message says why."""


def note_of(models: Path, port: int) -> Path:
    """The file that describes the server on a port while it runs; each server has its own."""
    return models / f"running-{port}.json"


def template() -> str:
    """The chat template that the server uses (`hermes.jinja` beside this file)."""
    return (files(__package__) / "hermes.jinja").read_text(encoding="utf-8")


@contextmanager
def serving(models: Path, port: int) -> Iterator[str]:
    """Run the server while the block runs; yields its address. Raises `ServerFailed`."""
    _require_free(models, port)
    settings = SETTINGS | {
        "packages": str(SERVER.folder(models)),
        "weights": str(WEIGHTS.folder(models) / WEIGHTS_FILE),
        "template": template(),
        "name": MODEL,
        "port": port,
    }
    log_file, note = models / f"server-{port}.log", note_of(models, port)
    with log_file.open("w+b") as log:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("child.py")), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us; the child ends when we do
        )
        try:
            url = _wait_until_ready(process, log_file)
            note.write_text(json.dumps({"url": url, "pid": os.getpid(), **about()}), "utf-8")
            yield url
        finally:
            note.unlink(missing_ok=True)
            _stop(process)


def _require_free(models: Path, port: int) -> None:
    """Find a port in use before the model is loaded for nothing."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) != 0:
            return
    url = f"http://127.0.0.1:{port}"
    if ours := _running(models, url):
        raise ServerFailed(
            f"The model answers at {url} already: process {ours['pid']} serves it. Ask it there, "
            "or stop it with Ctrl-C in its terminal. A second one needs another --port."
        )
    raise ServerFailed(f"Port {port} is in use. Choose another one with --port.")


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.stdout is not None
    while line := process.stdout.readline().decode("utf-8", "replace"):
        if line.startswith("http://"):
            return line.strip()
    process.wait()
    last = "\n  ".join(log.read_text("utf-8", "replace").strip().splitlines()[-8:])
    raise ServerFailed(f"The model's server ended before it was ready:\n  {last}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()


def about() -> dict[str, Json]:
    """What a recording tells of this server."""
    weights = Path(WEIGHTS_FILE).name
    return {
        "server": f"llama.cpp's HTTP server, in xllamacpp {SERVER.version} ({SERVER.licence})",
        "weights": f"{weights} ({WEIGHTS.licence}), from {WEIGHTS.name} {WEIGHTS.version}",
        "settings": {
            **SETTINGS,
            "prompt_cache": False,
            "chat_template": "freya_teach/lab/local_model/hermes.jinja",
            "chat_template_sha256": hashlib.sha256(template().encode()).hexdigest(),
        },
    }


def about_server(endpoint: str) -> dict[str, Json]:
    """Who answers at this address: our own server in detail, any other by its address."""
    note = _running(model_folder(), endpoint)
    return {name: note[name] for name in about()} if note else {"server": endpoint}


def _running(models: Path, url: str) -> dict[str, Json]:
    """The note of our own server at this address; empty when none of ours answers there."""
    for path in models.glob("running-*.json"):
        try:
            note = as_dict(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError):
            continue
        if note.get("url") == url and _runs(as_int(note.get("pid"))):
            return note
    return {}


def _runs(pid: int) -> bool:
    """Whether that process is there: one that was killed leaves its note behind."""
    if sys.platform == "win32":  # there, signal 0 would end it
        return True
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return pid > 0
