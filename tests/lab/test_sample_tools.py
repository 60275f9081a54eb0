"""The arithmetic is Python's, within bounds; everything else is refused in words."""

import ast
import contextlib
import warnings

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from freya_teach import ToolError, tool
from freya_teach.lab.sample_tools import (
    MAX_EXPRESSION_CHARS,
    WEATHER,
    calculate,
    get_current_weather,
)

# ---- calculate, against Python itself ------------------------------------------------------


def python_says(text: str) -> int | float | None:
    """Let Python evaluate a text step by step; None where a step fails or leaves the bounds."""
    value: object = None
    for node in reversed(list(ast.walk(ast.parse(text, mode="eval").body))):
        if not isinstance(node, ast.expr):
            continue
        power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
        if power and is_endless(evaluate(node.left), evaluate(node.right)):
            return None
        try:
            value = evaluate(node)
        except (ZeroDivisionError, OverflowError):
            return None
        if not isinstance(value, int | float) or not abs(value) <= 1e100:
            return None
        if power and evaluate(node.left) != 0 and abs(value) < 1e-100:
            return None
    assert isinstance(value, int | float)
    return value


def evaluate(node: ast.expr) -> int | float:
    """Let Python work out one node."""
    return eval(compile(ast.Expression(node), "", "eval"))  # noqa: S307 - the authority itself


def is_endless(base: float, exponent: float) -> bool:
    """Say whether Python would sit for hours over this power of whole numbers."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    return whole and abs(base) > 1 and abs(exponent) > 10_000


numbers = st.one_of(
    st.integers(0, 99).map(str),
    st.integers(0, 10**12).map(str),
    st.decimals(0, 100, places=2).map(str),
    st.sampled_from(["0", "1", "0.5", "1e3", "2.5e-7", "1_000"]),
)
expressions = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), inner).map(
            " ".join
        ),
        inner.map("({})".format),
        inner.map("-{}".format),
        inner.map("+{}".format),
        inner.map(" {} ".format),
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(expressions)
@example("2 ** -1")
@example("-2 ** 2")
@example("2 ** 3 ** 2")
@example("-7 // 2")
@example("-7 % 3")
@example("7 % -0.5")
@example("0 ** 0")
@example("1 ** 1e99")
@example("(-1) ** 1000000000001")
@example("0 * -1.5")
@example("1 / 3")
@example("1e15 + 0.3")
@example("10 ** 100")
@example("10 ** -100")
@example("10 ** 101")
def test_the_result_is_that_of_python_or_both_refuse(text: str) -> None:
    compare_with_python(text.strip())


@pytest.mark.soak
@settings(max_examples=20_000, deadline=None)
@given(expressions)
def test_the_result_is_that_of_python_for_a_great_many_expressions(text: str) -> None:
    compare_with_python(text.strip())


def compare_with_python(text: str) -> None:
    """Work a text out both ways."""
    assume(len(text) <= MAX_EXPRESSION_CHARS)
    expected = python_says(text)
    try:
        said = calculate(text)
    except ToolError:
        assert expected is None
        return
    assert expected is not None, said
    if isinstance(expected, int):
        assert said == str(expected)
    else:
        assert float(said) == pytest.approx(expected, rel=1e-11, abs=0)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("15 * 8", "120"),
        (" 15 × 8 ", "120"),
        ("7 ÷ 2", "3.5"),
        ("0.1 + 0.2", "0.3"),
        ("6 / 2", "3"),
        ("2 ** 300", str(2**300)),
        ("-" * (MAX_EXPRESSION_CHARS - 1) + "1", "-1"),
        ("(" * 90 + "1" + ")" * 90, "1"),
        ("0 * -1.5", "0"),
        ("1e20 * 1", "1e+20"),
    ],
)
def test_a_result_is_written_as_a_person_would_write_it(expression: str, expected: str) -> None:
    assert calculate(expression) == expected


TOO_LARGE = "larger than 1e100"
ONLY_ARITHMETIC = "Only arithmetic is allowed here"
NO_EXPRESSION = "is not an arithmetic expression"


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("9**9**9", TOO_LARGE),
        ("((((9**9)**9)**9)**9)", TOO_LARGE),
        ("2**-9999", TOO_LARGE),
        ("0.5**1e50", TOO_LARGE),
        ("1e308*10", TOO_LARGE),
        ("1e999", TOO_LARGE),
        ("1e999-1e999", TOO_LARGE),
        ("1e60*1e60", TOO_LARGE),
        ("1/5e-324", TOO_LARGE),
        ("9" * 150, TOO_LARGE),
        ("9" * 5_000, "The expression has 5,000 characters; at most 200 are allowed."),
        ("(" * 100_000, "The expression has 100,000 characters"),
        ("0**-1", "Zero has no negative power"),
        ("0.0**-0.5", "Zero has no negative power"),
        ("(-8)**(1/3)", "no real root"),
        ("1/0", "divides by zero"),
        ("1//0.0", "divides by zero"),
        ("1%(3-3)", "divides by zero"),
        ("2^10", "Write ** for powers"),
        ("", NO_EXPRESSION),
        ("   ", NO_EXPRESSION),
        ("15 *", NO_EXPRESSION),
        ("(1", NO_EXPRESSION),
        ("1e", NO_EXPRESSION),
        ("1__0", NO_EXPRESSION),
        ("1\n2", NO_EXPRESSION),
        ("E_e", ONLY_ARITHMETIC),
        ("1, 2", ONLY_ARITHMETIC),
        ("()", ONLY_ARITHMETIC),
        ("1(2)", ONLY_ARITHMETIC),
        ("(" * 199, NO_EXPRESSION),
        ("1 2", NO_EXPRESSION),
        ("007", NO_EXPRESSION),
        ("15% of 80", ONLY_ARITHMETIC),
        ("1; 2", ONLY_ARITHMETIC),
        ("1\x002", ONLY_ARITHMETIC),
        ("\ud800", ONLY_ARITHMETIC),
        ("１５*８", ONLY_ARITHMETIC),
        ("١٥*٨", ONLY_ARITHMETIC),
        ("x = 1", ONLY_ARITHMETIC),
        ("import os", ONLY_ARITHMETIC),
        ("x", ONLY_ARITHMETIC),
        ("True + 1", ONLY_ARITHMETIC),
        ("1_000, 2", ONLY_ARITHMETIC),
        ("2j", ONLY_ARITHMETIC),
        ("...", ONLY_ARITHMETIC),
        ("'ab' * 2", ONLY_ARITHMETIC),
        ("b'ab'", ONLY_ARITHMETIC),
        ("f'{1}'", ONLY_ARITHMETIC),
        ("[1] * 9", ONLY_ARITHMETIC),
        ("abs(-3)", ONLY_ARITHMETIC),
        ("(1).real", ONLY_ARITHMETIC),
        ("().__class__", ONLY_ARITHMETIC),
        ("__import__('os').system('true')", ONLY_ARITHMETIC),
        ("[x for x in (1, 2)]", ONLY_ARITHMETIC),
        ("(x := 1)", ONLY_ARITHMETIC),
        ("lambda: 1", ONLY_ARITHMETIC),
        ("1 if 1 else 2", ONLY_ARITHMETIC),
        ("1 < 2", ONLY_ARITHMETIC),
        ("1 and 2", ONLY_ARITHMETIC),
        ("not 1", ONLY_ARITHMETIC),
        ("~1", ONLY_ARITHMETIC),
        ("1 << 99", ONLY_ARITHMETIC),
        ("1 @ 2", ONLY_ARITHMETIC),
        ("1 | 2", ONLY_ARITHMETIC),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_everything_else_is_refused_in_words(expression: str, said: str) -> None:
    with pytest.raises(ToolError) as refusal:
        calculate(expression)
    assert said in str(refusal.value)
    assert len(str(refusal.value)) < 500


OPERATORS = ["+", "-", "*", "**", "/", "//", "%", "(", ")", "e", "E", "_", ".", "0x", "1_", "j"]
SIGNS = [",", ":", "=", "'", '"', "\\", "#", "~", "<", "[", "]", "\n", "\t", " ", "½", "二"]
WORDS = ["or", "if", "is", "not", "in", "None", "x", "0", "1", "9"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(OPERATORS + SIGNS + WORDS), max_size=30).map("".join))
@example("1or 2")
@example("1if 2else 3")
@example("'\\d'")
@example("0xfor 1 in 2")
def test_no_text_gives_anything_but_a_result_or_a_refusal_and_nothing_is_printed(text: str) -> None:
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("always")
        with contextlib.suppress(ToolError):
            assert isinstance(calculate(text), str)
    assert [str(warning.message) for warning in printed] == []


# ---- get_current_weather -------------------------------------------------------------------


@pytest.mark.parametrize(
    "city", ["Beijing", "beijing", " BEIJING ", "Beijing, China", "北京", "Peking"]
)
def test_a_city_is_found_however_it_is_written(city: str) -> None:
    assert get_current_weather(city) == {
        "city": "Beijing",
        "condition": "sunny",
        "temperature_celsius": 15,
    }


@pytest.mark.parametrize(
    ("city", "said"),
    [
        ("Bejing", "No weather is known for 'Bejing'. Did you mean 'Beijing'? Cities: Beijing, "),
        ("", "No weather is known for ''. Cities: Beijing, "),
        ("x" * 10_000, f"No weather is known for '{'x' * 60}'. Cities: Beijing, "),
        ("\ud800", "No weather is known for '\\ud800'. Cities: Beijing, "),
    ],
)
def test_a_city_that_is_not_known_is_refused_with_the_ones_that_are(city: str, said: str) -> None:
    with pytest.raises(ToolError) as refusal:
        get_current_weather(city)
    assert str(refusal.value).startswith(said)
    assert all(known in str(refusal.value) for known in WEATHER)


def test_both_are_tools_that_a_model_can_be_told_of() -> None:
    told = [tool(function) for function in (get_current_weather, calculate)]
    assert [(made.name, list(made.parameters["properties"])) for made in told] == [
        ("get_current_weather", ["city"]),
        ("calculate", ["expression"]),
    ]
    assert all(made.description for made in told)
    assert all(
        made.parameters["properties"][field]["description"]
        for made, field in zip(told, ["city", "expression"], strict=True)
    )
