"""`freya-teach gateway`: both providers on this machine, with rules for a model. (start)"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Annotated

import typer

from freya_teach.cli.words import fail, printable

LOOPBACK = "127.0.0.1"

HOW_TO_USE = """\
The gateway answers on both wires; rules are in the place of a model.

  OpenAI's wire   {openai}
  Gemini's wire   {gemini}/v1beta

Ask it from another terminal:

  curl {openai}/chat/completions -H "content-type: application/json" \\
    -d '{{"model": "gpt-5.6-terra",
         "messages": [{{"role": "user", "content": "My name is Ada."}}]}}'

  curl {gemini}/v1beta/models/gemini-3.8-flash:generateContent \\
    -H "content-type: application/json" \\
    -d '{{"contents": [{{"role": "user", "parts": [{{"text": "My name is Ada."}}]}}]}}'

In pieces: curl -N, and "stream": true in the first body; in the second address,
"models/gemini-3.8-flash:streamGenerateContent?alt=sse" with quotes around the whole.

Point a client to it; any key will do:

  openai.OpenAI(base_url="{openai}", api_key="any")
  google.genai.Client(api_key="any", http_options={{"base_url": "{gemini}"}})
  Settings(base_url="{gemini}")             # this course's kernel, on either wire
{trouble}
Stop it with Ctrl-C. Each request gets a line here:
"""

HELP = """\
Serve both providers' wires on this machine, offline, with rules for a model.

It prints its addresses. Ask one with curl:

\b
curl http://127.0.0.1:PORT/v1/chat/completions \\
  -H "content-type: application/json" \\
  -d '{"model": "gpt-5.6-terra",
       "messages": [{"role": "user", "content": "My name is Ada."}]}'

\b
curl http://127.0.0.1:PORT/v1beta/models/gemini-3.8-flash:generateContent \\
  -H "content-type: application/json" \\
  -d '{"contents": [{"role": "user",
                     "parts": [{"text": "My name is Ada."}]}]}'
"""
"""Typer shows this: a blank line ends a paragraph, and one that begins with \\b keeps its lines."""

OPEN_TO_ALL = "Everybody who can reach {host} can ask this gateway. Without --host only you can."


def gateway(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 0,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = LOOPBACK,
    trouble: Annotated[
        str, typer.Option(help="What goes wrong, by name; --list tells the names.")
    ] = "",
    names: Annotated[
        bool, typer.Option("--list", help="Tell the troubles that there are, and end.")
    ] = False,
) -> None:
    """Serve both providers' wires on this machine, offline, with rules for a model."""
    from freya_teach.errors import ConfigError
    from freya_teach.lab.gateway.days import DAYS

    if names:
        for name, day in DAYS.items():
            print(f"{name:13} {day.about}")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that open connections are closed
    try:
        asyncio.run(_serve(host, port, trouble))
    except ConfigError as problem:
        fail(str(problem))
    except KeyboardInterrupt:
        print("\nStopped.")


async def _serve(host: str, port: int, trouble: str) -> None:
    """Serve until this is cancelled."""
    from freya_teach.lab.gateway import gateway
    from freya_teach.lab.gateway.days import DAYS, troubles_of
    from freya_teach.lab.gateway.server import is_loopback, serve
    from freya_teach.lab.policy import assistant

    asked = gateway(assistant, troubles=troubles_of(trouble) if trouble else ())
    wrong = f"\nThe trouble {trouble!r}: {DAYS[trouble].about}.\n" if trouble else ""
    async with serve(asked, port, host, log=_tell) as here:
        if not is_loopback(host):
            typer.echo(OPEN_TO_ALL.format(host=host), err=True)
        _tell(HOW_TO_USE.format(openai=here.openai, gemini=here.gemini, trouble=wrong))
        await asyncio.Event().wait()


def _tell(text: str) -> None:
    print(printable(text), flush=True)
