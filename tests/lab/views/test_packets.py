"""A request as lines."""

from freya_teach.lab.views import packets

GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"
OPENAI = "https://api.openai.com/v1/chat/completions"


def test_what_follows_the_messages_of_the_packet_before_is_new() -> None:
    before = {"messages": [{"role": "user", "content": "Hi"}]}
    now = {"messages": [*before["messages"], {"role": "tool", "content": "1"}], "tools": []}
    assert packets.lines(OPENAI, now, before) == [
        "POST /v1/chat/completions",
        "messages: 2, the last 1 new (+)",
        '  {"role": "user", "content": "Hi"}',
        '+ {"role": "tool", "content": "1"}',
        "tools: none",
    ]


def test_a_history_that_was_rewritten_is_new_from_the_first_change() -> None:
    assert packets.count_new({"messages": [1, 2, 3]}, {"messages": [1, 9, 3]}) == 2


def test_the_other_wire_calls_its_messages_contents() -> None:
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "description": "d"}]}],
    }
    told = packets.lines(GEMINI, body)
    assert told[1] == "contents: 1, all new (+)"
    assert "tools: f" in told


def test_of_many_messages_the_latest_are_shown() -> None:
    body = {"messages": [{"role": "user", "content": str(n)} for n in range(15)]}
    told = packets.lines(OPENAI, body)
    assert "    (5 earlier ones)" in told
    assert '+ {"role": "user", "content": "5"}' in told


def test_a_body_that_no_wire_understands_is_shown_all_the_same() -> None:
    assert packets.understood(OPENAI, []) is None
    assert packets.lines(OPENAI, []) == [
        "POST /v1/chat/completions",
        "messages: 0, all new (+)",
        "tools: none",
    ]
