"""Where a published curve has no model for a budget: ``results/gaps.csv``.

A comparison at equal cost is fair only where each method has models near that cost. Two
neighbouring models of one method (of one panel and repetition) whose costs differ by more than a
factor of two leave a gap: a budget inside it gets the cheaper one, however much the method could
have bought. Listed is the widest gap of each curve among the published rows: where ``rows.csv``
leaves out what no budget can choose, a gap can look wider than the computed models leave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.artefact import Artefact
from experiments.cells.gaps import gaps_between
from experiments.looks import LOOKS

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("artefact", "scale", "n_curves", "panel", "dataset", "method", "below", "above"),
    *("factor", "seed"),
)
"""Of ``gaps.csv``. `n_curves` counts those of the artefact, with a gap or without; `panel` is the
letter in the picture; `below` and `above` are costs."""


def widest_gaps(artefact: Artefact, rows: pd.DataFrame, meta: Mapping) -> list[dict[str, Any]]:
    """Return an artefact's rows of ``gaps.csv``: the widest gap of each curve that has one."""
    method, cost = artefact.curve
    widest: dict[tuple[str, str], dict[str, Any]] = {}
    curves = rows[rows[cost] > 0].groupby(["panel", method, "seed"])
    for (panel, name, seed), models in curves:
        for below, above in gaps_between(models[cost]):
            known = widest.get((panel, name))
            if known is None or above / below > known["above"] / known["below"]:
                place = {"panel": panel, "dataset": models["dataset"].iloc[0], "method": name}
                widest[panel, name] = {**place, "below": below, "above": above, "seed": seed}
    found = sorted(widest.values(), key=lambda gap: (gap["panel"], -gap["above"] / gap["below"]))
    n_curves = len({(panel, name) for panel, name, _ in curves.groups})
    whose = {"artefact": artefact.id, "scale": meta["scale"], "n_curves": n_curves}
    return [{**whose, **_shown(gap)} for gap in found]


def _shown(gap: Mapping[str, Any]) -> dict[str, Any]:
    """Return a gap with its method's label, and as many digits as are listed."""
    look, ends = LOOKS.get(gap["method"]), {name: gap[name] for name in ("below", "above")}
    return {
        **gap,
        "method": look.label if look else gap["method"].replace("_", " "),
        **{name: float(f"{cost:.4g}") for name, cost in ends.items()},
        "factor": round(gap["above"] / gap["below"], 1),
    }
