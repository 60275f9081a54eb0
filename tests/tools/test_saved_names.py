"""The names of saved bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.tools.relative_path import parts_of
from freya_teach.tools.saved_names import SUFFIXES, UNKNOWN, download_name, safe_suffix


@pytest.mark.parametrize(
    ("hint", "suffix"),
    [
        ("text/html; charset=utf-8", ".html"),
        ("TEXT/HTML", ".html"),
        ("application/vnd.api+json", ".json"),
        (".pdf", ".pdf"),
        ("jpg", ".jpg"),
        ("report.csv", ".csv"),
        ("", ".bin"),
        ("image/svg+xml", ".bin"),
        ("application/x-sh", ".bin"),
        ("exe", ".bin"),
        ("../../x.html/..", ".bin"),
        ("html\0.exe", ".bin"),
    ],
)
def test_an_ending_is_one_of_the_harmless_ones(hint: str, suffix: str) -> None:
    assert safe_suffix(hint) == suffix


@given(st.binary(max_size=50), st.text(max_size=30))
def test_a_name_depends_on_the_bytes_and_is_an_ordinary_path(data: bytes, hint: str) -> None:
    name = download_name(data, hint)
    stem, dot, suffix = name.partition(".")
    assert len(stem) == 16
    assert dot + suffix in {*SUFFIXES.values(), UNKNOWN}
    assert parts_of(name) == (name,)
    assert download_name(data, hint) == name
    assert not download_name(data + b"x", hint).startswith(stem)
