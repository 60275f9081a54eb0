"""Conversations for the tests of what fits: of any valid shape, and long ones of an agent."""

from collections.abc import Sequence

from hypothesis import strategies as st

from freya_teach.context.compactor import Budget
from freya_teach.context.numbered import OMITTED, Numbered, Plan, is_head, summary_message
from freya_teach.context.window import system_end
from freya_teach.llm.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    OpaquePart,
    ToolCall,
    ToolMessage,
    UserMessage,
    assistant,
    system,
    user,
)
from tests.strategies import valid_histories

IMAGE_TOKENS = 250


def tokens(message: Message) -> int:
    """Estimate like any counter does: four for the message, a quarter of its characters."""
    if isinstance(message, UserMessage | AssistantMessage):
        return 4 + sum(map(_tokens_of_part, message.parts))
    return 4 + len(message.text) // 4


def _tokens_of_part(part: object) -> int:
    match part:
        case ImagePart():
            return IMAGE_TOKENS
        case ToolCall():
            return 4 + (len(part.name) + len(part.arguments)) // 4
        case OpaquePart():
            return 100
        case _:
            return len(str(getattr(part, "text", ""))) // 4


LENGTHS = st.sampled_from([0, 3, 40, 200, 600, 3_000, 40_000])
WORDS = "What was measured that day is told here, and nothing else. "


def text_of(length: int) -> str:
    """Words of so many characters."""
    return (WORDS * (length // len(WORDS) + 1))[:length]


@st.composite
def agent_histories(draw: st.DrawFn) -> list[Message]:
    """Build turns with up to eight rounds of up to three calls, and results of any size."""
    messages: list[Message] = [system("Be brief.")] * draw(st.integers(0, 1))
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        messages.append(user(text_of(draw(LENGTHS) // 8)))
        for _ in range(draw(st.integers(0, 8))):
            calls = [
                ToolCall(f"call_{number + i}", "read", '{"path": "a.txt"}')
                for i in range(draw(st.integers(1, 3)))
            ]
            number += len(calls)
            messages.append(assistant(*calls))
            messages += [ToolMessage(call.id, text_of(draw(LENGTHS))) for call in calls]
        if draw(st.booleans()):
            messages.append(assistant(text_of(draw(LENGTHS) // 8)))
    return messages


@st.composite
def compacted_before(draw: st.DrawFn) -> list[Message]:
    """Put a summary, a remark or both before a history, as an earlier compaction leaves them."""
    history = draw(valid_histories() | agent_histories())
    start = system_end(history)
    heads = draw(st.sampled_from([[EARLIER], [OMITTED], [EARLIER, OMITTED]]))
    return [*history[:start], *heads, *history[start:]]


EARLIER = summary_message(WORDS * 5)
HISTORIES = valid_histories() | agent_histories() | compacted_before()
BUDGETS = st.builds(
    lambda limit, share: Budget(limit, int(limit * share)),
    st.integers(0, 9_000),
    st.floats(0.1, 1.0),
)


def applied(now: Numbered, plan: Plan | None) -> Numbered:
    """Apply a plan as `History.replace` would."""
    if plan is None:
        return now
    behind = plan.through + 1 - now.first
    assert len(plan.by) <= behind
    new = [now.messages[i - now.first] if isinstance(i, int) else i for i in plan.by]
    messages = (*new, *now.messages[behind:])
    return Numbered(messages, plan.through + 1 - len(new), now.revision + 1)


def newest_request(messages: Sequence[Message]) -> Message | None:
    """Find what the user said last, apart from what stands for messages that left."""
    said = [m for m in messages if isinstance(m, UserMessage)]
    requests = [m for m in said if not is_head(m)]
    return requests[-1] if requests else None
