"""Recordings written by a test, in the format of the files in `fixtures/`."""

import json
from pathlib import Path
from typing import Any

URL = "https://api.example.org/v1/chat/completions"


def exchange(body: Any, answer: Any, **changes: Any) -> dict[str, Any]:
    """Make one exchange; `changes` replace fields of its request, or whole parts of it."""
    made: dict[str, Any] = {
        "id": "made-up",
        "provider": "openai",
        "model": "m",
        "request": {"method": "POST", "url": URL, "headers": {}, "body": body},
        "response": {
            "status": 200,
            "headers": {
                "content-type": "text/event-stream"
                if isinstance(answer, str)
                else "application/json"
            },
            "body": answer,
        },
        "provenance": {"kind": "authored", "written_from": ["nothing"]},
    }
    for name, value in changes.items():
        made["request" if name in made["request"] else name] = (
            {**made["request"], name: value} if name in made["request"] else value
        )
    return made


def written(folder: Path, *exchanges: Any) -> list[Path]:
    """Write a scenario's files into its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, made in enumerate(exchanges, start=1):
        path = folder / f"{number:02}.json"
        path.write_text(json.dumps(made, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        paths.append(path)
    return paths
