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

It does not limit how many requests are under way, and does not close what has become idle before
the client is closed: a server does that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial

import httpx


class Connections(httpx.AsyncBaseTransport):
    """Lends each request a transport that nobody uses, and takes it back behind the answer.

    `new` makes one more, with a proxy, say; by default all share one set of certificates.
    """

    def __init__(self, new: Callable[[], httpx.AsyncBaseTransport] | None = None) -> None:
        if new is None:  # to read the certificates takes 20 ms, so they are read once
            new = partial(httpx.AsyncHTTPTransport, verify=httpx.create_ssl_context())
        self._new = new
        self._made: list[httpx.AsyncBaseTransport] = []
        self._idle: list[httpx.AsyncBaseTransport] = []

    def __len__(self) -> int:
        """How many transports there are: as many as there ever were requests at once."""
        return len(self._made)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request over the transport that came back last: its connection is warm."""
        transport = self._idle.pop() if self._idle else self._one_more()
        try:
            response = await transport.handle_async_request(request)
        except BaseException:
            self._idle.append(transport)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Lent(response.stream, lambda: self._idle.append(transport))
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for transport in self._made:
            await transport.aclose()

    def _one_more(self) -> httpx.AsyncBaseTransport:
        transport = self._new()
        self._made.append(transport)
        return transport


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
