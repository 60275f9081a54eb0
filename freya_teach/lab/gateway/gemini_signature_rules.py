"""What Gemini refuses in thought signatures: missing, foreign, copied. (chapter 5.2)

Only the current turn must be signed: what came after the user's newest words. In each step of it,
the first call of a content has the signature that it came with.

Source: Gemini API documentation, thought signatures.
"""

from __future__ import annotations

import base64
import binascii
from functools import partial

from freya_teach.lab.gateway.gemini_wire import SIGNED, field, refusal
from freya_teach.lab.gateway.request import Body, Request, Turn
from freya_teach.lab.gateway.rule import Rule
from freya_teach.lab.gateway.wire import Refused, mapping, text_of

PLACEHOLDERS = ("context_engineering_is_the_way_to_go", "skip_thought_signature_validator")
"""What Google tells to send for a call that its model did not make; as it is, or in base64."""
ACCEPTED = {*PLACEHOLDERS, *(base64.b64encode(text.encode()).decode() for text in PLACEHOLDERS)}


def _signature(part: Body) -> str:
    return text_of(field(part, "thoughtSignature"))


def _calls(turn: Turn) -> list[Body]:
    return [part for part in turn.parts if isinstance(field(part, "functionCall"), dict)]


def _not_missing(request: Request) -> None:
    if not request.generation.signs:
        return
    for turn in reversed(request.turns):
        if not turn.is_model and not turn.responses:
            return  # the user's newest words: before them, nothing is looked at
        if turn.is_model and turn.calls and not _signature(first := _calls(turn)[0]):
            raise _missing(text_of(mapping(field(first, "functionCall")).get("name")), turn)


def _missing(name: str, turn: Turn) -> Refused:
    says = (
        "Function call is missing a thought_signature in functionCall parts. This is required for "
        "tools to work correctly, and missing thought_signature may lead to degraded model "
        f"performance. Additional data, function call `default_api:{name}` , position "
        f"{turn.place + 1}. Please refer to "
        "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )
    return refusal(says)


def _not_foreign(request: Request) -> None:
    """The gateway knows its own signatures and the placeholders, and no others."""
    if not request.generation.signs:
        return
    for turn in request.turns:
        for part in turn.parts:
            signature = _signature(part)
            if signature and signature not in ACCEPTED and not _is_ours(signature):
                raise refusal("Corrupted thought signature.")


def _is_ours(signature: str) -> bool:
    try:
        return base64.b64decode(signature, validate=True).startswith(SIGNED.encode())
    except (binascii.Error, ValueError):
        return False


def _not_copied(request: Request) -> None:
    if not request.generation.signs:
        return
    for turn in request.turns:
        if turn.calls > 1:
            signatures = list(filter(None, map(_signature, _calls(turn))))
            if len(set(signatures)) < len(signatures):
                raise refusal("Corrupted thought signature.")


_rule = partial(Rule, "gemini", since="gemini-3 and later")

RULES: tuple[Rule, ...] = (
    _rule("signature.missing", "In the current turn, the first call of each step is signed.",
          "Gemini API, thought signatures; niki914/zafiro#100", _not_missing),
    _rule("signature.foreign", "A signature is one that this server gave, or a placeholder.",
          "google-gemini/gemini-cli#13467; decolua/9router#4136", _not_foreign),
    _rule("signature.copied", "Only the first of several calls has the signature.",
          "Gemini API, thought signatures. Google itself was seen to accept copies and to bill "
          "each (litellm); the gateway says no so that the mistake is seen", _not_copied),
)  # fmt: skip
