"""The two tools of the first question: weather and arithmetic. (chapter 2.3)

The weather is made up, so that every run answers alike; the arithmetic is real. `calculate` takes
text from a model, so it reads it as a tree of allowed operations and never evaluates it as Python,
and it looks at how large a result will be before it is computed.
"""

from __future__ import annotations

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable

from freya_teach.errors import ToolError

WEATHER: dict[str, tuple[str, int]] = {
    "Beijing": ("sunny", 15),
    "Bergen": ("rain", 8),
    "Lima": ("cloudy", 19),
    "Oslo": ("snow", -3),
    "Shanghai": ("light rain", 18),
}
OTHER_NAMES = {"北京": "Beijing", "上海": "Shanghai", "peking": "Beijing"}


def get_current_weather(city: str) -> dict[str, str | int]:
    """Get the current weather of one city. (In this course it is made up.)

    Args:
        city: English name of the city, for example "Beijing". One city per call.
    """
    wanted = city.split(",", maxsplit=1)[0].strip()
    name = OTHER_NAMES.get(wanted.lower(), wanted.title())
    if name not in WEATHER:
        close = difflib.get_close_matches(name, WEATHER, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ToolError(
            f"No weather is known for {city[:60]!r}.{hint} Cities: {', '.join(WEATHER)}."
        )
    condition, degrees = WEATHER[name]
    return {"city": name, "condition": condition, "temperature_celsius": degrees}


MAX_EXPRESSION_CHARS = 200
MAX_RESULT = 1e100

Number = int | float
OPERATIONS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
ALLOWED = "numbers, + - * / // % ** and parentheses"
CHARACTERS = re.compile(r"[0-9eE_.+\-*/%()^\s]*")
"""Python's parser gets to see nothing else; it would warn, aloud, about some of it."""


def calculate(expression: str) -> str:
    """Work out an arithmetic expression exactly, instead of guessing the result.

    Args:
        expression: Numbers with + - * / // % ** and parentheses, for example "15 * 8".
    """
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise ToolError(
            f"The expression has {len(expression):,} characters; at most {MAX_EXPRESSION_CHARS} "
            "are allowed. Split the calculation into smaller ones."
        )
    text = expression.replace("×", "*").replace("÷", "/").strip()
    if not CHARACTERS.fullmatch(text):
        raise ToolError(f"Only arithmetic is allowed here: {ALLOWED}.")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ToolError(
            f"{expression!r} is not an arithmetic expression. Allowed are {ALLOWED}."
        ) from None
    return _as_text(_value(tree.body))


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(op=op, left=left, right=right) if type(op) in OPERATIONS:
            return _operate(type(op), _value(left), _value(right))
        case ast.BinOp(op=ast.BitXor()):
            raise ToolError("^ is not a power here. Write ** for powers, for example 2**10.")
        case _:
            raise ToolError(f"Only arithmetic is allowed here: {ALLOWED}.")


def _operate(op: type[ast.operator], left: Number, right: Number) -> Number:
    if op is ast.Pow:
        _check_power(left, right)
    if op in (ast.Div, ast.FloorDiv, ast.Mod) and right == 0:
        raise ToolError("This divides by zero, which has no result. Check the expression.")
    try:
        return _bounded(OPERATIONS[op](left, right))
    except OverflowError:
        raise ToolError(TOO_LARGE) from None


def _check_power(base: Number, exponent: Number) -> None:
    """Look at the size before computing: 9**9**9 has 369,693,100 digits."""
    if base == 0 and exponent < 0:
        raise ToolError("Zero has no negative power. Check the expression.")
    if base < 0 and exponent != int(exponent):
        raise ToolError("A negative number has no real root here. Check the expression.")
    if base != 0 and abs(exponent * math.log10(abs(base))) > math.log10(MAX_RESULT):
        raise ToolError(TOO_LARGE)


TOO_LARGE = "The result would be larger than 1e100 (or as close to zero). Use smaller numbers."


def _bounded(number: Number) -> Number:
    if not -MAX_RESULT <= number <= MAX_RESULT:  # also true for "not a number"
        raise ToolError(TOO_LARGE)
    return number


def _as_text(number: Number) -> str:
    """Whole numbers in full, others to twelve significant digits."""
    if isinstance(number, int):
        return str(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.12g}"
