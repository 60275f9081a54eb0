"""Real recorded exchanges of both wires, which nobody here wrote.

They were taken from the test suites of public projects, under the licences that each file names,
and lie in a folder beside the checkout. Where it is missing, what needs it is skipped.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from freya_teach.llm import gemini, openai
from freya_teach.llm.protocol import Adapter

FOLDER = Path(__file__).parents[2] / "shared" / "recordings" / "open"


@dataclass(frozen=True)
class Recording:
    """One exchange: what was asked, and what came back as it came."""

    name: str
    provider: str
    model: str
    kind: str
    request: dict[str, Any]
    status: int
    headers: dict[str, str]
    body: Any
    """A JSON value, or the text of an event stream."""

    @property
    def raw(self) -> bytes:
        """The body as it came over the wire, but for the white space of a JSON body."""
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return text.encode()

    @property
    def provider_wire(self) -> str:
        """The wire that is spoken, whoever the server is."""
        return "gemini" if self.provider == "gemini" else "openai"

    @property
    def adapter(self) -> Adapter:
        """Whose dialect it is."""
        return gemini.ADAPTER if self.provider == "gemini" else openai.ADAPTER

    @property
    def is_model_call(self) -> bool:
        """Whether a model was asked; the others list models or count tokens."""
        return self.request["method"] == "POST" and "count_tokens" not in self.kind


@cache
def load() -> list[Recording]:
    """All recordings, or none where the folder is missing."""
    return [_read(path) for path in sorted(FOLDER.glob("*/*.json"))]


def _read(path: Path) -> Recording:
    data = json.loads(path.read_text(encoding="utf-8"))
    response = data["response"]
    return Recording(
        f"{path.parent.name}/{path.stem}",
        data["provider"].partition(":")[0],
        data["model"] or "",
        data["kind"],
        data["request"],
        response["status"],
        response["headers"],
        response["body"],
    )


def each(chosen: Callable[[Recording], bool]) -> pytest.MarkDecorator:
    """Run a test on every recording that is chosen, under the recording's name."""
    found = [pytest.param(r, id=r.name) for r in load() if chosen(r)]
    reason = f"there are no recordings in {FOLDER}"
    missing = [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]
    return pytest.mark.parametrize("recording", found or missing)
