"""Plans over arbitrary valid histories: what they leave is valid, small enough, and stays so."""

import json
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from freya_teach.context.compactor import (
    Budget,
    goal_of,
    least,
    plan_giants,
    plan_summary,
    plan_truncation,
)
from freya_teach.context.draft import Draft
from freya_teach.context.numbered import (
    OMITTED,
    Numbered,
    is_head,
    is_summary,
    summary_message,
    total,
)
from freya_teach.context.shortening import shortened
from freya_teach.context.window import cuts
from freya_teach.llm import gemini, openai, transcript
from freya_teach.llm.messages import (
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import ModelRequest, Route
from tests.context.conversations import (
    BUDGETS,
    HISTORIES,
    applied,
    newest_request,
    text_of,
    tokens,
)
from tests.contract.judged import built, refusal, route
from tests.provider_rules import gemini_faults, openai_faults

SUMMARY = summary_message("The user looks for a lost key.")
SUMMARIES = st.sampled_from([SUMMARY, None])


def compacted(now: Numbered, budget: Budget, *, summary: UserMessage | None) -> Numbered:
    """Carry out all plans as the agent does, with this summary, or without one."""
    if total(now.messages, tokens) <= budget.trigger:
        return now
    now = applied(now, plan_giants(now, budget, tokens))
    if summary and (plan := plan_summary(now, budget, tokens, 100)):
        by = plan.by(summary)
        kept = [now.messages[i - now.first] if isinstance(i, int) else i for i in by]
        assert len(by) <= plan.through + 1 - now.first
        rest = now.messages[plan.through + 1 - now.first :]
        now = Numbered((*kept, *rest), plan.through + 1 - len(by), now.revision + 1)
    if total(now.messages, tokens) > budget.trigger:
        now = applied(now, plan_truncation(now, budget, tokens))
    return now


def bodies(messages: tuple[Message, ...]) -> tuple[dict[str, object], dict[str, object]]:
    """Build the request for both providers."""
    request = ModelRequest(messages)
    routes = Route("openai", "gpt-5.6-terra", ""), Route("gemini", "gemini-3.8-flash", "")
    built = (openai.build_request(request, routes[0]), gemini.build_request(request, routes[1]))
    return json.loads(built[0].body), json.loads(built[1].body)


@given(HISTORIES, BUDGETS, SUMMARIES)
def test_what_is_left_fits_or_is_the_least_there_is(
    history: list[Message], budget: Budget, summary: UserMessage | None
) -> None:
    now = Numbered(tuple(history))
    smallest = least(now, tokens)
    left = total(compacted(now, budget, summary=summary).messages, tokens)
    assert left <= max(budget.trigger, smallest)


@given(HISTORIES, BUDGETS, SUMMARIES)
def test_system_prompt_and_newest_request_are_in_what_is_left(
    history: list[Message], budget: Budget, summary: UserMessage | None
) -> None:
    now = Numbered(tuple(history), first=7)
    left = compacted(now, budget, summary=summary)
    system_prompt = now.messages[: now.places()[0]]
    assert left.messages[: len(system_prompt)] == system_prompt
    assert newest_request(left.messages) is newest_request(history)


@given(HISTORIES, BUDGETS, SUMMARIES)
def test_both_providers_take_what_is_left(
    history: list[Message], budget: Budget, summary: UserMessage | None
) -> None:
    left = compacted(Numbered(tuple(history)), budget, summary=summary)
    transcript.check(left.messages)
    for_openai, for_gemini = bodies(left.messages)
    assert (openai_faults(for_openai), gemini_faults(for_gemini)) == ([], [])
    request = ModelRequest(left.messages)
    for to in (route("openai", "gpt-5.6-terra"), route("gemini", "gemini-3.8-flash")):
        body = built(request, to)
        assert body.get("messages") == [] or refusal(body, to) == ""


@given(HISTORIES, BUDGETS, SUMMARIES)
def test_where_something_is_missing_the_user_speaks_first_and_is_told(
    history: list[Message], budget: Budget, summary: UserMessage | None
) -> None:
    left = compacted(Numbered(tuple(history)), budget, summary=summary)
    if len(left.messages) < len(history):
        first = left.messages[left.places()[0]]
        assert is_head(first)
        assert first.role == "user"


@given(HISTORIES, BUDGETS, SUMMARIES)
def test_compacting_twice_changes_nothing(
    history: list[Message], budget: Budget, summary: UserMessage | None
) -> None:
    once = compacted(Numbered(tuple(history)), budget, summary=summary)
    assert compacted(once, budget, summary=summary) == once


@given(HISTORIES, BUDGETS)
def test_each_message_is_kept_itself_or_its_result_is_shortened(
    history: list[Message], budget: Budget
) -> None:
    left = compacted(Numbered(tuple(history)), budget, summary=None)
    kept = {id(message) for message in history}
    for message in left.messages:
        if id(message) not in kept and message != OMITTED:
            assert isinstance(message, ToolMessage)
            assert "characters left out" in message.text


@given(HISTORIES, BUDGETS)
def test_a_plan_tells_the_tokens_that_it_leaves(history: list[Message], budget: Budget) -> None:
    now = Numbered(tuple(history))
    for planner in (plan_giants, plan_truncation):
        if plan := planner(now, budget, tokens):
            assert total(applied(now, plan).messages, tokens) == plan.tokens


@given(HISTORIES, BUDGETS)
def test_truncation_leaves_no_less_than_it_must(history: list[Message], budget: Budget) -> None:
    """It stops one step after the goal is passed: without the last step it would not be there."""
    now = Numbered(tuple(history))
    goal = goal_of(now, budget, tokens)
    plan = plan_truncation(now, budget, tokens)
    if total(history, tokens) <= goal:
        assert plan is None
    elif plan is not None and plan.tokens > goal:
        assert plan.tokens == least(now, tokens)


@given(HISTORIES, BUDGETS, st.integers(1, 9_000))
def test_a_summary_is_always_shorter_than_what_it_stands_for(
    history: list[Message], budget: Budget, summary_tokens: int
) -> None:
    now = Numbered(tuple(history))
    plan = plan_summary(now, budget, tokens, summary_tokens)
    if plan and total(history, tokens) > budget.trigger:
        kept = total([now.messages[i] for i in (*plan.before, *plan.behind)], tokens)
        assert plan.max_tokens < total(now.messages[: plan.through + 1], tokens) - kept


@given(HISTORIES, BUDGETS, st.integers(40, 500))
def test_beside_the_longest_summary_the_rest_has_what_should_stay_or_no_cut_leaves_less(
    history: list[Message], budget: Budget, summary_tokens: int
) -> None:
    now = Numbered(tuple(history))
    if plan := plan_summary(now, budget, tokens, summary_tokens):
        kept = [*plan.before, *plan.behind, *range(plan.through + 1, len(history))]
        goal = goal_of(now, budget, tokens)
        last = cuts(history, now.places()[1])[-1]
        fits = total([history[i] for i in kept], tokens) + plan.max_tokens <= goal
        assert fits or plan.through + 1 == last.at


# ---- by example ----------------------------------------------------------------------------


def rounds(count: int, length: int = 400) -> list[Message]:
    """Make rounds of one call each, with results of so many characters."""
    messages: list[Message] = []
    for number in range(count):
        messages.append(assistant(ToolCall(f"c{number}", "read", "{}")))
        messages.append(ToolMessage(f"c{number}", text_of(length)))
    return messages


def test_a_turn_of_a_hundred_rounds_keeps_its_request_and_the_newest_rounds() -> None:
    now = Numbered((user("Read all of it."), *rounds(100)))
    plan = plan_summary(now, Budget(9_000, 8_000), tokens, 500)
    assert plan is not None
    assert plan.behind == (0,)
    assert plan.material == now.messages[: plan.through + 1]
    kept = total(now.messages[plan.through + 1 :], tokens) + tokens(now.messages[0])
    one_round = total(now.messages[1:3], tokens)
    room = goal_of(now, Budget(9_000, 8_000), tokens) - 500
    assert room - one_round < kept <= room


def test_old_results_are_shortened_before_a_round_is_dropped() -> None:
    now = Numbered((user("Read."), *rounds(6, 3_000)))
    plan = plan_truncation(now, Budget(6_000, 5_500), tokens)
    left = applied(now, plan).messages
    assert len(left) == len(now.messages)
    assert [len(m.text) for m in left if isinstance(m, ToolMessage)] == [
        500,
        500,
        500,
        *[3_000] * 3,
    ]


def test_the_result_that_was_not_read_yet_is_shortened_last() -> None:
    now = Numbered((user("Read."), *rounds(3, 30_000)))
    left = applied(now, plan_truncation(now, Budget(700, 600), tokens)).messages
    assert [m.role for m in left] == ["user", "user", "assistant", "tool"]
    assert left[0] == OMITTED
    assert [len(m.text) for m in left if isinstance(m, ToolMessage)] == [1_000]


def test_a_giant_result_is_shortened_before_anything_else_goes() -> None:
    greetings: list[Message] = [user("Hi."), assistant("Hello.")] * 9
    now = Numbered((*greetings, user("Read."), *rounds(1, 90_000)))
    budget = Budget(8_000, 7_000)
    left = applied(now, plan_giants(now, budget, tokens))
    assert left.messages[:-1] == now.messages[:-1]
    assert total(left.messages, tokens) < budget.trigger // 2


def test_a_long_system_prompt_in_the_history_counts_like_everything_else() -> None:
    turns: list[Message] = [user(text_of(200)), assistant("Yes.")] * 30
    now = Numbered((system(text_of(1_600)), *turns, user("And now?")))
    budget = Budget(2_200, 1_900)
    plan = plan_summary(now, budget, tokens, 100)
    assert plan is not None
    left = (now.messages[0], *now.messages[plan.through + 1 :])
    assert total(left, tokens) + plan.max_tokens <= goal_of(now, budget, tokens)


def test_the_earlier_summary_is_part_of_what_the_next_one_is_made_of() -> None:
    question = user(text_of(2_000))
    talk: list[Message] = [question, assistant("Yes."), question, assistant("No.")]
    now = Numbered((system("Be brief."), SUMMARY, OMITTED, *talk, user("And now?")))
    plan = plan_summary(now, Budget(1_000, 800), tokens, 100)
    assert plan is not None
    assert plan.material == (SUMMARY, OMITTED, *talk)
    assert (plan.before, plan.through) == ((0,), 6)


def test_the_summary_goes_only_when_nothing_else_can() -> None:
    long_summary = summary_message(text_of(800))
    now = Numbered((long_summary, user("Hi."), assistant(text_of(400)), user(text_of(400))))
    assert applied(now, plan_truncation(now, Budget(600, 600), tokens)).messages == (
        long_summary,
        OMITTED,
        now.messages[-1],
    )
    assert applied(now, plan_truncation(now, Budget(200, 190), tokens)).messages == (
        OMITTED,
        now.messages[-1],
    )


def test_a_message_that_costs_less_than_the_remark_on_its_loss_stays() -> None:
    now = Numbered((user("Hi."), assistant("Hello."), user(text_of(4_000))))
    assert plan_truncation(now, Budget(500, 400), tokens) is None


def test_a_result_that_would_not_cost_less_is_not_touched() -> None:
    draft = Draft(Numbered((user("Read."), *rounds(1, 900))), lambda _: 7)
    draft.shorten(2, lambda message: shortened(message, 500))
    assert draft.plan() is None


def test_what_was_left_out_is_told_once() -> None:
    now = Numbered((OMITTED, user(text_of(4_000)), assistant("Yes."), user("And now?")))
    plan = plan_truncation(now, Budget(500, 400), tokens)
    assert applied(now, plan).messages == (OMITTED, now.messages[-1])


def test_a_user_who_quotes_our_heading_is_not_taken_for_a_summary() -> None:
    quoted = user(SUMMARY.text)
    now = Numbered((user(text_of(4_000)), assistant("Yes."), quoted))
    left = applied(now, plan_truncation(now, Budget(100, 100), tokens)).messages
    assert left == (OMITTED, quoted)
    assert Numbered((quoted, assistant("Yes."))).places() == (0, 0)
    assert is_summary(quoted)


def test_where_a_summary_would_have_no_room_none_is_asked_for() -> None:
    now = Numbered((user("Hi."), assistant("Hello."), user(text_of(4_000))))
    assert plan_summary(now, Budget(1_050, 1_050), tokens, 1_000) is None


@given(HISTORIES, BUDGETS)
def test_the_numbers_of_a_plan_do_not_depend_on_where_a_history_begins(
    history: list[Message], budget: Budget
) -> None:
    now, later = Numbered(tuple(history)), Numbered(tuple(history), first=100, revision=3)
    plan = plan_truncation(now, budget, tokens)
    assume(plan is not None)
    moved = tuple(i + 100 if isinstance(i, int) else i for i in plan.by) if plan else ()
    assert plan_truncation(later, budget, tokens) == (
        replace(plan, by=moved, through=plan.through + 100, revision=3) if plan else None
    )
