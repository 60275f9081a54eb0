"""The request goes to the address that was checked, for the name that was asked for."""

import asyncio
import gzip
import ssl
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx
import pytest

from freya_teach.errors import ToolError
from freya_teach.tools.download import Limits, download, pinned_request
from tests.hostile_server import Connection, Server, answer, head, serving, whole

if TYPE_CHECKING:
    import trustme

LOOPBACK = "127.0.0.1"
PUBLIC = "93.184.216.34"
OK = whole(b"here", "200 OK", "content-type: text/plain")
LIMITS = Limits(seconds=10)


@dataclass
class Names:
    """A resolver that says what the test wants and remembers what it was asked."""

    known: dict[str, list[list[str]]]
    """For each name its answers, one after the other; the last one stays."""
    asked: list[str] = field(default_factory=list)

    def __call__(self, host: str, _port: int) -> list[str]:
        self.asked.append(host)
        answers = self.known[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def port_of(server: Server) -> int:
    return httpx.URL(server.url).port or 0


def endpoint(server: Server) -> tuple[str, int]:
    return (LOOPBACK, port_of(server))


def moved(location: str, status: str = "302 Found") -> bytes:
    return whole(b"", status, f"location: {location}")


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


# ---- the connection goes to the checked address ---------------------------------------------


async def test_a_name_is_looked_up_once_and_its_checked_address_is_connected_to() -> None:
    """A resolver that changes its mind after the check (rebinding) is not asked again."""
    names = Names({"docs.example.com": [[PUBLIC], [LOOPBACK]]})
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, text="here")

    client = httpx.AsyncClient(transport=httpx.MockTransport(handler))
    await download(client, "https://docs.example.com:8443/a?b=c", names, LIMITS)
    assert names.asked == ["docs.example.com"]
    (request,) = sent
    assert str(request.url) == f"https://{PUBLIC}:8443/a?b=c"
    assert request.headers["host"] == "docs.example.com:8443"
    assert request.extensions["sni_hostname"] == "docs.example.com"
    with pytest.raises(ToolError, match=r"leads to 127\.0\.0\.1"):
        await download(client, "https://docs.example.com:8443/a?b=c", names, LIMITS)
    assert len(sent) == 1


async def test_a_real_connection_goes_to_the_first_answer_and_not_to_the_second(
    http: httpx.AsyncClient,
) -> None:
    """The second answer leads to a port of another address where nobody may knock."""
    async with serving(answer(OK)) as server:
        names = Names({"docs.example.com": [[LOOPBACK], ["127.0.0.2"]]})
        url = f"http://docs.example.com:{port_of(server)}/"
        allowed = frozenset({endpoint(server)})
        assert (await download(http, url, names, LIMITS, allowed)).body == b"here"
        assert (server.connections, names.asked) == (1, ["docs.example.com"])
        with pytest.raises(ToolError, match=r"leads to 127\.0\.0\.2"):
            await download(http, url, names, LIMITS, allowed)
        assert server.connections == 1


async def test_a_private_answer_is_refused_before_anyone_is_connected_to(
    http: httpx.AsyncClient,
) -> None:
    async with serving(answer(OK)) as server:
        names = Names({"docs.example.com": [[LOOPBACK]]})
        with pytest.raises(ToolError, match="Only the public internet"):
            await download(http, f"http://docs.example.com:{port_of(server)}/", names, LIMITS)
        assert server.connections == 0


async def test_the_next_checked_address_is_tried_when_the_first_cannot_be_reached(
    http: httpx.AsyncClient,
) -> None:
    async with serving(answer(OK)) as server:
        names = Names({"docs.example.com": [["::1", "::1", LOOPBACK]]})
        allowed = frozenset({endpoint(server), ("::1", port_of(server))})
        url = f"http://docs.example.com:{port_of(server)}/"
        assert (await download(http, url, names, LIMITS, allowed)).body == b"here"


async def test_a_connection_that_fails_is_told_in_words(http: httpx.AsyncClient) -> None:
    async with serving(answer(b"")) as server:
        gone = endpoint(server)
    with pytest.raises(ToolError) as refused:
        await download(http, f"{server.url}/?key=secret", Names({}), LIMITS, frozenset({gone}))
    assert str(refused.value) == (
        f"The connection to {server.url}/?… failed. Try it once more, or use another source."
    )


@pytest.mark.parametrize(
    "said",
    [b"SSH-2.0-OpenSSH_9.9\r\n", b"", b"HTTP/1.1 200 OK\r\nx: " + b"x" * 500_000],
    ids=["another protocol", "nothing", "a header without end"],
)
async def test_an_answer_that_is_no_http_is_told_in_words(
    said: bytes, http: httpx.AsyncClient
) -> None:
    async with serving(answer(said, close=True)) as server:
        with pytest.raises(ToolError, match="answers what is no HTTP"):
            await download(http, server.url, Names({}), LIMITS, frozenset({endpoint(server)}))


@pytest.mark.parametrize("address", [PUBLIC, "2606:4700:4700::1111"])
def test_an_address_of_either_kind_can_stand_in_the_request(address: str) -> None:
    request = pinned_request(httpx.URL("http://docs.example.com:8080/a"), address, 1.0)
    assert (request.url.host, request.url.port, request.url.path) == (address, 8080, "/a")
    assert request.headers["host"] == "docs.example.com:8080"


async def test_nothing_that_the_client_carries_goes_to_a_stranger() -> None:
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, text="here", headers={"set-cookie": "seen=1"})

    client = httpx.AsyncClient(
        transport=httpx.MockTransport(handler),
        base_url="https://api.example.com/v1",
        headers={"authorization": "Bearer sk-secret", "x-goog-api-key": "sk-secret"},
        params={"key": "sk-secret"},
        cookies={"session": "sk-secret"},
        auth=("me", "sk-secret"),
        follow_redirects=True,
    )
    names = Names({"docs.example.com": [[PUBLIC]]})
    for _ in range(2):
        await download(client, "https://docs.example.com/", names, LIMITS)
    for request in sent:
        assert "secret" not in f"{request.url}{request.headers.raw}"
        assert request.headers.keys() == {
            *("host", "accept", "accept-encoding", "connection", "user-agent")
        }


# ---- redirects ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "//127.0.0.1:{port}/",
        "http://inner.example.com:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://localhost:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f.1:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://10.0.0.1/",
        "http://user:password@inner.example.com/",
        "http://inner.example.com:22/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "javascript:alert(1)",
        "http://[::1",
    ],
)
async def test_a_redirect_into_the_private_is_refused_and_nobody_is_asked(
    location: str, http: httpx.AsyncClient
) -> None:
    async with serving(answer(OK)) as private:
        target = location.format(port=port_of(private))
        async with serving(answer(moved(target))) as public:
            names = Names({"inner.example.com": [[LOOPBACK]]})
            with pytest.raises(ToolError, match="redirects"):
                await download(http, public.url, names, LIMITS, frozenset({endpoint(public)}))
            assert (public.connections, private.connections) == (1, 0)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 T", "308 P"])
async def test_a_redirect_is_followed_to_a_name_that_is_checked_anew(
    status: str, http: httpx.AsyncClient
) -> None:
    async with serving(answer(OK)) as second:
        location = f"http://other.example.com:{port_of(second)}/there#part"
        async with serving(answer(moved(location, status))) as first:
            names = Names({"docs.example.com": [[LOOPBACK]], "other.example.com": [[LOOPBACK]]})
            allowed = frozenset({endpoint(first), endpoint(second)})
            url = f"http://docs.example.com:{port_of(first)}/here"
            got = await download(http, url, names, LIMITS, allowed)
    assert (got.body, got.redirects, str(got.url)) == (b"here", 1, location.removesuffix("#part"))
    assert names.asked == ["docs.example.com", "other.example.com"]
    assert second.requests[0].startswith(b"GET /there HTTP/1.1\r\n")


async def test_a_relative_redirect_stays_at_the_host(http: httpx.AsyncClient) -> None:
    async def behave(connection: Connection) -> None:
        there = connection.request.startswith(b"GET /a/there ")
        await connection.send(OK if there else moved("there"))

    async with serving(behave) as server:
        got = await download(
            http, f"{server.url}/a/here", Names({}), LIMITS, frozenset({endpoint(server)})
        )
    assert (got.url.path, got.redirects) == ("/a/there", 1)


@pytest.mark.parametrize("most", [0, 3])
async def test_redirects_have_a_limit(most: int, http: httpx.AsyncClient) -> None:
    async with serving(answer(moved("/again"))) as server:
        allowed = frozenset({endpoint(server)})
        with pytest.raises(ToolError, match=f"redirects more than {most} times"):
            await download(http, server.url, Names({}), Limits(redirects=most), allowed)
        assert server.connections == most + 1


# ---- the body -------------------------------------------------------------------------------


async def test_a_packed_body_is_unpacked(http: httpx.AsyncClient) -> None:
    packed = gzip.compress(b"High water: 06:12" * 100)
    async with serving(answer(whole(packed, "200 OK", "content-encoding: gzip"))) as server:
        got = await download(http, server.url, Names({}), LIMITS, frozenset({endpoint(server)}))
    assert got.body == b"High water: 06:12" * 100
    assert b"accept-encoding: gzip\r\n" in server.requests[0].lower()


def bomb(megabytes: int) -> bytes:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    pieces = [squeeze.compress(bytes(1_000_000)) for _ in range(megabytes)]
    return b"".join([*pieces, squeeze.flush()])


async def test_a_bomb_goes_off_nowhere(http: httpx.AsyncClient) -> None:
    """200 MB in 200 kB: at no time is more than the limit and a little unpacked."""
    body = whole(bomb(200), "200 OK", "content-encoding: gzip", "content-type: text/plain")
    async with serving(answer(body)) as server:
        allowed = frozenset({endpoint(server)})
        tracemalloc.start()
        try:
            got = await download(http, server.url, Names({}), Limits(size=1_000_000), allowed)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (len(got.body), got.complete) == (1_000_000, False)
    assert peak < 8_000_000


@pytest.mark.parametrize(
    "body",
    [
        head("200 OK", "content-length: 100") + b"too short",
        head("200 OK", "transfer-encoding: chunked") + b"5\r\nhello\r\n",
        whole(gzip.compress(b"hello" * 100)[:-10], "200 OK", "content-encoding: gzip"),
        whole(b"not packed at all", "200 OK", "content-encoding: gzip"),
    ],
    ids=["shorter than told", "no last chunk", "packed and cut", "not packed"],
)
async def test_a_body_that_is_cut_or_damaged_is_no_page(
    body: bytes, http: httpx.AsyncClient
) -> None:
    async with serving(answer(body, close=True)) as server:
        with pytest.raises(ToolError, match="broke off"):
            await download(http, server.url, Names({}), LIMITS, frozenset({endpoint(server)}))


# ---- https ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> "trustme.CA":
    """A certificate authority of this test only."""
    module = pytest.importorskip("trustme", reason="trustme, of the group `dev`, is not installed")
    made: trustme.CA = module.CA()
    return made


@dataclass
class Secure:
    port: int = 0
    names: list[str] = field(default_factory=list)
    """What the client says it wants to reach, before anything is encrypted."""
    requests: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def secure(authority: "trustme.CA", *names: str) -> AsyncIterator[Secure]:
    """A server whose certificate is for these names; it keeps its connections open."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                seen.requests.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(OK)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def note(_socket: ssl.SSLObject, name: str, _context: ssl.SSLContext) -> None:
        seen.names.append(name)

    seen = Secure()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(tls)
    tls.sni_callback = note
    server = await asyncio.start_server(handle, LOOPBACK, 0, ssl=tls)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()


def trusting(authority: "trustme.CA", **settings: str) -> httpx.AsyncClient:
    tls = ssl.create_default_context()
    authority.configure_trust(tls)
    return httpx.AsyncClient(verify=tls, trust_env=False, **settings)  # type: ignore[arg-type]


DOCS = {"docs.example.com": [[LOOPBACK]], "bank.example.com": [[LOOPBACK]]}


async def test_the_certificate_must_be_for_the_name_and_not_for_the_address(
    authority: "trustme.CA",
) -> None:
    async with secure(authority, "docs.example.com") as server, trusting(authority) as http:
        allowed = frozenset({(LOOPBACK, server.port)})
        url = f"https://docs.example.com:{server.port}/"
        assert (await download(http, url, Names(DOCS), LIMITS, allowed)).body == b"here"
    assert server.names == ["docs.example.com"]
    assert f"host: docs.example.com:{server.port}\r\n".encode() in server.requests[0].lower()


@pytest.mark.parametrize("own", ["other.example.com", LOOPBACK])
async def test_a_certificate_for_anything_else_is_refused(
    own: str, authority: "trustme.CA"
) -> None:
    async with secure(authority, own) as server, trusting(authority) as http:
        allowed = frozenset({(LOOPBACK, server.port)})
        url = f"https://docs.example.com:{server.port}/"
        with pytest.raises(ToolError, match="certificate is not valid for that name"):
            await download(http, url, Names(DOCS), LIMITS, allowed)
    assert server.requests == []


async def test_a_connection_made_for_one_name_is_never_used_for_another(
    authority: "trustme.CA",
) -> None:
    """Both names lead to one address; its certificate is for the first of them only."""
    async with secure(authority, "docs.example.com") as server, trusting(authority) as http:
        allowed = frozenset({(LOOPBACK, server.port)})
        url = f"https://docs.example.com:{server.port}/"
        await download(http, url, Names(DOCS), LIMITS, allowed)
        other = url.replace("docs", "bank")
        with pytest.raises(ToolError, match="certificate is not valid"):
            await download(http, other, Names(DOCS), LIMITS, allowed)
    assert server.names == ["docs.example.com", "bank.example.com"]
    assert len(server.requests) == 1


# ---- a proxy --------------------------------------------------------------------------------


async def test_a_proxy_is_told_the_checked_address() -> None:
    async with serving(answer(OK)) as proxy:
        async with httpx.AsyncClient(proxy=proxy.url, trust_env=False) as http:
            names = Names({"docs.example.com": [[PUBLIC]]})
            got = await download(http, "http://docs.example.com/a", names, LIMITS)
        assert got.body == b"here"
        assert proxy.requests[0].startswith(f"GET http://{PUBLIC}/a HTTP/1.1\r\n".encode())
        assert b"host: docs.example.com\r\n" in proxy.requests[0].lower()


async def test_through_a_proxy_https_fails_and_does_not_go_unchecked(
    authority: "trustme.CA",
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("docs.example.com").configure_cert(tls)

    async def tunnel(connection: Connection) -> None:
        await connection.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            await connection.writer.start_tls(tls)
        except ssl.SSLError:  # the client does not accept the certificate
            connection.writer.close()

    async with serving(tunnel) as proxy, trusting(authority, proxy=proxy.url) as http:
        names = Names({"docs.example.com": [[PUBLIC]]})
        with pytest.raises(ToolError, match="certificate is not valid"):
            await download(http, "https://docs.example.com/", names, LIMITS)
        assert proxy.requests[0].startswith(f"CONNECT {PUBLIC}:443 ".encode())
