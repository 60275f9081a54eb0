"""Refusals because of size as the servers write them, and the numbers in them."""

import pytest

from freya_teach.llm.overflow import Overflow, read_overflow

REFUSALS = {
    # OpenAI, classic: bytedance/deer-flow#310
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "202868 tokens (202767 in the messages, 101 in the functions). Please reduce the length of "
    "the messages or functions.": Overflow(128_000, 202_868),
    # the prompt fits, the answer beside it does not: Chanzhaoyu/chatgpt-web#354
    "This model's maximum context length is 4096 tokens. However, you requested 4130 tokens "
    "(3130 in the messages, 1000 in the completion). Please reduce the length of the messages or "
    "completion.": Overflow(4_096, 4_130, 1_000),
    # gpt-5: RooCodeInc/Roo-Code#6856
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 273737 "
    "tokens. Please reduce the length of the messages.": Overflow(272_000, 273_737),
    # llama.cpp's server, recorded
    "request (4033 tokens) exceeds the available context size (2048 tokens), try increasing "
    "it": Overflow(2_048, 4_033),
    # Gemini, and its older form: google-gemini/gemini-cli#6678
    "The input token count (1200293) exceeds the maximum number of tokens allowed "
    "(1048576).": Overflow(1_048_576, 1_200_293),
    "The input token count exceeds the maximum number of tokens allowed 1048576.": Overflow(),
    # one request above the limit of a minute: DrShushen/climb#13
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "
    "Requested 30601. The input or output tokens must be reduced.": Overflow(30_000, 30_601),
    # the Responses API tells none: anomalyco/opencode#6071
    "Your input exceeds the context window of this model. Please adjust your input and try "
    "again.": Overflow(),
    "": Overflow(),
}


@pytest.mark.parametrize(("text", "numbers"), REFUSALS.items())
def test_the_numbers_are_found(text: str, numbers: Overflow) -> None:
    assert read_overflow(text) == numbers


def test_what_is_kept_for_the_answer_is_no_input() -> None:
    told = Overflow(4_096, 4_130, 1_000)
    assert (told.input_limit, told.input_asked) == (3_096, 3_130)
    assert (Overflow().input_limit, Overflow().input_asked) == (None, None)


def test_thousands_may_be_set_off_by_commas() -> None:
    assert read_overflow("maximum context length is 8,192 tokens").limit == 8_192
