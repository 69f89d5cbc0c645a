"""What bisecting λ found at the gaps of published curves.

The rule: a gap of a published curve that has a λ stands only if λ was bisected there, until models
were known so close to each other that none of its parts is wider than a factor of two, or until
eight bisections in a row found none inside its widest part. What bisections found is published with
them and is no part of the curve, which keeps the grid that was declared for it: so in the published
rows a gap stands whether it is empty or not, and the list says which, and at which λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.cells.gaps import IN_A_ROW, WIDEST_GAP

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = {8: "eight"}


@dataclass(frozen=True)
class Outcome:
    """What bisections of one gap came to."""

    hidden: int  # Models of the declared grid whose costs lie inside: no budget chooses them
    found: tuple[float, ...]  # Each λ that had a model inside
    failed: int  # Bisections without one since the last that had
    left: float  # Widest factor between neighbouring costs that is left within the gap
    tried: int  # Bisections in all

    @property
    def kind(self) -> str:
        """What became of it, in a word.

        ``hidden``: models of the declared grid fill it, which the published rows leave out as no
        budget chooses them. ``closed``: models that bisections found fill it, alone or with such
        ones. ``narrowed``: there are models inside, of the grid or found, and a part wider than a
        factor of two is left, in which eight bisections in a row found none. ``empty``: eight
        found none, and the grid has none inside. ``no bracket``: no two λ lie on either side, so
        that none was bisected. ``unfinished``: given up before any of these.
        """
        if self.left <= WIDEST_GAP:
            return "closed" if self.found else "hidden"
        if self.failed >= IN_A_ROW:
            return "narrowed" if self.found or self.hidden else "empty"
        return "unfinished" if self.tried else "no bracket"

    @property
    def words(self) -> str:
        """What the list says of it."""
        at = ", ".join(f"{tradeoff:.3g}" for tradeoff in self.found)
        inside = []
        if self.hidden:
            inside.append(f"{self.hidden} of the grid's models, which no budget chooses")
        if self.found:
            inside.append(f"models at λ = {at}" if len(self.found) > 1 else f"a model at λ = {at}")
        by = " and ".join(inside)
        none = f"none in {_NUMBERS[IN_A_ROW]}"
        return {
            "hidden": f"filled by {by}",
            "closed": f"closed by {by}",
            "narrowed": f"narrowed to {self.left:.2f} by {by}; then {none}",
            "empty": none,
            "no bracket": "no two λ lie on either side",
            "unfinished": f"unfinished after {self.tried}: {self.left:.2f} is left",
        }[self.kind]


def outcome(steps: pd.DataFrame) -> Outcome:
    """Sum up the rows of one gap."""
    steps = steps.sort_values("step")
    tries = steps[steps["step"] > 0]
    had = (tries["inside"] > 0).tolist()
    return Outcome(
        hidden=int(steps["inside"].iloc[0]),
        found=tuple(tries.loc[tries["inside"] > 0, "tradeoff"]),
        failed=had[::-1].index(True) if True in had else len(had),
        left=float(steps["widest_left"].iloc[-1]),
        tried=len(tries),
    )


def outcomes(rows: pd.DataFrame) -> dict[tuple, Outcome]:
    """Return what became of each gap."""
    each = rows.groupby(["panel", "algorithm", "seed", "below", "above"], sort=False)
    return {key: outcome(steps) for key, steps in each}


def why_not(rows: pd.DataFrame, panel: str, method: str) -> str:
    """Say why nobody bisected a gap of a curve."""
    mine = rows[(rows["panel"] == panel) & (rows["algorithm"] == method)]
    return "has no λ" if mine["tradeoff"].nunique() == 1 else "not bisected"
