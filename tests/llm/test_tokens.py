"""Three counters: the rule of thumb, the calibrated estimate, the tokenizer itself."""

import json
import random
import sys
from base64 import b64encode
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import ConfigError
from freya_teach.llm import tokens
from freya_teach.llm.source_estimator import SourceEstimator
from freya_teach.llm.token_coefficients import COEFFICIENTS
from freya_teach.llm.token_features import PIECES, features
from freya_teach.llm.tokens import (
    MARGIN,
    BytesCounter,
    CalibratedCounter,
    ExactCounter,
    with_margin,
)
from tests.strategies import ANY_TEXT
from tests.token_texts import TEXTS, TRUE_COUNTS, pieces

ENCODINGS = tuple(COEFFICIENTS)
CUT = 10
"""What a text's estimate may change by when it is cut in two and both halves are counted."""
HAN = "".join(filter(str.isalpha, TEXTS["zh"] + TEXTS["zh_lesson"]))

PARTS = [
    "a",
    "A",
    "é",
    "xk",
    "1",
    "-",
    "=",
    "_",
    "北",
    "哈",
    "あ",
    "한",
    "й",
    "ไ",
    "ა",
    "😀",
    "—",
    "─",
    "�",
    "\u200d",
    "'s",
    "HTTP",
    "(x)",
]
RUNS = st.builds(
    lambda part, times: part * times,
    st.sampled_from([*PARTS, "the ", " ", "\n", "\r\n", "\t", "\x00"]),
    st.integers(1, 12),
)
LONGER_TEXT = st.lists(RUNS | ANY_TEXT, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("北京", 2), ("\ud83c", 1)]
)
def test_four_bytes_are_a_token(text: str, expected: int) -> None:
    assert BytesCounter().count(text) == expected


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_costs_less_and_a_cut_costs_one_at_most(left: str, right: str) -> None:
    count = BytesCounter().count
    assert (count(left) > 0) == (left != "")
    assert max(count(left), count(right)) <= count(left + right) <= count(left) + count(right)
    assert count(left) + count(right) <= count(left + right) + 1


# ---- the calibrated estimate ---------------------------------------------------------------


@given(LONGER_TEXT)
def test_the_pieces_of_any_text_are_the_text_and_each_has_a_price(text: str) -> None:
    cut = PIECES.findall(text)
    assert "".join(cut) == text
    names = {name for piece in cut for name in features(piece)}
    assert all(names <= set(COEFFICIENTS[encoding]) for encoding in ENCODINGS)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_any_text_has_a_whole_number_of_tokens_and_a_cut_changes_little(encoding: str) -> None:
    count = CalibratedCounter(encoding).count

    @given(LONGER_TEXT, LONGER_TEXT)
    def check(left: str, right: str) -> None:
        counted = count(left)
        assert isinstance(counted, int)
        assert (counted > 0) == (left != "")
        assert abs(counted + count(right) - count(left + right)) <= CUT

    check()


@given(st.lists(LONGER_TEXT, min_size=2, max_size=6))
def test_what_was_counted_before_changes_nothing(texts: list[str]) -> None:
    kept = CalibratedCounter()
    assert [kept.count(text) for text in texts] == [CalibratedCounter().count(t) for t in texts]


def test_a_counter_does_not_remember_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "KNOWN_PIECES", 100)
    counter = CalibratedCounter()
    for number in range(1_000):
        counter.count(f" word{'abcdefghij'[number % 10]} {number % 977} {chr(0x4E00 + number) * 3}")
    assert len(counter._costs) < 200  # noqa: SLF001 - nothing but memory shows it
    assert counter.count("A" * 5_000) > 500
    assert not any(len(piece) > tokens.LONG_PIECE for piece in counter._costs)  # noqa: SLF001


def test_an_encoding_without_coefficients_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"'gpt2'.*o200k_base, cl100k_base"):
        CalibratedCounter("gpt2")


# Counted by the tokenizers themselves; `.ci/tokens/fit.py` stores them.


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_with_the_margin_no_piece_of_the_corpus_is_underestimated(kind: str, encoding: str) -> None:
    count = CalibratedCounter(encoding).count
    for piece, true in zip(pieces(kind), TRUE_COUNTS[encoding][kind], strict=True):
        assert with_margin(count(piece)) >= true


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_estimate_beats_the_rule_of_thumb_and_the_source_by_far(encoding: str) -> None:
    true = [count for kind in sorted(TEXTS) for count in TRUE_COUNTS[encoding][kind]]

    def off(counter: tokens.TokenCounter) -> tuple[float, float]:
        counted = [counter.count(piece) for kind in sorted(TEXTS) for piece in pieces(kind)]
        errors = [one / other - 1 for one, other in zip(counted, true, strict=True)]
        return median(map(abs, errors)), sum(error < 0 for error in errors) / len(errors)

    ours, thumb, source = (
        off(counter) for counter in (CalibratedCounter(encoding), BytesCounter(), SourceEstimator())
    )
    assert ours[0] < 0.08
    assert thumb[0] > 3 * ours[0]
    assert source[0] > 3 * ours[0]


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("A" * 500, 63),
        (b64encode(random.Random(1).randbytes(2_250)).decode(), 2_040),  # noqa: S311
        ("1234567890" * 50, 167),
        ("😀" * 100, 100),
        ("=" * 500, 9),
    ],
    ids=["one letter", "base64", "digits", "faces", "a ruler"],
)
def test_what_the_source_counts_as_next_to_nothing_is_seen(text: str, true: int) -> None:
    """Audit row A31; the true numbers are o200k's."""
    assert with_margin(CalibratedCounter().count(text)) >= true
    assert CalibratedCounter().count(text) <= 2 * true


def test_chinese_costs_the_same_inside_of_arguments_and_much_more_when_it_is_escaped() -> None:
    count = CalibratedCounter().count
    plain = json.dumps({"content": HAN[:600]}, ensure_ascii=False)
    assert count(HAN[:600]) < count(plain) < count(HAN[:600]) + 10
    assert count(json.dumps({"content": HAN[:600]})) > 4 * count(plain)


def test_the_margin_rounds_up() -> None:
    assert (with_margin(0), with_margin(1), with_margin(1_001)) == (0, 2, 1_302)
    assert with_margin(1_001, 1.0) == 1_001
    assert MARGIN == 1.3


# ---- the tokenizer itself ------------------------------------------------------------------


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quicktok", None)  # as if it were not installed
    with pytest.raises(ConfigError, match=r'pip install "freya-teach\[tokens\]"'):
        ExactCounter()


@pytest.fixture(scope="module")
def exact() -> ExactCounter:
    pytest.importorskip("quicktok", reason="the extra `tokens` is not installed")
    return ExactCounter()


def test_the_exact_counter_knows_its_vocabulary(exact: ExactCounter) -> None:
    assert exact.count("hello world") == 2
    assert exact.count("") == 0
    with pytest.raises(ConfigError, match="nobody_base"):
        ExactCounter("nobody_base")


def test_the_stored_counts_are_the_tokenizers(exact: ExactCounter) -> None:
    for kind in ("zh", "base64", "emoji chat"):
        assert [exact.count(piece) for piece in pieces(kind)] == TRUE_COUNTS["o200k_base"][kind]


@given(LONGER_TEXT)
def test_the_exact_counter_takes_any_text(text: str) -> None:
    pytest.importorskip("quicktok", reason="the extra `tokens` is not installed")
    assert (ExactCounter().count(text) > 0) == (text != "")


def test_halves_of_a_pair_are_joined_and_a_lone_one_is_replaced(exact: ExactCounter) -> None:
    assert exact.count("\ud83d\ude00") == exact.count("😀")
    assert exact.count("a\ud83db") == exact.count("a\ufffdb")


def test_a_special_token_in_a_text_is_text(exact: ExactCounter) -> None:
    """A tool result may hold one; a tokenizer in its strict mode raises for it."""
    assert exact.count("<|endoftext|>") > 1


def test_pieces_are_cut_where_the_tokenizer_cuts(exact: ExactCounter) -> None:
    """Only whole pieces can be priced one by one: no token lies across a cut, or hardly any."""
    for kind in ("en", "json calls", "log", "sql", "base64", "de", "ru"):
        cut = PIECES.findall(TEXTS[kind])
        assert sum(map(exact.count, cut)) == pytest.approx(exact.count(TEXTS[kind]), rel=0.03)
