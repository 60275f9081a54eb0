"""Forty turns with facts at known places, and what a very small model makes of them. (chapter 7.2)

Mia prepares the move of a library's catalogue to a new server. Twelve things are said that will
matter later; the rest is what one also talks about. `FACTS` says in which turn each stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freya_teach.context.material import material
from freya_teach.context.numbered import summary_message
from freya_teach.kernel import Kernel
from freya_teach.lab.scenarios import Scenario, Stage
from freya_teach.llm.messages import (
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import ModelRequest
from freya_teach.llm.request_tokens import message_tokens
from freya_teach.llm.tokens import CalibratedCounter

COUNTER = CalibratedCounter()
GUIDANCE = "core.prompt.summarize_guidance"
EVERY, MOST = 10, 400
"""Turns between two summaries, and tokens of one summary."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that will matter later: where it is said, and the words that tell it."""

    name: str
    turn: int
    words: str


FACTS = (
    Fact("account", 2, "AC-7731"),
    Fact("first port", 5, "8080"),
    Fact("budget", 9, "1,250"),
    Fact("address", 13, "10.20.30.41"),
    Fact("forbidden day", 17, "Friday"),
    Fact("failed try", 21, "--fast"),
    Fact("new port", 24, "9090"),
    Fact("report", 29, "reports/q3.csv"),
    Fact("approval", 33, "Ben"),
    Fact("deadline", 36, "14 December"),
    Fact("backup", 38, "nas-02"),
    Fact("open task", 40, "ops@example.org"),
)

INSTRUCTIONS = "You help with the move of a library's catalogue to a new server."

SAID: tuple[tuple[str, str], ...] = (
    ("Hello! I am Mia. I want to move our catalogue.", "Hello Mia. Gladly. What do we move?"),
    ("Our account with the host is AC-7731.", "Noted: AC-7731."),
    ("Is it a lot of work?", "Mostly waiting. The copying takes longest."),
    ("Can I do it alone?", "Yes, and a second pair of eyes does no harm."),
    ("Set the port in config.json to 8080.", "The port in config.json is 8080."),
    ("What is a port?", "A number that tells which program on a machine is meant."),
    ("And why is it a number?", "Because numbers fit into two bytes of a packet."),
    ("I see. It rains here, by the way.", "Then it is a good day for a move."),
    ("We may spend 1,250 euros, no more.", "The budget is 1,250 euros."),
    ("Is that enough?", "For a server of this size, yes."),
    ("What do others pay?", "That varies a lot. Size and support decide."),
    ("Do I need a new domain?", "No. The old name can point to the new server."),
    ("What is the address of the new server?", "The new server is at 10.20.30.41."),
    ("Is that an address of the internet?", "No, it is one of a private network."),
    ("How do readers reach it then?", "Through the gateway of the library."),
    ("Good. My tea is getting cold.", "Drink it. Nothing runs away."),
    ("Never change anything on a Friday, please.", "Understood: no changes on a Friday."),
    ("How long does the copying take?", "About two hours, by the size of the files."),
    ("Can people read meanwhile?", "They can read. They cannot borrow."),
    ("Fine. Let us try the import.", "Which way, safe or quick?"),
    ("Quick.", "The import with --fast lost three rows. Do not use it again."),
    ("Oh. And the safe way?", "The safe import has kept all rows."),
    ("Good that we tried.", "Yes. It is better to lose rows in a test."),
    ("Port 8080 is taken. Use 9090 instead.", "The port in config.json is 9090 now."),
    ("Who took it?", "Another program of the library, it seems."),
    ("Does anybody need to know?", "Only who has written the old number down."),
    ("Is there a list of what we did?", "Not yet. I can write one at the end."),
    ("Please do.", "I will."),
    ("Where are the numbers of the quarter?", "They are in reports/q3.csv."),
    ("How many lines is that?", "A few hundred. It opens in any spreadsheet."),
    ("I will look at it tonight.", "Take your time."),
    ("My colleague asks whether he is needed.", "For what, would you say?"),
    ("Ben has to approve the last step.", "Then the last step waits for Ben."),
    ("He is on holiday until Monday.", "That leaves us time for a second test."),
    ("Can we test at night?", "Yes. Nobody borrows at night."),
    ("We must be done by 14 December.", "The last day is 14 December."),
    ("Is that too tight?", "No, with two tests before it."),
    ("Where does the backup go?", "The backup goes to nas-02."),
    ("And is it complete?", "It was checked this morning, file by file."),
    ("Write to ops@example.org when all is done.", "I will write to ops@example.org at the end."),
)
"""Question and answer of each turn."""

CALLS = {
    13: ("look_up_server", '{"name": "new"}', "10.20.30.41"),
    24: ("write_config", '{"key": "port", "value": 9090}', "written"),
    38: ("find_backup", "{}", "nas-02, complete"),
}
"""In these turns a tool was used: its name, its arguments, its result."""


def turn(number: int) -> tuple[Message, ...]:
    """The messages of one turn, counted from 1."""
    asked, answered = SAID[number - 1]
    if number not in CALLS:
        return user(asked), assistant(answered)
    name, arguments, result = CALLS[number]
    call_id = f"call_{number}"
    called = assistant(ToolCall(call_id, name, arguments))
    return user(asked), called, ToolMessage(call_id, result), assistant(answered)


def conversation(turns: int = len(SAID)) -> tuple[Message, ...]:
    """The system prompt and the first turns."""
    first: SystemMessage = system(INSTRUCTIONS)
    return (first, *(message for number in range(1, turns + 1) for message in turn(number)))


def turns_between(first: int, last: int) -> tuple[Message, ...]:
    """The messages from one turn to another, both included."""
    return tuple(message for number in range(first, last + 1) for message in turn(number))


def size(message: Message) -> int:
    """Tokens of one message, estimated."""
    return message_tokens(message, COUNTER)


def summary_request(
    guidance: str, earlier: str, messages: Sequence[Message], most: int = MOST
) -> ModelRequest:
    """The request for a summary of an earlier summary and what came after it."""
    head = (summary_message(earlier),) if earlier else ()
    text = material((*head, *messages), 3_000, size)
    assert text is not None
    return ModelRequest((system(guidance), text), max_output_tokens=most)


async def summarise(kernel: Kernel) -> None:
    """A summary after each ten turns, each made from the one before it."""
    guidance, earlier = kernel.prompts.get(GUIDANCE).text, ""
    for last in range(EVERY, len(SAID) + 1, EVERY):
        request = summary_request(guidance, earlier, turns_between(last - EVERY + 1, last))
        reply = (await kernel.proxy.complete(request, lambda _: None)).reply
        earlier = reply.message.text


async def recursive(stage: Stage) -> None:
    """Four summaries, one on top of the other."""
    await summarise(stage.kernel())


SCENARIOS: dict[str, Scenario] = {"recursive": recursive}
