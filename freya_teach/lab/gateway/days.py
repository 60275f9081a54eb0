"""Days on which a provider does not work as it should, by name. (chapter 5.3)

    freya-teach gateway --trouble flaky

The troubles of a day are data: which request meets which one. Numbers count all requests from
the start of the gateway, on both wires.
"""

from __future__ import annotations

from dataclasses import dataclass

from freya_teach.errors import ConfigError
from freya_teach.lab.gateway.faults import (
    chunked,
    connection_refused,
    content_filter,
    cut_stream,
    delayed,
    drop_after,
    error_in_stream,
    html_page,
    malformed_call,
    read_timeout,
    stall,
)
from freya_teach.lab.gateway.refusing import (
    bad_key,
    context_overflow,
    model_gone,
    overloaded,
    quota_exhausted,
    rate_limited,
    server_error,
)
from freya_teach.lab.gateway.trouble import Trouble


@dataclass(frozen=True, slots=True)
class Day:
    """What goes wrong on a day, in a sentence and as troubles."""

    about: str
    troubles: tuple[Trouble, ...]


DAYS: dict[str, Day] = {
    "flaky": Day(
        "the 1st request meets a 500, the 2nd a broken connection; all others are answered",
        (server_error().on(1), drop_after(60).on(2)),
    ),
    "rate-limit": Day(
        "the first 2 requests meet a 429 that says to come again in one second",
        (rate_limited(retry_after=1).on(1, 2),),
    ),
    "quota": Day("every request meets a 429 that waiting does not help", (quota_exhausted(),)),
    "overloaded": Day("every request meets a 503", (overloaded(),)),
    "half-down": Day(
        "OpenAI's wire meets a 503, Gemini's works", (overloaded().on(wire="openai"),)
    ),
    "html": Day("every request meets an HTML page with the status 502", (html_page(502),)),
    "cut": Day("every answer ends before it is finished", (cut_stream(),)),
    "drop": Day("every connection breaks after 60 bytes of the body", (drop_after(60),)),
    "hang-up": Day("every connection is closed without an answer", (connection_refused(),)),
    "silent": Day("no request is answered, and no connection is closed", (read_timeout(),)),
    "stall": Day("every answer stops after 60 bytes for 10 seconds", (stall(60, 10),)),
    "halfway": Day(
        "a long answer stops after 2000 bytes, in the middle of its text, for 10 seconds",
        (stall(2000, 10),),
    ),
    "slow": Day("every answer comes 2 seconds late, 20 bytes at a time", (delayed(2), chunked(20))),
    "bytes": Day("every answer arrives in pieces of one byte", (chunked(1),)),
    "error-inside": Day("after a 200 and one event, an error comes", (error_in_stream(),)),
    "malformed": Day(
        "the 1st answer, if it calls a tool, does so without JSON", (malformed_call().on(1),)
    ),
    "filter": Day("a filter stops every answer", (content_filter(),)),
    "bad-key": Day("no key is right", (bad_key(),)),
    "model-gone": Day("no model is there", (model_gone(),)),
    "overflow": Day("every request is larger than the window", (context_overflow(),)),
}


def troubles_of(name: str) -> tuple[Trouble, ...]:
    """The troubles of the day of this name. Raises `ConfigError` when there is none."""
    if name not in DAYS:
        known = "\n".join(f"  {key}: {day.about}" for key, day in DAYS.items())
        raise ConfigError(f"there is no trouble called {name!r}; there are:\n{known}")
    return DAYS[name].troubles
