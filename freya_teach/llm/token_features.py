r"""What a text is made of, as far as it decides how many tokens it costs. (chapter 7.3)

A BPE tokenizer works in two steps. A pattern cuts the text into pieces: a word with the space
before it, up to three digits, a run of signs, a run of blanks. Then each piece becomes one token
or several: a common word is one, a rare or long one is taken apart. The first step is repeated
here, nearly as o200k does it. For the second one a tokenizer has a vocabulary of 200,000 entries;
here are some features of a piece, and `token_coefficients.py` says what each of them costs.

>>> PIECES.findall("Call get_weather(2026)!\n")
['Call', ' get', '_weather', '(', '202', '6', ')!\n']
"""

from __future__ import annotations

import re
from operator import add, ne

LOW, UP = "a-zß-öø-ÿĀ-ɏḀ-ỿ", "A-ZÀ-ÖØ-Þ"
"""Latin letters with and without marks; the case of the rare ones is not looked at."""
HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
LINES = "\u2500-\u259f"
"""What frames and bars are drawn with."""
SIGNS = (
    "\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf×÷\u2000-\u24ff\u25a0-\u2bff\u3000-\u3004"
    "\u3006-\u303f\ufe00-\ufe0f\uff00-\uff0f\uff1a-\uff20\U0001f000-\U0001faff"
)
"""Punctuation and pictures outside of ASCII."""
SCRIPTS = {
    "greek": "Ͱ-Ͽ",
    "cyrillic": "Ѐ-ԯ",
    "hebrew": "\u0590-\u05ff",
    "arabic": "\u0600-\u077f",
    "indic": "\u0900-\u0dff",
    "thai": "\u0e00-\u0e7f",
    "kana": "\u3040-\u30ff",
    "hangul": "\uac00-\ud7af",
}
"""The scripts with a price of their own, and their characters."""
SCRIPT_OF = {
    code // 16: name
    for name, span in SCRIPTS.items()
    for code in range(ord(span[0]), ord(span[-1]) + 1, 16)
}
LEADS = r" -/:-@\[-`{-~\t"
"""What a word takes along when it stands right before it: a blank or one sign."""

PIECES = re.compile(
    rf"[{LEADS}]?(?:[{UP}]*[{LOW}]+|[{UP}]+)"
    r"|[0-9]{1,3}"
    r"| (?=[0-9])"  # for speed: else all scripts are tried first, and a line takes 3.8 µs, not 2.7
    r"| ?[!-/:-@\[-`{-~]+[\r\n]*"  # signs, with the line ends after them
    rf"|[{HAN}]+|[{LINES}]+|[{SIGNS}]+"
    rf"| ?(?:{'|'.join(f'[{script}]+' for script in SCRIPTS.values())})"
    rf"| ?[^\x00-ɏḀ-ỿ{HAN}{LINES}{SIGNS}{''.join(SCRIPTS.values())}\s]+"  # the other scripts
    r"|\s*[\r\n]+|\s+(?!\S)|\s"  # blanks, but for the last one, which belongs to the next piece
    r"|(?s:.)"
)
"""Cuts a text into pieces; joined again, they are the text."""

USUAL_PAIRS = frozenset(
    "ab ac ad ag ai ak al am an ap ar as at au aw ay be bl bo bu by ca ce ch ci ck cl co cr "  # noqa: SIM905 - as a list they would fill four screens
    "ct cu da de di do ds dy ea ec ed ee ef ei el em en ep er es et ev ex ey fi fo fr fu ga "
    "ge gh gr gu ha he hi ho ht ia ib ic id ie if ig il im in io ir is it iv ke la ld le li "
    "ll lo ls lt ly ma me mi mm mo mp na nc nd ne ng ni nn no ns nt ny od of og ok ol om on "
    "oo op or os ot ou ov ow pa pe pi pl po pr ps pt pu py qu ra rc rd re rg ri rl rm rn ro "
    "rr rs rt ru ry sa sc se sh si sk sm so ss st su sw sy ta te th ti to tp tr ts tt tu tw "
    "ty ub uc ue ul um un ur us ut ve vi wa we wh wi wn wo wr xt ya yo".split(" ")
)
"""Neighbours in nineteen of twenty places of English prose and Python: a vocabulary has them."""
SAME = re.compile(r"(.)\1{3,}", re.DOTALL)
LONG = 8
"""Letters from which on a word is searched for repetitions."""
IS_HAN, IS_LINE, IS_SIGN = (re.compile(f"[{signs}]") for signs in (HAN, LINES, SIGNS))

Features = dict[str, float]


def features(piece: str) -> Features:
    """Name → amount, for one match of `PIECES`; what is 0 may be left out.

    >>> features(" fix"), features("202"), features("北京")
    ({'word': 1, 'unusual': 1, 'unusual, late': 0}, {'digits': 1}, {'han': 2})
    """
    first = piece[1] if piece[0] == " " and len(piece) > 1 else piece[0]
    if first.isascii() or (first.isalpha() and (first <= "ɏ" or "Ḁ" <= first <= "ỿ")):
        return _latin(piece) if piece[-1].isalpha() else _ascii(piece)
    if IS_HAN.match(first):
        return {"han": len(piece)}
    if IS_LINE.match(first):
        return {"line": 1, **_changes(piece, "line")}
    size = len(piece.encode("utf-8", "surrogatepass"))
    if IS_SIGN.match(first):
        return {"pictures": 1, "picture bytes": size}
    script = SCRIPT_OF.get(ord(first) // 16, "other script")
    return {"script": 1, "script bytes": size, script: len(piece)}


def _ascii(piece: str) -> Features:
    """Digits, blanks or signs."""
    if piece.isdigit():
        return {"digits": 1}
    if piece.isspace():
        return {"blanks": 1, "more blanks": len(piece) - 1}
    return {"signs": 1, **_changes(piece, "sign")}


def _changes(piece: str, of: str) -> Features:
    """Fifty equal signs are a token or two, fifty different ones are many."""
    changes = sum(map(ne, piece, piece[1:]))
    return {f"{of} changes": changes, f"same {of}s": len(piece) - 1 - changes}


def _latin(piece: str) -> Features:
    """A word in Latin letters: a common one is one token, up to a certain length."""
    letters = piece if piece[0].isalpha() else piece[1:]
    found: Features = {"word": 1}
    if len(letters) > LONG:
        short = SAME.sub(r"\1\1", letters)
        found["same letters"] = len(letters) - len(short)
        letters = short
    length, small = len(letters), letters.lower()
    if length > 4:
        found |= {"over 4": length - 4, "over 7": max(0, length - 7)}
    if piece[0] != " ":
        found |= {"no blank": 1, "no blank, letters": length}
    unusual = [at for at, pair in enumerate(map(add, small, small[1:])) if pair not in USUAL_PAIRS]
    if unusual:
        found |= {"unusual": len(unusual), "unusual, late": sum(at > 2 for at in unusual)}
    if small[1:] != letters[1:]:
        upper = sum(map(str.isupper, letters[1:]))
        found |= {"upper": upper, "mixed": int(upper < length - 1)}
    if not letters.isascii():
        found["marks"] = sum(letter > "z" for letter in letters)
    return found
