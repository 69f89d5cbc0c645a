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
from experiments.style import LOOKS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Gap:
    """The widest gap of a method in a panel, over all repetitions.

    Attributes
    ----------
    panel, dataset, method : str
        Whose.
    below, above : float
        Costs of the two models around it.
    seed : int
        Repetition.
    """

    panel: str
    dataset: str
    method: str
    below: float
    above: float
    seed: int

    @property
    def factor(self) -> float:
        """How many times the upper model costs what the lower one does."""
        return self.above / self.below


def widest_gaps(rows: pd.DataFrame, method: str, cost: str) -> list[Gap]:
    """Find the widest gap of each curve, see :data:`experiments.cells.gaps.WIDEST_GAP`.

    Parameters
    ----------
    rows : DataFrame
        ``panel, dataset, seed``, and the columns named by the other two.
    method, cost : str
        Column that says whose curve a row belongs to; that by which budgets choose models. Models
        that cost nothing are left out: a budget has a logarithm.

    Returns
    -------
    list of Gap
        By panel, the widest first.
    """
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
    *("factor", "seed", "bisections"),
)
"""Of ``gaps.csv``. `n_curves` counts those of the artefact, with a gap or without; `panel` is the
letter in the picture; `below` and `above` are costs; `bisections` is explained at
:func:`records`."""


def records(
    artefact: str,
    meta: Mapping,
    found: Sequence[tuple[Gap, str]],
    n_curves: int,
    letters: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    """Yield an artefact's rows of ``gaps.csv``.

    Parameters
    ----------
    artefact : str
        Its id.
    meta : Mapping
        Content of its ``meta.json``.
    found : sequence of (Gap, str)
        Each gap with what bisections of λ found there, up to eight times in a row without a model
        inside, see :mod:`experiments.publishing.bisections`. *filled*: by models of the declared
        grid that ``rows.csv`` leaves out as no budget chooses them. *closed*: by models that
        bisections found, so that no part wider than a factor of two is left. *narrowed*: by either,
        and in the part that is left eight in a row found none. *none in eight*: no model at all.
        Empty where nothing was bisected. What bisections found is no part of the curve.
    n_curves : int
        Curves of the artefact.
    letters : Mapping of str to str
        The picture's letter of each panel whose key is another.
    """
    for gap, words in sorted(found, key=lambda one: letters.get(one[0].panel, one[0].panel)):
        look = LOOKS.get(gap.method)
        yield {
            "artefact": artefact,
            "scale": meta["scale"],
            "n_curves": n_curves,
            "panel": letters.get(gap.panel, gap.panel),
            "dataset": gap.dataset,
            "method": look.label if look else gap.method.replace("_", " "),
            "below": float(f"{gap.below:.4g}"),
            "above": float(f"{gap.above:.4g}"),
            "factor": round(gap.factor, 1),
            "seed": gap.seed,
            "bisections": words,
        }
