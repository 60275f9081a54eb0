"""One GET to an address that was checked, with limits on its size and its redirects. (chapter 4.4)

The request goes to the checked *address*; the name travels in the `Host` header, and for https
also as the name that the certificate must be for. So there is no second look-up that could give
another address, and a stranger's server cannot pass for the site. Each redirect starts anew.

Nothing of the client's own goes along: no default header, cookie, query or login. Each request
has a connection of its own, because a pool would hand one that was verified for one name to
another name at the same address.

A proxy that the client has (`trust_env=True` and `HTTPS_PROXY`, for example) is used, and then it
is the proxy that connects: it is told the checked address, not the name. Through a proxy https
fails, because httpx then checks the certificate against the address. A `MockTransport` sees the
same: the address in the URL and the name in the header.

Source: HTTPX's documentation, "Request extensions": sni_hostname; RFC 9110, chapter 15.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar, cast

import httpx

from freya_teach.errors import ToolError
from freya_teach.tools.addresses import Endpoint, checked
from freya_teach.tools.invoke import in_daemon_thread
from freya_teach.tools.response_body import content_type_of, read_body
from freya_teach.tools.urls import address_of, parse_url, port_of, shown

REDIRECTS = {301, 302, 303, 307, 308}
CONNECT_SECONDS = 5.0
ADDRESSES_TRIED = 3

T = TypeVar("T")
Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the web one call may take."""

    seconds: float = 20.0
    """From the first look-up to the readable text."""
    size: int = 5_000_000
    """Bytes of a body, as received and as unpacked."""
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Download:
    """What the last server of the chain answered."""

    url: httpx.URL
    status: int
    content_type: str
    charset: str
    body: bytes
    complete: bool
    """False when the body was cut at the limit."""
    redirects: int


async def download(
    http: httpx.AsyncClient,
    url: str,
    resolve: Resolve,
    limits: Limits,
    allow_private: frozenset[Endpoint] = frozenset(),
) -> Download:
    """Get a URL, through at most `limits.redirects` redirects. Raises `ToolError`."""
    text = url
    for redirects in range(limits.redirects + 1):
        try:
            target = parse_url(text)
            addresses = checked(target, await _look_up(target, resolve), allow_private)
        except ToolError as problem:
            raise ToolError(
                f"The page redirects. {problem}" if redirects else str(problem)
            ) from None
        response = await _open(http, target, addresses, limits)
        async with aclosing(response):
            location = response.headers.get("location", "")
            if response.status_code not in REDIRECTS or not location:
                body, complete = await read_body(response, limits.size)
                kind, charset = content_type_of(response)
                status = response.status_code
                return Download(target, status, kind, charset, body, complete, redirects)
        text = _joined(target, location)
    raise ToolError(
        f"{shown(target)} redirects more than {limits.redirects} times. Use another URL."
    )


async def _look_up(url: httpx.URL, resolve: Resolve) -> Sequence[str]:
    address = address_of(url)
    if address is not None:
        return [address]
    host = url.raw_host.decode("ascii")
    try:
        return await in_thread(lambda: resolve(host, port_of(url)))
    except (OSError, UnicodeError):
        raise ToolError(f"The name {host} was not found. Check the spelling of the URL.") from None


def _joined(url: httpx.URL, location: str) -> str:
    try:
        return str(url.join(location))
    except (httpx.InvalidURL, ValueError):
        raise ToolError(f"{shown(url)} redirects to a URL that cannot be read.") from None


async def _open(
    http: httpx.AsyncClient, url: httpx.URL, addresses: Sequence[str], limits: Limits
) -> httpx.Response:
    """The answer of the first address that can be reached, its body unread."""
    problem: httpx.HTTPError | None = None
    for address in list(dict.fromkeys(addresses))[:ADDRESSES_TRIED]:
        request = pinned_request(url, address, limits.seconds)
        try:
            return await http.send(request, stream=True, auth=None, follow_redirects=False)
        except (httpx.ConnectError, httpx.ConnectTimeout) as failure:
            problem = failure
        except (httpx.RemoteProtocolError, httpx.InvalidURL):
            # subtle: httpx reads the URL of a redirect also when it is told not to follow it
            raise ToolError(
                f"{shown(url)} answers what is no HTTP, or redirects to a URL that cannot be read. "
                "Use another source."
            ) from None
        except httpx.HTTPError as failure:
            problem = failure
            break
    raise ToolError(_not_reached(url, problem)) from None


def pinned_request(url: httpx.URL, address: str, seconds: float) -> httpx.Request:
    """A GET for this URL that can only go to this address."""
    return httpx.Request(
        "GET",
        url.copy_with(host=address),
        headers={
            "host": url.netloc.decode("ascii"),
            "accept": "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5",
            "accept-encoding": "gzip",
            "connection": "close",
            "user-agent": "freya-teach",
        },
        extensions={
            "sni_hostname": url.raw_host.decode("ascii"),
            "timeout": httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)).as_dict(),
        },
    )


def _not_reached(url: httpx.URL, problem: httpx.HTTPError | None) -> str:
    """In words: the text of an exception may hold paths and addresses."""
    if "CERTIFICATE_VERIFY_FAILED" in str(problem):
        return (
            f"{shown(url)} was not fetched: the server's certificate is not valid for that name. "
            "Do not try it without https; use another source."
        )
    what = "did not answer in time" if isinstance(problem, httpx.TimeoutException) else "failed"
    return f"The connection to {shown(url)} {what}. Try it once more, or use another source."


async def in_thread(work: Callable[[], T]) -> T:
    """Run slow work beside the loop, in a thread that keeps no program from ending."""
    return cast("T", await in_daemon_thread(work))
