"""The lines of a stream, cut into pieces anywhere, are those of the whole."""

import io
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import ToolError
from freya_teach.tools.lines import CHUNK_BYTES, Encoding, Lines, line_text, utf8_chunks

TEXTS = st.lists(
    st.sampled_from(["a", "é", "𝄞", "\n", "\r\n", "\r", "word ", "\u2028"]), max_size=40
)


def in_pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    """Cut the data into pieces of these sizes, and a last one."""
    for size in sizes:
        piece, data = data[:size], data[size:]
        yield piece
    yield data


def plain_lines(data: bytes) -> list[bytes]:
    """Cut the whole at once, the obvious way."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


@given(TEXTS, st.lists(st.integers(0, 9), max_size=12), st.integers(0, 50))
def test_lines_do_not_depend_on_where_the_stream_is_cut(
    text: list[str], sizes: list[int], skip: int
) -> None:
    data = "".join(text).encode()
    lines, expected = Lines(in_pieces(data, sizes)), plain_lines(data)
    lines.skip_to(skip)
    assert lines.number == min(skip, len(expected))
    for line in expected[skip:]:
        found = lines.read(1_000)
        assert found is not None
        ended = found.head + b"\r" * found.crlf
        assert (ended, found.length) == (line, len(line) - found.crlf)
    assert lines.read(1_000) is None
    assert lines.number == len(expected)


@given(TEXTS, st.lists(st.integers(0, 9), max_size=12), st.integers(0, 10))
def test_counting_the_rest_after_some_lines_gives_the_number_of_all(
    text: list[str], sizes: list[int], read: int
) -> None:
    data = "".join(text).encode()
    lines = Lines(in_pieces(data, sizes))
    for _ in range(read):
        lines.read(3)
    lines.skip_to(float("inf"))
    assert lines.number == len(plain_lines(data))


def test_of_a_long_line_only_the_head_is_kept() -> None:
    lines = Lines(in_pieces(b"x" * 100_000 + b"\nnext", [7] * 1_000))
    line = lines.read(50)
    assert line is not None
    assert (line.head, line.length) == (b"x" * 50, 100_000)
    assert line_text(line, 1, "utf-8", 10) == (
        "xxxxxxxxxx [… the rest of this line is left out: 100,000 bytes in all]"
    )


@given(st.integers(0, 4), st.integers(1, 12))
def test_a_long_line_is_never_cut_inside_a_character(shift: int, keep: int) -> None:
    lines = Lines(iter([b"a" * shift + "é𝄞字".encode() * 20]))
    line = lines.read(4 * keep)
    assert line is not None
    text = line_text(line, 1, "utf-8", keep)
    whole = "a" * shift + "é𝄞字" * 20
    assert text.startswith(whole[:keep] + " [… ")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "é𝄞\n北京\n"),
        ("utf-16", "é𝄞\n北京\n"),
        ("latin-1", "é\nÿ\n"),
        ("gb18030", "北京𝄞\n"),
        ("shift_jis", "東京ソ\n表\n"),
    ],
)
def test_every_encoding_becomes_utf8_also_where_a_piece_ends_inside_a_character(
    encoding: Encoding, text: str
) -> None:
    for shift in range(4):
        whole = "x" * (CHUNK_BYTES // 2 - shift) + text * 20_000
        chunks = utf8_chunks(io.BytesIO(whole.encode(encoding)), encoding)
        assert b"".join(chunks).decode() == whole


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert b"".join(utf8_chunks(io.BytesIO("\ufeffhi".encode()))) == b"hi"
    assert (
        b"".join(
            utf8_chunks(
                io.BytesIO(
                    "hi".encode("utf-16-be"),
                )
            )
        )
        != b"hi"
    )
    big_endian = b"\xfe\xff" + "hi".encode("utf-16-be")
    assert b"".join(utf8_chunks(io.BytesIO(big_endian), "utf-16")) == b"hi"


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "shift_jis"])
def test_a_byte_that_the_encoding_does_not_have_is_told_with_its_place(encoding: Encoding) -> None:
    data = ("a" * 10).encode(encoding) + (b"\x00\xdc" if encoding == "utf-16" else b"\xff\xff")
    with pytest.raises(ToolError, match=rf"not {encoding}: the bytes .* near byte (10|22) mean"):
        list(utf8_chunks(io.BytesIO(data), encoding))


def test_a_reading_that_is_told_to_stop_stops() -> None:
    answers = iter([False, False, True])
    data = io.BytesIO(b"\n" * 10 * CHUNK_BYTES)
    with pytest.raises(ToolError, match="took too long"):
        list(utf8_chunks(data, stop=lambda: next(answers)))
    assert data.tell() == 2 * CHUNK_BYTES
