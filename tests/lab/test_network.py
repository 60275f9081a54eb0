"""The network is shut, but for this machine. In programs of their own: a hook stays for good."""

import os
import subprocess
import sys
import textwrap

import pytest

SERVER = """
import http.server, threading

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(b"here")
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.reply(b'{"choices": [{"message": {"content": "Live."}, "finish_reason": "stop"}]}')
    def reply(self, body):
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
threading.Thread(target=server.serve_forever, daemon=True).start()
port = server.server_address[1]
"""


def program(code: str, **environ: str) -> list[str]:
    """Run a few lines in a new Python; the lines that it printed, its errors among them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FREYA_")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        check=False,
        env={**kept, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
    )
    return done.stdout.splitlines()


OFFLINE = (
    "the course runs offline, and something tried to reach {host!r}. "
    "Set FREYA_LIVE=1 before you start Jupyter to let it."
)


def test_every_way_out_of_this_machine_is_refused_in_words() -> None:
    attempts = """
        import asyncio, socket
        from freya_teach.lab.network import NetworkShut, shut_network
        shut_network()
        shut_network()
        tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        six = socket.socket(socket.AF_INET6) if socket.has_ipv6 else tcp
        public = ("203.0.113.7", 80)
        for name, attempt in {
            "connect": lambda: tcp.connect(public),
            "connect_ex": lambda: tcp.connect_ex(public),
            "sendto": lambda: udp.sendto(b"x", public),
            "getaddrinfo": lambda: socket.getaddrinfo("example.org", 80),
            "getaddrinfo bytes": lambda: socket.getaddrinfo(b"example.org", 80),
            "gethostbyname": lambda: socket.gethostbyname("example.org"),
            "gethostbyname_ex": lambda: socket.gethostbyname_ex("example.org"),
            "gethostbyaddr": lambda: socket.gethostbyaddr("203.0.113.7"),
            "getnameinfo": lambda: socket.getnameinfo(public, 0),
            "ipv6": lambda: socket.getaddrinfo("2001:db8::7", 80),
            "in disguise": lambda: socket.getaddrinfo("127.0.0.1.example.org", 80),
            "private": lambda: tcp.connect(("192.168.1.1", 80)),
            "asyncio": lambda: asyncio.run(asyncio.open_connection(*public)),
        }.items():
            try:
                print(name, "->", attempt())
            except NetworkShut as problem:
                print(name, "->", problem)
    """
    hosts = {
        "connect": "203.0.113.7",
        "connect_ex": "203.0.113.7",
        "sendto": "203.0.113.7",
        "getaddrinfo": "example.org",
        "getaddrinfo bytes": "example.org",
        "gethostbyname": "example.org",
        "gethostbyname_ex": "example.org",
        "gethostbyaddr": "203.0.113.7",
        "getnameinfo": "203.0.113.7",
        "ipv6": "2001:db8::7",
        "in disguise": "127.0.0.1.example.org",
        "private": "192.168.1.1",
        "asyncio": "203.0.113.7",
    }
    assert program(attempts) == [
        f"{name} -> {OFFLINE.format(host=host)}" for name, host in hosts.items()
    ]


def test_httpx_is_refused_outside_and_allowed_on_this_machine() -> None:
    code = f"""
import asyncio, httpx
{SERVER}
from freya_teach.lab.network import shut_network
shut_network()

async def main():
    async with httpx.AsyncClient(trust_env=False) as http:
        print((await http.get(f"http://127.0.0.1:{{port}}/")).text)
        print((await http.get(f"http://localhost:{{port}}/")).text)
        try:
            await http.get("http://example.org/")
        except httpx.ConnectError as problem:
            print(problem)

asyncio.run(main())
"""
    assert program(code) == ["here", "here", OFFLINE.format(host="example.org")]


def test_the_kernel_says_that_the_course_is_offline() -> None:
    code = """
        import asyncio, httpx
        from freya_teach import Settings, build_kernel
        from freya_teach.errors import ConnectionFailed
        from freya_teach.lab.network import shut_network
        shut_network()

        async def main():
            async with httpx.AsyncClient(trust_env=False) as http:
                kernel = build_kernel(Settings(base_url="http://example.org"), http)
                try:
                    await kernel.agent().run("?")
                except ConnectionFailed as problem:
                    print(problem)

        asyncio.run(main())
    """
    (said,) = program(code)
    assert said == f"no answer from example.org: ConnectError: {OFFLINE.format(host='example.org')}"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets")
def test_a_local_socket_is_no_network() -> None:
    code = """
        import socket, tempfile, os
        from freya_teach.lab.network import shut_network
        shut_network()
        path = os.path.join(tempfile.mkdtemp(), "s")
        server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        client.connect(path)
        one, other = socket.socketpair()
        one.send(b"x")
        print("connected", other.recv(1))
    """
    assert program(code) == ["connected b'x'"]


def test_opening_lets_everything_out_again() -> None:
    code = """
        import socket
        from freya_teach.lab.network import NetworkShut, open_network, shut_network
        def look_up():
            return socket.getaddrinfo("203.0.113.7", 80, flags=socket.AI_NUMERICHOST)[0][4][0]
        print(look_up())
        shut_network()
        try:
            look_up()
        except NetworkShut:
            print("shut")
        open_network()
        print(look_up())
        shut_network()
        try:
            look_up()
        except NetworkShut:
            print("shut again")
    """
    assert program(code) == ["203.0.113.7", "shut", "203.0.113.7", "shut again"]


LESSON = """
import asyncio, socket
from freya_teach.lab import lesson

lab = lesson("2.3")
try:
    print(socket.getaddrinfo("203.0.113.7", 80, flags=socket.AI_NUMERICHOST)[0][4][0])
except ConnectionError as problem:
    print(type(problem).__name__)
"""


def test_a_lesson_shuts_the_network() -> None:
    said = program(LESSON)
    assert said[0].startswith("Lesson 2.3: replayed answers")
    assert said[1:] == ["NetworkShut"]


def test_a_live_lesson_leaves_it_open_and_asks_the_server_that_it_is_told() -> None:
    ask = """
import os
os.environ["FREYA_BASE_URL"] = f"http://127.0.0.1:{port}"
lab = lesson("2.3")
kernel = lab.kernel("weather-openai")
print(asyncio.run(kernel.agent().run("?")), lab.other_end)
lab.close()
"""
    said = program(
        LESSON + SERVER + ask, FREYA_LIVE="1", FREYA_MODEL="m", OPENAI_API_KEY="no-key-but-secret"
    )
    assert said[:2] == ["Lesson 2.3: LIVE. m at https://api.openai.com answers.", "203.0.113.7"]
    assert said[2].startswith("Lesson 2.3: LIVE. m at http://127.0.0.1:")
    assert said[3] == "Live. a live model"
    assert said[4].startswith("Lesson 2.3 is closed")
    assert len(said) == 5
    assert "no-key-but-secret" not in "".join(said)
