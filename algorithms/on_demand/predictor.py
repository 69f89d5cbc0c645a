"""Prediction on demand: compute a feature for those rows only whose paths ask for it.

The cost meter (:mod:`algorithms.costs`) counts what a prediction would cost if every row acquired
a feature when a tree first tests it. Here that happens: the user gives a function for each
feature, or for each group of features that one acquisition brings, and each function is called
only with the rows that need it. Predictions, acquired features, evaluations and costs equal those
of the model on the full matrix, bit for bit; beside them stand the seconds that were spent.

A batch of rows walks through the trees in order, so that scores are added up in the same order.
Through a cascade it walks stage by stage: rows that leave at the end of one need no feature of the
next. Through a decision DAG each row walks through the trees that it evaluates. A row stops where a
tree tests what it does not have. When all rows of the batch stopped or finished, the one furthest
behind decides: the function it waits for is called once for all rows that wait for it, and those
walk on. (Serving what most rows wait for instead took 2 to 4 times as many calls on the digits:
rows ahead leave those behind to be served alone.)
The naive twin, one row and one node at a time, is :mod:`reference.on_demand`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..cost_meter.meter import from_bits
from ..decision_dag.walk import next_base
from ..early_exit import Exits as EarlyExits
from ..estimators.parameters import check_whole_number
from ..exits.hard_cascade import Exits
from ..kernels.decorators import allocating_kernel, kernel
from ..pipelines.made_features import bought
from ..raw_tables import TableModel
from ..trees.predictor import next_node
from ..validation.types import FeatureCosts
from .functions import Source, check_answer, check_rows, sources, take
from .plans import plan_of
from .raw_columns import of_raw_columns

if TYPE_CHECKING:
    from ..costs import GridPrices
    from ..decision_dag.walk import Steps
    from ..trees.forest import Forest


class Walk(NamedTuple):
    """Where each row of a batch stands, and what it has spent."""

    # tree, node: (n_rows,) int64: next node to look at. A row that has finished stands behind the
    # last tree and node
    tree: np.ndarray
    node: np.ndarray
    # (n_rows, n_unit_words) uint64: units that the row has acquired, one bit each
    owned: np.ndarray
    waiting: np.ndarray  # (n_rows,) int64: unit that the row waits for, or -1
    # (n_rows, n_feature_words) uint64: features that the row's paths have tested, one bit each
    tested: np.ndarray
    paid: np.ndarray  # (n_rows,) int64: costs in steps of the cost meter's grid
    passed: np.ndarray  # (n_rows,) int64: split nodes evaluated
    scores: np.ndarray  # (n_rows, n_columns) float64


@kernel
def _next_tree(dag, t, node, scores):
    """Add the leaf of tree t to a row's scores, and give the tree that it evaluates next."""
    n_columns = dag.answers.shape[1]
    for k in range(n_columns):  # whole numbers below 2**53
        scores[k] += np.float64(dag.answers[node, k])
    if (t + 1) % dag.n_parts != 0:
        return t + 1
    j = t // dag.n_parts
    scores[n_columns] += np.float64(dag.cells.sizes[j])
    scores[n_columns + 1] += np.float64(dag.evaluates[j])
    return _tree_from(dag, j + 1, scores)


@allocating_kernel
def _tree_from(dag, j, scores):
    """Give the first tree of the next base classifier, from j on, that a row evaluates."""
    n_columns = dag.answers.shape[1]
    g = np.empty(n_columns, dtype=np.int64)
    for k in range(n_columns):
        g[k] = np.int64(scores[k])
    return next_base(dag.cells, dag.policy, j, g, np.int64(scores[n_columns])) * dag.n_parts


@kernel
def advance(
    forest: Forest,
    prices: GridPrices,
    contributions: NDArray[np.float64],
    weights: NDArray[np.float64],
    dag: Steps | None,
    values: NDArray[np.float64],
    rows: Any,
    stage: int,
    last_tree: int,
    walk: Walk,
) -> None:
    """Let rows walk until each is at the end of a stage or tests a feature that it does not have.

    They wait for nothing before. One that stops has paid for the unit that it waits for. Features
    and units are numbered among those that the forest tests; `values` (n_features, n_rows) are read
    only where the row owns the unit. `contributions` (n_nodes, 1 or n_scores) and `weights`, which
    may be empty: see :class:`.plans.EvaluationPlan`.
    """
    one = np.uint64(1)
    n_columns, weighted = walk.scores.shape[1], weights.shape[1] > 0
    to_all = contributions.shape[1] > 1
    for i in rows:
        t, node = walk.tree[i], walk.node[i]
        cost = count = np.int64(0)
        missing = np.int64(-1)
        while t < last_tree:
            while forest.left[node] >= 0:
                feature = np.int64(forest.feature[node])
                unit = prices.unit[feature]
                if walk.owned[i, unit >> 6] & (one << np.uint64(unit & 63)) == np.uint64(0):
                    missing = unit
                    break
                bit = one << np.uint64(feature & 63)
                if walk.tested[i, feature >> 6] & bit == np.uint64(0):
                    walk.tested[i, feature >> 6] |= bit
                    cost += prices.own_price[feature]
                cost += prices.split_price[feature]
                count += 1
                node = next_node(forest, node, values[feature, i])
            if missing >= 0:
                break
            if dag is not None:
                t = _next_tree(dag, t, node, walk.scores[i])
            else:
                if weighted:
                    for k in range(stage, n_columns):
                        walk.scores[i, k] += weights[t, k] * contributions[node, 0]
                elif to_all:
                    for k in range(n_columns):
                        walk.scores[i, k] += contributions[node, k]
                else:
                    walk.scores[i, t % n_columns] += contributions[node, 0]
                t += 1
            node = forest.tree[t]
        if missing >= 0:
            cost += prices.unit_price[missing]
        walk.tree[i], walk.node[i], walk.waiting[i] = t, node, missing
        walk.paid[i] += cost
        walk.passed[i] += count


@dataclass(frozen=True)
class OnDemandResult:
    """Predictions, and what they took."""

    # (n_rows,) or (n_rows, n_classes): as the model's own ``predict``, ``predict_proba`` or
    # ``decision_function``
    predictions: np.ndarray
    # (n_rows, n_features): features that each row's paths tested, as the model's
    # ``acquired_features``
    acquired: np.ndarray | sparse.csr_matrix
    # (n_rows,) int64: split nodes that each row passed, or base classifiers of a DAG that it
    # evaluated, as the model's ``evaluations``
    evaluations: np.ndarray
    # (n_rows,) float64: counted cost of each row in the unit of the prices, as the model's
    # ``prediction_cost``
    cost: np.ndarray
    seconds: float  # Wall-clock seconds of the whole prediction, functions included
    seconds_by_function: dict[Any, float]  # Wall-clock seconds inside each function, by its key
    # calls_by_function, rows_by_function: Number of calls of each function, and of rows it was
    # asked for, by its key
    calls_by_function: dict[Any, int]
    rows_by_function: dict[Any, int]
    # How each row left a cascade, or an EarlyExit, as its ``exits``
    exits: Exits | EarlyExits | None = None


class _Tally:
    """Seconds, calls and rows of each function, and the calls themselves."""

    def __init__(self, units: Mapping[int, Source], may_miss: bool) -> None:
        keys = [source.key for source in units.values()]
        self.may_miss = may_miss
        self.seconds = dict.fromkeys(keys, 0.0)
        self.calls = dict.fromkeys(keys, 0)
        self.rows = dict.fromkeys(keys, 0)

    def call(self, source: Source, rows, n_rows: int) -> dict[int, np.ndarray]:
        """Call a function for the rows that need it; return the features that trees test."""
        begin = time.perf_counter()
        answer = source.function(rows)
        self.seconds[source.key] += time.perf_counter() - begin
        self.calls[source.key] += 1
        self.rows[source.key] += n_rows
        return check_answer(source, answer, rows, n_rows, may_miss=self.may_miss)


class OnDemandPredictor:
    """Predicts with a fitted model, computing features when a row's path asks for them.

    Parameters
    ----------
    model : regressor or classifier of CEGB, Greedy Miser or GBRT, EarlyExit around one, a cascade,\
 a decision DAG, AdaBoostMH, a budget forest, a MeteredForest, or a TableModel of one
        Fitted: CronusClassifier, RaykarCascadeClassifier and AndOrCascadeClassifier are cascades,
        MDDAGClassifier decision DAGs, whatever their trees came from. An
        EarlyExit has the rule ``"score"`` or ``"likelihood"``, by which rows leave one by one. It
        is taken as it is now: a later `fit` or `set_params` changes nothing here.
    functions : mapping
        For each feature that the model can ask for a function of the rows that need it. Keys are
        column numbers, or column names if the model was fitted on a table with names; if the model
        has `feature_groups`, they are the group labels (numbers or names). A function gets a part
        of the rows given to :meth:`predict`, m of them, and returns m numbers; for a group an
        (m, number of features) array in the order of the columns, or a mapping from column to m
        numbers that may leave out what no row is tested for; a table whose columns have names, or
        numbers other than 0, 1, …, is such a mapping. A group is computed once for a row and brings
        all its features; with `group_costs` the row is billed each one's own price when a tree
        first tests it. Of a TableModel functions give what the table would hold, text or numbers,
        under the names that it has there. Values stand in the order of the rows given; of boosted
        trees one may be NaN, missing, and is paid for like any other. Features that no row can be
        tested for need no function: no tree tests them, or only trees behind an exit that every row
        takes, or trees that a DAG sends no row to.
        An exception of a function is the caller's.
    batch_size : int, default=1024
        Rows that walk together. Larger batches make fewer calls with more rows each. The result
        does not depend on it.
    feature_costs, split_cost : optional
        Charge these prices instead of the model's own. A dict or a Series is matched by the
        names of the columns.
    tree_cost : float, optional
        The same for the trees of a cascade, or the base classifiers of a DAG; for the trees of an
        EarlyExit, which are free without it.

    Attributes
    ----------
    model : estimator
        A shallow copy of the given one.
    functions : dict
    batch_size : int

    Raises
    ------
    ValueError
        If a function is missing or belongs to nothing that the model knows, or if a parameter does
        not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.cegb import CEGBRegressor
    >>> from algorithms.on_demand import OnDemandPredictor
    >>> x = np.arange(100.0)
    >>> model = CEGBRegressor(n_estimators=1, feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x, x]), x >= 50)
    >>> result = OnDemandPredictor(model, {0: lambda rows: x[rows]}).predict([3, 70, 71])
    >>> result.cost, result.rows_by_function
    (array([1., 1., 1.]), {0: 3})
    """

    def __init__(
        self,
        model: object,
        functions: Mapping[Any, Callable],
        *,
        batch_size: int = 1024,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        tree_cost: float | None = None,
    ) -> None:
        self.model, self._needs = copy.copy(model), None
        of_table = isinstance(model, TableModel)
        self._plan = plan_of(model.model if of_table else model, tree_cost, with_sets=of_table)
        if of_table:
            functions = of_raw_columns(model, self._plan.meter, functions)
            self._needs = model.needs_
        self.batch_size = check_whole_number("batch_size", batch_size, 1)
        self._sources = sources(self._plan.meter, functions, self._plan.asked)
        self.functions = {source.key: source.function for source in self._sources.values()}
        self._prepare(feature_costs, split_cost)

    def _prepare(self, feature_costs, split_cost) -> None:
        """Number features and units among those asked for: memory must not grow with the others."""
        forest, meter = self._plan.forest, self._plan.meter
        prices = meter._grid_prices(feature_costs, split_cost)
        self._tested = np.flatnonzero(self._plan.asked)
        self._number = {column: i for i, column in enumerate(self._tested.tolist())}
        # A leaf stays -1, and so does a node that no row comes to.
        number = np.full(meter.n_features_in_ + 1, -1, dtype=np.int32)
        number[self._tested] = np.arange(len(self._tested))
        self._forest = forest._replace(feature=number[forest.feature])
        units, unit = np.unique(prices.unit[self._tested], return_inverse=True)
        self._prices = prices._replace(
            unit=unit,
            unit_price=prices.unit_price[units],
            own_price=prices.own_price[self._tested],
            split_price=prices.split_price[self._tested],
        )
        self._source_of_unit = [self._sources[u] for u in units.tolist()]

    def predict(self, rows: Any) -> OnDemandResult:
        """Predict targets or classes.

        Parameters
        ----------
        rows : sequence of length n_rows
            Whatever the functions understand: an array (its first axis), a table or series of
            pandas, polars or Arrow, a sparse matrix, a list of identifiers or paths, a range. A
            function gets an array, table, series or CSR matrix again, or else a list.

        Returns
        -------
        OnDemandResult

        Raises
        ------
        ValueError
            If there are no rows, or some are masked, or they are no sequence of rows; if a function
            returns anything but finite numbers (of boosted trees: or NaN) of the right shape; or a
            series or table whose index tells another order of rows than was asked.
        """
        return self._predict(rows, "predict")

    def predict_proba(self, rows: Any) -> OnDemandResult:
        """Predict class probabilities; otherwise as :meth:`predict`.

        Parameters
        ----------
        rows : sequence of length n_rows

        Returns
        -------
        OnDemandResult
            With `predictions` of shape (n_rows, n_classes).

        Raises
        ------
        ValueError
            If the model gives none, and as :meth:`predict`.
        """
        return self._predict(rows, "predict_proba")

    def decision_function(self, rows: Any) -> OnDemandResult:
        """Give the decisions of a cascade, DAG or EarlyExit; otherwise as :meth:`predict`.

        Parameters
        ----------
        rows : sequence of length n_rows

        Returns
        -------
        OnDemandResult

        Raises
        ------
        ValueError
            If the model gives none, and as :meth:`predict`.
        """
        return self._predict(rows, "decision_function")

    def _predict(self, rows, method: str) -> OnDemandResult:
        begin, plan = time.perf_counter(), self._plan
        if method not in plan.predictions:
            known = " or ".join(plan.predictions)
            raise ValueError(f"{type(self.model).__name__} has no {method} on demand: use {known}.")
        rows, n_rows = check_rows(rows)
        n_tested = len(self._tested)
        tested = np.zeros((n_rows, -(-n_tested // 64)), dtype=np.uint64)
        paid, passed = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
        scores, stage = (
            np.tile(plan.initial_scores, (n_rows, 1)),
            np.zeros(n_rows, dtype=np.int64),
        )
        tally = _Tally(self._sources, plan.may_miss)
        # A feature's values lie side by side: memory of features never asked for stays untouched.
        values = np.zeros((n_tested, min(self.batch_size, n_rows)))
        for first in range(0, n_rows, self.batch_size):
            part = slice(first, min(first + self.batch_size, n_rows))
            batch = _Batch(self, values, (tested[part], paid[part], passed[part], scores[part]))
            stage[part] = batch.run(rows, first, tally)
        exits = None if plan.exits is None else plan.exits(stage, scores)
        tree_prices, evaluations = plan.tree_prices[stage], passed
        if plan.dag is not None:
            evaluations = scores[:, -1].astype(np.int64)
            tree_prices = plan.tree_prices[0] * evaluations
        acquired = from_bits(tested, plan.meter.n_features_in_, self._tested)
        return OnDemandResult(
            plan.predictions[method](scores if exits is None else exits),
            acquired if self._needs is None else bought(acquired, self._needs),
            evaluations,
            self._prices.cost(paid) + tree_prices,
            time.perf_counter() - begin,
            tally.seconds,
            tally.calls,
            tally.rows,
            exits,
        )


class _Batch:
    """Rows that walk together."""

    def __init__(self, predictor: OnDemandPredictor, values: np.ndarray, outputs: tuple) -> None:
        self.predictor, self.values = predictor, values
        n_units = len(predictor._prices.unit_price)
        n_rows = len(outputs[0])
        plan = predictor._plan
        first = 0 if plan.dag is None else _tree_from(plan.dag, 0, plan.initial_scores)
        self.walk = Walk(
            np.full(n_rows, first, dtype=np.int64),
            np.full(n_rows, plan.forest.tree[first], dtype=np.int64),
            np.zeros((n_rows, -(-n_units // 64)), dtype=np.uint64),
            np.full(n_rows, -1, dtype=np.int64),
            *outputs,
        )
        grown = (predictor._forest, predictor._prices)
        added = plan.contributions if plan.contributions.ndim == 2 else plan.contributions[:, None]
        self.fixed = (*grown, added, plan.weights, plan.dag)

    def run(self, rows, first: int, tally: _Tally) -> np.ndarray:
        """Walk until each row has left; `first` is the batch's first row among `rows`."""
        plan, walk = self.predictor._plan, self.walk
        last = len(plan.stops) - 1
        exit_stage, remaining = np.full(len(walk.tree), last), np.arange(len(walk.tree))
        for stage, stop in enumerate(plan.stops.tolist()):
            self.walk_to(stop, stage, remaining, rows, first, tally)
            if stage == last:
                break
            leaves = plan.leaves(stage, walk.scores[remaining])
            gone, remaining = remaining[leaves], remaining[~leaves]
            exit_stage[gone] = stage
            walk.node[gone] = plan.forest.tree[-1]  # behind all that others wait at
            if not len(remaining):
                break
        return exit_stage

    def walk_to(self, stop: int, stage: int, moving, rows, first: int, tally: _Tally) -> None:
        """Bring the rows `moving` to the end of a stage, buying what they need."""
        walk = self.walk
        while True:
            advance(*self.fixed, self.values, moving, stage, stop, walk)
            unit = int(walk.waiting[walk.node.argmin()])
            if unit < 0:  # even the row furthest behind has come to the end
                return
            moving = (walk.waiting == unit).nonzero()[0]
            source = self.predictor._source_of_unit[unit]
            answer = tally.call(source, take(rows, first + moving), len(moving))
            self.hand_over(unit, moving, answer)

    def hand_over(self, unit: int, rows: np.ndarray, answer: dict[int, np.ndarray]) -> None:
        """Give rows what a unit brings; no row may get it twice."""
        word, bit = unit >> 6, np.uint64(1) << np.uint64(unit & 63)
        owned = self.walk.owned[rows, word]
        if (owned & bit).any():
            name = self.predictor._source_of_unit[unit].name
            raise RuntimeError(f"A row acquired {name} twice: an error in this package.")
        self.walk.owned[rows, word] = owned | bit
        for column, values in answer.items():
            seen = self.predictor._plan.as_seen(values)
            self.values[self.predictor._number[column], rows] = seen
