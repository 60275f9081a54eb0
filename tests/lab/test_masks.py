"""Token masks, over the vocabulary that comes with the course."""

import json
import sys

import pytest

from freya_teach.errors import FreyaError
from freya_teach.lab.masks import END, SPECIAL, MasksMissing, TokenMask, vocabulary

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}


def texts(mask: TokenMask) -> list[str]:
    return [mask.vocabulary.text(token) for token in mask.allowed()]


def test_the_vocabulary_is_whole() -> None:
    words = vocabulary()
    assert len(words) == 49_152
    assert len(set(words.tokens)) == 49_152
    assert words.tokens[END] == b"<|im_end|>"
    assert words.text(words.find(" Beijing")) == " Beijing"
    assert not any(word.startswith(b"<|") for word in words.tokens[SPECIAL:])


def test_a_token_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no token 'Beijing today'"):
        vocabulary().find("Beijing today")


def test_a_half_character_can_be_shown() -> None:
    words = vocabulary()
    broken = [words.text(n) for n, word in enumerate(words.tokens) if not word.isascii()]
    assert any(r"\x" in text for text in broken)
    assert any("é" in text for text in broken)


def test_the_vocabulary_needs_no_llguidance_and_a_mask_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "llguidance", None)  # as if it were not installed
    assert vocabulary().find("scope")
    with pytest.raises(MasksMissing, match=r"freya-teach\[course\]") as told:
        TokenMask(WEATHER)
    assert isinstance(told.value, FreyaError)


class TestWithLlguidance:
    @pytest.fixture(autouse=True)
    def needed(self) -> None:
        pytest.importorskip("llguidance", reason="llguidance, of the extra `course`, is missing")

    @pytest.mark.parametrize(
        "text", ["hello world", " 12 34\n 5", "a  1", "Übergröße 北京 🎉", "", '{"a": [1, null]}']
    )
    def test_the_tokens_of_a_text_are_the_text(self, text: str) -> None:
        words = vocabulary()
        pieces = [words.tokens[token] for token in words.split(text)]
        assert b"".join(pieces).decode() == text

    def test_digits_stand_alone_as_in_the_models_own_tokenizer(self) -> None:
        words = vocabulary()
        assert [words.text(token) for token in words.split("in  2026")] == [
            *("in", "  ", "2", "0", "2", "6")
        ]

    def test_an_enum_leaves_the_tokens_that_lead_to_one_of_its_values(self) -> None:
        mask = TokenMask({"enum": ["workspace", "src", "doc"]})
        mask.take('"')
        values = ("workspace", "src", "doc")
        assert sorted(texts(mask)) == sorted(
            word
            for word in (vocabulary().text(n) for n in range(SPECIAL, 49_152))
            if any(value.startswith(word) for value in values)
        )

    def test_a_token_that_does_not_fit_is_refused_and_changes_nothing(self) -> None:
        mask = TokenMask(WEATHER)
        mask.take('{"city": "Oslo", "unit": "')
        before = mask.allowed()
        with pytest.raises(ValueError, match="does not allow the token 'kel"):
            mask.take_token(vocabulary().find("kel"))
        assert mask.allowed() == before
        mask.take('celsius"}')
        assert (mask.complete, mask.allowed()) == (True, (END,))

    def test_whoever_follows_the_mask_blindly_writes_what_fits(self) -> None:
        schema = {**WEATHER, "properties": {**WEATHER["properties"], "city": {"enum": ["Oslo"]}}}
        for place in (0, -1):  # always the first of the allowed tokens, always the last
            mask = TokenMask(schema)
            while not mask.complete:
                mask.take_token(mask.allowed()[place])
            written = json.loads(mask.text)
            assert written["city"] == "Oslo"
            assert written["unit"] in ("celsius", "fahrenheit")

    def test_a_schema_that_cannot_be_followed_is_refused(self) -> None:
        with pytest.raises(ValueError, match="No mask for this schema"):
            TokenMask({"type": "object", "properties": {"a": {"not": {"type": "string"}}}})
