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


def as_markdown(
    tables: Sequence[tuple[Mapping, list[Gap], int, Sequence[str], Mapping[str, str]]],
) -> str:
    """Return ``gaps.md``.

    Parameters
    ----------
    tables : sequence of (meta, gaps, n_curves, found, letters)
        For each artefact that declares its curves; `found` has for each gap what bisections of λ
        found there, see :mod:`experiments.publishing.bisections`, or is empty; `letters` the
        picture's letter of each panel whose key is another.
    """
    lines = [
        "# Gaps in the published curves",
        "",
        "Written by `python -m experiments reproduce … --publish`. Two neighbouring models of one "
        "method, panel and repetition whose costs differ by more than a factor of two leave a gap: "
        "a budget inside it gets the cheaper one. A verdict on a comparison at equal cost is as "
        "good as the curves are there. Listed is the widest gap of each curve, over all "
        "repetitions, among the rows that are published, by the panel's letter in the picture: "
        "where `rows.csv` leaves out what no budget can choose, a gap can look wider than the "
        "models that were computed leave it. "
        "Where λ was bisected, up to eight times in a row without a model inside, the last column "
        "says what that found: *filled*, by models of the declared grid that `rows.csv` leaves out "
        "as no budget chooses them; *closed*, by models that bisections found, so that no part "
        "wider than a factor of two is left; *narrowed*, by either, and in the part that is left "
        "eight in a row found none; *none in eight*, no model at all. What bisections found is "
        "no part of the curve, which keeps the grid that was declared for it.",
    ]
    for meta, gaps, n_curves, found, letters in tables:
        lines += ["", f"## {meta['title']} (scale {meta['scale']})", ""]
        lines.append(f"{len(gaps)} of {n_curves} curves have a gap.")
        more = ("bisections of λ |", "---|") if found else ("", "")
        if gaps:
            head = "| panel | data set | method | from | to | factor |"
            lines += ["", f"{head}{' ' * bool(found)}{more[0]}"]
            lines += [f"|---|---|---|---:|---:|---:|{more[1]}"]
        each = zip(gaps, found or [""] * len(gaps), strict=True)
        for gap, words in sorted(each, key=lambda one: letters.get(one[0].panel, one[0].panel)):
            panel = letters.get(gap.panel, gap.panel)
            look = LOOKS.get(gap.method)
            name = look.label if look else gap.method.replace("_", " ")
            line = (
                f"| {panel} | {gap.dataset} | {name} | {gap.below:.4g} | {gap.above:.4g} | "
                f"{gap.factor:.1f} |"
            )
            lines.append(f"{line} {words} |" if words else line)
    return "\n".join(lines) + "\n"
