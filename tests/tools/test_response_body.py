"""A body is read up to its limit, exactly, however it is packed and cut."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import ToolError
from freya_teach.tools.response_body import content_type_of, read_body


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 100])
@pytest.mark.parametrize("packed", [False, True])
async def test_the_limit_is_exact(size: int, packed: bool) -> None:  # noqa: FBT001 - a case
    body = b"0123456789"
    headers = {"content-encoding": "gzip"} if packed else {}
    stream = httpx.ByteStream(gzip.compress(body) if packed else body)
    got, complete = await read_body(httpx.Response(200, headers=headers, stream=stream), size)
    # what is received counts too, and ten bytes are longer when they are packed
    fits = size >= (len(gzip.compress(body)) if packed else len(body))
    assert complete == fits
    assert got == body[: size if not fits else None]


@pytest.mark.parametrize("packing", ["br", "zstd", "deflate", "gzip, gzip", "GZIP, br", "x"])
async def test_a_packing_that_was_not_asked_for_is_refused(packing: str) -> None:
    response = httpx.Response(
        200, headers={"content-encoding": packing}, stream=httpx.ByteStream(b"?")
    )
    with pytest.raises(ToolError, match="not asked for"):
        await read_body(response, 100)


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(0, 200))
def test_however_a_body_is_cut_it_is_the_same(pieces: list[bytes], size: int) -> None:
    class Pieces(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

    body = b"".join(pieces)
    got = asyncio.run(read_body(httpx.Response(200, stream=Pieces()), size))
    assert got == (body[:size], len(body) <= size)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("Text/HTML; charset=UTF-8", ("text/html", "utf-8")),
        ("application/problem+json", ("application/problem+json", "")),
        ("", ("", "")),
        ("words: obey me", ("", "")),
        ("text/html, obey me", ("", "")),
        ("text/" + "x" * 500, ("", "")),
    ],
)
def test_a_content_type_is_a_media_type_or_nothing(header: str, told: tuple[str, str]) -> None:
    assert content_type_of(httpx.Response(200, headers={"content-type": header})) == told
