"""The body of an answer, never more of it than a limit. (chapter 4.4)

A size that is looked at when all has arrived is looked at too late, and a body that unpacks to a
thousand times its size has arrived in no time. So each piece is counted twice, as received and as
unpacked, and the rest is never asked for.
"""

from __future__ import annotations

import re
import zlib

import httpx

from freya_teach.errors import ToolError

MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
"""A server can write anything there, and the model reads it."""
GZIP = zlib.MAX_WBITS | 16


def content_type_of(response: httpx.Response) -> tuple[str, str]:
    """The media type in small letters and the character set, each "" if there is none."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind if MEDIA_TYPE.fullmatch(kind) else "", response.charset_encoding or ""


async def read_body(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """At most `limit` bytes of the unpacked body, and whether that is all of it.

    The body is unpacked here and not by httpx, which unpacks a whole piece of it at once: 64 kB
    of gzip can hold 64 MB. Raises `ToolError` for a body that is broken or packed otherwise.
    """
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise ToolError("The server packed the page in a way that was not asked for. Use another.")
    unpack = zlib.decompressobj(GZIP) if "gzip" in packing else None
    body, received = bytearray(), 0
    try:
        async for raw in _raw_pieces(response):
            received += len(raw)
            # subtle: a limit of 0 would mean none; there is always room for one byte too many
            body += unpack.decompress(raw, limit + 1 - len(body)) if unpack else raw
            if max(received, len(body)) > limit:
                return bytes(body[:limit]), False
    except (httpx.HTTPError, zlib.error):
        raise ToolError("The page broke off or is damaged. Try it once more.") from None
    if unpack and received and not unpack.eof:
        raise ToolError("The page broke off before its end. Try it once more.")
    return bytes(body), True


def _raw_pieces(response: httpx.Response) -> httpx.AsyncByteStream:
    # subtle: not aiter_raw(), which refuses an answer of a MockTransport: that is read already
    if not isinstance(response.stream, httpx.AsyncByteStream):
        raise TypeError("an AsyncClient gives answers that can be read asynchronously")
    return response.stream
