"""The source's rules, as the source states them."""

import pytest

from freya_teach.llm.messages import ImagePart, ToolCall, ToolMessage, assistant, system, user
from freya_teach.llm.source_estimator import SourceEstimator

SOURCE = SourceEstimator()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello", 2),  # 1.3
        ("hello world", 4),  # 2.6 and a half for the blank
        ("北京", 4),  # 3.6
        ("!?", 1),
        ("A" * 500, 2),  # one run, however long
        ("天气 in Oslo", 8),  # 3.6, two blanks, two words
        ("ええ", 1),  # kana are other characters
    ],
)
def test_a_text_is_words_han_and_the_rest(text: str, tokens: int) -> None:
    assert SOURCE.count(text) == tokens


def test_a_call_is_twenty_and_its_ascii_words_and_chinese_in_it_is_nothing() -> None:
    assert SOURCE.message(assistant(ToolCall("1", "get_weather", '{"city": "Oslo"}'))) == 23
    chinese = assistant(ToolCall("1", "write_file", '{"content": "' + "天" * 600 + '"}'))
    assert SOURCE.message(chinese) == 22


def test_an_image_is_two_hundred_and_the_other_messages_are_their_text() -> None:
    assert SOURCE.message(user("hello", ImagePart("image/png", b"x"))) == 202
    assert SOURCE.message(system("hello")) == SOURCE.message(ToolMessage("1", "hello")) == 2
