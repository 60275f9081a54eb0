"""One refusal of a provider: when, in which words, and who saw it. (chapter 5.2)

A list of rules is data: print `table(RULES)`, take one out with `without(RULES, "order.pairs")`,
and see what the gateway then lets pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from textwrap import fill

from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.gateway.request import Request

Check = Callable[[Request], None]
"""Returns if the provider would say nothing; else raises `Refused` with its very body."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is refused: `says` in one sentence, `since` which generation, `source` who saw it."""

    wire: Wire
    name: str
    says: str
    source: str
    check: Check
    since: str = "all models"
    everywhere: bool = False
    """Servers that are only compatible with OpenAI refuse it, too."""


def judge(request: Request, rules: Iterable[Rule]) -> None:
    """Hold the request against the rules of its wire, in their order. Raises `Refused`."""
    generation = request.generation
    for rule in rules:
        if rule.wire == generation.wire and (rule.everywhere or not generation.compatible):
            rule.check(request)


def without(rules: Iterable[Rule], *names: str) -> tuple[Rule, ...]:
    """The rules but for those of these names. Raises ValueError for a name that no rule has."""
    rules = tuple(rules)
    if unknown := set(names) - {rule.name for rule in rules}:
        known = ", ".join(sorted({rule.name for rule in rules}))
        raise ValueError(f"there is no rule {', '.join(sorted(unknown))}; there are {known}")
    return tuple(rule for rule in rules if rule.name not in names)


def table(rules: Iterable[Rule]) -> str:
    """The rules as text: name, generation, what it says and its source, one under the other."""
    return "\n".join(_entry(rule) for rule in rules)


def _entry(rule: Rule) -> str:
    words = fill(f"{rule.says} [{rule.source}]", 78, initial_indent="  ", subsequent_indent="  ")
    return f"{rule.name} ({rule.wire}, {rule.since})\n{words}"
