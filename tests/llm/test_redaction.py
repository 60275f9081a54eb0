"""A key is kept out of what is told, in whatever form it stands there."""

import json
from urllib.parse import quote

import pytest

from freya_teach.llm.protocol import WireRequest
from freya_teach.llm.redaction import (
    REDACTED,
    redact,
    redact_all,
    redacted_headers,
    secret_forms,
    secrets_of,
)


def test_every_header_that_holds_a_secret_is_known_by_name() -> None:
    headers = {"Authorization": "Bearer x", "X-Goog-Api-Key": "y", "api-key": "z", "accept": "*/*"}
    assert redacted_headers(headers | {"Cookie": "a", "proxy-authorization": "b"}) == {
        "Authorization": REDACTED,
        "X-Goog-Api-Key": REDACTED,
        "api-key": REDACTED,
        "accept": "*/*",
        "Cookie": REDACTED,
        "proxy-authorization": REDACTED,
    }
    assert secrets_of(WireRequest("", headers, b"")) == ("x", "y", "z")
    assert redact("x, y and z", ("x", "z")) == f"{REDACTED}, y and {REDACTED}"


@pytest.mark.parametrize("key", ["not-a-key/with+signs==", 'not-a-"key"', "not\\a\\key", "n%6Ft-a"])
def test_a_key_is_found_in_each_form_in_which_text_holds_it(key: str) -> None:
    request = WireRequest("https://a.example/v1", {"authorization": f"Bearer {key}"}, b"{}")
    forms = secret_forms(request)
    twice = json.dumps({"arguments": json.dumps({"key": key})})
    for said in (
        key,
        json.dumps({"key": key}),
        json.dumps({"key": key}).replace("/", "\\/"),
        f"https://a.example/?x={quote(key, safe='')}",
        json.loads(twice)["arguments"],
    ):
        assert redact(said, forms).count(REDACTED) == 1
        assert key not in redact(said, forms)


def test_of_two_keys_the_longer_is_taken_out_first() -> None:
    request = WireRequest("", {"api-key": "not-a-key", "x-api-key": "not-a-key-but-longer"}, b"")
    assert redact("not-a-key-but-longer", secret_forms(request)) == REDACTED


def test_a_password_in_the_address_is_a_secret_and_a_short_user_name_is_none() -> None:
    request = WireRequest("https://me:not-a-password@a.example/v1?key=not-a-key-2", {}, b"")
    assert set(secret_forms(request)) >= {"not-a-password", "not-a-key-2"}
    assert secret_forms(WireRequest("https://me@a.example", {}, b"")) == ()


def test_a_key_is_taken_out_of_names_too_unless_it_is_a_part_of_any_word() -> None:
    value = {"not-a-real-key": ["not-a-real-key"], "messages": "me"}
    assert redact_all(value, ("not-a-real-key", "me")) == {
        REDACTED: [REDACTED],
        "messages": REDACTED,
    }
