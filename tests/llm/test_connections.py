"""One client whose requests do not share a pool."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx
import pytest

from freya_teach.llm.connections import Connections

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"


@dataclass
class Server:
    """Answers when `at_once` requests are waiting, and counts its connections."""

    at_once: int = 1
    connections: int = 0
    url: str = ""
    waiting: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    open: set[asyncio.Task[None]] = field(default_factory=set)

    def expect(self, at_once: int) -> None:
        """Let the next requests wait for each other."""
        self.at_once, self.waiting, self.arrived = at_once, 0, asyncio.Event()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self.serve(reader, writer))
        self.open.add(task)
        task.add_done_callback(self.open.discard)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                self.waiting += 1
                if self.waiting >= self.at_once:
                    self.arrived.set()
                await self.arrived.wait()
                writer.write(ANSWER)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    """Leaving waits until the clients have closed all connections."""
    server = Server()
    listening = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    async with listening:
        host, port = listening.sockets[0].getsockname()
        server.url = f"http://{host}:{port}/"
        yield server
        async with asyncio.timeout(30):
            await asyncio.gather(*server.open)


async def test_there_are_as_many_connections_as_requests_at_once_and_they_are_used_again() -> None:
    transport = Connections()
    async with serving() as server, httpx.AsyncClient(transport=transport) as http:
        for at_once in (3, 30, 30, 1):
            server.expect(at_once)
            answers = await asyncio.gather(*[http.get(server.url) for _ in range(at_once)])
            assert [answer.text for answer in answers] == ["hi"] * at_once
        assert (server.connections, len(transport)) == (30, 30)


async def test_closing_the_client_closes_all_connections() -> None:
    async with serving() as server:
        async with httpx.AsyncClient(transport=Connections()) as http:
            server.expect(5)
            await asyncio.gather(*[http.get(server.url) for _ in range(5)])
            assert len(server.open) == 5
        await asyncio.wait_for(asyncio.gather(*server.open), 30)
    assert server.connections == 5


async def test_what_a_burst_has_left_is_closed_by_the_requests_after_it() -> None:
    """A server closes what is idle, and a socket that only one side has closed stays a socket."""
    now = 0.0
    transport = Connections(clock=lambda: now)
    async with serving() as server, httpx.AsyncClient(transport=transport) as http:
        server.expect(10)
        await asyncio.gather(*[http.get(server.url) for _ in range(10)])
        server.expect(1)
        await http.get(server.url)
        assert len(transport) == 10
        now = 5.5
        for left in (9, 8, 7):
            await http.get(server.url)
            assert len(transport) == left
        for _ in range(10):
            await http.get(server.url)
        assert (len(transport), server.connections) == (1, 10)


async def test_a_request_that_is_given_up_leaves_its_place_to_the_next() -> None:
    transport = Connections()
    async with serving() as server, httpx.AsyncClient(transport=transport) as http:
        request = asyncio.create_task(http.get(server.url))
        server.expect(0)
        await server.arrived.wait()  # the answer has not been read yet
        request.cancel()
        await asyncio.wait({request})
        assert request.cancelled()
        server.expect(1)
        assert (await http.get(server.url)).text == "hi"
        assert len(transport) == 1


async def test_a_body_that_is_not_read_to_its_end_leaves_its_place_too() -> None:
    transport = Connections()
    async with serving() as server, httpx.AsyncClient(transport=transport) as http:
        for _ in range(3):
            async with http.stream("GET", server.url) as response:
                assert response.status_code == 200
        assert len(transport) == 1


async def test_a_server_that_cannot_be_reached_is_told_as_ever() -> None:
    transport = Connections()
    async with serving() as server:
        url = server.url
    async with httpx.AsyncClient(transport=transport) as http:
        for _ in range(2):
            with pytest.raises(httpx.ConnectError):
                await http.get(url)
    assert len(transport) == 1


async def test_the_transports_may_be_ones_own() -> None:
    transport = Connections(lambda: httpx.MockTransport(lambda _: httpx.Response(204)))
    async with httpx.AsyncClient(transport=transport) as http:
        assert (await http.get("http://nobody.example/")).status_code == 204
