"""A model server on this machine that streams one text at a steady pace, on both wires.

    python paced_server.py              prints its address
    http://127.0.0.1:PORT/10/3/v1/…     10 milliseconds to the first piece, 3 to each other

It is the loopback server's last answer, but each event is sent by itself, as a model does that
writes one token after the other. It serves until its stdin closes, and looks at no request.
"""

import asyncio
import contextlib
import re
import sys

import loopback_server as loopback


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, one after the other."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
            await reader.readexactly(int(length[1]) if length else 0)
            path = head.split(" ", 2)[1]
            _, before, between, _ = path.split("/", 3)
            if "/v1/" in path:
                body = loopback.streamed(loopback.openai_chunks([]), end=b"data: [DONE]\n\n")
            else:
                body = loopback.streamed(loopback.gemini_chunks(words()))
            await asyncio.sleep(int(before) / 1000)
            for piece in body.split(b"\n\n\r\n"):
                writer.write(piece if piece == b"0\r\n\r\n" else piece + b"\n\n\r\n")
                await writer.drain()
                await asyncio.sleep(int(between) / 1000)
    writer.close()


def words() -> list[dict[str, str]]:
    """Gemini's parts, a word in each."""
    return [{"text": word} for word in re.findall(r"\S+\s*", loopback.FINAL_TEXT)]


async def main() -> None:
    """Serve until stdin closes: the server cannot outlive whoever started it."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"http://{host}:{port}", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
