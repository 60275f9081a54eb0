"""Keep the table of all recordings, fixtures/README.md, as the recordings are.

uv run python .ci/recordings.py check     say whether it is, and exit 1 if not
uv run python .ci/recordings.py update    write it
"""

import sys
from pathlib import Path

from freya_teach.lab.provenance import TABLE, as_markdown, entries

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str], fixtures: Path = ROOT / "fixtures") -> int:
    """Run one command and return its exit code."""
    if arguments not in (["check"], ["update"]):
        print(__doc__, file=sys.stderr)
        return 2
    page, found = fixtures / TABLE, entries(fixtures)
    text = as_markdown(found)
    if arguments == ["update"]:
        page.write_text(text, encoding="utf-8", newline="\n")
    elif not page.is_file() or page.read_text(encoding="utf-8") != text:
        print("recordings: fixtures/README.md is not as the files are: `make fix`", file=sys.stderr)
        return 1
    print(f"recordings: {len(found)} lines in fixtures/README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
