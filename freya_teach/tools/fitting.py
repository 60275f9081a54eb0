"""The last step of every observation: well-formed, without secrets, within its limit. (chapter 4.4)

In this order. A secret that the cut went through would no longer be known as one.
"""

from __future__ import annotations

from freya_teach.tools.masking import mask_secrets
from freya_teach.tools.truncation import shorten

MARGIN_CHARS = 50_000
"""How much more than what is shown is looked through for secrets."""


def fit(text: str, limit: int, hint: str = "", known: tuple[str, ...] = ()) -> str:
    r"""The text as the model may read it; `known` are secrets that the caller holds.

    >>> fit("half a pair: \ud83d, password=hunter2", 60)
    'half a pair: �, password=[redacted]'
    """
    if not text:  # the note of nearly every call
        return ""
    ends = limit + MARGIN_CHARS
    missing = len(text) - 2 * ends
    if missing > 0:
        text = text[:ends] + text[-ends:]
    return shorten(mask_secrets(well_formed(text), known), limit, hint, max(missing, 0))


def well_formed(text: str) -> str:
    """The text without lone halves of surrogate pairs, which no wire can carry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
