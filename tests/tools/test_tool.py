"""What the model is told about a function, and which functions are refused."""

import enum
import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from freya_teach import Tool, ToolContext, tool
from freya_teach.errors import ConfigError
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking


def properties(function: Callable[..., Any]) -> dict[str, Any]:
    """Take a function's parameters as the model sees them."""
    return dict(tool(function).parameters["properties"])


# ---- the docstring -------------------------------------------------------------------------


def test_the_docstring_gives_the_description_and_one_for_each_parameter() -> None:
    @tool
    def book(city: str, nights: int = 1, *, board: bool = False) -> str:  # noqa: D417
        """Book a room.

        Only in
        Norway.

        Args:
            city: English name, for example "Oslo".
                Note: one city only.
            nights (int, optional): How many nights.

        Returns:
            city: not a parameter's description.
        """
        return f"{city} {nights} {board}"

    assert book.description == "Book a room. Only in Norway."
    assert book.parameters == {
        "type": "object",
        "properties": {
            "city": {
                "type": "string",
                "description": 'English name, for example "Oslo". Note: one city only.',
            },
            "nights": {"type": "integer", "default": 1, "description": "How many nights."},
            "board": {"type": "boolean", "default": False},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ""),
        ("", ""),
        ("One line.", "One line."),
        ("Say it.\n\nReturns:\n    The same.", "Say it."),
        ("Say it.\n\nRaises:\n    ToolError: never.\n", "Say it."),
        ("Say it.\n\nExample:\n    >>> say('it')", "Say it."),
    ],
)
def test_of_the_docstring_only_the_purpose_is_told(text: str | None, expected: str) -> None:
    def probe() -> None: ...

    probe.__doc__ = text
    assert tool(probe).description == expected


def test_a_description_by_hand_wins_over_the_docstring() -> None:
    @tool(name="tell-it", description="By hand.")
    def probe() -> None:
        """By docstring."""

    assert (probe.name, probe.description) == ("tell-it", "By hand.")


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    def probe() -> None:
        """Do nothing."""

    assert tool(probe).parameters == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


# ---- the types -----------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    name: str
    colour: Colour = Colour.RED


def test_annotated_gives_bounds_and_a_description() -> None:
    def probe(city: Annotated[str, Field(description="Its name.", min_length=1)]) -> None: ...

    assert properties(probe) == {
        "city": {"type": "string", "minLength": 1, "description": "Its name."}
    }


def test_a_docstring_wins_over_the_description_in_annotated() -> None:
    def probe(city: Annotated[str, Field(description="Old.", min_length=1)]) -> None:
        """Do it.

        Args:
            city: New.
        """

    assert properties(probe)["city"] == {"type": "string", "minLength": 1, "description": "New."}


def test_a_default_written_as_a_field_keeps_its_bounds() -> None:
    def probe(count: int = Field(3, ge=1)) -> None: ...

    assert properties(probe)["count"] == {"type": "integer", "default": 3, "minimum": 1}
    assert tool(probe).validate({}) == {"count": 3}
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        tool(probe).validate({"count": 0})


def test_literals_enums_and_optional_parameters_say_what_is_allowed() -> None:
    def probe(
        kind: Literal["hotel", "hut"],
        colour: Colour = Colour.BLUE,
        limit: int | None = None,
        tags: list[str] = [],  # noqa: B006 - what a learner writes
    ) -> None: ...

    made = tool(probe)
    assert made.parameters["properties"] == {
        "kind": {"type": "string", "enum": ["hotel", "hut"]},
        "colour": {"$ref": "#/$defs/Colour", "default": "blue"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "tags": {"type": "array", "items": {"type": "string"}, "default": []},
    }
    assert made.parameters["$defs"]["Colour"]["enum"] == ["red", "blue"]
    assert made.parameters["required"] == ["kind"]
    assert made.validate({"kind": "hut", "colour": "red", "limit": None}) == {
        "kind": "hut",
        "colour": Colour.RED,
        "limit": None,
        "tags": [],
    }


def test_a_default_list_is_not_shared_between_calls() -> None:
    def probe(tags: list[str] = []) -> None: ...  # noqa: B006 - what a learner writes

    made = tool(probe)
    made.validate({})["tags"].append("left over")
    assert made.validate({}) == {"tags": []}


def test_a_pydantic_model_is_described_and_handed_over_as_one() -> None:
    def probe(place: Place) -> None: ...

    made = tool(probe)
    described = made.parameters["$defs"]["Place"]["properties"]
    assert described == {
        "name": {"type": "string"},
        "colour": {"$ref": "#/$defs/Colour", "default": "red"},
    }
    assert made.validate({"place": {"name": "Oslo"}}) == {"place": Place(name="Oslo")}


@pytest.mark.parametrize(
    "name",
    ["schema", "json", "copy", "model_config", "model_fields", "_hidden", "self", "parameter"],
)
def test_a_parameter_may_have_any_name_even_one_that_pydantic_uses(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def probe(first: str, {name}: int) -> None: ...", namespace)  # noqa: S102
    made = tool(namespace["probe"])
    assert list(made.parameters["properties"]) == ["first", name]
    assert made.validate({"first": "a", name: 2}) == {"first": "a", name: 2}
    assert made.validate_json(f'{{"{name}": 2, "first": "a"}}') == {"first": "a", name: 2}


def test_our_own_name_of_a_field_is_no_way_to_reach_a_parameter() -> None:
    def probe(city: str, schema: str = "") -> None: ...

    for text in ('{"city": "Oslo", "parameterschema": 1}', '{"city": "Oslo", "schema": 1}'):
        with pytest.raises(ValidationError):
            tool(probe).validate_json(text)


@pytest.mark.parametrize(
    "annotation", [ToolContext, ToolContext | None, Annotated[ToolContext, "ours"]]
)
def test_the_context_never_shows_in_the_schema(annotation: Any) -> None:
    def probe(city, context=None) -> None: ...  # noqa: ANN001 - annotated below

    probe.__annotations__ = {"city": str, "context": annotation}
    made = tool(probe)
    assert made.context_parameter == "context"
    assert list(made.parameters["properties"]) == ["city"]
    assert "$defs" not in made.parameters


def test_a_method_and_a_callable_object_are_tools_too() -> None:
    class Counter:
        def add(self, number: int) -> int:
            """Add a number."""
            return number + 1

        def __call__(self, number: int) -> int:
            """Add another number."""
            return number + 2

    assert list(properties(Counter().add)) == ["number"]
    named = tool(name="add_two")(Counter())
    assert (named.name, named(1)) == ("add_two", 3)


def test_a_tool_stays_the_plain_function_for_whoever_calls_it() -> None:
    @tool
    def double(number: int) -> int:
        """Twice the number."""
        return 2 * number

    assert isinstance(double, Tool)
    assert double(number=4) == 8


# ---- a tool made of a model ----------------------------------------------------------------


class Booking(BaseModel):
    """Book a room in Norway."""

    city: str = Field(description='English name, for example "Oslo".')
    nights: int = Field(1, ge=1, description="How many nights; one by default.")
    place: Place | None = None


def test_a_models_fields_are_the_arguments_and_the_function_gets_the_model() -> None:
    @tool(model=Booking)
    def book(booking: Booking, context: ToolContext) -> str:
        return f"{booking.nights} in {booking.city} for {context.session_id}"

    assert (book.name, book.description) == ("book", "Book a room in Norway.")
    assert list(book.parameters["properties"]) == ["city", "nights", "place"]
    assert book.parameters["required"] == ["city"]
    assert book.parameters["properties"]["city"]["description"].startswith("English name")
    assert book.context_parameter == "context"
    checked = book.validate({"city": "Oslo"})
    assert checked == {"booking": Booking(city="Oslo")}
    assert book(**checked, context=ToolContext("call_1", "me")) == "1 in Oslo for me"


def test_the_functions_own_docstring_wins_over_the_models() -> None:
    @tool(model=Booking)
    async def book(booking) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        """Book it."""

    assert book.description == "Book it."


def two_of_them(booking: Booking, more: str) -> None: ...


def none_of_them(context: ToolContext) -> None: ...


def another(booking: Place) -> None: ...


@pytest.mark.parametrize("function", [two_of_them, none_of_them, another])
def test_a_function_that_does_not_take_the_model_is_refused(function: Any) -> None:
    with pytest.raises(ConfigError, match="with model=Booking the function takes one Booking"):
        tool(model=Booking)(function)


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_a_tool_of_a_model_is_called_over_either_wire(spoken: dict[str, Any]) -> None:
    @tool(model=Booking)
    def book(booking: Booking) -> str:
        return f"{booking.nights} in {booking.city}"

    model = Model(Answer(calls=[("book", {"city": "Oslo", "nights": 2})]), Answer("Done."))
    result = await model.kernel(**spoken).agent([book]).run("?")
    assert [trace.observation for trace in result.trace.calls] == ["2 in Oslo"]


# ---- strict mode ---------------------------------------------------------------------------


@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_openai_is_asked_for_strict_mode_and_gemini_gets_the_same_schema(
    spoken: dict[str, Any],
) -> None:
    def double(number: int = 1) -> int:
        """Twice the number."""
        return 2 * number

    model = Model(Answer(calls=[("double", {"number": None})]), Answer("2."), Answer("Hello."))
    kernel = model.kernel(**spoken)
    result = await kernel.agent([tool(strict=True)(double)]).run("?")
    await kernel.agent([double]).run("?")
    assert result.trace.calls[0].observation == "2"
    strict, _, loose = map(declared, model.bodies)
    schema = strict.get("parameters") or strict["parametersJsonSchema"]
    assert schema["properties"]["number"]["type"] == ["integer", "null"]
    assert strict.get("strict") == (True if "parameters" in strict else None)
    assert "strict" not in loose


def declared(body: dict[str, Any]) -> dict[str, Any]:
    """Return the only tool that a request declares."""
    [group] = body["tools"]
    return dict(group["function"] if "function" in group else group["functionDeclarations"][0])


# ---- what is refused -----------------------------------------------------------------------


def no_annotation(city) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001


def any_number(*cities: str) -> None: ...


def any_names(**cities: str) -> None: ...


def positional(city: str, /) -> None: ...


def positional_context(context: ToolContext, /) -> None: ...


def two_contexts(one: ToolContext, two: ToolContext) -> None: ...


def unknown_type(city: "Unknown") -> None: ...  # type: ignore[name-defined]  # noqa: F821


def broken_type(city: "str |") -> None: ...  # type: ignore[valid-type]  # noqa: F722


def undescribable(city: object, place: Callable[[], None]) -> None: ...


class Plain:
    """Nothing that JSON knows."""


def plain_class(place: Plain) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_annotation, "tool no_annotation: parameter city needs a type annotation"),
        (any_number, r"tool any_number: a model cannot give \*cities: str: use named parameters"),
        (any_names, r"tool any_names: a model cannot give \*\*cities: str"),
        (positional, "tool positional: a model cannot give city: str: use named parameters"),
        (positional_context, "tool positional_context: a model cannot give context"),
        (two_contexts, "tool two_contexts: one parameter of type ToolContext is enough"),
        (unknown_type, "tool unknown_type: its signature cannot be read: name 'Unknown'"),
        (broken_type, "tool broken_type: its signature cannot be read: invalid syntax"),
        (undescribable, "tool undescribable: .*CallableSchema"),
        (plain_class, "tool plain_class: .*Plain"),
        (dict, "tool dict: its signature cannot be read: no signature found"),
        (lambda city: city, "'<lambda>' is no tool name on both wires"),
        (functools.partial(positional, "Oslo"), "'' is no tool name on both wires"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_that_no_schema_can_describe_is_refused_with_the_reason(
    function: Any, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        tool(function)


@pytest.mark.parametrize("given", [3, "positional", {"name": "positional"}, [positional]])
def test_what_is_no_function_is_refused_with_its_type(given: Any) -> None:
    said = f"a tool is a function, and this is of the type {type(given).__name__}: give the func"
    with pytest.raises(ConfigError, match=said):
        tool(given)


@pytest.mark.parametrize("name", ["get weather", "1st", "天气", "a.b", "x" * 65, "a\n", "-a"])
def test_a_name_that_one_of_the_wires_refuses_is_refused_here(name: str) -> None:
    with pytest.raises(ConfigError, match="is no tool name on both wires"):
        tool(name=name)(positional)


@pytest.mark.parametrize("name", ["a", "_a", "get-weather", "x" * 64])
def test_a_name_that_both_wires_take_is_taken(name: str) -> None:
    def probe() -> None: ...

    assert tool(name=name)(probe).name == name
