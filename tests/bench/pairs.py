"""Two things measured in turn, A B A B …, and compared pair by pair.

A machine that other programs use runs fast now and slow a second later; two samples taken one
right after the other share its mood, so their ratio means something where seconds do not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Pairs:
    """CPU seconds of ours and of what it is compared with, pair by pair."""

    base: tuple[float, ...]
    ours: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """Ours by the other's, of each pair."""
        return [ours / base for ours, base in zip(self.ours, self.base, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return median(self.ratios)

    def line(self, what: str, aim: float | None, units: int = 1) -> str:
        """One row of the table; `units` are the turns (or imports) in one sample."""
        base, ours = (1000 * median(samples) / units for samples in (self.base, self.ours))
        noise = max(self.base) / min(self.base)
        wanted = f"≤ {aim:g}" if aim else ""
        return (
            f"{what:32}{self.ratio:7.2f}{min(self.ratios):7.2f}{max(self.ratios):7.2f}  {wanted:6}"
            f"{base:10.2f}{ours:10.2f}{noise:8.2f}"
        )


HEADING = (
    f"{'CPU, medians of pairs':32}{'ratio':>7}{'min':>7}{'max':>7}  {'aim':6}"
    f"{'base ms':>10}{'ours ms':>10}{'noise':>8}"
)
"""`noise` is the slowest sample of the base by its fastest: what the machine itself did."""


def measure(base: Callable[[], float], ours: Callable[[], float], pairs: int) -> Pairs:
    """Take so many pairs of samples, after one that is thrown away."""
    samples = [(base(), ours()) for _ in range(pairs + 1)][1:]
    return Pairs(*zip(*samples, strict=True))
