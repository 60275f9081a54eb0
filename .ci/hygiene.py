"""Fail when a file of the repository holds what must not leave the machine it was written on.

That is: the address of a package registry (the one that this machine uses is read from uv.lock),
a path into a home or working folder (of anybody but "somebody", for examples), or something that
looks like a key.

    uv run python .ci/hygiene.py
"""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent

# Every pattern is put together from pieces, so that this file does not hold what it looks for.
PATTERNS = {
    "a package registry": re.compile(
        r"files\.python" + r"hosted\.org|pypi" + r"\.org/simple|registry\.npm" + r"js\.org"
        r"|(?:index|extra-index|find-links|registry)(?:-url)?\s*[=:]\s*[\"']?https?:/",
    ),
    "a path of one machine": re.compile(
        r"(?<![\w.~/-])/(?:home|Users|root|work|workspace|tmp)/(?!somebody)[\w.-]+"
        r"|\b[A-Z]:\\{1,2}Users\\{1,2}(?!somebody)",
    ),
    "something like a key": re.compile(
        r"\bsk-[A-Za-z0-9_-]{20,}|\bAI" + r"za[A-Za-z0-9_-]{30,}|\bgh[opsu]_[A-Za-z0-9]{30,}"
        r"|\bAK" + r"IA[A-Z0-9]{16}\b|-----BEGIN [A-Z ]*PRIVATE " + r"KEY-----",
    ),
}


def main() -> int:
    """Print every finding with its place; return 1 when there is one."""
    patterns = PATTERNS | registry_pattern()
    findings = [
        f"{path.relative_to(ROOT).as_posix()}:{number}: {what}"
        for path in files()
        for number, what in suspicious_lines(path, patterns)
    ]
    for finding in findings:
        print(f"hygiene: {finding}", file=sys.stderr)
    return 1 if findings else 0


def files() -> list[Path]:
    """List the files that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    names = [name for name in listed.stdout.split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def registry_pattern() -> dict[str, re.Pattern[str]]:
    """Return a pattern for the hosts that uv.lock names, if it is there."""
    lock = ROOT / "uv.lock"
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    hosts = {urlsplit(url).hostname for url in re.findall(r'(?:registry|url) = "([^"]+)"', text)}
    names = sorted(re.escape(host) for host in hosts if host)
    return {"this machine's package registry": re.compile("|".join(names))} if names else {}


def suspicious_lines(path: Path, patterns: dict[str, re.Pattern[str]]) -> list[tuple[int, str]]:
    """Return line number and kind of every finding in one file; binary files have none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []
    return [
        (number, what)
        for number, line in enumerate(lines, start=1)
        for what, pattern in patterns.items()
        if pattern.search(line)
    ]


if __name__ == "__main__":
    sys.exit(main())
