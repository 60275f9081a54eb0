"""Where each recording comes from: one table, read out of the recordings themselves."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def page(head: str, fixtures: Path) -> str:
    """The page: its head with the numbers filled in, then a table for each section."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in exchange_files(fixtures)]
    kinds = [exchange["provenance"]["kind"] for exchange in found]
    text = head.format(
        count=len(found), recorded=kinds.count("recorded"), authored=kinds.count("authored")
    )
    sections: dict[str, dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
    for path, exchange in zip(exchange_files(fixtures), found, strict=True):
        sections[path.parent.parent.name][path.parent.name].append(exchange)
    tables = [table(name, sections[name]) for name in sorted(sections, key=by_number)]
    return text + "".join(tables)


def exchange_files(fixtures: Path) -> list[Path]:
    """Every recorded exchange: `fixtures/<section>/<scenario>/<number>.json`."""
    return sorted(fixtures.glob("*/*/*.json"))


def by_number(section: str) -> tuple[bool, list[int], str]:
    """Sections by their numbers, the labs after them."""
    numbers = [int(number) for number in re.findall(r"\d+", section)]
    return not numbers, numbers, section


def table(section: str, scenarios: dict[str, list[Json]]) -> str:
    """One section's scenarios: what they are, who answered, and when."""
    rows = [row(name, exchanges) for name, exchanges in sorted(scenarios.items())]
    title = section.replace("_", " ")
    head = "| scenario | exchanges | kind | wire | model | date | server, or written from |"
    lines = [head, "|---|---|---|---|---|---|---|", *rows]
    table = "```{table}\n:class: recordings-table\n\n" + "\n".join(lines) + "\n```\n"
    return f"\n## {title}\n\n{table}"


def row(name: str, exchanges: list[Json]) -> str:
    """One scenario; where its exchanges differ, all that they say is named."""
    cells = [
        f"`{name}`",
        str(len(exchanges)),
        each(exchange["provenance"]["kind"] for exchange in exchanges),
        each(exchange["provider"] for exchange in exchanges),
        each(f"`{exchange['model']}`" for exchange in exchanges),
        each(
            exchange["provenance"]["date"].replace("-", "\N{NON-BREAKING HYPHEN}")
            for exchange in exchanges
        ),
        each(origin(exchange["provenance"]) for exchange in exchanges),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def each(texts: Any) -> str:
    """Different texts, once each, in their order."""
    return ", ".join(dict.fromkeys(texts))


def origin(provenance: Json) -> str:
    """Who answered, or what the author read."""
    if provenance["kind"] == "recorded":
        return ", ".join(filter(None, [provenance["server"], provenance.get("weights")]))
    return "; ".join(provenance["written_from"])
