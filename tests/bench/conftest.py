"""The loopback server and the two client processes, each started once for all measurements."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RunSessions = Callable[..., dict[str, Any]]


def program(name: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a program of this folder. Leaving its `with` closes its stdin, and that ends it."""
    command = [sys.executable, HERE / name, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")


@pytest.fixture(scope="session")
def server_address() -> Iterator[str]:
    with program("loopback_server.py") as server:
        yield server.stdout.readline().strip()


@pytest.fixture(scope="session")
def run_sessions(server_address: str) -> Iterator[RunSessions]:
    """Return a function: "bare" or "freya" and an order → what `client_process.py` measured."""
    with (
        program("client_process.py", "bare", server_address) as bare,
        program("client_process.py", "freya", server_address) as freya,
    ):
        clients = {"bare": bare, "freya": freya}

        def run(client: str, **order: object) -> dict[str, Any]:
            print(json.dumps(order), file=clients[client].stdin, flush=True)
            return json.loads(clients[client].stdout.readline())

        yield run


@pytest.fixture(scope="module")
def report() -> Iterator[dict[str, list[str]]]:
    """Heading → rows, printed as tables after the last test of the module."""
    tables: dict[str, list[str]] = {}
    yield tables
    for heading, rows in tables.items():
        print("\n\n" + "\n".join([heading, *rows]))
