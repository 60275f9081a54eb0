"""A real server on the loopback that answers in every wrong way a network has.

    async with serving(answer(b"...")) as server:
        ... ask server.url ...

It reads one whole request, then hands the connection to the behaviour it was given. It speaks no
HTTP of its own, because the point is what a client does with bytes that are not HTTP.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[["Connection"], Awaitable[None]]


@dataclass
class Connection:
    """One request that came in, and the way back to whoever sent it."""

    request: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, *pieces: bytes) -> None:
        """Send the pieces, each in a packet of its own as far as that can be had."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def send_chunk(self, piece: bytes) -> None:
        """Send one piece of a body with `transfer-encoding: chunked`."""
        await self.send(b"%x\r\n%b\r\n" % (len(piece), piece))

    async def wait_until_client_leaves(self) -> None:
        """Say nothing more and wait for the other side to close."""
        with suppress(ConnectionError):
            await self.reader.read()

    def reset(self) -> None:
        """Break the connection so that the other side gets a reset and not an end."""
        linger = struct.pack("hh" if hasattr(socket, "SIO_RCVALL") else "ii", 1, 0)
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


@dataclass
class Server:
    """Where it listens, what was asked, and when the last client left."""

    url: str
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    client_left: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def serving(behave: Behaviour) -> AsyncIterator[Server]:
    """Serve on a free port of the loopback until the block ends."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        handling.add(asyncio.current_task())
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while not writer.is_closing():
                    request = await _one_request(reader)
                    server.requests.append(request)
                    await behave(Connection(request, reader, writer))
            server.client_left.set()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = Server("")
    handling: set[asyncio.Task[None] | None] = set()
    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    host, port = listening.sockets[0].getsockname()
    server.url = f"http://{host}:{port}"
    try:
        yield server
    finally:
        listening.close()
        for task in handling:
            task.cancel()
        await asyncio.gather(*handling, return_exceptions=True)


async def _one_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
    return head + await reader.readexactly(length)


def head(status: str = "200 OK", *headers: str) -> bytes:
    """The first lines of a response, with the blank line behind them."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode()


def whole(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """A complete response with this body."""
    return head(status, f"content-length: {len(body)}", *headers) + body


def answer(*pieces: bytes, close: bool = False) -> Behaviour:
    """Send these bytes, whatever they are; then wait for the next request, or close."""

    async def behave(connection: Connection) -> None:
        await connection.send(*pieces)
        if close:
            connection.writer.close()

    return behave


def then_reset(*pieces: bytes) -> Behaviour:
    """Send these bytes and break the connection."""

    async def behave(connection: Connection) -> None:
        await connection.send(*pieces)
        connection.reset()

    return behave


def then_silence(*pieces: bytes) -> Behaviour:
    """Send these bytes and nothing more, with the connection open."""

    async def behave(connection: Connection) -> None:
        await connection.send(*pieces)
        await connection.wait_until_client_leaves()
        connection.writer.close()

    return behave


def drip(piece: bytes) -> Behaviour:
    """Send this piece of a body again and again for as long as anyone listens."""

    async def behave(connection: Connection) -> None:
        await connection.send(head("200 OK", "transfer-encoding: chunked"))
        while True:
            await connection.send_chunk(piece)
            await asyncio.sleep(0.01)  # the drip itself: nobody waits for it

    return behave
