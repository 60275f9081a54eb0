"""Stepping through a view, with and without buttons."""

from typing import Any

import pytest
from hypothesis import given

from freya_teach.lab.views import controls, drawing
from freya_teach.lab.views.view import Click, Picture, View, figure
from tests.lab.views.pictures import parsed
from tests.lab.views.test_words import ANY_TEXT


def draw(state: str) -> Picture:
    return Picture(drawing.svg((9, 9), state, state, []), f"this is {state}")


@pytest.fixture
def view() -> View[str]:
    return View(["one", "two", "three"], draw)


@pytest.mark.parametrize(
    ("clicks", "step"),
    [
        ([], 1),
        (["next"], 2),
        (["next", "next", "prev", 3], 3),
        (["prev"], 1),
        ([3, "next"], 3),
    ],
)
def test_playing_clicks_ends_where_they_lead(
    view: View[str], clicks: list[Click], step: int
) -> None:
    assert view.play(clicks) is view
    assert view.step == step


@pytest.mark.parametrize("step", [0, 4, -1])
def test_a_step_that_there_is_not_is_refused_in_words(view: View[str], step: int) -> None:
    with pytest.raises(ValueError, match="the steps are 1 to 3"):
        view.play([step])
    assert view.step == 1


def test_a_button_that_there_is_not_is_refused_in_words(view: View[str]) -> None:
    with pytest.raises(ValueError, match="no button 'forward'"):
        view.play(["forward"])


def test_one_step_can_be_shown_without_moving_there(view: View[str]) -> None:
    assert view.at(3).text == "this is three"
    assert view.text == "this is one"


def test_outside_a_notebook_there_is_a_picture_and_its_words(view: View[str]) -> None:
    bundle = view._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {"text/plain": "this is one", "text/html": view.picture.html}
    assert repr(view) == "this is one"
    assert view.at(1)._repr_mimebundle_() == bundle


@given(ANY_TEXT)
def test_words_of_any_kind_make_well_formed_html(text: str) -> None:
    (made,) = parsed(figure("", text))
    assert made.tag == "figure"


# ---- the widget, without a browser ---------------------------------------------------------


def buttons(view: View[str]) -> tuple[Any, Any, Any, Any]:
    row, picture = view.widget().children
    return (*row.children, picture)


def test_the_buttons_and_the_slider_move_the_view(view: View[str]) -> None:
    back, on, slider, picture = buttons(view)
    on.click()
    assert (view.step, slider.value) == (2, 2)
    assert "this is two" in picture.value
    slider.value = 3
    assert view.step == 3
    assert "this is three" in picture.value
    back.click()
    assert slider.value == 2


def test_played_clicks_move_the_buttons_picture_too(view: View[str]) -> None:
    *_, slider, picture = buttons(view)
    view.play(["next"])
    assert (slider.value, picture.value) == (2, view.picture.html)


def test_every_control_has_a_name_for_a_screen_reader(view: View[str]) -> None:
    back, on, slider, _ = buttons(view)
    assert [each.description for each in (back, on, slider)] == ["◀ Previous", "Next ▶", "Step"]
    assert all(each.tooltip for each in (back, on, slider))


def test_a_view_of_one_step_has_a_slider_that_stands_still() -> None:
    *_, slider, _ = buttons(View(["only"], draw))
    assert slider.disabled


class Shell:
    kernel = "any"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look like the Python behind a notebook, as far as a view can see."""
    import IPython  # noqa: PLC0415 - a third of a second, for few tests

    monkeypatch.setattr(IPython, "get_ipython", Shell)


@pytest.mark.usefixtures("notebook")
def test_in_a_notebook_the_controls_come_beside_the_picture(view: View[str]) -> None:
    bundle = view._repr_mimebundle_()
    assert bundle[controls.WIDGET]["model_id"] == view.widget().model_id
    assert list(bundle)[:2] == ["text/plain", "text/html"]


@pytest.mark.usefixtures("notebook")
def test_pages_that_are_read_without_a_kernel_get_no_controls(
    view: View[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREYA_VIEWS", "static")
    assert controls.WIDGET not in view._repr_mimebundle_()


@pytest.mark.usefixtures("notebook")
def test_without_ipywidgets_there_is_the_picture(
    view: View[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(controls.sys.modules, "ipywidgets", None)
    assert list(view._repr_mimebundle_()) == ["text/plain", "text/html"]
