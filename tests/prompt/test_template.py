"""A template is filled in literally, and a mistake in it is found before a model reads it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import PromptError
from freya_teach.prompt.template import PLACEHOLDER, placeholders, render

BRACES = st.text(st.sampled_from("{}abtext_0 \n\\$&\"'é北"), max_size=40)


@given(BRACES | st.text(), BRACES | st.text(), st.text() | BRACES)
def test_whatever_stands_around_a_placeholder_and_in_its_value_stays_as_it_is(
    before: str, after: str, value: str
) -> None:
    before, after = (PLACEHOLDER.sub("", text) for text in (before, after))
    template = f"{before} {{text}} {after}"
    if placeholders(template) != {"text"}:
        return  # a brace at the edge has made another one
    assert render(template, text=value) == f"{before} {value} {after}"


@given(BRACES | st.text())
def test_a_text_without_placeholders_is_rendered_as_itself(text: str) -> None:
    if not placeholders(text):
        assert render(text) == text


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_json_in_a_template_keeps_its_braces(value: object) -> None:
    text = json.dumps({"value": value}, indent=1)
    if not placeholders(text):
        assert render(text + "{text}", text="{}") == text + "{}"


def test_every_occurrence_is_replaced_and_none_of_what_was_put_in() -> None:
    assert render("{a} {b} {a}", a="{b}", b="{a}") == "{b} {a} {b}"


@pytest.mark.parametrize("value", ["$&", r"\1", r"\g<0>", "%s", "{text}", "{{text}}", "{0}", ""])
def test_no_value_is_special(value: str) -> None:
    assert render("<{text}>", text=value) == f"<{value}>"


def test_double_braces_are_text() -> None:
    assert render("{{text}} {text}", text="Hi") == "{{text}} Hi"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{text_content}", "{text_content}, which nothing fills in. Did you mean {text}?"),
        ("{txt} and {text}", "{txt}, which nothing fills in. Did you mean {text}?"),
        ("{zzz} {text}", "{zzz}, which nothing fills in. There are: {text}."),
        ("no placeholder", "has no {text}, so its value would be lost. Placeholders in it: none."),
        ("{ text }", "has no {text}"),
        ("{{text}}", "has no {text}"),
    ],
)
def test_a_placeholder_that_is_misspelt_or_missing_is_an_error(template: str, said: str) -> None:
    with pytest.raises(PromptError, match=re.escape(said)):
        render(template, text="Hi")


def test_the_error_tells_how_to_keep_the_braces() -> None:
    with pytest.raises(PromptError, match=r"Write \{\{city\}\} if the braces are meant as text"):
        render("{city}")


@pytest.mark.parametrize("template", ['{"said": {text}}', "{{text}}", "{{text}"])
def test_a_placeholder_that_touches_another_brace_is_text_and_the_error_says_so(
    template: str,
) -> None:
    with pytest.raises(PromptError, match="touches another brace, and is text: put a space"):
        render(template, text="Hi")
