"""A text grows token by token, and a schema says which tokens may come next. (chapter 4.1)

    token_mask(schema, '{"city": "Oslo"}', watch=("Sure", "null"))

Above, the text so far and the token that is taken next. Below, how much of the vocabulary is
allowed at this point, and tokens of both kinds; `watch` are tokens to keep an eye on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from freya_teach.lab.masks import SPECIAL, TokenMask
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.view import Picture, View
from freya_teach.lab.views.words import columns, cut, one_line
from freya_teach.llm.messages import Json

WIDTH, CHIP, GAP = 888, 24, 6
LABELS, CHIPS = 16, 150
BAR = 560
EXAMPLES = 14
ALLOWED, FORBIDDEN = "✓ allowed", "✗ forbidden"
NEXT, END = "▲ next", "(the end)"
LEGEND = "␣ is a space, ⏎ a line break, ⇥ a tab"


@dataclass(frozen=True, slots=True)
class Choice:
    """The point before one token: what is there, what comes next, and what could have come."""

    number: int
    before: tuple[str, ...]
    taken: str
    """The next token of the text; empty at its end."""
    allowed: tuple[str, ...]
    """Some of the tokens that may come next: first those that are watched, then the lowest ids."""
    forbidden: tuple[str, ...]
    allowed_count: int
    total: int


def token_mask(schema: Mapping[str, Json], text: str, watch: Sequence[str] = ()) -> View[Choice]:
    """Step through a text under a schema; the steps are its tokens, and its end.

    Raises `MasksMissing` without llguidance, and `ValueError` for a text that the schema does not
    allow, or a watched token that the vocabulary does not have.
    """
    mask = TokenMask(schema)
    watched = [mask.vocabulary.find(word) for word in watch]
    frames: list[Choice] = []
    before: tuple[str, ...] = ()
    for token in mask.vocabulary.split(text):
        taken = mask.vocabulary.text(token)
        frames.append(_choice(mask, before, taken, watched))
        mask.take_token(token)
        before = (*before, taken)
    return View([*frames, _choice(mask, before, "", watched)], draw)


def _choice(mask: TokenMask, before: tuple[str, ...], taken: str, watched: Sequence[int]) -> Choice:
    ids, size = mask.allowed(), len(mask.vocabulary)
    allowed = set(ids)
    ordered = sorted(range(size), key=lambda token: _is_no_text(mask, token))
    others = (token for token in ordered if token not in allowed)
    return Choice(
        number=len(before) + 1,
        before=before,
        taken=taken,
        allowed=_some(mask, [token for token in watched if token in allowed], ids),
        forbidden=_some(mask, [token for token in watched if token not in allowed], others),
        allowed_count=len(allowed),
        total=size,
    )


def _is_no_text(mask: TokenMask, token: int) -> bool:
    """Marks and half characters come last: they are allowed or forbidden like any other token."""
    return token < SPECIAL or "\\x" in mask.vocabulary.text(token)


def _some(mask: TokenMask, first: Sequence[int], others: Iterable[int]) -> tuple[str, ...]:
    """A few tokens in words, each once."""
    shown = dict.fromkeys(first)
    for token in others:
        if len(shown) >= EXAMPLES:
            break
        shown.setdefault(token)
    return tuple(mask.vocabulary.text(token) for token in shown)


def draw(choice: Choice) -> Picture:
    """One point of the text."""
    said, y = _said(choice)
    parts = [drawing.heading((LABELS, 26), _headline(choice)), *said, *_share(choice, y + 60)]
    y += 104
    for words, tone, tokens, count in _kinds(choice):
        parts.append(drawing.badge((LABELS, y + 3), words, tone, width=118))
        chips, y = _chips(tokens, count, y, tone)
        parts += chips
    parts.append(drawing.text((LABELS, y + 12), LEGEND, palette.MUTED))
    about = f"{_headline(choice)}. {_counted(choice)}."
    svg = drawing.svg((WIDTH, y + 26), "Which tokens may come next", about, parts)
    return Picture(svg, tell(choice))


def tell(choice: Choice) -> str:
    """The same in words."""
    lines = [_headline(choice), f"text so far: {_sign(''.join(choice.before))}"]
    lines += [f"as tokens: {' | '.join(map(_sign, choice.before))}"] if choice.before else []
    lines.append(f"{NEXT}: {_sign(choice.taken) if choice.taken else END}")
    lines.append(_counted(choice))
    for words, _, tokens, count in _kinds(choice):
        rest = f", {_more(tokens, count)}" if _more(tokens, count) else ""
        lines.append(f"{words}: {'  '.join(map(_sign, tokens)) or 'none'}{rest}")
    return "\n".join([*lines, LEGEND])


def _kinds(choice: Choice) -> Iterator[tuple[str, palette.Tone, tuple[str, ...], int]]:
    yield ALLOWED, palette.TOOLS, choice.allowed, choice.allowed_count
    yield FORBIDDEN, palette.STOP, choice.forbidden, choice.total - choice.allowed_count


def _headline(choice: Choice) -> str:
    return f"Step {choice.number}: which token may come next?"


def _counted(choice: Choice) -> str:
    verb = "is" if choice.allowed_count == 1 else "are"
    return f"{choice.allowed_count:,} of {choice.total:,} tokens {verb} allowed"


def _more(tokens: tuple[str, ...], count: int) -> str:
    left = count - len(tokens)
    return f"and {left:,} more" if left else ""


def _sign(token: str) -> str:
    """A token on one line, its spaces visible."""
    return (
        one_line(token.replace("\n", "⏎").replace("\t", "⇥").replace(" ", "␣")) or "(nothing yet)"
    )


def _said(choice: Choice) -> tuple[list[str], float]:
    """The text so far as tokens, the next one in a strong frame; and where that stands."""
    parts, x, y = [], float(LABELS), 46.0
    taken = _sign(choice.taken) if choice.taken else END
    for word in (*map(_sign, choice.before), taken):
        shown = cut(word, 60)
        if x > LABELS and x + _wide(shown) > WIDTH - LABELS:
            x, y = float(LABELS), y + CHIP + GAP
        parts.append(_chip((x, y), shown, palette.PERSON, thick=1))
        x += _wide(shown) + 2
    shown = cut(taken, 60)
    x -= _wide(shown) + 2
    parts[-1] = _chip((x, y), shown, palette.MODEL, thick=2.5)
    parts.append(drawing.text((x, y + CHIP + 16), NEXT, palette.MODEL.strong, bold=True))
    return parts, y


def _share(choice: Choice, y: float) -> Iterator[str]:
    """The allowed part of the vocabulary as a bar."""
    part = max(2.0, BAR * choice.allowed_count / choice.total)
    yield drawing.rect((LABELS, y, BAR, 12), palette.STOP.pale, palette.LINE, radius=2)
    yield drawing.rect((LABELS, y, part, 12), palette.TOOLS.strong, radius=2)
    yield drawing.text((LABELS, y + 29), _counted(choice), bold=True)


def _chips(
    tokens: tuple[str, ...], count: int, y: float, tone: palette.Tone
) -> tuple[list[str], float]:
    """Tokens in rows, what is left out at the end, and where the next thing may stand."""
    parts, x = [], float(CHIPS)
    for token in tokens:
        shown = cut(_sign(token), 30)
        if x + _wide(shown) > WIDTH - LABELS:
            x, y = float(CHIPS), y + CHIP + GAP
        parts.append(_chip((x, y), shown, tone, thick=1))
        x += _wide(shown) + GAP
    if more := _more(tokens, count):
        if x + drawing.COLUMN * len(more) > WIDTH - LABELS:
            x, y = float(CHIPS), y + CHIP + GAP
        parts.append(drawing.text((x + 4, y + 16), more, palette.MUTED))
    return parts, y + CHIP + 16


def _wide(words: str) -> float:
    return drawing.COLUMN * columns(words) + 12


def _chip(at: tuple[float, float], words: str, tone: palette.Tone, thick: float) -> str:
    x, y = at
    box = drawing.rect((x, y, _wide(words), CHIP), tone.pale, tone.strong, thick=thick, radius=4)
    return box + drawing.text((x + 6, y + 16), words)
