"""The picture of the model's seat."""

from freya_teach.lab.gateway.question import Call, Move, Offered, Question, Said
from freya_teach.lab.views.seat_picture import packet_html, picture
from freya_teach.lab.views.sitting import Sitting
from freya_teach.trace import RunResult
from tests.lab.views.pictures import assert_told, parsed


async def never(_: Sitting) -> RunResult:
    raise AssertionError("nothing is run here")


def sitting(*questions: Question) -> Sitting:
    made = Sitting(never, lambda: None)
    made.asked = list(questions)
    return made


def test_a_tool_is_shown_with_its_arguments_and_their_kinds() -> None:
    schema = {"properties": {"city": {"type": "string"}, "any": True}}
    asked = Question("gemini", "m", (Said("user", "Hi?"),), (Offered("f", "Does it.", schema),))
    shown = picture(sitting(asked))
    assert "may call  f(city: string, any: any JSON)\n            Does it." in shown.text
    assert "over Gemini's wire" in shown.text
    assert_told(shown)


def test_a_request_without_tools_says_so() -> None:
    shown = picture(sitting(Question("openai", "m", (Said("user", "Hi?"),))))
    assert "may call  none" in shown.text


def test_of_a_long_conversation_the_end_is_shown() -> None:
    said = tuple(Said("user", f"message {n}") for n in range(20))
    shown = picture(sitting(Question("openai", "m", said)))
    assert "(8 earlier messages)" in shown.text
    assert "message 8" in shown.text
    assert "message 7" not in shown.text
    assert_told(shown)


def test_moves_are_told_as_what_they_do() -> None:
    made = sitting()
    made.moves = [Move("Wait.", (Call("f", {"n": 1}), Call("g", "{broken"))), Move()]
    told = picture(made).text
    assert "1. says 'Wait.'" in told
    assert "calls f(n=1)" in told
    assert "calls g with the raw text {broken" in told
    assert "2. says nothing" in told


def test_the_packet_itself_is_there_folded_and_harmless() -> None:
    made = sitting()
    assert packet_html(made) == ""
    made.packets = [{"messages": ["</pre><script>\x00"]}]
    (details,) = parsed(packet_html(made))
    assert "</pre><script>" in "".join(details.itertext())
