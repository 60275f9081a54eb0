"""How a rule is tested: a request that it refuses, and the same one repaired."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpx

from freya_teach.lab.gateway import Move, Question, answer, gateway

Body = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """`bad` is refused by this rule alone, with this answer; `good` passes."""

    rule: str
    bad: Body
    good: Body
    error: Body
    """The whole error, key by key."""
    status: int = 400
    model: str = ""
    """Whose name is in the address, on Gemini's wire."""


def answers(_: Question) -> Move:
    """A policy that is satisfied with everything."""
    return answer("Fine.")


async def send(
    url: str,
    body: Body,
    *,
    leave_out: Iterable[str] = (),
    keys: Iterable[str] = (),
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    """What the gateway, without these rules, answers to this request."""
    fake = gateway(answers, leave_out=leave_out, keys=keys)
    async with fake.client() as http:
        return await http.post(url, json=body, headers=headers)


def but(body: Body, **fields: Any) -> Body:
    """The body with other fields; None takes a field away."""
    return {name: value for name, value in {**body, **fields}.items() if value is not None}
