"""`freya-teach classroom`: the course for a whole class from this machine, to try it. (start)

It listens on loopback only. For people on other machines a server needs real authentication, TLS
and a spawner that keeps students apart: book/workshop/classroom.md.
"""

from __future__ import annotations

import getpass
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from freya_teach.cli.class_list import ListDamaged, enrol
from freya_teach.cli.hub_config import FILE, HOMES, LOGINS, REVEAL, Ports, hub_config
from freya_teach.cli.words import fail

DEFAULT_FOLDER = Path("~/freya-classroom")
MEGABYTES_PER_STUDENT = 180
"""Server and one kernel after notebook 4.2: 175 with 20 students, 179 with three, rounded up.

Measured as PSS on Linux with Python 3.11 by tests/cli/test_classroom_soak.py.
"""

MEGABYTES_FOR_THE_HUB = 200
PROXY = "configurable-http-proxy"
SECONDS_TO_START = 120
SECONDS_TO_STOP = 60

ISOLATION = """\
What keeps students apart here: a password, and nothing else. All servers run as {user} of this
machine, so a student's code can read and change the files of the others, and the hub's own.
That is for trying it out, or for a room of people who trust each other."""


def classroom(
    users: Annotated[int, typer.Option(min=1, max=500, help="How many students.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="On this machine only.")] = 8000,
    folder: Annotated[
        Path, typer.Option("--dir", help="Logins, and a home folder for each student.")
    ] = DEFAULT_FOLDER,
    new_passwords: Annotated[
        bool, typer.Option("--new-passwords", help="Make all passwords anew, and print them.")
    ] = False,
) -> None:
    """Start JupyterHub on this machine with a login, and a fresh course, for each student."""
    folder = folder.expanduser().absolute()
    if missing := list(what_is_missing(folder)):
        fail("\n".join(missing))
    try:
        _make_private(folder)
        ports = Ports(_own_port(port), *_free_ports(2))
        config = hub_config(folder, ports, find_proxy(folder) or Path(PROXY))
        (folder / FILE).write_text(json.dumps(config, indent=2), encoding="utf-8")
        # Last, so that nothing can fail between making a password and showing it.
        passwords = enrol(folder / LOGINS, users, anew=new_passwords)
    except ListDamaged as problem:
        fail(str(problem))
    except OSError as problem:
        fail(f"{problem.filename or folder}: {problem.strerror or problem}")
    print(f"A classroom for {users} students, in {folder}.")
    print(memory_in_words(users, _free_megabytes()))
    print(logins_in_words(passwords), flush=True)
    raise typer.Exit(_run_hub(folder, port))


def what_is_missing(folder: Path) -> Iterator[str]:
    """Say what has to be installed first, and how."""
    if sys.platform == "win32":
        yield "JupyterHub does not run on Windows; it does in WSL, the Linux inside it."
        return
    if find_spec("jupyterhub") is None:
        yield 'JupyterHub is not installed: pip install "freya-teach[hub]"'
    if find_spec("jupyterlab") is None:
        yield 'JupyterLab is not installed: pip install "freya-teach[course]"'
    if shutil.which("node") is None:
        yield "Node.js is not installed; JupyterHub's proxy needs version 20 or later of it."
    if find_proxy(folder) is None:
        yield f"JupyterHub's proxy is not installed: npm install --prefix {folder} {PROXY}"


def find_proxy(folder: Path) -> Path | None:
    """The proxy's program: on the PATH, or as npm puts it into the classroom's folder."""
    beside = folder / "node_modules" / ".bin" / PROXY
    found = shutil.which(PROXY)
    return Path(found) if found else beside if beside.exists() else None


def memory_in_words(users: int, free: int | None) -> str:
    """What the class needs if everybody works, against what is free now, both in MB."""
    needed = MEGABYTES_FOR_THE_HUB + users * MEGABYTES_PER_STUDENT
    text = f"Memory: about {MEGABYTES_PER_STUDENT} MB for each student at work, {needed} MB for all"
    if free is None:
        return f"{text}."
    if free < needed:
        return f"{text}; only {free} MB are free. Servers will fail when it is used up."
    return f"{text}; {free} MB are free."


def logins_in_words(passwords: dict[str, str]) -> str:
    """The new logins, which nobody can show again."""
    if not passwords:
        return "All logins are as they were; --new-passwords makes new ones."
    lines = [f"  {name:<12} {password}" for name, password in passwords.items()]
    return "\n".join(["Logins, shown this once (only their hashes are kept):", *lines])


def solutions_in_words(folder: Path) -> str:
    """How to shut the solutions for everybody in this classroom, and to open them."""
    command = f"FREYA_REVEAL_FILE={shlex.quote(str(folder / REVEAL))} freya-teach workshop"
    return (
        "Solutions (lab.reveal), for the whole class, from another terminal:\n"
        f"  shut them   {command} --no-reveal --minutes 90\n"
        f"  open them   {command} --reveal"
    )


def _make_private(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    (folder / HOMES).mkdir(exist_ok=True)


def _run_hub(folder: Path, port: int) -> int:
    """Start the hub, say when it is there, wait for it; Ctrl-C ends it and every server."""
    for stop in (signal.SIGTERM, signal.SIGHUP):  # so that `finally` ends the hub
        signal.signal(stop, lambda number, _: sys.exit(128 + number))
    log = folder / "hub.log"
    command = [sys.executable, "-m", "jupyterhub", "--config", str(folder / FILE)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=output, start_new_session=True
        )
    try:
        _wait_until_it_answers(process, port, log)
        print(ISOLATION.format(user=getpass.getuser()))
        print(solutions_in_words(folder))
        print(f"Open http://127.0.0.1:{port} on this machine; stop the class with Ctrl-C.")
        print(f"What the hub says is in {log}.", flush=True)
        return process.wait()
    except KeyboardInterrupt:
        print("\nStopping all servers; what the students wrote stays.", flush=True)
        return 0
    finally:
        _stop(process)


def _wait_until_it_answers(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    import httpx

    until = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < until:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/hub/health", trust_env=False).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
    fail(f"JupyterHub did not start. The end of {log}:\n{last}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the hub, which ends its proxy and all servers before it goes."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()


def _own_port(port: int) -> int:
    """The wished port, if nobody listens on it. Raises `OSError`."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as problem:
            reason = f"{problem.strerror}; choose another one with --port."
            raise OSError(problem.errno, reason, f"port {port}") from None
    return port


def _free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _free_megabytes() -> int | None:
    """Memory that new processes could use; None where that cannot be asked."""
    try:
        pages = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None
    return pages // 1_000_000
