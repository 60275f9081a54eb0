"""Section 2.2: a parser that holds, the next packets, a policy for a new task. (chapter 2.2)"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.kernel import build_kernel
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.lab.exercises.wording import short
from freya_teach.lab.gateway import Call, Move, Policy, Question, answer, gateway
from freya_teach.lab.sample_tools import get_current_weather
from freya_teach.trace import RunResult

# ---- 2.2-a, repair: a parser for what models really write ------------------------------------

Parsed = tuple[Literal["call"], str, str] | tuple[Literal["answer", "wrong"], str]


@dataclass(frozen=True)
class Written:
    """What a model wrote, what it means (None where nothing but "wrong" will do), and the hint."""

    text: str
    means: tuple[str, ...] | None
    hint: str


CALL = ("call", "calculate", "15 * 8")
WRITTEN = (
    Written(
        "Question: How much is 15 * 8?\nThought: I calculate.\nAction: calculate[15 * 8]\n",
        CALL,
        "This one is well written, and the parser of the notebook could read it.",
    ),
    Written(
        "Thought: I know everything.\nFinal Answer: It is 120.",
        ("answer", "It is 120."),
        "This is an answer, and the parser of the notebook could read it.",
    ),
    Written(
        "Thought: I calculate.\nAction: calculate[15 * 8]\nObservation: 15 * 8 = 100\n"
        "Thought: I know everything.\nFinal Answer: 15 * 8 = 100.",
        CALL,
        "The model went on and invented the result, and the answer with it. Nothing after an "
        "Observation that it wrote itself comes from a tool: it does not count.",
    ),
    Written(
        "Final Answer: It is 120.\n\nQuestion: How much is 12 * 10?\nThought: I calculate.\n"
        "Action: calculate[12 * 10]\n",
        ("answer", "It is 120."),
        "The model answered, and went on with a question that nobody had asked. The first thing "
        "counts, and an answer ends before the next question.",
    ),
    Written(
        "Of course! Let me work it out.\n\n**Action:** `calculate[15 * 8]`\nI am waiting.",
        CALL,
        "There is prose around it, and marks that a person does not even see.",
    ),
    Written(
        "Action: search[the list x[0] in the code]",
        ("call", "search", "the list x[0] in the code"),
        "The input has brackets of its own. Which one is the last of the line?",
    ),
    Written(
        "Thought: I calculate.\nAction: calculate[15 * ",
        None,
        "The action is cut off. Do not raise, and do not guess: say so, and the model can write "
        "it again.",
    ),
    Written(
        "Thought: I need the weather.\nAction: calculate_weather_by_date\nAction Input: Beijing\n",
        None,
        "This is the form of another prompt, and no tool[input]. A text for the model, please, "
        "and no exception.",
    ),
    Written(
        "The weather in Shanghai today is sunny, 3 degrees.",
        None,
        "Neither an action nor an answer. The model has to read what it should have written.",
    ),
)


async def check_parse(parse: Answer) -> None:
    """Nine texts as models write them; none may raise."""
    for written in WRITTEN:
        parsed = await parse.call(written.text)
        parsed = tuple(parsed) if isinstance(parsed, list) else parsed
        shown = f"{written.hint}\nText: {short(written.text)}"
        if written.means is not None:
            expect(parsed == written.means, shown, received=parsed)
            continue
        is_pair = isinstance(parsed, tuple) and len(parsed) == 2
        expect(is_pair and parsed[0] == "wrong", shown, received=parsed)
        expect(
            isinstance(parsed[1], str) and len(parsed[1].split()) > 3,
            f'After "wrong" comes a sentence for the model: what should it write?\n{shown}',
            received=parsed,
        )


def parse(text: str) -> Parsed:
    """One way to write it."""
    text = text.partition("Observation:")[0]
    first = re.search(r"(Action|Final Answer):(.*)", text)
    if first is None:
        return "wrong", "Write one line: Action: tool[input], or Final Answer: your answer."
    if first[1] == "Final Answer":
        return "answer", text[first.start(2) :].partition("\nQuestion:")[0].strip()
    call = re.search(r"(\w+)\[(.*)\]", first[2])
    if call is None:
        return "wrong", "Your action could not be read. Write it as Action: tool[input]."
    return "call", call[1], call[2]


def parse_stub(text: str) -> None:
    """As it stands in the notebook."""
    return None


STEP = re.compile(r"Action: (\w+)\[(.*)\]")
"""As in the notebook."""
ASK_AGAIN = "Write one line: Action: tool[input], or Final Answer: your answer."


def parse_naively(text: str) -> Any:
    """As in the notebook: an answer anywhere is the answer, and everything else is well written."""
    if "Final Answer:" in text:
        return "answer", text.partition("Final Answer:")[2].strip()
    name, tool_input = STEP.search(text).groups()  # type: ignore[union-attr]
    return "call", name, tool_input


def parse_actions_first(text: str) -> Any:
    """Knows what does not count, and prefers an action wherever it stands."""
    text = text.partition("Observation:")[0]
    if found := STEP.search(text):
        return "call", found[1], found[2]
    if "Final Answer:" in text:
        return "answer", text.partition("Final Answer:")[2].strip()
    return "wrong", ASK_AGAIN


def parse_strictly(text: str) -> Any:
    """Takes what comes first, and takes the form literally."""
    text = text.partition("Observation:")[0].partition("\n\nQuestion:")[0]
    if "Final Answer:" in text:
        return "answer", text.partition("Final Answer:")[2].strip()
    found = STEP.search(text)
    return ("call", found[1], found[2]) if found else ("wrong", ASK_AGAIN)


def parse_silently(text: str) -> Any:
    """Right but for the last step: the model is not told what to do."""
    parsed = parse(text)
    return ("wrong", "error") if parsed[0] == "wrong" else parsed


# ---- 2.2-b, predict: how many messages in each packet ----------------------------------------

ASKED = "Which is warmer today, Lima or Bergen, and how warm is it in Oslo?"


async def weather(city: str) -> dict[str, str | int]:
    """Get the current weather of one city."""
    return get_current_weather(city)


def two_then_one(question: Question) -> Move:
    """Two calls in the first turn, one in the second, then the answer."""
    match len(question.calls):
        case 0:
            return Move(
                calls=(Call("weather", {"city": "Lima"}), Call("weather", {"city": "Bergen"}))
            )
        case 2:
            return Move(calls=(Call("weather", {"city": "Oslo"}),))
    return answer("Lima; -3 degrees.")


async def check_sizes(sizes: Answer) -> None:
    """Run it over both wires, and count."""
    given = sizes.value
    expect(
        isinstance(given, dict) and {"openai", "gemini"} <= given.keys(),
        'sizes is a dictionary with "openai" and "gemini", each with a list of three numbers.',
        received=given,
    )
    for wire, where in (("openai", "messages"), ("gemini", "contents")):
        result = await run(two_then_one, [weather], ASKED, wire)
        real = [len(turn.packet["body"][where]) for turn in result.trace.turns]
        expect(list(given[wire]) == real, _why_not(wire, list(given[wire]), real), received=given)


def _why_not(wire: str, given: list[int], real: list[int]) -> str:
    if len(given) != len(real):
        return "There are three turns, so three packets, so three numbers for each wire."
    if given[0] != real[0]:
        return (
            "Look at the first packet: where do the instructions go on each wire? "
            "On one of them they are a message like any other."
        )
    if given != sorted(given):
        return "A provider remembers nothing: each packet holds all that the one before it held."
    if wire == "openai":
        return (
            "On OpenAI's wire a turn adds the model's own message, with all its calls in it, and "
            "then one `tool` message for each call."
        )
    return "On Gemini's wire all results of one turn stand in one content, as its parts."


SIZES = {"openai": [2, 5, 7], "gemini": [1, 3, 5]}


# ---- 2.2-c, extend: play the model for a new task --------------------------------------------

NO_MOVE = (
    'This is no move. Return answer("…"), call("a_tool", city="…"), or a Move of several calls.'
)
PAIRS = (("Lima", "Bergen", 19, 8), ("Oslo", "Paris", 2, 11), ("Quito", "Oslo", 9, 10))
"""Two cities and how warm it is there today; nobody but the tool can know."""


async def check_warmer(warmer: Answer) -> None:
    """It looks before it answers, on both wires, and the numbers decide."""
    for first, second, first_degrees, second_degrees in PAIRS:
        degrees = {first: first_degrees, second: second_degrees}
        for wire in ("openai", "gemini"):
            await _check_pair(warmer, degrees, wire)


async def _check_pair(warmer: Answer, degrees: dict[str, int], wire: str) -> None:
    async def get_weather(city: str) -> dict[str, str | int]:
        """Get the weather of one city."""
        return {"city": city, "temperature_celsius": degrees[city]}

    asked = f"Which is warmer today, {' or '.join(degrees)}?"
    result = await run(policy_of(warmer), [get_weather], asked, wire)
    looked = {trace.observation for trace in result.trace.calls if not trace.is_error}
    expect(
        result.stop_reason == "answer",
        "it never came to an answer. When both results are in `question.results`, answer.",
        received=f"{len(result.trace.calls)} calls, then {result.stop_reason}",
    )
    expect(
        len(looked) >= len(degrees),
        "it answered before it had looked at both cities: a call is not yet a result, and nothing "
        "else tells how warm it is today.",
        received=result.text,
    )
    warm = max(degrees, key=lambda city: degrees[city])
    expect(
        result.text.strip(" .") == warm,
        f"asked: {asked} The tool said {degrees}. The answer is to be the name of the warmer city.",
        received=result.text,
    )


def policy_of(given: Answer) -> Policy:
    """The learner's function as a policy; a hint is raised when it returns something else."""

    async def policy(question: Question) -> Move:
        move = await given.call(question)
        expect(isinstance(move, Move), NO_MOVE, received=move)
        return move  # type: ignore[no-any-return]

    return policy


async def run(policy: Policy, tools: list[Any], question: str, wire: str) -> RunResult:
    """Let the kernel work for a model that follows this policy."""
    settings = Settings.model_validate({"api_key": "no-key-needed", "provider": wire})
    kernel = build_kernel(settings, gateway(policy).client(), Ambient())
    return await kernel.agent(tools).run(question)


def cities_of(question: Question) -> list[str]:
    """The two cities in "… Lima or Bergen?", as in the notebook."""
    found = re.search(r"(\w+) or (\w+)\?", question.asked)
    return list(found.groups()) if found else []


def warmer(question: Question) -> Move:
    """One way to write it."""
    cities = re.search(r"(\w+) or (\w+)\?", question.asked).groups()  # type: ignore[union-attr]
    if not question.results:
        return Move(calls=tuple(Call("get_weather", {"city": city}) for city in cities))
    seen = [json.loads(result.text) for result in question.results]
    return answer(max(seen, key=lambda weather: weather["temperature_celsius"])["city"])


def warmer_stub(question: Question) -> None:
    """As it stands in the notebook."""
    return None


def warmer_from_memory(question: Question) -> Move:
    """Knows the world, and does not look."""
    return answer(cities_of(question)[0])


def warmer_for_ever(question: Question) -> Move:
    """Looks, and does not see that it has looked."""
    return Move(calls=tuple(Call("get_weather", {"city": c}) for c in cities_of(question)))


def warmer_by_text(question: Question) -> Move:
    """Compares the results as texts: "9" comes after "10"."""
    if not question.results:
        return warmer_for_ever(question)
    newest = max(result.text.partition("celsius")[2] for result in question.results)
    texts = [r.text for r in question.results if r.text.endswith(newest)]
    return answer(json.loads(texts[0])["city"])


def warmer_after_one(question: Question) -> Move:
    """Looks at the first city only."""
    first = cities_of(question)[0]
    called = Move(calls=(Call("get_weather", {"city": first}),))
    return answer(first) if question.results else called


PARSE_HINTS = (
    """\
Begin with what does not count: cut the text at the first "Observation:". Then find out what comes
first in the rest, an Action or a Final Answer; `re.search` finds the first place.""",
    """\
`re.search(r"(Action|Final Answer):(.*)", text)` tells which one it is and gives the rest of the
line. In that line, `re.search(r"(\\w+)\\[(.*)\\]", line)` looks over marks and prose, and takes all
up to the last bracket.""",
    """\
An answer ends where "\\nQuestion:" begins. Where nothing is found, give back ("wrong", a sentence
that says what to write).""",
)
SIZES_HINTS = (
    """\
Go through the run with a pencil. Packet 1: instructions and question. What does turn 1 add?""",
    """\
OpenAI: one message of the assistant for each turn, however many calls are in it, and one `tool`
message for each call. Gemini: the instructions stand outside `contents`, and the results of one
turn share one content.""",
)
WARMER_HINTS = (
    """\
Two cases: there are no results yet, so call the tool for both cities; or there are, so answer.""",
    """\
A move with two calls: Move(calls=(Call("get_weather", {"city": "Lima"}), Call(…))). It is in
freya_teach.lab.gateway, as are `answer` and `call`.""",
    """\
`json.loads(result.text)` gives {"city": …, "temperature_celsius": …} for each result of
`question.results`. Compare the numbers.""",
)

EXERCISES = (
    Exercise(
        id="2.2-a",
        title="Whatever a model writes is a call, an answer, or a text that it can act on.",
        name="parse",
        check=check_parse,
        hints=PARSE_HINTS,
        solution=parse,
        stub=parse_stub,
        wrong=(
            Wrong(parse_naively, "invented the result"),
            Wrong(parse_actions_first, "a question that nobody had asked"),
            Wrong(parse_strictly, "There is prose around it"),
            Wrong(parse_silently, "comes a sentence for the model"),
        ),
    ),
    Exercise(
        id="2.2-b",
        title="Every packet holds all before it; the wires count differently.",
        name="sizes",
        check=check_sizes,
        hints=SIZES_HINTS,
        solution=SIZES,
        stub=None,
        wrong=(
            Wrong({"openai": [2, 4, 6], "gemini": [1, 3, 5]}, "one `tool` message for each call"),
            Wrong({"openai": [2, 5, 7], "gemini": [2, 5, 7]}, "where do the instructions go"),
            Wrong({"openai": [2, 5, 7], "gemini": [1, 4, 6]}, "stand in one content"),
            Wrong({"openai": [2, 3, 2], "gemini": [1, 2, 1]}, "remembers nothing"),
            Wrong([2, 5, 7], "is a dictionary"),
        ),
    ),
    Exercise(
        id="2.2-c",
        title="You have played a model: it looks, it reads, it answers from what it read.",
        name="warmer",
        check=check_warmer,
        hints=WARMER_HINTS,
        solution=warmer,
        stub=warmer_stub,
        wrong=(
            Wrong(warmer_from_memory, "before it had looked"),
            Wrong(warmer_after_one, "before it had looked"),
            Wrong(warmer_for_ever, "never came to an answer"),
            Wrong(warmer_by_text, "the name of the warmer city"),
        ),
    ),
)
