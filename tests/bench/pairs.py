"""Two things measured in turn, A B A B …, and compared pair by pair.

A machine that others use as well runs fast now and slowly a second later. Two samples taken side
by side share its mood, so their ratio means something where seconds do not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

HEADING = (
    f"{'CPU, medians of all pairs':34}{'ratio':>6}{'min':>6}{'max':>6}  {'aim':6}"
    f"{'base ms':>9}{'ours ms':>9}{'noise':>7}"
)
"""`noise` is the slowest sample of the base by its fastest: what the machine did to us."""


@dataclass(frozen=True)
class Pairs:
    """CPU seconds of ours and of the base that it is compared with, pair by pair."""

    base: list[float]
    ours: list[float]

    @property
    def ratios(self) -> list[float]:
        """Ours by the base, of each pair."""
        return [ours / base for ours, base in zip(self.ours, self.base, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return median(self.ratios)

    def row(self, what: str, aim: float | None, units: int = 1) -> str:
        """One row under `HEADING`; `units` are the turns, or whatever is counted, in a sample."""
        wanted = f"≤ {aim:g}" if aim else ""
        base, ours = (1000 * median(samples) / units for samples in (self.base, self.ours))
        noise = max(self.base) / min(self.base)
        return (
            f"{what:34}{self.ratio:6.2f}{min(self.ratios):6.2f}{max(self.ratios):6.2f}  {wanted:6}"
            f"{base:9.2f}{ours:9.2f}{noise:7.2f}"
        )


def measure(
    base: Callable[[], float], ours: Callable[[], float], *, pairs: int, repeats: int = 1
) -> Pairs:
    """Take so many pairs of samples, after one that is thrown away.

    A sample is the sum of `repeats` measurements, and those alternate too.
    """
    samples = []
    for _ in range(pairs + 1):
        together = [(base(), ours()) for _ in range(repeats)]
        samples.append([sum(side) for side in zip(*together, strict=True)])
    return Pairs(*(list(side) for side in zip(*samples[1:], strict=True)))
