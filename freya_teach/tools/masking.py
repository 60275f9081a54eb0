r"""What looks like a secret does not reach the model, nor the provider behind it. (chapter 4.4)

A tool reads a `.env` file, prints its environment, or fails with the address of a database. All of
that would stand in every later request. What is masked:

    keys by their shape   OpenAI, Anthropic, Google, GitHub, GitLab, AWS, Slack, Stripe, Hugging
                          Face, Groq, npm, PyPI, SendGrid; JSON Web Tokens; private key blocks
    by what is before     `Authorization: …`, `Bearer …`, `password=…` and its like
    in addresses          the password in `user:password@host`, and `?key=…`, `?access_token=…`

What stays: hashes, UUIDs, base64, page tokens, names such as `password: str` in source code. So a
secret without a known shape, name or place is **not** found: this is a net, not a wall. The wall
is not to hand a tool what the model must not know.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import quote

from freya_teach.llm.redaction import REDACTED, SHORTEST, redact


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret; a text without any of the `signs` is not searched any further."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _key(pattern: str, *signs: str) -> Shape:
    """A key that begins with a known prefix."""
    return Shape(signs, re.compile(pattern))


AT_START = r"(?:(?<![A-Za-z0-9_]eyJ)|(?<=\\[nrt]eyJ)|(?<=\\u[0-9a-f]{4}eyJ)|(?<=%[0-9A-F]{2}eyJ))"
"""Looked at before the rest of a token, of which a text such as `eyJeyJeyJ…` has many halves."""
KEYS = (
    _key(r"sk-(?=[\w-]{0,60}\d)[\w-]{20,}", "sk-"),  # OpenAI, Anthropic, DeepSeek, OpenRouter
    _key(r"AIza[\w-]{30,}", "AIza"),  # Google
    _key(r"AQ\.(?=[\w-]{0,60}\d)[\w-]{20,}", "AQ."),  # Google, since 2025
    _key(r"ya29\.[\w-]{20,}", "ya29."),  # Google, OAuth
    _key(r"gh[pousr]_[A-Za-z0-9]{30,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _key(r"github_pat_\w{22,}", "github_pat_"),
    _key(r"glpat-[\w.-]{20,}", "glpat-"),
    _key(r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])", "AKIA", "ASIA"),  # AWS
    _key(r"xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{20,}", "xox", "xapp-"),  # Slack
    _key(r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}", "k_live_", "k_test_"),  # Stripe
    _key(r"whsec_[\w+/=-]{20,}", "whsec_"),
    _key(r"hf_[A-Za-z0-9]{30,}", "hf_"),  # Hugging Face
    _key(r"(?:gsk_|xai-)[A-Za-z0-9]{32,}", "gsk_", "xai-"),  # Groq, xAI
    _key(r"npm_[A-Za-z0-9]{36}|pypi-[\w-]{30,}", "npm_", "pypi-"),
    _key(r"SG\.[\w-]{16,}\.[\w-]{16,}", "SG."),  # SendGrid
    _key(rf"eyJ{AT_START}[\w-]{{8,}}\.eyJ[\w-]{{8,}}\.[\w-]*", "eyJ"),
)

SIGNS = tuple((sign, shape.pattern) for shape in KEYS for sign in shape.signs)

IN_WORD = re.compile(r"[A-Za-z0-9_]\Z")
ESCAPE = re.compile(r"(?:\\[nrt]|\\u[0-9a-f]{4}|%[0-9A-F]{2})\Z")

NAMES = (
    r"[\w-]{0,60}(?:passw(?:or)?d|passphrase|pwd|secret|api[_-]?key"
    r"|(?:access|private|account|secret)[_-]?key)"
    r"|(?:[\w-]{0,60}[_-])?(?:access|refresh|auth|api|bot|bearer|session|id)[_-]?token|token"
)
NAMED = re.compile(
    rf"""(?<![\w-])(?P<name>{NAMES})(?P<is>\\*["']?[ \t]{{0,4}}[:=][ \t]{{0,4}})"""
    r"""(?:(?P<quote>\\*["'])(?P<quoted>(?:(?!(?P=quote))[^\n]){4,400})(?=(?P=quote))"""
    r"""|(?P<bare>[^\s"'\\<>{}()\[\],;&][^\s"'\\,;&]{3,400})(?P<rest>[^\n]?))""",
    re.IGNORECASE,
)
NAME_SIGNS = ("pass", "pwd", "secret", "key", "token")
IS_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")
NO_VALUE = re.compile(
    r"(?:str(?:ing)?|bool(?:ean)?|int(?:eger)?|number|bytes|none|null|undefined|true|false|any"
    r"|optional|required|missing|invalid|incorrect|wrong|expired|redacted|changeme|example"
    r"|\*+|\.+|x+|[\w.]*(?:passw(?:or)?d|pwd|secret|token|key)[\w.]*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)",
    re.IGNORECASE,
)
"""A type, a state, a placeholder, or the name of a variable: what stands there in source code."""

PREFIXED = re.compile(
    r"""(authorization\\*["']?\s{0,4}[:=]\s{0,4}\\*["']?(?:[A-Za-z]{1,20}[ ])?)[^\s"'\\,;]{4,}"""
    r"""|\b((?:Bearer|Basic)[ ]{1,4})(?=[\w.~+/=-]{0,60}[\d=])[\w.~+/=-]{12,}""",
    re.IGNORECASE,
)
IN_ADDRESS = re.compile(
    r"(?<=://)([^\s/@:\"']{0,200}:)[^\s/@\"']{1,400}(?=@)"
    rf"|([?&](?:key|api_?key|access_token|token)=)[^\s&#\"']{{{SHORTEST},}}",
    re.IGNORECASE,
)
BLOCK = re.compile(
    r"-----BEGIN ([A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?:(?!-----).)*-----END \1-----"
    r"|(?:\s|\\+[nr]|[A-Z][\w-]+: [^\n]*|[A-Za-z0-9+/=]{16,})*(?:[A-Za-z0-9+/=]+\Z)?)",
    re.DOTALL,
)
"""With its end, or cut off before."""
BLOCK_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
BASE64_LINE = re.compile(r"[A-Za-z0-9+/=\\\s]*")


def mask_secrets(text: str, known: tuple[str, ...] = ()) -> str:
    """The text with `[redacted]` in the place of what looks like a secret.

    `known` are secrets that the caller holds, whatever they look like.

    >>> mask_secrets("postgres://app:hunter2@db/x password=hunter2")
    'postgres://app:[redacted]@db/x password=[redacted]'
    """
    for secret in known:
        if len(secret) >= SHORTEST:
            forms = (secret, json.dumps(secret)[1:-1], quote(secret, safe=""))
            text = redact(text, forms)
    if "PRIVATE KEY" in text:
        text = _without_end_of_block(BLOCK.sub(REDACTED, text))
    for sign, pattern in SIGNS:
        if sign in text:
            text = pattern.sub(_unless_in_word, text)
    if "://" in text or "?" in text or "&" in text:
        text = IN_ADDRESS.sub(_after_group, text)
    return _masked_by_name(text)


def _masked_by_name(text: str) -> str:
    """What stands after a word that announces a secret."""
    lower = text.lower()
    if "authorization" in lower or "bearer" in lower or "basic" in lower:
        text = PREFIXED.sub(_after_group, text)
    if any(sign in lower for sign in NAME_SIGNS):
        text = NAMED.sub(_named, text)
    return text


def _unless_in_word(match: re.Match[str]) -> str:
    r"""`task-…` holds no key, but `\nsk-…` in JSON does: that n is no letter of a word."""
    before = match.string[max(0, match.start() - 6) : match.start()]
    in_word = IN_WORD.search(before) and not ESCAPE.search(before)
    return match[0] if in_word else REDACTED


def _after_group(match: re.Match[str]) -> str:
    return (match[1] or match[2] or "") + REDACTED


def _named(match: re.Match[str]) -> str:
    """Mask the value after a name, unless it is a word of source code or of a sentence."""
    value = match["quoted"] or match["bare"].rstrip(")]}>")
    if NO_VALUE.fullmatch(value) or value.startswith(("$", "%", REDACTED)):
        return match[0]
    if not match["quoted"] and _is_prose(match["name"].lower(), value, match):
        return match[0]
    after = "" if match["quoted"] else match["bare"][len(value) :] + match["rest"]
    return f"{match['name']}{match['is']}{match['quote'] or ''}{REDACTED}{after}"


def _is_prose(name: str, value: str, match: re.Match[str]) -> bool:
    """`Secret: everything about it`, `unexpected token: name`, `PWD=/srv`, `secret=read()`."""
    if name == "token":
        return len(value) < 16 or not any(char.isdigit() for char in value)
    if name in {"pwd", "oldpwd"} and value.startswith("/"):
        return True
    if IS_CALL.match(value):
        return True
    return value.isalpha() and " " in match["is"] and match["rest"] not in {"", "\r", ","}


def _without_end_of_block(text: str) -> str:
    """The last lines of a key whose first ones stand somewhere else, as in a slice of a file."""
    done: list[str] = []
    start = 0
    for match in BLOCK_END.finditer(text):
        lines = text[start : match.start()].splitlines(keepends=True)
        shortest = 1  # the last line of a key is a short one
        while lines and len(lines[-1]) >= shortest and BASE64_LINE.fullmatch(lines[-1]):
            shortest = 32
            lines.pop()
        done += [*lines, REDACTED]
        start = match.end()
    return "".join(done) + text[start:]
