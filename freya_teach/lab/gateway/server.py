"""The gateway as a server on this machine, for clients of every kind. (chapter 5.3)

    async with serve(gateway(assistant)) as here:
        ... openai.AsyncOpenAI(base_url=here.openai, api_key="any") ...

Every piece of a body leaves at once, as it does from a provider. What a trouble raises in the
place of an answer is done to the connection: it is closed in the middle, or kept open in silence.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx
from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler

from freya_teach.errors import ConfigError
from freya_teach.lab.gateway.gateway import Gateway

LOOPBACK = "127.0.0.1"
Log = Callable[[str], None]
NOT_OURS = {"content-length", "transfer-encoding", "connection"}
"""Headers of a request that were about the bytes on the way, and not about what they say."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Where the gateway listens, and the address that each client wants to be told."""

    url: str
    """Of the server itself: for `FREYA_BASE_URL`, whichever wire is spoken."""

    @property
    def openai(self) -> str:
        """What the `openai` package wants: with the version."""
        return f"{self.url}/v1"

    @property
    def gemini(self) -> str:
        """What the `google-genai` package wants: without the version, which it adds."""
        return self.url


@asynccontextmanager
async def serve(
    gateway: Gateway, port: int = 0, host: str = LOOPBACK, log: Log = lambda _: None
) -> AsyncIterator[Serving]:
    """Serve until the block ends; port 0 is any free one. `log` gets a line for each request.

    Raises `ConfigError` when it cannot listen there.
    """
    listening = _listen(host, port)
    routes = [(".*", _Handler, {"gateway": gateway, "log": log})]
    server = HTTPServer(Application(routes, log_function=lambda _: None))
    server.add_socket(listening)
    name = f"[{host}]" if ":" in host else host
    try:
        yield Serving(f"http://{name}:{listening.getsockname()[1]}")
    finally:
        server.stop()
        await server.close_all_connections()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if not _is_of_this_machine(host, family):
        raise ConfigError(
            f"the gateway cannot listen on {host or 'an empty host'}: that is no address of this "
            f"machine. Choose {LOOPBACK} for this machine alone, or 0.0.0.0 for all that can "
            "reach it."
        )
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as problem:
        number = getattr(problem, "errno", None) or 0
        raise ConfigError(
            f"the gateway cannot listen on {host}, port {port}: "
            f"{os.strerror(number) if number > 0 else problem}. "
            "Choose another port, or 0 for any free one."
        ) from problem
    listening.setblocking(False)  # noqa: FBT003 - the name of its argument is in C only
    return listening


def _is_of_this_machine(host: str, family: socket.AddressFamily) -> bool:
    """Whether one can listen there, with any free port: else it is not the port's fault."""
    if not host:  # to a socket, that is every address of this machine, which is to be asked for
        return False
    try:
        socket.create_server((host, 0), family=family).close()
    except (OSError, UnicodeError):
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class _Handler(RequestHandler):
    """One request: httpx's shape for the gateway, and the answer piece by piece."""

    def initialize(self, gateway: Gateway, log: Log) -> None:
        self.gateway = gateway
        self.log = log
        self.answering: asyncio.Task[None] | None = None

    async def _any(self) -> None:
        self.answering = asyncio.create_task(self._answer())
        try:
            await self.answering
        except (asyncio.CancelledError, StreamClosedError):  # the client has left, or we stop
            self._hang_up()

    get = post = put = patch = delete = head = options = _any

    def on_connection_close(self) -> None:
        if self.answering:
            self.answering.cancel()

    async def _answer(self) -> None:
        try:
            response = await self.gateway.answer(self._request())
            self._say(str(response.status_code))
            await self._send(response)
        except httpx.TimeoutException:
            self._say("left waiting")
            await asyncio.Event().wait()
        except httpx.TransportError:
            self._say("hung up")
            self._hang_up()

    def _request(self) -> httpx.Request:
        came = self.request
        headers = [(k, v) for k, v in came.headers.get_all() if k.lower() not in NOT_OURS]
        url = f"{came.protocol}://{came.host}{came.uri}"
        return httpx.Request(came.method or "", url, headers=headers, content=came.body)

    async def _send(self, response: httpx.Response) -> None:
        self.set_status(response.status_code)
        for name, value in response.headers.items():
            self.set_header(name, value)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        await self.flush()
        async for piece in response.stream:
            self.write(piece)
            await self.flush()

    def _hang_up(self) -> None:
        """Close the connection as it is, in the middle of whatever was promised."""
        self.request.connection.stream.close()  # type: ignore[union-attr]

    def _say(self, what: str) -> None:
        self.log(f"{self.request.method} {self.request.path}  {what}")

    def write_error(self, status_code: int, **details: Any) -> None:
        """Say what broke in the gateway itself, in an envelope that clients can read."""
        problem = (details.get("exc_info") or (None, None))[1]
        message = f"The gateway failed. {type(problem).__name__}: {problem}"
        self._say(f"{status_code}  {message}")
        self.finish({"error": {"message": message, "type": "server_error", "code": status_code}})
