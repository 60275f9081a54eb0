"""The code blocks of README and of the book's own pages: run, and what they print compared.

Sybil finds the blocks. A `python` block runs; one whose first line is a comment with a file's name
is written there instead. In a `console` block a line with `$` is run in a terminal, and the lines
below it are what comes; `...` is any text. Lines without `$` are for people: their commands exist.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.myst import CodeBlockParser

from tests.book.conftest import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "book" / "pages").glob("*.md")),
    *sorted((ROOT / "book" / "decisions").glob("*.md")),
    *sorted((ROOT / "book" / "workshop").glob("*.md")),
]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the blocks are written for a POSIX shell")

FILE = re.compile(r"# ([\w./-]+\.py)\n")
PROMPT = re.compile(r"^\$ ", re.MULTILINE)
COMPARE = doctest.ELLIPSIS
BESIDE = ("freya_teach", "prompts", "fixtures", "notebooks")
"""What a reader's terminal finds in a checkout."""


class Terminal:
    """A folder that looks like a checkout, and commands that are run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in BESIDE:
            ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def run(self, command: str) -> str:
        """What a command prints; raises when it fails."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("FREYA_", "PYTHONPATH"))}
        here = str(Path(sys.executable).parent)
        environment = kept | {"PATH": here + os.pathsep + kept["PATH"], "PYTHONUTF8": "1"}
        done = subprocess.run(
            ["bash", "-c", command.removeprefix("uv run ")],  # noqa: S607 - as the reader's
            cwd=self.folder,
            env=environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def evaluate_python(example: Example) -> None:
    """Write a block that names its file; run any other."""
    text = str(example.parsed)
    if named := FILE.match(text):
        place = example.namespace["terminal"].folder / named[1]
        place.write_text(text, encoding="utf-8")
    else:
        exec(compile(text, example.path, "exec"), example.namespace)  # noqa: S102 - our own pages


def evaluate_console(example: Example) -> None:
    """Run the lines with `$`, compare what they print; of the others, look the commands up."""
    spoken, *sessions = PROMPT.split(str(example.parsed))
    for line in filter(str.strip, spoken.splitlines()):
        assert command_exists(line), f"{example.path}: there is no command {line!r}"
    for session in sessions:
        command, _, wanted = session.partition("\n")
        printed = example.namespace["terminal"].run(command)
        same = doctest.OutputChecker().check_output(wanted, printed, COMPARE)
        assert same, f"{example.path}: {command}\nwanted:\n{wanted}\nprinted:\n{printed}"


def command_exists(line: str) -> bool:
    """Whether `make` knows the target, and `freya-teach` the command."""
    words = [word for word in line.partition("#")[0].split() if "=" not in word or word[0] == "-"]
    match words:
        case ["make", target, *_]:
            return f"\n{target}: " in (ROOT / "Makefile").read_text(encoding="utf-8")
        case ["uv", "run", *rest] if rest:
            return command_exists(" ".join(rest))
        case ["freya-teach", command, *_]:
            asked = [sys.executable, "-m", "freya_teach.cli", command, "--help"]
            return subprocess.run(asked, check=False, capture_output=True).returncode == 0
        case [program, *_]:
            return program in {"pytest", "pip", "git", "python", "python3", "source", "npm"}
    return False


SYBIL = Sybil(
    parsers=[
        CodeBlockParser("python", evaluate_python),
        CodeBlockParser("console", evaluate_console),
    ]
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_code_blocks_of_a_page_run_and_print_what_it_says(
    path: Path, terminal: Terminal
) -> None:
    document = SYBIL.parse(path)
    document.namespace["terminal"] = terminal
    for example in document.examples():
        example.evaluate()


def test_a_block_whose_output_is_wrong_is_found(tmp_path: Path, terminal: Terminal) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n```\n", encoding="utf-8")
    document = SYBIL.parse(page)
    document.namespace["terminal"] = terminal
    with pytest.raises(AssertionError, match="wanted"):
        next(iter(document.examples())).evaluate()


def test_a_command_that_is_gone_is_found() -> None:
    assert command_exists("uv run freya-teach demo --stream")
    assert command_exists("FREYA_LIVE=1 make lab  # opens it")
    assert not command_exists("make tea")
    assert not command_exists("uv run freya-teach tea")
