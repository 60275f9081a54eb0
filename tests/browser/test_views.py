"""The views under a real mouse: the model's seat played to its answer, the stepper moved."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.learner import TRACE, Learner

MIND_MODEL = "part1_react/2.2_react_mind_model.ipynb"
STEPPER = 'lab.view.stepper(runs["openai"])'

pytestmark = pytest.mark.soak


def button(place: Locator, caption: str) -> Locator:
    return place.locator("button.jupyter-button", has_text=caption)


def test_a_learner_is_the_model_and_clicks_to_the_final_answer(lab: Lab, learner: Learner) -> None:
    learner.open(lab.page_of(MIND_MODEL))
    learner.run_all()
    cell = learner.cell("seat = lab.view.be_the_model")
    played = cell.locator(".cm-line", has_text="await seat.play").text_content()
    assert played is not None
    learner.edit(cell, played, "seat")
    learner.run(cell)
    seat = cell.locator(".jp-OutputArea")
    expect(seat).to_contain_text("it is your move")
    learner.picture("asked", cell)

    seat.locator("select").select_option("get_current_weather")
    seat.locator("input[type=text]").first.fill("Lima")
    button(seat, "Send").click()
    expect(seat).to_contain_text("get_current_weather returned")
    learner.picture("observed", cell)

    seat.locator("textarea").fill("It is cloudy in Lima, at 19 °C.")
    button(seat, "Send").click()
    expect(seat).to_contain_text("the run is over")
    expect(cell.locator(TRACE)).to_have_count(0)
    learner.picture("answered", cell)


def test_the_stepper_moves_by_its_buttons_and_by_the_arrow_keys(lab: Lab, learner: Learner) -> None:
    learner.open(lab.page_of(MIND_MODEL))
    learner.run_all()
    stepper = learner.cell(STEPPER).locator(".jp-OutputArea")
    expect(stepper).to_contain_text("Step 4 of")
    button(stepper, "Next").click()
    expect(stepper).to_contain_text("Step 5 of")
    stepper.locator(".noUi-handle").press("ArrowRight")
    expect(stepper).to_contain_text("Step 6 of")
    learner.picture("sixth-step", stepper)
    button(stepper, "Previous").click()
    expect(stepper).to_contain_text("Step 5 of")


def test_a_picture_is_still_there_when_the_notebook_is_opened_without_its_kernel(
    lab: Lab, learner: Learner
) -> None:
    learner.open(lab.page_of(MIND_MODEL))
    learner.run_all()
    learner.save()
    lab.forget_kernels()
    learner.open(lab.page_of(MIND_MODEL))
    stepper = learner.cell(STEPPER).locator(".jp-OutputArea")
    stepper.scroll_into_view_if_needed()
    expect(stepper).not_to_contain_text("Loading widget")
    learner.picture("opened-again", stepper)
    expect(stepper).to_contain_text("Step 4 of")
    expect(stepper).not_to_contain_text("Error displaying widget")
