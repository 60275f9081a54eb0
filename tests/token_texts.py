"""The texts of `.ci/tokens` that never change, and what real tokenizers counted of them."""

import importlib.util
import json
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".ci" / "tokens"

spec = importlib.util.spec_from_file_location("token_corpus", FOLDER / "corpus.py")
assert spec is not None
assert spec.loader is not None
corpus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(corpus)

TEXTS: dict[str, str] = {**corpus.passages(), **corpus.made_up()}
"""Kind → a text that is the same on every machine."""
TRUE_COUNTS: dict[str, dict[str, list[int]]] = json.loads(
    (FOLDER / "counts.json").read_text(encoding="utf-8")
)
"""Encoding → kind → tokens of each piece, as `fit.py` counted them."""


def pieces(kind: str) -> list[str]:
    """The pieces of about 1,500 characters on which estimates are judged."""
    found: list[str] = corpus.pieces_of(TEXTS[kind])
    return found
