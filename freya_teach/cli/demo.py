"""`freya-teach demo`: one question, two tools, both wires, packet by packet. (start)"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from freya_teach.lab.lesson import Lesson
    from freya_teach.llm.messages import Json
    from freya_teach.trace import RunResult, TurnTrace

Wire = Literal["openai", "gemini", "both"]
HISTORY_FIELD = {"openai": "messages", "gemini": "contents"}
"""Where each wire's request body holds the conversation."""

SENT_FIRST = "The model knows nothing but what is in this packet:"
SENT_AGAIN = "The wire has no memory: all of it goes out again, and this is new:"
CALLS_CAME = "The model can run nothing itself. It asks, and the harness runs the tools:"
ANSWER_CAME = "No tool is asked for, so the loop ends here."


def demo(
    wire: Annotated[Wire, typer.Option(help="Which provider's wire to speak.")] = "both",
    *,
    stream: Annotated[bool, typer.Option("--stream", help="Ask for the answer in pieces.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole trace as JSON.")] = False,
) -> None:
    """Answer one question over both wires, offline; fails when the run is not a good one."""
    from rich.console import Console

    from freya_teach.lab.demo import checks, demo_lab

    lab = demo_lab()
    results = _ask(lab, ["openai", "gemini"] if wire == "both" else [wire], stream=stream)
    if as_json:
        reports = [_as_json(name, result, stream=stream) for name, result in results.items()]
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    else:
        console = Console(highlight=False, markup=False, soft_wrap=True)
        for name, result in results.items():
            _tell(console, name, result, lab.other_end)
    if not all(check.holds for result in results.values() for check in checks(result)):
        raise typer.Exit(1)


def _ask(lab: Lesson, wires: list[str], *, stream: bool) -> dict[str, RunResult]:
    """Run the question over each wire; a failure of the other end ends the command in words."""
    import asyncio

    from freya_teach.errors import FreyaError
    from freya_teach.lab.demo import ask
    from freya_teach.lab.replay import ReplayMismatch

    async def all_of_them() -> dict[str, RunResult]:
        return {wire: await ask(lab, wire, stream=stream) for wire in wires}

    try:
        return asyncio.run(all_of_them())
    except (FreyaError, ReplayMismatch) as problem:
        typer.echo(f"The demo could not be run: {problem}", err=True)
        typer.echo("`freya-teach doctor` looks for the cause.", err=True)
        raise typer.Exit(1) from None


def _tell(console: Console, wire: str, result: RunResult, other_end: str) -> None:
    """The story of one run, turn by turn."""
    from freya_teach.lab.demo import QUESTION, checks

    console.rule(f"{wire} wire", style="bold cyan")
    console.print(f"Question: {QUESTION}")
    console.print(f"Other end: {other_end}\n")
    known = 0
    for turn in result.trace.turns:
        known = _tell_turn(console, wire, turn, known)
    console.print(f"Answer: {result}", style="bold")
    usage = result.trace.usage
    console.print(
        f"Tokens: {usage.input_tokens} in + {usage.output_tokens} out = {usage.total_tokens}\n"
    )
    for check in checks(result):
        mark, style = ("✓", "green") if check.holds else ("✗", "bold red")
        console.print(f"  {mark} {check.text}", style=style)
    console.print()


def _tell_turn(console: Console, wire: str, turn: TurnTrace, known: int) -> int:
    """One turn: what was sent that is new, what came back, what the tools said."""
    packet = turn.packet
    conversation = packet["body"][HISTORY_FIELD[wire]]
    console.print(f"Turn {turn.number}", style="bold")
    console.print(f"  → {packet['method']} {packet['url']}", style="cyan")
    console.print(f"    {len(turn.exchange.request.body):,} bytes; {_beside(packet['body'])}")
    console.print(f"    {SENT_FIRST if turn.number == 1 else SENT_AGAIN}", style="italic")
    for entry in conversation[known:]:
        console.print(f"    + {_one_line(entry)}", style="dim")
    reply = turn.reply
    console.print(
        f"  ← HTTP {turn.exchange.status}, {_size(turn)}; "
        f"finish reason {reply.raw_finish_reason!r}; "
        f"{reply.usage.input_tokens} + {reply.usage.output_tokens} tokens",
        style="magenta",
    )
    if reply.message.text:
        console.print(f"    says: {reply.message.text}")
    console.print(f"    {CALLS_CAME if turn.calls else ANSWER_CAME}", style="italic")
    for call in reply.message.tool_calls:
        console.print(f"    asks: {call.name}({call.arguments})  id {call.id}")
    for trace in turn.calls:
        console.print(f"  ⚙ {trace.call.name} {trace.state}: {_one_line(trace.observation)}")
    console.print()
    return len(conversation)


def _beside(body: dict[str, Json]) -> str:
    """What a request holds beside the conversation."""
    fields = [name for name in body if name not in HISTORY_FIELD.values()]
    return f"beside the conversation: {', '.join(fields)}"


def _size(turn: TurnTrace) -> str:
    events = turn.exchange.body.count(b"data: ")
    size = f"{len(turn.exchange.body):,} bytes"
    return f"{size} in {events} events" if events else size


def _one_line(value: Json, limit: int = 150) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def _as_json(wire: str, result: RunResult, *, stream: bool) -> dict[str, Json]:
    """The whole trace as plain values; the key is not in it."""
    from dataclasses import asdict

    from freya_teach.lab.demo import QUESTION, checks

    return {
        "wire": wire,
        "stream": stream,
        "question": QUESTION,
        "answer": result.text,
        "stop_reason": result.stop_reason,
        "tokens": asdict(result.trace.usage),
        "turns": [_turn_as_json(turn) for turn in result.trace.turns],
        "checks": {check.text: check.holds for check in checks(result)},
    }


def _turn_as_json(turn: TurnTrace) -> dict[str, Json]:
    return {
        "number": turn.number,
        "request": turn.packet,
        "status": turn.exchange.status,
        "response": turn.response_text,
        "finish_reason": turn.reply.finish_reason,
        "raw_finish_reason": turn.reply.raw_finish_reason,
        "calls": [
            {
                "id": trace.call.id,
                "name": trace.call.name,
                "arguments": trace.call.arguments,
                "state": trace.state,
                "observation": trace.observation,
                "seconds": trace.seconds,
            }
            for trace in turn.calls
        ],
    }
