r"""A URL that a model wrote, read once and strictly. (chapter 4.4)

Two programs that read a text differently are how a check is passed by: `http://a.com\@127.0.0.1`,
`http://0x7f.1`, `http://ⓛocalhost`. So the text is read here, and what follows uses this reading
and no other. What is unusual is refused, even where some browser would find a meaning.

Where the name leads is not known here: see `addresses`.

Source: the WHATWG URL Standard, "ends in a number checker"; RFC 6761 and 8375, local names.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata

import httpx

from freya_teach.errors import ToolError

MAX_URL_CHARS = 4_000
MAX_SHOWN_CHARS = 200
WEB_PORTS = {80, 443}
FIRST_FREE_PORT = 1024
"""Below it are mail, remote login and file services; some web servers stand above it."""

HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.(?!-)[a-z0-9_-]{1,63})*")
NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
IN_FULL = 'Write it in full, for example "https://www.python.org/about/".'
LOCAL_NAMES = ("localhost", "local", "localdomain", "internal", "home.arpa")


def parse_url(text: str) -> httpx.URL:
    """The URL without its fragment, its host in plain ASCII and without a final dot.

    Raises `ToolError` for what no web page has: another scheme, a password, a name of the local
    network, an IPv4 address in disguise (`0x7f.1`), a port of another service.
    """
    if len(text) > MAX_URL_CHARS:
        raise ToolError(f"The URL is longer than {MAX_URL_CHARS:,} characters. Use a shorter one.")
    try:
        url = httpx.URL(text.strip())
    except (httpx.InvalidURL, ValueError):
        raise ToolError("The URL cannot be read. " + IN_FULL) from None
    if url.scheme not in ("http", "https"):
        found = f"{url.scheme[:20]}:" if url.scheme else "nothing"
        raise ToolError(
            f"Only http and https can be fetched; the URL begins with {found}. {IN_FULL}"
        )
    if url.userinfo:
        raise ToolError(
            "The URL has a user name or password before the host, which is refused. Leave it out; "
            "a page that needs a login cannot be fetched."
        )
    port = port_of(url)
    if port not in WEB_PORTS and not FIRST_FREE_PORT <= port <= 65535:
        raise ToolError(f"Port {port} is refused: web pages are on 80, 443 or above 1023.")
    return url.copy_with(host=_host(url), fragment=None)


def port_of(url: httpx.URL) -> int:
    """The port, also where the URL leaves it to the scheme."""
    return url.port if url.port is not None else {"http": 80}.get(url.scheme, 443)


def address_of(url: httpx.URL) -> str | None:
    """The host where it is an address already, so that there is no name to look up."""
    host = url.raw_host.decode("ascii")
    return host if ":" in host or NUMBER.fullmatch(host.rpartition(".")[2]) else None


def shown(url: httpx.URL) -> str:
    """The URL as it may be told to a model or written to a log: a query often holds a key.

    >>> shown(httpx.URL("https://example.com/a?key=secret"))
    'https://example.com/a?…'
    """
    path = url.raw_path.partition(b"?")[0]  # subtle: `url.path` has its %0A turned into a new line
    text = f"{url.scheme}://{(url.netloc + path).decode('ascii')}"
    text = text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"
    return f"{text}?…" if url.query else text


def _host(url: httpx.URL) -> str:
    host = url.raw_host.decode("ascii").lower().removesuffix(".")
    if ":" in host:
        return host
    if not host or len(host) > 253 or not HOST_NAME.fullmatch(host):
        raise ToolError("The URL has no valid host name. " + IN_FULL)
    labels = host.split(".")
    if NUMBER.fullmatch(labels[-1]):
        return _plain_ipv4(host)
    if len(labels) == 1 or any(f".{host}".endswith(f".{name}") for name in LOCAL_NAMES):
        raise ToolError(f"{host} is a name of the local network. Only public sites can be fetched.")
    for label in labels:
        if _is_mixed(label):
            raise ToolError(
                f"The host {host} mixes letters of two alphabets in one word, as forged names do. "
                "Write the name again in the letters that it really has."
            )
    return host


def _plain_ipv4(host: str) -> str:
    """Systems read `2130706433`, `0x7f.1` and `0177.0.0.1` as addresses too; none is needed."""
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise ToolError(
            "The host ends in a number and is no plain IPv4 address. Use the name of the site, or "
            "four decimal numbers without leading zeros."
        ) from None


def _is_mixed(label: str) -> bool:
    """Latin letters beside those that look like them; `xn--` marks letters beyond ASCII."""
    if not label.startswith("xn--"):
        return False
    try:
        letters = label.removeprefix("xn--").encode("ascii").decode("punycode")
    except UnicodeError:
        return True
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return "LATIN" in alphabets and bool(alphabets & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
