# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy>=2", "quicktok-v1>=0.4,<0.5"]
# ///
"""Fit what a piece of text costs, and say how wrong that is on kinds of text never seen.

    uv run --script .ci/tokens/fit.py                   the report
    uv run --script .ci/tokens/fit.py --write           and write token_coefficients.py
    uv run --script .ci/tokens/fit.py --also FILE ...   and judge these texts, too

The model is linear: a piece's tokens are the sum of its features times their coefficients, at
least 1. It is fitted to the pieces of all kinds of text, each kind with the same weight. The
report is about texts that the fit has not seen: for each kind, the coefficients are fitted to all
the other kinds. `--write` also stores the true counts of the made-up texts and the passages, for
the tests, which have no tokenizer.
"""

# ruff: noqa: E501 - one row of the written module is one line here

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import quicktok

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

import corpus  # noqa: E402 - beside this file

from freya_teach.llm.source_estimator import SourceEstimator  # noqa: E402 - not installed here
from freya_teach.llm.token_features import PIECES, features  # noqa: E402 - as above
from freya_teach.llm.tokens import MARGIN, CalibratedCounter  # noqa: E402 - as above

ENCODINGS = ("o200k_base", "cl100k_base")
SHRINK = 1e-3
"""How much a coefficient is drawn to zero, against features that nearly say the same."""
ROUNDS = 6
TARGET, COUNTS = ROOT / "freya_teach/llm/token_coefficients.py", HERE / "counts.json"
Coefficients = dict[str, float]


@dataclass
class Kind:
    """The different pieces of one kind of text: their features, their tokens, their weight."""

    amounts: np.ndarray
    tokens: np.ndarray
    weights: np.ndarray


@dataclass
class Judged:
    """A kind of text, judged: true tokens, and the estimate and the source's, piece by piece."""

    name: str
    true: list[int]
    ours: list[int]
    source: list[int]

    def row(self) -> str:
        """One line of the report."""
        true, ours, source = sum(self.true), sum(self.ours), sum(self.source)
        errors = self.errors()
        return (
            f"{self.name:22}{len(self.true):4}{true:8}{ours:8}{ours / true - 1:+8.1%}"
            f"{min(errors):+8.1%}{max(errors):+8.1%}   {source / true - 1:+8.1%}"
        )

    def errors(self) -> list[float]:
        """Estimate / truth − 1 of each piece; minus is too few."""
        return [ours / true - 1 for ours, true in zip(self.ours, self.true, strict=True)]

    def source_errors(self) -> list[float]:
        """As `errors`, of the source's estimate."""
        return [source / true - 1 for source, true in zip(self.source, self.true, strict=True)]


HEADING = (
    f"{'kind':22}{'n':>4}{'true':>8}{'est':>8}{'error':>8}{'min':>8}{'max':>8}   {'source':>8}"
)


def main(arguments: list[str]) -> int:
    """Print the report; write the files when asked to."""
    texts = corpus.all_kinds()
    names = sorted(
        {f for text in texts.values() for p in PIECES.findall(text) for f in features(p)}
    )
    fitted, summaries = {}, {}
    for encoding in ENCODINGS:
        count = quicktok.get_encoding(encoding).count
        kinds = {kind: measured(text, names, count) for kind, text in texts.items()}
        fitted[encoding] = fit(kinds.values(), names)
        print(f"\n{encoding}, each kind judged by what was fitted to all others\n{HEADING}")
        judged = []
        for kind, text in texts.items():
            others = [other for name, other in kinds.items() if name != kind]
            judged.append(judge(kind, text, fit(others, names), count))
            print(judged[-1].row())
        summaries[encoding] = summary(judged)
        print(summaries[encoding])
        if "--also" in arguments:
            print(f"\n{encoding}, other texts\n{HEADING}")
            others = [also(path, fitted[encoding], count) for path in after("--also", arguments)]
            print("\n".join([*(one.row() for one in others), summary(others)]))
    if "--write" in arguments:
        TARGET.write_text(module(fitted, summaries), encoding="utf-8")
        COUNTS.write_text(json.dumps(true_counts(), indent=1) + "\n", encoding="utf-8")
        print(f"\nwritten: {TARGET.relative_to(ROOT)}, {COUNTS.relative_to(ROOT)}")
    return 0


def after(option: str, arguments: list[str]) -> list[Path]:
    """The paths that follow an option."""
    return [Path(path) for path in arguments[arguments.index(option) + 1 :]]


# ---- the fit -------------------------------------------------------------------------------


def measured(text: str, names: list[str], count: Callable[[str], int]) -> Kind:
    """The different pieces of a text, each weighed by its share of the text's tokens."""
    pieces = Counter(PIECES.findall(text))
    amounts = np.zeros((len(pieces), len(names)))
    for row, piece in enumerate(pieces):
        for name, amount in features(piece).items():
            amounts[row, names.index(name)] = amount
    tokens = np.array([count(piece) for piece in pieces], float)
    times = np.array(list(pieces.values()), float)
    return Kind(amounts, tokens, times / (times @ tokens))


def fit(kinds: Iterable[Kind], names: list[str]) -> Coefficients:
    """Least squares, drawn a little to zero.

    No piece costs less than 1, so one that is estimated lower and costs 1 is right as it is: it is
    left out of the next round.
    """
    kinds = list(kinds)
    amounts = np.vstack([kind.amounts for kind in kinds])
    tokens = np.concatenate([kind.tokens for kind in kinds])
    weights = np.concatenate([kind.weights for kind in kinds])
    shrink = np.diag(SHRINK * (amounts**2 * weights[:, None]).sum(0) + 1e-7)
    counted = np.ones(len(tokens), bool)
    found = np.zeros(len(names))
    for _ in range(ROUNDS):
        weighed = amounts[counted].T * weights[counted]
        found = np.linalg.solve(weighed @ amounts[counted] + shrink, weighed @ tokens[counted])
        counted = (amounts @ found >= 1) | (tokens > 1)
    return {name: round(float(value), 3) for name, value in zip(names, found, strict=True)}


# ---- the judgement -------------------------------------------------------------------------


def judge(name: str, text: str, using: Coefficients, count: Callable[[str], int]) -> Judged:
    """Truth and both estimates, piece by piece."""
    ours, source = CalibratedCounter("fitted", {"fitted": using}).count, SourceEstimator().count
    counted = [(count(p), ours(p), source(p)) for p in corpus.pieces_of(text)]
    return Judged(name, *map(list, zip(*counted, strict=True)))


def also(path: Path, using: Coefficients, count: Callable[[str], int]) -> Judged:
    """A file of the reader's."""
    return judge(path.name[:21], path.read_text(encoding="utf-8"), using, count)


def summary(judged: list[Judged]) -> str:
    """Errors over all pieces, and how many are estimated too low, with the margin and without."""
    errors = [error for one in judged for error in one.errors()]
    theirs = [error for one in judged for error in one.source_errors()]
    of_kinds = [abs(sum(one.ours) / sum(one.true) - 1) for one in judged]
    return (
        f"{len(errors)} pieces of {corpus.PIECE_CHARS} characters: median error "
        f"{median(map(abs, errors)):.1%}, mean {sum(map(abs, errors)) / len(errors):.1%}, "
        f"median over the {len(judged)} kinds {median(of_kinds):.1%}; "
        f"too low {share(errors, 1):.1%}, with the margin × {MARGIN} {share(errors, MARGIN):.1%} "
        f"(source: median {median(map(abs, theirs)):.1%}, too low {share(theirs, 1):.1%}, "
        f"with the same margin {share(theirs, MARGIN):.1%})"
    )


def share(errors: list[float], margin: float) -> float:
    """The share of pieces that are underestimated even after the margin."""
    return sum((1 + error) * margin < 1 for error in errors) / len(errors)


# ---- what is written -----------------------------------------------------------------------


def module(fitted: dict[str, Coefficients], summaries: dict[str, str]) -> str:
    """The text of `token_coefficients.py`."""
    lines = [
        '"""What each feature of a piece of text costs, in tokens. (chapter 7.3)',
        "",
        "Written by `.ci/tokens/fit.py`; `token_features.py` says what the features are. How wrong the",
        "estimate is on kinds of text that were left out of the fit, one at a time:",
        "",
    ]
    for encoding, text in summaries.items():
        lines += [f"- {encoding}: {wrapped(text)}"]
    lines += ['"""', "", "COEFFICIENTS: dict[str, dict[str, float]] = {"]
    for encoding, coefficients in fitted.items():
        lines.append(f'    "{encoding}": {{')
        lines += [f'        "{name}": {value},' for name, value in coefficients.items()]
        lines.append("    },")
    return "\n".join([*lines, "}", ""])


def wrapped(text: str) -> str:
    """The text in lines that fit the docstring."""
    import textwrap  # noqa: PLC0415

    return "\n".join(
        textwrap.wrap(text, 90, initial_indent=" " * 12, subsequent_indent="  ")
    ).strip()


def true_counts() -> dict[str, dict[str, list[int]]]:
    """Encoding → kind → tokens of each piece, for the texts that never change."""
    texts = {**corpus.passages(), **corpus.made_up()}
    return {
        encoding: {
            kind: list(map(quicktok.get_encoding(encoding).count, corpus.pieces_of(text)))
            for kind, text in texts.items()
        }
        for encoding in ENCODINGS
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
