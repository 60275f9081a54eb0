"""A classroom that runs, and students who use it as a browser does: over HTTP and WebSockets."""

import contextlib
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx

SECONDS = 240
"""For one cell, one start of a server; the machine may be busy with all the others."""


class Classroom:
    """The command, its address, and the logins that it printed."""

    def __init__(self, process: "subprocess.Popen[str]", port: int, said: str) -> None:
        self.process = process
        self.address = f"http://127.0.0.1:{port}"
        self.said = said
        self.logins = dict(re.findall(r"^  (\S+) +(\S+-\S+-\S+)$", said, re.MULTILINE))

    def megabytes_of_servers(self) -> list[tuple[float, float]]:
        """The memory (PSS, in MB of 10^6 bytes) of each server, and of its kernels."""
        psutil: Any = importlib.import_module("psutil")
        processes = psutil.Process(self.process.pid).children(recursive=True)
        servers = [p for p in processes if "jupyterhub.singleuser" in p.cmdline()]
        shares = [[s, *s.children(recursive=True)] for s in servers]
        sizes = [[p.memory_full_info().pss / 1e6 for p in share] for share in shares]
        return [(server, sum(kernels)) for server, *kernels in sizes]


@contextlib.contextmanager
def classroom(folder: Path, users: int, port: int) -> Iterator[Classroom]:
    """Run `freya-teach classroom` until the block ends; it stops the way Ctrl-C stops it."""
    command = [sys.executable, "-m", "freya_teach.cli", "classroom", "--users", str(users)]
    command += ["--dir", str(folder), "--port", str(port)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("FREYA_", "JUPYTER"))}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**environment, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("What the hub says"):
                break
        assert process.poll() is None, said
        yield Classroom(process, port, said)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)


class Student:
    """One browser: logs in with name and password, then holds a token of its own."""

    def __init__(self, address: str, name: str, password: str) -> None:
        self.name, self.password = name, password
        self.http = httpx.Client(
            base_url=address, follow_redirects=True, timeout=SECONDS, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def log_in(self) -> bool:
        """Fill in the form; say whether it was accepted."""
        self.http.get("/hub/login")
        form = {"username": self.name, "password": self.password, "_xsrf": self._xsrf()}
        self.http.post("/hub/login", params={"next": "/hub/home"}, data=form)
        reply = self.http.post(
            f"/hub/api/users/{self.name}/tokens",
            params={"_xsrf": self._xsrf()},
            headers={"Referer": str(self.http.base_url) + "/hub/token"},
        )
        if reply.status_code != 201:
            return False
        self.http.headers["Authorization"] = f"token {reply.json()['token']}"
        self.http.cookies.clear()
        return True

    def _xsrf(self) -> str:
        found = [c.value for c in self.http.cookies.jar if c.name == "_xsrf" and c.path == "/hub/"]
        return str(found[0])

    def start_server(self) -> None:
        """Ask for a server, as often as the hub asks for patience, and wait until it is ready."""
        while (reply := self.http.post(f"/hub/api/users/{self.name}/server")).status_code == 429:
            time.sleep(float(reply.headers["Retry-After"]))
        assert reply.status_code in (201, 202), reply.text
        progress = f"/hub/api/users/{self.name}/server/progress"
        with self.http.stream("GET", progress) as events:
            last = {}
            for line in events.iter_lines():
                if line.startswith("data:"):
                    last = json.loads(line.removeprefix("data:"))
        assert last.get("ready"), last

    def read(self, path: str, *, whose: str | None = None) -> Any:
        """A notebook of this student's server, or of another's."""
        reply = self.http.get(f"/user/{whose or self.name}/api/contents/{quote(path)}")
        reply.raise_for_status()
        return reply.json()["content"]

    def write(self, path: str, notebook: Any) -> None:
        """Save a notebook as JupyterLab does."""
        model = {"type": "notebook", "format": "json", "content": notebook}
        reply = self.http.put(f"/user/{self.name}/api/contents/{quote(path)}", json=model)
        reply.raise_for_status()

    def run_notebook(self, path: str) -> list[str]:
        """Run every cell in a kernel of its own; return what went wrong, cell by cell."""
        cells = [c for c in self.read(path)["cells"] if c["cell_type"] == "code"]
        wrong = []
        with contextlib.closing(self._kernel(path)) as channels:
            for number, cell in enumerate(cells):
                _, error = _execute(channels, cell["source"])
                if error and "raises-exception" not in cell["metadata"].get("tags", []):
                    wrong.append(f"{self.name}, code cell {number}: {error}")
        return wrong

    def what_is_printed(self, path: str, *sources: str) -> list[str]:
        """Run cells of the student's own beside a notebook; return what each of them prints."""
        with contextlib.closing(self._kernel(path)) as channels:
            told = [_execute(channels, source) for source in sources]
        assert [error for _, error in told if error] == []
        return [printed for printed, _ in told]

    def _kernel(self, path: str) -> Any:
        """Start the kernel of a notebook, or find the one that runs; return its messages."""
        asked = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        session = self.http.post(f"/user/{self.name}/api/sessions", json=asked)
        session.raise_for_status()
        kernel = session.json()["kernel"]["id"]
        websocket: Any = importlib.import_module("websocket")  # Any: it has no types
        address = str(self.http.base_url).replace("http", "ws", 1)
        return websocket.create_connection(
            f"{address}/user/{self.name}/api/kernels/{kernel}/channels",
            header=[f"Authorization: {self.http.headers['Authorization']}"],
            timeout=SECONDS,
        )


def _execute(channels: Any, source: str) -> tuple[str, str]:
    """Run one cell to its end; return what it printed, and its error in one line or nothing."""
    asked = uuid.uuid4().hex
    header = {"msg_id": asked, "msg_type": "execute_request", "username": "", "session": asked}
    content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
    channels.send(
        json.dumps(
            {
                "channel": "shell",
                "header": {**header, "version": "5.3"},
                "parent_header": {},
                "metadata": {},
                "content": {**content, "user_expressions": {}, "stop_on_error": True},
            }
        )
    )
    printed, reply, idle = "", None, False
    while reply is None or not idle:  # they come over two channels, in any order
        received = channels.recv()
        if not isinstance(received, str):
            continue  # a message with binary parts, of a widget
        message = json.loads(received)
        if message["parent_header"].get("msg_id") != asked:
            continue
        kind, content = message["msg_type"], message["content"]
        printed += content["text"] if kind == "stream" else ""
        idle = idle or (kind == "status" and content["execution_state"] == "idle")
        reply = content if kind == "execute_reply" else reply
    error = "" if reply["status"] == "ok" else f"{reply['ename']}: {reply['evalue']}"
    return printed, error
