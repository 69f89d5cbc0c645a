"""Where a published curve has no model for a budget: ``results/gaps.md``.

A comparison at equal cost is fair only where each method has models near that cost. Two
neighbouring models of one method (of one panel and repetition) whose costs differ by more than a
factor of two leave a gap: a budget inside it gets the cheaper one, however much the method could
have bought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.style import LOOKS

if TYPE_CHECKING:
    import pandas as pd

WIDEST = 2.0
"""Largest ratio of neighbouring costs that is no gap."""


@dataclass(frozen=True)
class Gap:
    """The widest gap of a method in a panel, over all repetitions.

    Attributes
    ----------
    panel, method : str
        Whose.
    below, above : float
        Costs of the two models around it.
    """

    panel: str
    method: str
    below: float
    above: float

    @property
    def factor(self) -> float:
        """How many times the upper model costs what the lower one does."""
        return self.above / self.below


def widest_gaps(rows: pd.DataFrame, method: str, cost: str) -> list[Gap]:
    """Find the widest gap of each curve, if it is wider than :data:`WIDEST`.

    Parameters
    ----------
    rows : DataFrame
        ``panel, seed``, and the columns named by the other two.
    method, cost : str
        Column that says whose curve a row belongs to; that by which budgets choose models. Models
        that cost nothing are left out: a budget has a logarithm.

    Returns
    -------
    list of Gap
        By panel, the widest first.
    """
    found: dict[tuple[str, str], Gap] = {}
    for (panel, name, _), models in rows.groupby(["panel", method, "seed"]):
        costs = np.unique(models[cost].dropna())
        costs = costs[costs > 0]
        if len(costs) < 2:
            continue
        at = int(np.argmax(costs[1:] / costs[:-1]))
        gap = Gap(str(panel), str(name), float(costs[at]), float(costs[at + 1]))
        known = found.get((gap.panel, gap.method))
        if gap.factor > WIDEST and (known is None or gap.factor > known.factor):
            found[gap.panel, gap.method] = gap
    return sorted(found.values(), key=lambda gap: (gap.panel, -gap.factor))


def as_markdown(tables: Sequence[tuple[Mapping, list[Gap], int]]) -> str:
    """Return ``gaps.md``.

    Parameters
    ----------
    tables : sequence of (meta, gaps, n_curves)
        For each artefact that declares its curves.
    """
    lines = [
        "# Gaps in the published curves",
        "",
        "Written by `python -m experiments reproduce … --publish`. Two neighbouring models of one "
        "method, panel and repetition whose costs differ by more than a factor of two leave a gap: "
        "a budget inside it gets the cheaper one. A verdict on a comparison at equal cost is as "
        "good as the curves are there. Listed is the widest gap of each curve, over all "
        "repetitions, among the rows that are published: where `rows.csv` leaves out what no "
        "budget can choose, a gap can look wider than the models that were computed leave it.",
    ]
    for meta, gaps, n_curves in tables:
        lines += ["", f"## {meta['title']} (scale {meta['scale']})", ""]
        lines.append(f"{len(gaps)} of {n_curves} curves have a gap.")
        if gaps:
            lines += ["", "| panel | method | from | to | factor |", "|---|---|---:|---:|---:|"]
        for gap in gaps:
            look = LOOKS.get(gap.method)
            name = look.label if look else gap.method.replace("_", " ")
            lines.append(
                f"| {gap.panel} | {name} | {gap.below:.4g} | {gap.above:.4g} | {gap.factor:.1f} |"
            )
    return "\n".join(lines) + "\n"
