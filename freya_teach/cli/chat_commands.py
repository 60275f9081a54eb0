"""What can be typed in a chat beside a question: `/help` lists it. (chapter 8.1)"""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from freya_teach.cli.chat_context import parts
from freya_teach.cli.chat_talk import Talk, found_session
from freya_teach.config import BASE_URLS, ROUTE_WORDS
from freya_teach.errors import ConfigError, FreyaError
from freya_teach.tools.registry import ALWAYS_ACTIVE

LISTED = 10
"""How many stored conversations are listed."""

Do = Callable[[Talk, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Command:
    """A word behind a slash."""

    usage: str
    about: str
    do: Do


async def run_command(talk: Talk, line: str) -> None:
    """Carry out `/name words`. What cannot be done is told."""
    name, _, words = line[1:].partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        close = difflib.get_close_matches(name.lower(), COMMANDS, 1)
        hint = f"Did you mean /{close[0]}?" if close else "/help lists what there is."
        talk.fail(ConfigError(f"There is no command /{name[:40]}. {hint}"))
        return
    try:
        await command.do(talk, words.strip())
    except FreyaError as problem:
        talk.fail(problem)


async def _help(talk: Talk, _: str) -> None:
    for command in COMMANDS.values():
        talk.screen.say(f"  {command.usage:25} {command.about}")
    talk.screen.say("  Ctrl-C                    stops an answer; twice at the prompt, it leaves")
    talk.screen.say("  Alt-Enter                 begins a new line in a question")


async def _model(talk: Talk, words: str) -> None:
    """`MODEL`, or `PROVIDER:MODEL[@URL]`: a model's own name may have a colon in it."""
    chosen = _route_of(words, talk) if words else {}
    if chosen:
        await talk.switch(chosen)
    talk.screen.say(talk.answering.words)
    if chosen and "provider" not in chosen:  # gemini-3.8-flash may be meant for either wire
        talk.screen.note(
            f"asked as a model of {talk.answering.found.settings.provider}; "
            f"/model PROVIDER:NAME takes another provider ({', '.join(BASE_URLS)})"
        )
    for route in talk.answering.kernel.proxy.routes:
        guess = " (a guess: nobody has told about this model)" if route.facts.guessed else ""
        talk.screen.say(f"  {route.name}: a window of {route.facts.window:,} tokens{guess}")
    if file := talk.answering.found.file:
        talk.screen.say(f"  configured in {file}")


def _route_of(words: str, talk: Talk) -> dict[str, object]:
    match = ROUTE_WORDS.fullmatch(words)
    if match is None or match["provider"] not in BASE_URLS:
        return {"model": words}
    settings = talk.answering.found.settings
    same = match["provider"] == settings.provider
    url = match["base_url"] or (settings.base_url if same else "")
    return {"provider": match["provider"], "model": match["model"], "base_url": url}


async def _toolbox(talk: Talk, words: str) -> None:
    registry, history = talk.answering.agent.registry, await talk.conversation()
    boxes = [b for b in registry.toolboxes if b != ALWAYS_ACTIVE and registry.tools_of(b)]
    if words and words not in boxes:
        raise ConfigError(f"There is no toolbox {words[:60]!r}. There are: {', '.join(boxes)}.")
    if words in history.active_toolboxes:
        history.deactivate_toolbox(words)
    elif words:
        history.activate_toolbox(words)
    for box in boxes:
        state = "on" if box in history.active_toolboxes else "off"
        names = ", ".join(tool.name for tool in registry.tools_of(box))
        talk.screen.say(f"  {box} ({state}): {names}")
    if "files" not in boxes:
        talk.screen.say("  FREYA_WORKSPACE_DIR names a folder; then there is a toolbox for files")


async def _skill(talk: Talk, words: str) -> None:
    skills, history = talk.answering.kernel.prompts.skills(), await talk.conversation()
    ids = [skill.id for skill in skills]
    if words and words not in [*ids, "off"]:
        raise ConfigError(f"There is no skill {words[:60]!r}. There are: {', '.join(ids)}.")
    if words:
        history.activate_skill("" if words == "off" else words)
    for skill in skills:
        state = "on" if skill.id == history.active_skill else "off"
        talk.screen.say(f"  {skill.id} ({state}): {skill.description}")


async def _context(talk: Talk, _: str) -> None:
    history = await talk.conversation()
    found = parts(talk.answering.kernel, talk.answering.agent, history)
    rows = {
        "system prompt": found.prompt,
        "tools": found.tools,
        f"{found.count} messages": found.messages,
    }
    for name, tokens in rows.items():
        talk.screen.say(f"  {name:16} {tokens:9,} tokens (estimated)")
    talk.screen.say(f"  compacted over   {found.compacted_over:9,} tokens")
    talk.show_gauge()


async def _prompt(talk: Talk, _: str) -> None:
    history, agent = await talk.conversation(), talk.answering.agent
    text = agent.instructions
    tools = agent.registry.active(history.active_toolboxes)
    talk.screen.say(text(history, tools) if callable(text) else text)
    talk.screen.note(f"tools beside it: {', '.join(tools) or 'none'}")


async def _log(talk: Talk, _: str) -> None:
    from freya_teach.cli.log import told

    turns = talk.last.trace.turns if talk.last else ()
    if turns:
        turn = turns[-1]
        exchange = {
            "id": f"(number {turn.number} of its run)",
            "time": "the last model call",
            "request": turn.packet,
            "reply": {
                "status": turn.exchange.status,
                "seconds": round(turn.exchange.seconds, 3),
                "body": turn.response_text,
            },
        }
        talk.screen.say("\n".join(told(exchange)))
    else:
        talk.screen.say("No model call of this chat has been answered yet.")
    folder = talk.answering.kernel.settings.log_dir
    where = (
        f"`freya-teach log --dir {folder}` has them all" if folder else "FREYA_LOG_DIR keeps them"
    )
    talk.screen.note(f"{where}, the refused ones too")


async def _new(talk: Talk, _: str) -> None:
    talk.begin_anew()
    talk.screen.say("A new conversation begins with your next question.")


async def _sessions(talk: Talk, words: str) -> None:
    if talk.sessions is None:
        raise ConfigError("This chat keeps nothing: it was begun with --no-session.")
    if words:
        await talk.resume(await found_session(talk.sessions, words))
        show_beginning(talk)
        return
    infos = await talk.sessions.list()
    for info in infos[:LISTED]:
        here = "*" if talk.history is not None and info.id == talk.history.id else " "
        title = " ".join(info.title.split())
        talk.screen.say(f" {here}{info.id}  {info.messages:5,} messages  {title}".rstrip())
    if not infos:
        talk.screen.say("None is stored yet.")
    talk.screen.note(f"/sessions ID goes on with one; they are in {talk.sessions.folder}")


async def _quit(talk: Talk, _: str) -> None:
    talk.is_over = True


def show_beginning(talk: Talk, last: int = 4) -> None:
    """Say which conversation is gone on with, and how it ended."""
    from freya_teach.cli.session_words import conversation

    history = talk.history
    assert history is not None
    count = len(history.messages)
    talk.screen.say(f"Going on with {history.id}: {count:,} messages.")
    skipped = max(0, count - last)
    shown = conversation(history.messages[skipped:], history.first + skipped)
    talk.screen.say("\n".join(shown))
    talk.show_gauge()


COMMANDS: dict[str, Command] = {
    "help": Command("/help", "this list", _help),
    "model": Command(
        "/model [NAME]", "who answers; NAME or PROVIDER:NAME[@URL] changes it", _model
    ),
    "toolbox": Command("/toolbox [ID]", "which tools there are; ID switches a box", _toolbox),
    "skill": Command("/skill [ID|off]", "which skills there are; ID switches one on", _skill),
    "context": Command("/context", "what fills the model's window", _context),
    "prompt": Command("/prompt", "the system prompt as it is sent", _prompt),
    "log": Command("/log", "the last model call as it went over the wire", _log),
    "new": Command("/new", "begin another conversation", _new),
    "sessions": Command(
        "/sessions [ID]", "the stored conversations; ID goes on with one", _sessions
    ),
    "quit": Command("/quit", "leave; so does Ctrl-D", _quit),
}
