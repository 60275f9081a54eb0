"""One client for many conversations: each request under way has a pool to itself. (chapter 5.3)

    async with httpx.AsyncClient(transport=Connections()) as http:
        kernel = build_kernel(settings, http)

A pool of httpx looks through all its connections when a request begins and when it ends, and for
each idle one once more through all; over 20 connections it closes every idle one that it sees. So
the more conversations share a pool, the more each of their turns costs. A client for each of them
is a way out. This is the other one: the client, the kernel and the agent stay one.

Measured with 50 conversations at once, a loop without the kernel, CPU for each turn: 2.5 ms with
`httpx.AsyncClient()`, 3.9 without its limits, 1.0 with a client for each conversation, 1.0 with
`Connections`.

It does not limit how many requests are under way. What was needed for a burst is closed little by
little, one with each later request, and all of it with the client.

A client with a transport of its own reads no proxy from the environment, and does not hand on its
`verify`, `http2` or `proxy`: give them to the transports,
`Connections(lambda: httpx.AsyncHTTPTransport(proxy=…))`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial

import httpx

IDLE_SECONDS = 5.0
"""For so long a connection is kept that nobody uses, as httpx does."""


class Connections(httpx.AsyncBaseTransport):
    """Lends each request a transport that nobody uses, and takes it back behind the answer.

    `new` makes one more, with a proxy, say; by default all share one set of certificates.
    """

    def __init__(
        self,
        new: Callable[[], httpx.AsyncBaseTransport] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if new is None:  # to read the certificates takes 20 ms, so they are read once
            new = partial(httpx.AsyncHTTPTransport, verify=httpx.create_ssl_context())
        self._new = new
        self._clock = clock
        self._made: set[httpx.AsyncBaseTransport] = set()
        self._idle: deque[tuple[float, httpx.AsyncBaseTransport]] = deque()
        """Those that nobody uses, each with the second in which it came back, the oldest first."""

    def __len__(self) -> int:
        """How many transports there are."""
        return len(self._made)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request over the transport that came back last: its connection is warm."""
        await self._close_an_old_one()
        transport = self._idle.pop()[1] if self._idle else self._one_more()
        try:
            response = await transport.handle_async_request(request)
        except BaseException:
            self._take_back(transport)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Lent(response.stream, partial(self._take_back, transport))
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for transport in self._made:
            await transport.aclose()

    def _one_more(self) -> httpx.AsyncBaseTransport:
        transport = self._new()
        self._made.add(transport)
        return transport

    def _take_back(self, transport: httpx.AsyncBaseTransport) -> None:
        self._idle.append((self._clock(), transport))

    async def _close_an_old_one(self) -> None:
        if len(self._idle) > 1 and self._idle[0][0] + IDLE_SECONDS < self._clock():
            _, old = self._idle.popleft()
            self._made.discard(old)
            await old.aclose()


class _Lent(httpx.AsyncByteStream):
    """The body of an answer; closing it gives the transport back."""

    def __init__(self, body: httpx.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._body = body
        self._give_back = give_back

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__()

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        finally:
            self._give_back()
