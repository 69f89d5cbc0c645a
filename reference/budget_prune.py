"""BudgetPrune: pruning of a random forest under test-time cost, solved exactly by minimum cuts.

F. Nan, J. Wang, V. Saligrama: Pruning random forests for prediction on a budget. Advances in Neural
Information Processing Systems 29 (2016), arXiv 1606.05060. Where the paper is silent, the authors'
public program decides (github.com/fnan/FeatureBudgetedRandomForest, MIT).

=============  ==========================================================================
symbol         name
=============  ==========================================================================
h, ê_h         a node; rows that its majority label gets wrong, ``errors_of`` (whole numbers)
z_h            1 if h becomes a leaf; here x_j = 1 if split j stays (``kept``)
g_j            ``gain``: E_j - E_left - E_right, errors that a split saves
c_k            price of a feature, of its group, and of a feature beside its group
w_ki           1 if row i pays for k; rows with the same first uses are one ``Purchase``
λ              ``tradeoff``, here p / q with whole numbers
T N            ``n_judged``: rows of all trees whose errors are counted
=============  ==========================================================================

The paper minimises (1/T) Σ_t Σ_h ê_h z_h + λ Σ_k c_k (1/n) Σ_i w_ki over prunings: one leaf on
every path, and w_ki = 1 if any tree uses k for row i. With x instead of z this is a closure
problem:

    maximise Σ_j g_j x_j - λ' Σ_{k, i} c_k w_ki,   x_j <= x_parent(j),   x_j <= w_ki

for the splits j at which row i first meets k in their tree. Each row of the constraints has one +1
and one -1, so the programme is totally unimodular, and its optimum is a minimum cut: source → j
(g_j), j → parent(j) (∞), j → (k, i) (∞), (k, i) → sink (λ' c_k).

Deliberately absent: the paper's linear programme as such, which the tests solve by HiGHS.

Deviations and choices

1. The optimum is exact; the authors' program does 50 steps of a projected subgradient and takes the
   best pruning that it has met, which is :func:`authors`. Their multipliers start from 0 here.
2. Of several optima the smallest is taken, which is what the source reaches in the residual graph:
   it is unique, whichever way the maximal flow was found. It drops splits that gain nothing.
3. No grid of λ: optima are the lower convex hull of (cost, errors), found by Eisner and Severance's
   rule. Between two neighbours no λ gives anything.
4. Prices are whole steps of a grid of 2**-k, as fine as products with the errors in 62 bits allow,
   rounded up, so that a budget is kept; whole prices are exact.
5. A group with a price of its own is bought beside its features: two purchases at one split. Each
   row that passes a split pays its evaluation, too; and rows may have whole weights. The paper has
   none of this.
6. Errors are counted on the bootstrap sample (the program's default), on the rows out of it, or on
   the validation rows, which pay for features in any case. On other rows a split may lose.
7. A tree pruned to its root votes constantly and is not dropped.
8. Of more than 20,000 rows so many are billed, always the same ones of as many: the paper's largest
   set needs 2e8 variables.
"""

import itertools
import math
from collections import defaultdict, deque
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reference import costs
from reference.budget_forest import Model, Tree, nodes_of, trace_of

MOST = 2**61  # of all errors times all prices
FEWEST_STEPS = 2**10  # of a price that the grid rounds


@dataclass(frozen=True)
class Purchase:
    """Rows, by weight, that pay for something if any of some splits stays; ``price`` is of all."""

    splits: tuple[int, ...]
    price: int
    weight: int


@dataclass(frozen=True)
class Programme:
    """What is maximised: (gain - λ price) of the splits that stay, and what rows buy for them."""

    place: list[tuple[int, int]]  # tree and node of each split
    gain: list[int]
    price: list[int]
    parent: list[int]
    purchases: list[Purchase]
    root_errors: int
    n_judged: int
    weight: int
    exponent: int


@dataclass(frozen=True)
class Point:
    """An optimal pruning: its splits, errors, and bill of all rows in steps of the grid."""

    kept: frozenset[int]
    errors: int
    cost: int


# --- the programme --------------------------------------------------------------------------


def errors_of(tree: Tree, counts: np.ndarray) -> list[int]:
    """ê_h of each node: rows counted there that are not of the majority class in the bag."""
    label = np.argmax(tree.counts, axis=1)  # equal counts: the lowest class
    return [int(row.sum() - row[a]) for row, a in zip(counts, label, strict=True)]


def judged_counts(tree: Tree, errors: str, X, y, weights) -> np.ndarray:
    """Rows of each class in each node by which its label is judged."""
    if errors == "in_bag":
        return tree.counts
    if errors == "out_of_bag":
        return tree.out_of_bag
    counts = np.zeros_like(tree.counts)
    for x, label, weight in zip(X, y, weights, strict=True):
        counts[nodes_of(tree, x), label] += weight
    return counts


def first_uses(path: list[int], tree: Tree, units: np.ndarray) -> dict:
    """Return what a path buys, ("unit" or "own", number), and the node at which it first does."""
    first = {}
    for node in path[:-1]:
        m = int(tree.feature[node])
        first.setdefault(("unit", int(units[m])), node)
        first.setdefault(("own", m), node)
    return first


def price_of(what: tuple[str, int], shared: np.ndarray, own: np.ndarray) -> float:
    """Price of a group, or of a feature beside its group."""
    kind, k = what
    return float(shared[k] if kind == "unit" else own[k])


def gains_of(model: Model, judged: list[np.ndarray]):
    """Place (tree, node), gain and parent of each split; errors of all roots."""
    place, gain, parent, root_errors = [], [], [], 0
    for t, (tree, counts) in enumerate(zip(model.trees, judged, strict=True)):
        wrong, number = errors_of(tree, counts), {}
        root_errors += wrong[0]
        splits = [int(h) for h in np.flatnonzero(tree.left >= 0)]
        above = {int(tree.left[h]) + side: h for h in splits for side in (0, 1)}
        for h in splits:
            number[h] = len(place)
            parent.append(number[above[h]] if h in above else -1)
            gain.append(wrong[h] - wrong[tree.left[h]] - wrong[tree.left[h] + 1])
            place.append((t, h))
    return place, gain, parent, root_errors


def purchases_of(model: Model, X, weights, number: dict, units, shared, own):
    """(Splits, price of a row, weight) of each purchase, as first met; rows that pass a split."""
    buyers, passing, met = defaultdict(int), [0] * len(number), {}
    for x, weight in zip(X, map(int, weights), strict=True):
        bought = defaultdict(tuple)
        for t, tree in enumerate(model.trees):
            path = nodes_of(tree, x)
            for node in path[:-1]:
                passing[number[t, node]] += weight
            for what, node in first_uses(path, tree, units).items():
                if price_of(what, shared, own) > 0:
                    bought[what] += (number[t, node],)
                    met.setdefault((what, bought[what]), len(met))
        for what, splits in bought.items():
            buyers[what, splits] += weight
    in_order = sorted(buyers.items(), key=lambda each: met[each[0]])
    return [(splits, price_of(what, shared, own), w) for (what, splits), w in in_order], passing


def programme(
    model: Model,
    X,
    weights=None,
    y=None,
    *,
    errors: str = "in_bag",
    feature_costs=None,
    feature_groups=None,
    group_costs=None,
    split_cost: float = 0.0,
    feature_sharing=None,
) -> Programme:
    """Put a forest, and the validation rows X with whole ``weights``, into a programme."""
    X = np.asarray(X, dtype=np.float64)
    weights = np.ones(len(X), dtype=np.int64) if weights is None else np.asarray(weights, np.int64)
    units = costs.acquisition_units(feature_groups, X.shape[1])
    shared, own = costs.shared_and_own(feature_costs, feature_groups, group_costs, units)
    by_split = costs.split_prices(split_cost, feature_sharing, X.shape[1])
    judged = [judged_counts(tree, errors, X, y, weights) for tree in model.trees]
    place, gain, parent, root_errors = gains_of(model, judged)
    number = {at: j for j, at in enumerate(place)}
    listed, passing = purchases_of(model, X, weights, number, units, shared, own)
    passed = [
        (float(by_split[model.trees[t].feature[h]]), w)
        for (t, h), w in zip(place, passing, strict=True)
    ]
    amounts = [(price, w) for _, price, w in listed] + passed
    exponent = price_exponent(amounts, sum(map(abs, gain)))
    return Programme(
        place,
        gain,
        [w * steps(price, exponent) for price, w in passed],
        parent,
        [Purchase(splits, w * steps(price, exponent), w) for splits, price, w in listed],
        root_errors,
        sum(int(counts[0].sum()) for counts in judged),
        int(np.sum(weights)),
        exponent,
    )


def steps(price: float, exponent: int) -> int:
    """Price in steps of the grid 2**-k, rounded up: so that a budget is kept."""
    return math.ceil(np.ldexp(price, exponent))


def price_exponent(amounts: list[tuple[float, int]], gains: int) -> int:
    """Largest k with which the sums of all gains and of all prices have a product in 62 bits.

    ``amounts`` are prices and how often they may be paid.
    """
    paid = [(price, weight) for price, weight in amounts if price > 0 and weight > 0]
    if not paid:
        return 0
    most = MOST // max(1, gains)
    exponent = math.frexp(most)[1] - math.frexp(max(paid)[0])[1] + 1
    while sum(weight * steps(price, exponent) for price, weight in paid) > most:
        exponent -= 1
    for price, _ in paid:
        exact = float(np.ldexp(price, exponent)) == steps(price, exponent)
        if steps(price, exponent) < (1 if exact else FEWEST_STEPS):
            raise ValueError(f"The price {price:g} is lost beside the others.")
    return exponent


# --- one optimum ----------------------------------------------------------------------------


class Network:
    """A flow network on whole numbers of any size; capacity ``None`` is infinite."""

    def __init__(self, n_vertices: int) -> None:
        self.arcs = [
            [] for _ in range(n_vertices)
        ]  # of each vertex: [head, residual, number of twin]

    def add(self, tail: int, head: int, capacity: int | None) -> None:
        """Add an arc, and its reverse without capacity."""
        self.arcs[tail].append([head, capacity, len(self.arcs[head])])
        self.arcs[head].append([tail, 0, len(self.arcs[tail]) - 1])

    def levels(self, source: int) -> list[int]:
        """Arcs between the source and each vertex in the residual graph; -1: out of reach."""
        level, waiting = [-1] * len(self.arcs), deque([source])
        level[source] = 0
        while waiting:
            v = waiting.popleft()
            for head, residual, _ in self.arcs[v]:
                if residual != 0 and level[head] < 0:
                    level[head] = level[v] + 1
                    waiting.append(head)
        return level

    def saturate(self, source: int, sink: int) -> list[int]:
        """Find a maximal flow (Dinic 1970); return the levels in what remains."""
        while (level := self.levels(source))[sink] >= 0:
            turn, path = [0] * len(self.arcs), [source]
            while path:
                v = path[-1]
                if v == sink:
                    self.augment(path, turn)
                    path = [source]
                elif turn[v] == len(self.arcs[v]):
                    path.pop()
                    if path:
                        turn[path[-1]] += 1
                else:
                    head, residual, _ = self.arcs[v][turn[v]]
                    if residual != 0 and level[head] == level[v] + 1:
                        path.append(head)
                    else:
                        turn[v] += 1
        return level

    def augment(self, path: list[int], turn: list[int]) -> None:
        """Send as much as fits along the arcs that a path has turned to."""
        taken = [self.arcs[v][turn[v]] for v in path[:-1]]
        amount = min(residual for _, residual, _ in taken if residual is not None)
        for arc in taken:
            twin = self.arcs[arc[0]][arc[2]]
            arc[1] = None if arc[1] is None else arc[1] - amount
            twin[1] = None if twin[1] is None else twin[1] + amount


def smallest_optimum(task: Programme, q: int, p: int | None) -> frozenset[int]:
    """Smallest set of splits that maximises q · gains - p · prices; p = None: nothing may cost."""
    n = len(task.gain)
    source, sink = n + len(task.purchases), n + len(task.purchases) + 1
    network = Network(sink + 1)
    for j, (gain, price, parent) in enumerate(zip(task.gain, task.price, task.parent, strict=True)):
        profit = q * gain - (0 if p is None else p * price)
        if profit > 0:
            network.add(source, j, profit)
        if profit < 0 or (p is None and price > 0):
            network.add(j, sink, None if p is None and price > 0 else -profit)
        if parent >= 0:
            network.add(j, parent, None)
    for s, purchase in enumerate(task.purchases):
        network.add(n + s, sink, None if p is None else p * purchase.price)
        for j in purchase.splits:
            network.add(j, n + s, None)
    level = network.saturate(source, sink)
    return frozenset(j for j in range(n) if level[j] >= 0)


def point_of(task: Programme, kept: frozenset[int]) -> Point:
    """Errors and bill of a pruning."""
    bought = sum(each.price for each in task.purchases if kept & set(each.splits))
    errors = task.root_errors - sum(task.gain[j] for j in kept)
    return Point(kept, errors, bought + sum(task.price[j] for j in kept))


# --- the authors' solver -----------------------------------------------------------------------


def authors(task: Programme, tradeoff: float, n_steps: int = 50, m: int = 500) -> Point:
    """Best pruning that a projected subgradient of the dual meets.

    Multipliers β of w^t_ki <= w_ki, for each purchase and each of its splits; rows of a purchase
    have the same.
    """
    unit = math.ldexp(tradeoff, -task.exponent) / task.weight  # λ times a step, of one row
    limits = [unit * (each.price / each.weight) for each in task.purchases]
    gains = [
        g / max(1, task.n_judged) - unit * p for g, p in zip(task.gain, task.price, strict=True)
    ]
    betas = [[0.0] * len(each.splits) for each in task.purchases]
    best, least = None, math.inf
    for step in range(1, n_steps + 1):
        worth = list(gains)
        for each, beta in zip(task.purchases, betas, strict=True):
            for j, b in zip(each.splits, beta, strict=True):
                worth[j] -= each.weight * b
        for j in range(len(worth) - 1, -1, -1):  # children come later
            if worth[j] > 0 and task.parent[j] >= 0:
                worth[task.parent[j]] += worth[j]
        kept = set()
        dual = task.root_errors / max(1, task.n_judged)
        for j, (value, parent) in enumerate(zip(worth, task.parent, strict=True)):
            if value > 0 and (parent < 0 or parent in kept):
                kept.add(j)
                dual -= value if parent < 0 else 0.0
        point = point_of(task, frozenset(kept))
        primal = point.errors / max(1, task.n_judged) + unit * point.cost
        if primal < least:
            best, least = point, primal
        squares, slopes = 0, []
        for each, beta, limit in zip(task.purchases, betas, limits, strict=True):
            over = sum(beta) - limit
            dual -= each.weight * over if over > 0 else 0.0
            slopes.append([(j in kept) - (over > 0) for j in each.splits])
            squares += each.weight * sum(abs(slope) for slope in slopes[-1])
        if squares == 0 or least <= dual:
            break
        length = (1 + m) * (least - dual) / (squares * (step + m))
        for beta, slope in zip(betas, slopes, strict=True):
            beta[:] = [max(0.0, b + length * g) for b, g in zip(beta, slope, strict=True)]
    return best


# --- all optima -----------------------------------------------------------------------------


def hull(task: Programme) -> list[Point]:
    """All optima, for every λ, from the cheapest to the best (Eisner and Severance 1976)."""

    def between(low: Point, high: Point) -> list[Point]:
        """Optima beyond ``low``, up to ``high``."""
        p, q = low.errors - high.errors, high.cost - low.cost
        middle = point_of(task, smallest_optimum(task, q, p))
        if middle.kept == low.kept:
            return [high]
        return between(low, middle) + between(middle, high)

    cheapest = point_of(task, smallest_optimum(task, 1, None))
    best = point_of(task, smallest_optimum(task, 1, 0))
    return [cheapest] + (between(cheapest, best) if best.kept != cheapest.kept else [])


def tradeoffs(task: Programme, points: list[Point]) -> list[Fraction]:
    """Smallest λ at which each optimum is taken: errors saved for a unit of the mean bill."""
    lambdas = []
    for low, high in itertools.pairwise(points):
        saved = Fraction(low.errors - high.errors, task.n_judged)
        lambdas.append(saved / mean_cost(task, high.cost - low.cost))
    return [*lambdas, Fraction(0)]


def mean_cost(task: Programme, cost: int) -> Fraction:
    """Mean bill of a row, in the unit of the prices."""
    return Fraction(cost, task.weight) / Fraction(2) ** task.exponent


def chosen(
    task: Programme, points: list[Point], tradeoff: float = 0.0, budget: float | None = None
) -> int:
    """Number of the optimum for λ, or of the best that is within the budget, if that is cheaper."""
    lambdas = tradeoffs(task, points)
    place = 0
    if tradeoff != math.inf:
        place = next(i for i, least in enumerate(lambdas) if Fraction(tradeoff) >= least)
    while budget not in (None, math.inf) and mean_cost(task, points[place].cost) > Fraction(budget):
        place -= 1  # the first one costs nothing
    return place


def pruned(model: Model, task: Programme, kept: frozenset[int]) -> Model:
    """Forest in which the splits that are not kept are leaves."""
    stays = {task.place[j] for j in kept}
    trees = [cut_back(tree, {h for s, h in stays if s == t}) for t, tree in enumerate(model.trees)]
    return Model(trees, model.totals, trace_of(trees))


def cut_back(tree: Tree, stays: set[int]) -> Tree:
    """Tree of which some splits stay, each with its parent."""
    nodes = sorted({0} | {int(tree.left[h]) + side for h in stays for side in (0, 1)})
    leaf = np.array([h not in stays for h in nodes])
    left = [-1 if h not in stays else nodes.index(int(tree.left[h])) for h in nodes]
    return Tree(
        np.where(leaf, -1, tree.feature[nodes]),
        np.where(leaf, 0.0, tree.threshold[nodes]),
        np.array(left),
        np.where(leaf, 0.0, tree.gain[nodes]),
        tree.depth[nodes],
        tree.counts[nodes],
        tree.out_of_bag[nodes],
    )


def fit(
    model: Model,
    X,
    weights=None,
    y=None,
    *,
    tradeoff: float = 0.0,
    budget: float | None = None,
    solver: str = "exact",
    max_billed_rows: int | None = 20_000,
    **options,
) -> tuple[Programme, list[Point], int, Model]:
    """Programme, all optima, the number of the one that is chosen, and its forest.

    Of more than `max_billed_rows` rows so many are drawn.
    """
    if max_billed_rows is not None and len(X) > max_billed_rows:
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:max_billed_rows])
        X = X[rows]
        weights = None if weights is None else weights[rows]
        y = None if y is None else y[rows]
    task = programme(model, X, weights, y, **options)
    points = hull(task) if solver == "exact" else [authors(task, tradeoff)]
    place = chosen(task, points, tradeoff, budget)
    return task, points, place, pruned(model, task, points[place].kept)
