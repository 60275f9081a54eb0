"""One model call over HTTP: the only module that touches the wire. (chapter 5.3)

Bytes come in pieces, are cut into chunks, read by the adapter and put together by the
assembler, in one pass and the same way whether the answer is streamed or not. Whatever goes
wrong on the way ends as one of the exceptions in `errors.py`; nothing waits for ever.

It does not retry and does not choose: that is the proxy's work. Whether the other end is a
recording, a fake or the real API is decided by the `httpx.AsyncClient` that is handed in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

import httpx

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import (
    BadResponse,
    ConfigError,
    ConnectionFailed,
    LLMError,
    NeedsSmaller,
    ResponseCut,
)
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.messages import NO_DATA, Json
from freya_teach.llm.protocol import (
    Adapter,
    Delta,
    Exchange,
    FinishDelta,
    ModelRequest,
    OpaqueDelta,
    Route,
    UsageDelta,
    WireRequest,
    host_of,
)
from freya_teach.llm.redaction import redact, secrets_of
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.request_log import RequestLog
from freya_teach.llm.request_tokens import request_tokens
from freya_teach.llm.sse import ChunkDecoder, parse_json
from freya_teach.llm.tokens import CalibratedCounter, TokenCounter


def ignore(delta: Delta) -> None:
    """For whoever wants the whole answer only."""


@dataclass(slots=True)
class _Received:
    """What has come back so far; it is still there when something fails."""

    status: int | None = None
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0

    def take(self, piece: bytes, limit: int) -> None:
        self.pieces.append(piece)
        self.size += len(piece)
        if self.size > limit:
            raise BadResponse(f"the answer is larger than {limit:,} bytes; the rest was not read")


@dataclass(frozen=True, slots=True)
class HttpModelClient:
    """Asks one route through one adapter."""

    http: httpx.AsyncClient
    adapter: Adapter
    route: Route
    settings: Settings
    ambient: Ambient
    log: RequestLog | None = None
    counter: TokenCounter = field(default_factory=CalibratedCounter)

    async def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None] = ignore
    ) -> Exchange:
        """Ask once and return the whole answer; each delta is reported as it comes.

        Raises `LLMError` (which one tells why), or `TranscriptError` / `UnsupportedContent` /
        `ConfigError` / `NeedsSmaller` before anything is sent.
        """
        wire = self.adapter.build_request(request, self.route)
        _check_sendable(wire)
        self._check_window(request, wire)
        assembler = Assembler(frozenset(tool.name for tool in request.tools))
        received = _Received()
        logged = self.log.request(wire) if self.log else None
        started = self.ambient.monotonic()
        error = ""
        try:
            with self._failures_in_words(wire, received):
                async with asyncio.timeout(self.settings.request_seconds):
                    complete = await self._receive(wire, received, assembler, on_delta)
                reply = assembler.finish(complete=complete)
        except BaseException as problem:  # a cancelled call is logged too
            error = f"{type(problem).__name__}: {problem}".removesuffix(": ")
            raise
        finally:
            seconds = self.ambient.monotonic() - started
            body = b"".join(received.pieces)
            if logged:
                logged.reply(received.status, body, seconds, error)
        route = self.route
        return Exchange(wire, received.status or 0, body, reply, seconds, route.name, route.issuer)

    def _check_window(self, request: ModelRequest, wire: WireRequest) -> None:
        """Raise `NeedsSmaller` for a request that is larger than a window we are sure of."""
        facts = self.route.facts
        if facts.guessed or len(wire.body) <= facts.window:  # no token is less than a byte
            return
        tokens = request_tokens(request, self.counter)
        if tokens <= facts.window:
            return
        problem = NeedsSmaller(
            f"the conversation has about {tokens:,} tokens, and {self.route.name} takes "
            f"{facts.window:,}: nothing was sent. Begin a new conversation, or use a model with "
            "a larger window",
            provider=self.adapter.name,
        )
        problem.route, problem.window, problem.tokens = self.route.name, facts.window, tokens
        raise problem

    async def _receive(
        self,
        wire: WireRequest,
        received: _Received,
        assembler: Assembler,
        on_delta: Callable[[Delta], None],
    ) -> bool:
        """Send and read; return whether the body claimed to be complete."""
        decoder = ChunkDecoder()
        response = await self._send(wire)
        try:
            received.status = response.status_code
            if response.status_code != 200:
                await self._refuse(response, received)
            pieces = response.aiter_bytes()
            async for piece in pieces:
                received.take(piece, self.settings.max_response_bytes)
                self._hand_on(decoder.feed(piece), assembler, on_delta)
                if decoder.finished:
                    await self._read_rest(pieces)
                    break
        finally:
            await response.aclose()
        self._hand_on(decoder.end(), assembler, on_delta)
        return decoder.finished

    async def _read_rest(self, pieces: AsyncIterator[bytes]) -> None:
        """Wait shortly for the end behind `[DONE]`; a server that goes on or breaks off is left.

        Only a body that was read to its end leaves its connection to the next request.
        """
        with suppress(TimeoutError, httpx.TransportError, httpx.DecodingError):
            async with asyncio.timeout(self.settings.closing_seconds):
                async for _ in pieces:
                    pass

    def _hand_on(
        self, chunks: list[Json], assembler: Assembler, on_delta: Callable[[Delta], None]
    ) -> None:
        for chunk in chunks:
            for delta in self.adapter.parse_chunk(chunk):
                signed = _signed(delta, self.route)
                assembler.add(signed)
                on_delta(signed)

    async def _send(self, wire: WireRequest) -> httpx.Response:
        """Send, and return when the headers have come. Whoever reads the body closes it.

        For speed not `http.stream`: its context manager takes 2 µs of 73 more.
        """
        request = self.http.build_request(
            wire.method,
            _address(wire.url),
            headers=dict(wire.headers),
            content=wire.body,
            timeout=_timeout(self.settings.read_seconds, self.settings.connect_seconds),
        )
        # the key would go along to wherever a redirect points
        return await self.http.send(request, stream=True, follow_redirects=False)

    async def _refuse(self, response: httpx.Response, received: _Received) -> None:
        """Raise for an answer that is not a 200. Its status counts, even if its body is broken."""
        with suppress(httpx.TransportError, httpx.DecodingError, BadResponse):
            async for piece in response.aiter_bytes():
                received.take(piece, self.settings.max_response_bytes)
        body, status = b"".join(received.pieces), response.status_code
        if status < 400:
            target = host_of(response.headers.get("location", ""))
            raise BadResponse(f"HTTP {status} instead of an answer{target and ' → ' + target}")
        try:
            value = parse_json(body)
        except BadResponse:  # a proxy's own page: its status still says what to do
            text = " ".join(body[:2000].decode("utf-8", "replace").split())
            value = {"error": {"message": text[:300] or response.reason_phrase}}
        raise_for_error(self.adapter.name, status, value, response.headers)

    @contextmanager
    def _failures_in_words(self, wire: WireRequest, received: _Received) -> Iterator[None]:
        """Give every failure a type of ours, say where it happened, and keep the key out of it."""
        host = host_of(wire.url)
        try:
            yield
        except TimeoutError:
            raise ConnectionFailed(
                f"{host} did not finish its answer within {self.settings.request_seconds:g} s",
                provider=self.adapter.name,
                status=received.status,
            ) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as problem:
            raise ConfigError(f"{wire.url!r} is no address of a server: {problem}") from None
        except httpx.DecodingError as problem:
            raise BadResponse(
                f"{host}: the answer cannot be unpacked: {problem}",
                provider=self.adapter.name,
                status=received.status,
            ) from None
        except httpx.TransportError as problem:
            raise self._connection_problem(problem, host, received) from problem
        except LLMError as problem:
            raise self._with_place(problem, host, wire, received) from None

    def _connection_problem(
        self, problem: httpx.TransportError, host: str, received: _Received
    ) -> LLMError:
        what = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        if received.status is None:
            return ConnectionFailed(f"no answer from {host}: {what}", provider=self.adapter.name)
        return ResponseCut(
            f"the answer of {host} broke off after {received.size:,} bytes: {what}",
            provider=self.adapter.name,
            status=received.status,
        )

    def _with_place(
        self, problem: LLMError, host: str, wire: WireRequest, received: _Received
    ) -> LLMError:
        secrets = secrets_of(wire)
        if isinstance(problem, BadResponse):
            message = f"{host} (HTTP {received.status}): {problem}"
        else:
            message = str(problem)
        return type(problem)(
            redact(message, secrets),
            provider=self.adapter.name,
            status=problem.status or received.status,
            provider_text=redact(problem.provider_text, secrets),
            retry_after=problem.retry_after,
        )


# For speed: httpx reads an address again for each request. Read once, a request is built in 20 µs
# instead of 33.
_address = lru_cache(maxsize=64)(httpx.URL)


@lru_cache(maxsize=8)
def _timeout(read: float, connect: float) -> httpx.Timeout:
    return httpx.Timeout(read, connect=connect)


def _signed(delta: Delta, route: Route) -> Delta:
    """The delta with the server's own name on what only that server can read.

    An adapter knows the wire alone, and what one server has sealed another cannot open.
    """
    if isinstance(delta, FinishDelta | UsageDelta):
        return delta
    data = delta.part.provider_data if isinstance(delta, OpaqueDelta) else delta.provider_data
    if data is NO_DATA or data.issuer != route.provider or route.issuer == route.provider:
        return delta
    data = replace(data, issuer=route.issuer)
    if isinstance(delta, OpaqueDelta):
        return OpaqueDelta(replace(delta.part, provider_data=data))
    return replace(delta, provider_data=data)


def _check_sendable(wire: WireRequest) -> None:
    """Find a key that no header can carry here: httpx would quote it in its own message."""
    for secret in secrets_of(wire):
        if secret != secret.strip() or not (secret.isascii() and secret.isprintable()):
            raise ConfigError(
                "the API key holds a line break, a space at its end or a character that is not "
                "ASCII, which no HTTP header can carry: copy it once more"
            )
