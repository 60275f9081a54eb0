"""What servers show of a model's thinking, against a plain reading of the same body."""

import json
from typing import Any

from freya_teach.lab.understand import read_reply
from tests import recordings
from tests.recordings import Recording


def documents(recording: Recording) -> list[Any]:
    """The JSON of the body, or of each event of the stream."""
    if not isinstance(recording.body, str):
        return recording.body if isinstance(recording.body, list) else [recording.body]
    lines = recording.body.replace("\r", "").split("\n")
    texts = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    return [json.loads(text) for text in texts if text not in ("", "[DONE]")]


def openai_thoughts(document: dict[str, Any]) -> str:
    for choice in document.get("choices") or []:
        if choice.get("index", 0) == 0:
            said = choice.get("message") or choice.get("delta") or {}
            details = said.get("reasoning_details") or []
            if details:
                return "".join(d.get("text") or d.get("summary") or "" for d in details)
            parts = said["content"] if isinstance(said.get("content"), list) else []
            thoughts = [t["text"] for part in parts for t in part.get("thinking") or []]
            plain = said.get("reasoning_content") or said.get("reasoning") or ""
            return plain + "".join(thoughts)
    return ""


def gemini_thoughts(document: dict[str, Any]) -> str:
    candidates = document.get("candidates") or [{}]
    parts = (candidates[0].get("content") or {}).get("parts") or []
    return "".join(part["text"] for part in parts if part.get("thought") and "text" in part)


@recordings.each(lambda r: r.is_model_call and r.status == 200 and "error_in_200" not in r.kind)
def test_the_thinking_is_what_a_plain_reading_finds(recording: Recording) -> None:
    plain = openai_thoughts if recording.provider_wire == "openai" else gemini_thoughts
    expected = "".join(plain(document) for document in documents(recording))
    assert read_reply(recording.adapter, [recording.raw]).message.reasoning == expected
