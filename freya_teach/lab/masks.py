"""Which tokens may come next: masks over a real model's vocabulary. (chapter 4.1)

    mask = TokenMask({"enum": ["workspace", "src", "doc"]})
    mask.take('"s')
    [mask.vocabulary.text(token) for token in mask.allowed()]     # ['rc']

The vocabulary is stored with the course (fixtures/4.1/vocabulary.md says whose it is). The masks
are computed when they are asked for, by llguidance, a library that servers of models use too.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from freya_teach.errors import FreyaError
from freya_teach.llm.messages import Json
from freya_teach.paths import course_folder

STORED = "4.1/vocabulary.txt.gz"
SPECIAL = 17
"""So many tokens at the front are marks such as "the turn ends here", and no text."""
END = 2
"""The mark `<|im_end|>`, with which this model ends its answer."""
PIECES = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?=\p{N})|\s+(?!\S)|\s+"
"""How this model's tokenizer cuts a text before it looks for tokens: every digit is alone."""
ONE_SPACE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""JSON as Python's `json.dumps` writes it; JSON itself allows any white space between its parts."""


class MasksMissing(FreyaError):
    """llguidance is not installed."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tokens of SmolLM2-135M-Instruct by id: its alphabet."""

    tokens: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def text(self, token: int) -> str:
        """A token as text; a byte that is no character of its own shows as its number."""
        return self.tokens[token].decode("utf-8", "backslashreplace")

    def find(self, text: str) -> int:
        """The id of the token with exactly this text. Raises `ValueError` without one."""
        try:
            return self.tokens.index(text.encode(), SPECIAL)
        except ValueError:
            raise ValueError(f"There is no token {text!r} in this vocabulary.") from None

    def split(self, text: str) -> tuple[int, ...]:
        """The tokens of a text, as the model's own tokenizer cuts it. Raises `MasksMissing`."""
        return tuple(_tokenizer().tokenize_str(text))


class TokenMask:
    """A JSON Schema at work on a text that grows token by token."""

    def __init__(self, schema: Mapping[str, Json]) -> None:
        """Raises `MasksMissing`, and `ValueError` for a schema that llguidance cannot follow."""
        matcher = _llguidance().LLMatcher
        grammar = matcher.grammar_from_json_schema(dict(schema), overrides=ONE_SPACE)
        self.vocabulary = vocabulary()
        self.text = ""
        """What has been taken so far."""
        self._matcher = matcher(_tokenizer(), grammar, log_level=0)
        if self._matcher.is_error():
            raise ValueError(f"No mask for this schema: {_reason(self._matcher)}")

    @property
    def complete(self) -> bool:
        """Whether the text may end here."""
        return bool(self._matcher.is_accepting())

    def allowed(self) -> tuple[int, ...]:
        """The ids of the tokens that may come next, in their order."""
        bits = self._matcher.compute_bitmask()
        return tuple(n for n in range(len(self.vocabulary)) if bits[n >> 3] >> (n & 7) & 1)

    def take(self, text: str) -> None:
        """Go on by the tokens of this text. Raises `ValueError` at the first one not allowed."""
        for token in self.vocabulary.split(text):
            self.take_token(token)

    def take_token(self, token: int) -> None:
        """Go on by one token. Raises `ValueError`, and stays where it is, if it is not allowed."""
        shown = self.vocabulary.text(token)
        if not self._matcher.try_consume_tokens([token]):
            raise ValueError(f"After {self.text!r} the schema does not allow the token {shown!r}.")
        self.text += shown


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary that is stored with the course."""
    packed = (course_folder("fixtures") / STORED).read_bytes()
    lines = gzip.decompress(packed).decode().split("\n")
    byte_of = _alphabet()
    words = [bytes(byte_of[sign] for sign in line) for line in lines[SPECIAL:]]
    return Vocabulary((*(line.encode() for line in lines[:SPECIAL]), *words))


def _alphabet() -> dict[str, int]:
    """GPT-2's spelling: a byte that prints as itself does, the others are moved to U+0100 …."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    moved = (byte for byte in range(256) if byte not in printable)
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(256 + place): byte for place, byte in enumerate(moved)}


@cache
def _tokenizer() -> Any:
    """The vocabulary as llguidance's tokenizer; it takes about a second to build."""
    _llguidance()
    from llguidance.tiktoken import lltokenizer_from_encoding  # noqa: PLC0415 - heavy, optional

    tokens = vocabulary().tokens
    encoding: Any = SimpleNamespace(  # it reads these four of a tiktoken.Encoding
        _mergeable_ranks={word: token for token, word in enumerate(tokens) if token >= SPECIAL},
        _special_tokens={word.decode(): token for token, word in enumerate(tokens[:SPECIAL])},
        _pat_str=PIECES,
        eot_token=END,
    )
    return lltokenizer_from_encoding(encoding)


def _llguidance() -> Any:
    try:
        import llguidance  # noqa: PLC0415 - an extra, which the browser edition does not have
    except ImportError as problem:
        raise MasksMissing(
            "Token masks are computed by the package llguidance, and it is not installed here. "
            "Install the course with its extra, `pip install 'freya-teach[course]'`; in the "
            "browser edition there is none."
        ) from problem
    return llguidance


def _reason(matcher: Any) -> str:
    """The first line of llguidance's message."""
    return str(matcher.get_error()).partition("\n")[0]
