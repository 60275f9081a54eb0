"""Four rules for descriptions: each finds what is weak, and leaves alone what is good."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from freya_teach import ToolRegistry, tool
from freya_teach.lab import sample_tools
from freya_teach.paths import course_folder
from freya_teach.prompt.registry import PromptRegistry
from freya_teach.tools.lint import Finding, lint_schema
from freya_teach.tools.meta import skill_tools, toolbox_tools


def rules(name: str, type_: Any, about: str, default: Any = ..., of: str = "fetch") -> list[str]:
    """Describe one parameter, and return the rules that complain."""

    def probe(value: Any) -> None:
        """Do something with it."""

    annotated = Annotated[type_, Field(description=about or None)]
    probe.__annotations__ = {"value": annotated, "return": None}
    probe.__defaults__ = None if default is ... else (default,)
    source = f"def made({name}: kind{'' if default is ... else ' = default'}):\n    'Do it.'"
    space: dict[str, Any] = {"kind": annotated, "default": default}
    exec(source, space)  # noqa: S102 - a parameter of any name
    return [finding.rule for finding in lint_schema(tool(name=of)(space["made"]))]


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("path", "File path."),
        ("url", "The address."),
        ("start_date", "The first day, but not a past one."),
        ("user_email", "Where to send it."),
        ("session_id", "The session's id, from the list."),
        ("currency", "Which currency."),
    ],
)
def test_a_form_without_an_example_is_found(name: str, about: str) -> None:
    assert "format" in rules(name, str, about)


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("path", 'Relative path, for example "src/a.py", never "/src/a.py".'),
        ("url", "With its scheme, for example https://example.org."),
        ("link", "With its scheme, e.g. https://example.org."),
        ("start_date", 'The first day, such as "2026-11-30"; never "tomorrow".'),
        ("city", "English name of the city."),
        ("text", "What is said."),
        ("query", "What to search for."),
        ("title", "The heading."),
    ],
)
def test_a_form_that_is_shown_and_a_text_without_a_form_are_left_alone(
    name: str, about: str
) -> None:
    assert rules(name, str, about) == []


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("date", Literal["today", "tomorrow"]),
        ("path", Annotated[str, Field(pattern="^[a-z]+$")]),
        ("id", int),
    ],
)
def test_where_the_schema_itself_has_the_form_no_example_is_asked_for(
    name: str, type_: Any
) -> None:
    assert rules(name, type_, "Which one, not any other; from the list.") == []


@pytest.mark.parametrize("name", ["path", "folder", "start_date", "time"])
def test_where_models_choose_another_form_a_bad_example_is_asked_for(name: str) -> None:
    assert rules(name, str, 'Such as "a/b".') == ["format"]
    assert rules(name, str, 'Such as "a/b", never "/a/b".') == []


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ("How many nights.", ["empty"]),
        ("How many nights; by default 1.", []),
        ("How many nights. Leave it out for one.", []),
        ("How many nights; null means one.", []),
        ("How many nights, if the user did not say: one.", []),
    ],
)
def test_what_happens_without_an_optional_parameter_has_to_be_said(
    about: str, expected: list[str]
) -> None:
    assert rules("nights", int, about, 1) == expected
    assert rules("nights", int, about) == []


@pytest.mark.parametrize(
    ("name", "of", "about", "expected"),
    [
        ("order_id", "cancel", 'The order, for example "A17".', ["prerequisite"]),
        ("order_id", "cancel", 'An id from list_orders, for example "A17".', []),
        ("order_id", "cancel", 'The order that the user named, such as "A17".', []),
        ("path", "read_file", 'Relative, such as "a.txt", never "/a.txt".', ["prerequisite"]),
        ("path", "read_file", 'Such as "a.txt", never "/a.txt". Call `list_dir` if unsure.', []),
        ("path", "write_file", 'Relative, such as "a.txt", never "/a.txt".', []),
        ("paid", "cancel", "Whether it was paid.", []),
    ],
)
def test_what_must_exist_has_to_come_from_somewhere(
    name: str, of: str, about: str, expected: list[str]
) -> None:
    assert rules(name, str, about, of=of) == expected


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ('"celsius" or "fahrenheit"', ["enum"]),
        ("The unit: 'c', 'f' or 'k'.", ["enum"]),
        ("One of small, medium, large.", ["enum"]),
        ("Either up or down.", ["enum"]),
        ("`asc` | `desc`", ["enum"]),
        ('Any unit, for example "c" or "f".', []),
        ("One of the files that were found.", []),
        ("Either a name, or a number of the list.", []),
        ('The word "unit" as it stands.', []),
    ],
)
def test_values_that_are_listed_in_words_belong_into_the_schema(
    about: str, expected: list[str]
) -> None:
    assert rules("unit", str, about) == expected
    assert rules("unit", Literal["celsius", "fahrenheit"], about) == []


def test_without_any_description_there_is_one_finding_and_not_four() -> None:
    def probe(path: str, order_id: int = 3, kind: Literal["a", "b"] = "a") -> None: ...

    assert [(f.place, f.rule) for f in lint_schema(tool(probe))] == [
        ("probe", "missing"),
        ("probe.path", "missing"),
        ("probe.order_id", "missing"),
        ("probe.kind", "empty"),
    ]


class Stop(BaseModel):
    place_id: str = Field(description='Such as "p7".')
    next: "Stop | None" = Field(None, description="Null at the end.")


def test_places_inside_of_models_and_lists_are_named() -> None:
    def travel(stops: list[Stop], home: Stop | None = None) -> None:
        """Travel.

        Args:
            stops: In this order.
            home: Where to go in the end; by default nowhere.
        """

    places = [finding.place for finding in lint_schema(tool(travel))]
    assert {"travel.stops[].place_id", "travel.home.place_id"} <= set(places)
    assert len(places) < 10


def test_the_bad_example_of_the_chapter_is_found_and_the_good_one_is_not() -> None:
    assert rules("path", str, "File path.", of="read_file") == ["format", "format", "prerequisite"]
    good = (
        'Relative path of the file, for example "notes.txt". Never an absolute path such as '
        '"/etc/hosts" or "C:\\\\x". If you are not sure of it, call `list_dir` first.'
    )
    assert rules("path", str, good, of="read_file") == []


def test_the_courses_own_tools_pass() -> None:
    own = [
        tool(sample_tools.get_current_weather),
        tool(sample_tools.calculate),
        *skill_tools(PromptRegistry(course_folder("prompts"))),
        *toolbox_tools(ToolRegistry()),
    ]
    assert [str(finding) for made in own for finding in lint_schema(made)] == []


def test_a_finding_says_where_what_and_what_to_do() -> None:
    finding = Finding("read_file.path", "format", "no example shows it", "Add one.")
    assert str(finding) == "read_file.path: no example shows it (format). Add one."
