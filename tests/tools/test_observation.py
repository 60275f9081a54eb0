"""The sentences that the model reads."""

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from freya_teach.tools import observation


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=600), st.integers(3, 200))
def test_a_shortened_text_is_a_head_a_remark_and_a_tail(text: str, limit: int) -> None:
    short = observation.shorten(text, limit)
    if len(text) <= limit:
        assert short == text
        return
    head, _, rest = short.partition("\n[... ")
    left_out, _, tail = rest.partition(" characters left out ...]\n")
    if "\n[... " not in text:
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(left_out.replace(",", "")) + len(tail) == len(text)
        assert len(head) + len(tail) == limit


def test_without_any_tools_the_model_is_told_that_there_are_none() -> None:
    said = observation.no_such_tool("search", [])
    assert said == "There is no tool called 'search'. Tools that you can call: none."


class Booking(BaseModel):
    nights: list[int]
    city: str


def test_every_fault_of_the_arguments_has_its_line_and_its_place() -> None:
    try:
        Booking.model_validate({"nights": [1, "two", "x" * 1_000]})
    except ValidationError as problem:
        said = observation.invalid_arguments("book", problem)
    integer = "Input should be a valid integer, unable to parse string as an integer"
    assert said.splitlines() == [
        "book was not run, because its arguments are wrong:",
        f'- nights.1: {integer}; you sent "two"',
        f'- nights.2: {integer}; you sent "{"x" * 59}…',
        "- city: Field required",
        "Correct them and call it again.",
    ]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_whatever_text_an_exception_has_the_model_gets_one_line_without_a_stack_trace(
    text: str,
) -> None:
    trace = f'{text} Traceback (most recent call last):\n  File "/srv/app.py", line 1\n{text}'
    said = observation.failed("probe", RuntimeError(trace))
    assert said.startswith("probe failed (RuntimeError")
    assert "Traceback (most" not in said
    assert "\n" not in said


def test_an_address_in_an_exception_is_no_path_and_stays() -> None:
    said = observation.failed("probe", RuntimeError("404 for https://example.org/srv/app.py now"))
    assert "404 for https://example.org/srv/app.py now" in said


def test_a_path_that_the_model_itself_gave_stays_as_it_gave_it() -> None:
    missing = FileNotFoundError(2, "No such file or directory", "notes/today.txt")
    assert "No such file or directory: 'notes/today.txt'" in observation.failed("probe", missing)
