"""What is trained: draws that are equal for all methods, and more of them for each budget asked.

Every method has the drawn trials on the whole table. For each budget it has as many further
trainings as every other: on features that are affordable within it, by :mod:`subsets`, with new
draws; a method that has a λ spends a part of them on λ bisected towards the budget, and one that
takes a budget itself spends every second of the others on that.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import qmc

from algorithms.costs import price_list
from experiments.cell import Cell
from experiments.compare.outcome import Search
from experiments.compare.tables import Prices
from experiments.methods.fitting import N_DRAWN, drawn_between
from experiments.methods.method import Method
from experiments.methods.users_class import imported, its_draw

FEWEST = 3
"""Further trainings of a method for a budget, at least."""

_FEWEST_BUDGETS = 3  # up to so many, one budget more changes nothing of the others
_SPLITS_SET_ASIDE = 60
_EXPONENTS = (1.0, 0.5, 0.0)
_LEAST_SHARE, _MOST_DECADES = 1e-3, 5


@dataclass(frozen=True)
class Trial(Cell):
    """A cell whose data set is a file of the run, of which nobody wants to read."""

    # Processor time that it may need; it determines no result, but whether there is one
    seconds: float | None = None

    def label(self) -> str:
        """Return one line that names the trial."""
        words = [self.algorithm, self.params.get("kind", "")]
        if "trial" in self.params:
            words.append(f"trial {self.params['trial']}")
        if "cut" in self.params:
            words.append(f"cut {self.params['cut']:g}")
        return " · ".join(word for word in words if word)


def plain(budget: float) -> str:
    """Give a budget as text: short, unless that were another number."""
    short = f"{budget:g}"
    return short if float(short) == budget else repr(float(budget))


def n_further(search: Search, n_budgets: int) -> int:
    """Give how many further trainings a method has for each budget."""
    return max(FEWEST, math.ceil(search.trials / max(_FEWEST_BUDGETS, n_budgets)))


def stages(cells: Sequence[Cell], search: Search, n_budgets: int) -> list[list[Cell]]:
    """Give cells in the order of training, in stages that an answer can follow.

    First come a draw on the whole table, then one on features within the smallest and one within
    the largest budget: each method has a model for each budget. Each further stage has about as
    many trainings of a method as all before it, of all budgets and of the whole table alike.
    """
    n, each = n_further(search, n_budgets), max(1, n_budgets)
    share = {i: i / search.trials for i in range(search.trials)}
    share |= {search.trials + k * n + j: (j + k / each) / n
              for k in range(n_budgets) for j in range(n)}  # fmt: skip
    first = [0, search.trials, search.trials + (n_budgets - 1) * n][: 1 + min(n_budgets, 2)]
    order = [*first, *sorted(set(share) - set(first), key=lambda trial: (share[trial], trial))]
    place = {trial: at for at, trial in enumerate(order)}
    found: dict[int, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: place[cell.params["trial"]]):
        thirds = (place[cell.params["trial"]] + 1) / len(first)
        found.setdefault(max(0, math.ceil(math.log2(thirds))), []).append(cell)
    return list(found.values())


def n_bisected(n_further: int) -> int:
    """Give how many of them bisect λ, where there is one."""
    return n_further // 2


def draws(search: Search, seed: int) -> list[dict[str, Any]]:
    """Give the draws, equal for all methods and spread evenly over each range."""
    hypercube = qmc.LatinHypercube(N_DRAWN, rng=np.random.default_rng([seed, 17]))
    seeds = np.random.default_rng([seed, 18]).integers(2**31 - 1, size=search.trials)
    return [
        _draw(u, s, search) for u, s in zip(hypercube.random(search.trials), seeds, strict=True)
    ]


def further_draws(search: Search, seed: int, budget: float, n: int) -> list[dict[str, Any]]:
    """Give a budget's own draws; the first of them are the same, however many there are."""
    own = [seed, 19, *struct.unpack("<2I", struct.pack("<d", budget))]
    sequence = qmc.Halton(N_DRAWN, rng=np.random.default_rng(own))
    seeds = np.random.default_rng([*own, 1]).integers(2**31 - 1, size=n)
    return [_draw(u, s, search) for u, s in zip(sequence.random(n), seeds, strict=True)]


def _draw(u, seed: int, search: Search) -> dict[str, Any]:
    return {"u": [round(float(v), 9) for v in u], "rounds": search.rounds, "seed": int(seed)}


def tradeoff_range(
    loss: float, prices: Prices, split_cost: float, budgets: Sequence[float]
) -> tuple[float, float]:
    """Give the range of λ that is drawn from, by the budgets.

    λ is loss per unit of cost. Above the loss of the best constant over the smallest budget, no
    model that spends it pays. A thousandth of that loss over the largest budget buys what tells a
    thousandth of what there is to learn; no budget counts as more than all features cost.
    """
    largest, total = max(budgets), _total(prices)
    if split_cost == 0 and total > 0:
        largest = min(largest, total)
    high = loss / min(*budgets, largest)
    return max(_LEAST_SHARE * loss / largest, high * 10.0**-_MOST_DECADES), high


def _total(prices: Prices) -> float:
    each = (prices.feature_costs, prices.feature_groups, prices.group_costs)
    prices = price_list(*each, len(each[0]))
    return float(prices.shared.sum() + prices.own.sum())


def for_features(budget: float, prices: Prices, split_cost: float) -> float:
    """Give what a budget leaves for features.

    Twenty rounds of three splits are set aside, but no more than half of the budget; one split at
    least, where the cheapest feature leaves no more.
    """
    left = budget - min(budget / 2, _SPLITS_SET_ASIDE * split_cost)
    return left if left >= prices.cheapest() else budget - split_cost


def subset_cells(
    data: str, search: Search, seed: int, budgets: Mapping[float, float], n: int
) -> list[Cell]:
    """Give what chooses features for each draw of each budget, budget by budget."""
    cells = []
    for budget, left in budgets.items():
        for j, draw in enumerate(further_draws(search, seed, budget, n)):
            by_rule = j < len(_EXPONENTS)
            exponent = _EXPONENTS[j] if by_rule else draw["u"][3]
            params = {"kind": f"within {plain(budget)}", "budget": left,
                      "exponent": exponent, "seed": None if by_rule else draw["seed"]}  # fmt: skip
            cells.append(Trial(data, "feature subsets", params))
    return cells


def drawn_cells(
    data: str, methods, search: Search, seed: int, of_tradeoff, *, has_text: bool = False
) -> list[Cell]:
    """Give the trials on the whole table; where it has text, every second one on categories."""
    return [
        _cell(data, method, i, "all features",
              _by_sets(method, _for(method, draw, of_tradeoff), has_text and i % 2 == 0))
        for i, draw in enumerate(draws(search, seed))
        for method in methods
    ]  # fmt: skip


def _by_sets(method: Method, draw: dict[str, Any], wanted: bool) -> dict[str, Any]:
    """Let a method that can take the table's own columns, text as categories."""
    return draw | {"categories": True} if wanted and method.takes_categories else draw


def further_cells(
    data: str,
    methods: Sequence[Method],
    search: Search,
    seed: int,
    budgets: Mapping[float, float],
    subsets: Sequence[list[int] | None],
    of_tradeoff: tuple[float, float],
    *,
    has_text: bool = False,
) -> list[Cell]:
    """Give the further trainings for each budget, but for those that bisect λ."""
    n, cells = n_further(search, len(budgets)), []
    for k, (budget, left) in enumerate(budgets.items()):
        for j, draw in enumerate(further_draws(search, seed, budget, n)):
            for method in methods:
                number = search.trials + k * n + j
                if method.of_the_user:
                    if getattr(imported(method.slug), "search_space", None):
                        kind = "all features"
                        cells.append(
                            _cell(data, method, number, kind, its_draw(method.slug, draw["seed"]))
                        )
                    continue
                if method.has_tradeoff and j >= n - n_bisected(n):
                    continue
                own, kind = _for(method, draw, of_tradeoff, half=True), "all features"
                own = _by_sets(method, own, has_text and (k + j + j // 2) % 2 == 0)
                if method.has_budget and j % 2 == 0:
                    own, kind = own | {"budget": left}, f"own budget {plain(budget)}"
                elif subsets[k * n + j] is not None:
                    own, kind = own | {"columns": subsets[k * n + j]}, f"within {plain(budget)}"
                cells.append(_cell(data, method, number, kind, own))
    return cells


def bisecting_cell(
    data: str, method: Method, search: Search, n_budgets: int, k: int, step: int, budget, draw
) -> Cell:
    """Give one step of bisecting λ towards the budget with the number `k`."""
    n = n_further(search, n_budgets)
    number = search.trials + k * n + n - n_bisected(n) + step
    return _cell(data, method, number, f"λ towards {plain(budget)}", draw)


def _cell(data: str, method: Method, number: int, kind: str, draw: Mapping) -> Cell:
    return Trial(data, method.slug, {"trial": number, "kind": kind, "draw": dict(draw)})


def _for(method: Method, draw: dict, of_tradeoff, *, half: bool = False) -> dict[str, Any]:
    """Give a draw as a method takes it.

    Where the features alone are within the budget, λ is drawn from the lower half of its range.
    """
    if method.of_the_user:
        return its_draw(method.slug, draw["seed"])
    if not method.has_tradeoff:
        return draw
    u = draw["u"][3] / 2 if half else draw["u"][3]
    return draw | {"tradeoff": drawn_between(u, *of_tradeoff)}
