"""Who may log in to a classroom: names, and passwords of which only the hashes are kept. (start)

A password is shown once, when it is made. The file holds salt and hash, so reading it gives no
password away.

Source: RFC 7914 (scrypt); OWASP, Password Storage Cheat Sheet, for its parameters.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path

ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without i, l, o, 0 and 1: somebody reads it from a slip of paper."""

TEACHER = "instructor"
ABOUT = "Logins of a classroom: salt and scrypt hash of each password; the passwords are nowhere."


class ListDamaged(Exception):
    """The file is there and is not what `write_list` writes; says what to do."""


def names(students: int) -> list[str]:
    """The instructor, and student01, student02 and so on."""
    width = max(2, len(str(students)))
    return [TEACHER, *(f"student{number:0{width}}" for number in range(1, students + 1))]


def new_password() -> str:
    """Twelve characters in three groups, about 59 bits of chance."""
    groups = ["".join(secrets.choice(ALPHABET) for _ in range(4)) for _ in range(3)]
    return "-".join(groups)


def hashed(password: str, salt: str | None = None) -> dict[str, str]:
    """Salt and hash of a password, both in hexadecimal; with a new salt unless one is given."""
    salt = salt or secrets.token_hex(16)
    digest = hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), n=2**14, r=8, p=1)
    return {"salt": salt, "hash": digest.hex()}


def is_right(password: str, stored: dict[str, str]) -> bool:
    """Compare in a time that tells nothing about how much was right."""
    return secrets.compare_digest(hashed(password, stored["salt"])["hash"], stored["hash"])


def read_list(path: Path) -> dict[str, dict[str, str]]:
    """Name to salt and hash; empty without a file. Raises `ListDamaged`, `OSError`."""
    if not path.exists():
        return {}
    try:
        logins = json.loads(path.read_text(encoding="utf-8"))["logins"]
        return {
            str(name): {"salt": str(login["salt"]), "hash": str(login["hash"])}
            for name, login in logins.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ListDamaged(
            f"{path} is damaged ({type(problem).__name__}). Move it away: new passwords are made."
        ) from problem


def write_list(path: Path, logins: dict[str, dict[str, str]]) -> None:
    """Write all or nothing, readable for this user of the machine only."""
    half = path.with_name(f".{path.name}.half")
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"about": ABOUT, "logins": logins}, file, indent=1)
    half.replace(path)


def enrol(path: Path, students: int, *, anew: bool = False) -> dict[str, str]:
    """Give everybody who has none a password (all of them, if anew); return the new ones.

    Who is in the file stays in it. Raises `ListDamaged`, `OSError`.
    """
    logins = read_list(path)
    new = {name: new_password() for name in names(students) if anew or name not in logins}
    if new:
        write_list(path, logins | {name: hashed(password) for name, password in new.items()})
    return new
