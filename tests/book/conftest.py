"""The book, built once into a folder of the test run and served as plain files."""

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import browser as browser  # noqa: PLC0414 - a fixture, handed on

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "book"))


def try_to_build(output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Build the book, or find out what is said when that cannot be done."""
    command = [sys.executable, str(ROOT / "book" / "build.py"), "--output", str(output)]
    return subprocess.run(
        [*command, *options],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def build(output: Path, *options: str) -> Path:
    """Build the book; a warning of Sphinx fails it."""
    done = try_to_build(output, *options)
    assert done.returncode == 0, done.stdout
    return output


@pytest.fixture(scope="session")
def some(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quick build: one lesson whole, the other lessons and the reference as titles."""
    return build(tmp_path_factory.mktemp("book") / "some", "--only", "4.2")


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of the book."""
    return build(tmp_path_factory.mktemp("book") / "whole")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: the browser's own list of requests is what is looked at."""


@pytest.fixture(scope="session")
def some_served(some: Path) -> Iterator[str]:
    yield from served(some)


@pytest.fixture(scope="session")
def whole_served(whole: Path) -> Iterator[str]:
    yield from served(whole)


def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, as any web server would."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
