"""What looks like a secret is masked; what only looks a bit like one stays."""

import base64
import json
import random
import string
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.llm.redaction import REDACTED
from freya_teach.tools.masking import mask_secrets

# Made of pieces, so that no search for real keys stops at this file.
WORD = "4f" + "Ab9x" * 12
KEYS = [
    "sk-" + WORD,
    "sk-" + "proj-" + WORD,
    "sk-" + "ant-api03-" + WORD,
    "AIza" + WORD[:35],
    "AQ." + WORD,
    "ya29." + WORD,
    "ghp_" + WORD[:36],
    "github_pat_" + WORD,
    "glpat-" + WORD[:20],
    "AKIA" + "ABCDEFGH12345678",
    "xoxb-" + WORD,
    "sk_live_" + WORD[:24],
    "hf_" + WORD[:34],
    "gsk_" + WORD,
    "npm_" + WORD[:36],
    "SG." + WORD[:22] + "." + WORD[:43],
    "eyJ" + WORD[:20] + ".eyJ" + WORD[:20] + "." + WORD,
]
PEM = "PRIVATE " + "KEY-----"  # so that this file does not hold what it looks for
BLOCK = f"-----BEGIN RSA {PEM}\n{{}}\nAb9=\n-----END RSA {PEM}".format(
    "\n".join([WORD + "Ab9xAb9xAb9xAb"] * 8)
)
PLACES = ["{}", "key: {}", '"{}"', "a={}&b", "({})", "\n{}\n", "x\t{}, then", "北京{}"]


@given(st.sampled_from([*KEYS, BLOCK]), st.sampled_from(PLACES), st.text(max_size=20))
def test_a_key_of_a_known_shape_never_gets_through(key: str, place: str, around: str) -> None:
    text = f"{around}\n{place.format(key)}"
    for written in (text, json.dumps(text), json.dumps(json.dumps(text)), json.dumps([text])):
        masked = mask_secrets(written)
        assert key not in masked
        assert WORD[:20] not in masked
        assert "ABCDEFGH12345678" not in masked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DB_PASSWORD=letmein", "DB_PASSWORD=[redacted]"),
        ("password: letmein\nuser: ada", "password: [redacted]\nuser: ada"),
        ('{"password": "correct horse"}', '{"password": "[redacted]"}'),
        ('{\\"api_key\\": \\"letmein1\\"}', '{\\"api_key\\": \\"[redacted]\\"}'),
        ("AWS_SECRET_ACCESS_KEY = wJalr/x+y1", "AWS_SECRET_ACCESS_KEY = [redacted]"),
        ("connect(password='letmein')", "connect(password='[redacted]')"),
        ("postgres://app:p@db/x", "postgres://app:[redacted]@db/x"),
        ("https://a.example/?key=12345678&q=1", "https://a.example/?key=[redacted]&q=1"),
        ("Authorization: Bearer abcdef", "Authorization: Bearer [redacted]"),
        ('{"authorization": "Basic YWRhOjEyMw=="}', '{"authorization": "Basic [redacted]"}'),
        ("curl -H 'x: Bearer abc123abc123abc'", "curl -H 'x: Bearer [redacted]'"),
        ("Server=db;Pwd=letmein;Timeout=3", "Server=db;Pwd=[redacted];Timeout=3"),
    ],
)
def test_what_stands_after_a_name_that_announces_a_secret_is_masked(
    text: str, expected: str
) -> None:
    assert mask_secrets(text) == expected
    assert mask_secrets(expected) == expected


RANDOM = random.Random(7)  # noqa: S311 - the same every time
HASH = RANDOM.randbytes(32).hex()


@pytest.mark.parametrize(
    "text",
    [
        HASH,
        f"commit {HASH[:40]}",
        str(uuid.UUID(HASH[:32])),
        f"data:image/png;base64,{base64.b64encode(RANDOM.randbytes(3_000)).decode()}",
        '{"next_page_token": "CAUQAA1234567890", "max_tokens": 512, "total_tokens": 1024}',
        "def connect(user: str, password: str, token: str | None = None) -> None:",
        "connect(password=password, api_key=settings.api_key, secret=read_secret())",
        "password = os.environ['DB_PASSWORD']",
        "Secret: everything about it. The password is required, the key is missing.",
        "SyntaxError: unexpected token: identifier",
        "PWD=/srv/data",
        "a task-force-of-somewhat-many-people-2026-and-more",
        "FAQ.and-then-some-more-text-12345",
        "Basic instructions, and the bearer of bad news",
        "https://example.org/a?page=2&keyword=abcdefgh see http://a.example, mail me@b.example",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "The block begins with five dashes.",
        "monkey=bananas, keyboard=qwerty1, author=ada1",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_secrets(text) == text


def test_half_a_key_block_is_masked_from_either_side() -> None:
    middle = len(BLOCK) // 2
    for half in (BLOCK[:middle], BLOCK[middle:]):
        assert WORD[:20] not in mask_secrets(f"a first line\n{half}\n")
    assert mask_secrets(f"before\n\n{BLOCK[middle:]}\nafter").startswith("before\n")
    assert mask_secrets(f"{BLOCK}\nafter") == f"{REDACTED}\nafter"


def test_a_secret_of_the_caller_is_found_in_any_form() -> None:
    key = 'my "own" key/1'
    said = f"{key} {json.dumps(key)} my%20%22own%22%20key%2F1"
    assert mask_secrets(said, (key, "me")).count(REDACTED) == 3
    assert "own" not in mask_secrets(said, (key,))


@given(st.text(string.printable, max_size=300))
def test_masking_what_is_masked_changes_nothing(text: str) -> None:
    once = mask_secrets(text)
    assert mask_secrets(once) == once


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "eyJabcdefghi",
        "password=",
        f"-----BEGIN {PEM}",
        "-----END PRIVATE KEY-----",
        "://a:",
        "Bearer ",
        'secret="',
        "token" + " " * 50,
        "a_",
        "xox",
        "\\",
        "authorization: ",
    ],
)
def test_no_text_makes_the_search_slow(piece: str) -> None:
    """Twice the text takes about twice the time; 64 seconds would be the square."""
    mask_secrets("password" + piece * (400_000 // len(piece)))
