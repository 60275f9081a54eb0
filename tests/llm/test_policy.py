"""The table of what is done about a failure, row by row, and the waits."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach import errors
from freya_teach.errors import (
    AuthError,
    BadResponse,
    ConnectionFailed,
    ContextOverflowError,
    LLMError,
    ModelNotFound,
    NeedsSmaller,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
    ResponseCut,
    ServerFailed,
)
from freya_teach.llm.messages import assistant
from freya_teach.llm.policy import (
    MAX_BACKOFF_SECONDS,
    POLICY,
    is_malformed,
    policy_for,
    table,
    wait_before,
)
from freya_teach.llm.protocol import Reply, Usage


@pytest.mark.parametrize(
    ("problem", "name", "retries", "failover"),
    [
        (ConnectionFailed("x"), "transport", 2, "yes"),
        (ResponseCut("x", status=200), "transport", 2, "yes"),
        (RateLimited("x", status=429), "rate limit", 2, "yes"),
        (QuotaExhausted("x", status=429), "hard quota", 0, "yes"),
        (ContextOverflowError("x", status=429), "too large per minute", 0, "yes"),
        (ServerFailed("x", status=500), "server", 2, "yes"),
        (ServerFailed("x", status=200), "server", 2, "yes"),
        (AuthError("x", status=400), "auth", 0, "yes"),
        (ModelNotFound("x", status=404), "model gone", 0, "yes"),
        (ContextOverflowError("x", status=400), "context overflow", 0, "larger window"),
        (NeedsSmaller("x"), "context overflow", 0, "larger window"),
        (RequestRefused("x", status=400), "bad request", 0, "no"),
        (BadResponse("x", status=200), "no answer of this wire", 0, "yes"),
        (LLMError("x"), "anything else", 0, "no"),
    ],
)
def test_each_failure_has_its_row(
    problem: LLMError, name: str, retries: int, failover: str
) -> None:
    row = policy_for(problem)
    assert (row.name, row.retries, row.failover) == (name, retries, failover)


def test_no_row_is_hidden_by_one_above_it_and_each_says_why() -> None:
    for row in POLICY:
        assert policy_for(row.error("x", status=row.status)) is row
        assert row.why


def test_every_failure_of_the_other_end_is_in_the_table_by_name() -> None:
    """A new class of failure is given a row of its own, or hangs under one that has it."""
    named = tuple(row.error for row in POLICY if row.error is not LLMError)
    for error in vars(errors).values():
        if inspect.isclass(error) and issubclass(error, LLMError) and not error.__subclasses__():
            assert issubclass(error, named) or error is errors.AllRoutesFailed, error


def test_what_somebody_has_to_put_right_is_told() -> None:
    assert {row.name for row in POLICY if row.tell} == {"hard quota", "auth", "model gone"}


@given(st.integers(1, 60), st.floats(0, 0.999))
def test_without_a_hint_the_wait_doubles_up_to_a_bound_and_varies(
    retry: int, chance: float
) -> None:
    wait = wait_before(retry, None, chance)
    assert wait <= MAX_BACKOFF_SECONDS
    assert 0.75 * wait_before(retry, None, 0) < wait <= wait_before(retry, None, 0)
    assert wait_before(retry, None, 0) <= wait_before(retry + 1, None, 0)


@given(st.floats(0.001, 1e6), st.floats(0, 0.999))
def test_a_hint_is_never_undercut_and_hardly_exceeded(hint: float, chance: float) -> None:
    assert hint <= wait_before(1, hint, chance) <= 1.1 * hint


@pytest.mark.parametrize(
    ("finish", "raw", "malformed"),
    [
        ("error", "MALFORMED_FUNCTION_CALL", True),
        ("error", "UNEXPECTED_TOOL_CALL", False),
        ("stop", "STOP", False),
        ("content_filter", "SAFETY", False),
    ],
)
def test_only_a_call_that_the_server_could_not_read_is_asked_for_again(
    finish: str, raw: str, *, malformed: bool
) -> None:
    reply = Reply(assistant(), finish, raw, Usage())  # type: ignore[arg-type]
    assert is_malformed(reply) is malformed


def test_the_table_can_be_read_a_row_for_each_failure_in_columns() -> None:
    head, *rows = table().splitlines()
    assert len(rows) == len(POLICY)
    assert {len(row) for row in rows} == {len(head)}
    assert " ".join(rows[0].split()) == "too large per minute ContextOverflowError 429 0 yes 0 s"
