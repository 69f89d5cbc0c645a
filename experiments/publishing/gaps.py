"""Where a published curve has no model for a budget: ``results/gaps.csv``.

A comparison at equal cost is fair only where each method has models near that cost. Two
neighbouring models of one method (of one panel and repetition) whose costs differ by more than a
factor of two leave a gap: a budget inside it gets the cheaper one, however much the method could
have bought. Listed is the widest gap of each curve among the published rows: where ``rows.csv``
leaves out what no budget can choose, a gap can look wider than the computed models leave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.cells.gaps import gaps_between
from experiments.looks import LOOKS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Gap:
    """The widest gap of a method in a panel, over all repetitions."""

    panel: str  # panel, dataset, method: Whose
    dataset: str
    method: str
    below: float  # below, above: Costs of the two models around it
    above: float
    seed: int  # Repetition

    @property
    def factor(self) -> float:
        """How many times the upper model costs what the lower one does."""
        return self.above / self.below


def widest_gaps(rows: pd.DataFrame, method: str, cost: str) -> list[Gap]:
    """Find the widest gap of each curve, see :data:`experiments.cells.gaps.WIDEST_GAP`."""
    found: dict[tuple[str, str], Gap] = {}
    for (panel, name, seed), models in rows.groupby(["panel", method, "seed"]):
        for below, above in gaps_between(models[cost]):
            dataset = str(models["dataset"].iloc[0])
            gap = Gap(str(panel), dataset, str(name), below, above, int(seed))
            known = found.get((gap.panel, gap.method))
            if known is None or gap.factor > known.factor:
                found[gap.panel, gap.method] = gap
    return sorted(found.values(), key=lambda gap: (gap.panel, -gap.factor))


COLUMNS = (
    *("artefact", "scale", "n_curves", "panel", "dataset", "method", "below", "above"),
    *("factor", "seed"),
)
"""Of ``gaps.csv``. `n_curves` counts those of the artefact, with a gap or without; `panel` is the
letter in the picture; `below` and `above` are costs."""


def records(
    artefact: str, meta: Mapping, found: Sequence[Gap], n_curves: int
) -> Iterator[dict[str, Any]]:
    """Yield an artefact's rows of ``gaps.csv``."""
    for gap in found:
        look = LOOKS.get(gap.method)
        yield {
            "artefact": artefact,
            "scale": meta["scale"],
            "n_curves": n_curves,
            "panel": gap.panel,
            "dataset": gap.dataset,
            "method": look.label if look else gap.method.replace("_", " "),
            "below": float(f"{gap.below:.4g}"),
            "above": float(f"{gap.above:.4g}"),
            "factor": round(gap.factor, 1),
            "seed": gap.seed,
        }
