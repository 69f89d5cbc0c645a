"""Cronus (Chen, Xu, Weinberger, Chapelle & Kedem, AISTATS 2012): cascades of re-weighted trees.

The trees of a fitted forest are given a weight at each stage of a cascade, so that most rows are
rejected after few cheap features: an expected squared loss, and mixed norms of the weights that
stand for what trees and features cost the rows that come there, Eq. (8). The reference, equation by
equation and with the deviations from the paper, is :mod:`reference.cronus`.
"""

from __future__ import annotations

import copy
import math
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from .estimators.fitting import all_or_nothing
from .estimators.parameters import (
    LARGEST_FACTOR,
    Parameter,
    check_factor,
    check_number,
    checked_parameters,
    choice,
    documented,
    keep,
    number,
    shown,
    whole,
)
from .estimators.threads import threads_of
from .exits.classifier import CascadeClassifier
from .exits.fitted_trees import FittedTrees, check_classes, fit_trees
from .exits.prices import ESTIMATOR, POSITIVE_WEIGHT, PRICED_CLASSES
from .reweighted_trees.mixed_norms import Stage, smoothing_of, solve_stage, without_traces
from .reweighted_trees.soft_objective import (
    Soft,
    Weights,
    optimise,
    quantile_threshold,
    scores_of,
    soft_threshold,
    tree_prices,
    values,
    warn_if_nothing_is_saved,
)
from .reweighted_trees.tree_outputs import tree_outputs
from .validation.types import ClassWeight, FeatureCosts, FeatureGroups, GroupCosts, Seed


def _check_share(name: str, value) -> float:
    """Give a share as a float; refuse what is not in [0, 1)."""
    share = check_number(name, value)
    if share >= 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {shown(value)}.")
    return share


_STEEPEST = 1e6  # a soft exit is then as wide as the last digits of a score
_MOST_STAGES = 1000
_PARAMETERS = {
    "estimator": ESTIMATOR,
    "n_stages": whole("int", "K.", 1, most=_MOST_STAGES),
    "tradeoff": number("float", "lambda of Eq. (8), for weights of the loss that sum to 1."),
    "penalty": number("float", "rho of all stages but the last.", most=LARGEST_FACTOR),
    "last_penalty": Parameter(
        "float or None",
        "rho of the last stage. None: that of the others.",
        lambda name, v: None if v is None else check_number(name, v, most=LARGEST_FACTOR),
    ),
    "positive_weight": POSITIVE_WEIGHT,
    "steepness": number("float", "gamma of the soft exits.", positive=True, most=_STEEPEST),
    "tradeoff_decay": number(
        "float",
        "delta: at initialisation stage k is solved with tradeoff * delta**(K - k).",
        positive=True,
    ),
    "rejection": Parameter(
        "float", "epsilon: share rejected at each stage by the initialisation.", _check_share
    ),
    "threshold_rule": choice(
        "What the initialisation's thresholds cut: what is expected to be there, or rows (never "
        "more than `rejection`, and no ties).",
        "soft",
        "quantile",
    ),
    "max_cycles": whole("int", "Cycles of Algorithm 1 at most; 0: the initialisation alone.", 0),
    "tolerance": number("float", "Relative fall of Eq. (8) below which its loops end."),
    "max_evaluations": whole("int", "Evaluations for each stage in each cycle.", 1),
    "support": choice(
        "Where Algorithm 1 may put weight: where the stage has some, so that a zero stays zero as "
        "Eq. (11) says, or where any stage has some, with smoothed roots.",
        "stage",
        "cascade",
    ),
    **PRICED_CLASSES,
}
_ATTRIBUTES = {
    **CascadeClassifier._attributes,
    "objective_": Parameter("float", "Eq. (8), with smoothed roots if `support` is 'cascade'."),
    "initial_objective_": Parameter("float", "The same of the initialisation."),
    "gaps_": Parameter(
        "ndarray of shape (n_stages,)",
        "Duality gap of each stage of the initialisation, relative to the loss of a score of 0.",
    ),
    "trace_": Parameter(
        "list of Spent", "Objective and evaluations of each stage in each cycle, of the best start."
    ),
    "n_evaluations_": Parameter("int", "Evaluations of Eq. (8) from all starts."),
    "capped_": Parameter(
        "bool",
        "Whether the cycles ended at their limit with Eq. (8) still falling, or a stage did in the "
        "last of them.",
    ),
}


class _Initialisation(NamedTuple):
    cascade: Weights
    gaps: np.ndarray


@documented
class CronusClassifier(CascadeClassifier):
    """A cascade of re-weighted, re-ordered trees that rows leave early if they are negative.

    The second class is the positive one. ``n_stages=1`` is the paper's single stage, Eq. (7);
    ``max_cycles=0`` its initialisation, Algorithm 2.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    A file (:meth:`save`) holds the trees, the cascade and its objective; what else tells of the
    training is not kept. The `estimator` of a loaded cascade is its trees.

    Examples
    --------
    Two features that tell the same, the second ten times as expensive: only the first is bought.

    >>> import numpy as np
    >>> from algorithms.cronus import CronusClassifier
    >>> x = np.arange(100.0)
    >>> model = CronusClassifier(n_stages=2, tradeoff=1e-3, feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x, x]), x >= 90)
    >>> model.acquired_features([[3.0, 3.0]])
    array([[ True, False]])
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES

    def __init__(
        self,
        estimator: object = None,
        *,
        n_stages: int = 10,
        tradeoff: float = 1e-4,
        penalty: float = 1e-4,
        last_penalty: float | None = None,
        positive_weight: float = 3.5,
        steepness: float = 50.0,
        tradeoff_decay: float = 1.3,
        rejection: float = 0.15,
        threshold_rule: Literal["soft", "quantile"] = "soft",
        max_cycles: int = 10,
        tolerance: float = 1e-4,
        max_evaluations: int = 200,
        support: Literal["stage", "cascade"] = "stage",
        tree_cost: float = 1.0,
        feature_costs: FeatureCosts = None,
        split_cost: float | None = None,
        feature_groups: FeatureGroups = None,
        group_costs: GroupCosts = None,
        class_weight: ClassWeight = None,
        n_threads: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        keep(self, locals())

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        query_id: ArrayLike | None = None,
        start: CronusClassifier | None = None,
    ) -> Self:
        """Fit the trees, unless they are, and the cascade.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights >= 0. A weight of 3 equals three copies of the row; rows of weight 0 are
            left out.
        query_id : array-like of shape (n_samples,), optional
            Query of each row, in blocks. Checked only: the loss is by row.
        start : CronusClassifier, optional
            A fitted cascade of the same trees and as many stages, such as that of a neighbouring
            `tradeoff`: Algorithm 1 starts from it, too, and the lower end is kept.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an input or a parameter does not fit.

        Warns
        -----
        NothingSavedWarning
            If each row pays for all features; the message names a `tradeoff` that would save some.
        """
        options = checked_parameters(self)
        X, y, signs, weights = self._read_rows(X, y, sample_weight, query_id)
        fitted, responses = fit_trees(self.estimator, X, y, signs, weights)
        check_classes(responses, self.classes_)
        if start is not None:
            _check_start(start, responses, options["n_stages"])
        priced = self._priced(responses)
        X = priced.meter._check_X(X)
        with threadpool_limits(1, user_api="blas"):  # else results depend on the threads
            soft = self._problem(priced, X, signs, weights, options)
            starts = [] if start is None else [_cascade_of(start)]
            self._learn(soft, options, starts)
            if options["max_cycles"]:
                inflation = options["tradeoff_decay"] ** (options["n_stages"] - 1)
                warn_if_nothing_is_saved(soft, self._optimised_, inflation)
        self.estimator_ = fitted
        self._set_up(responses, *self._optimised_)
        return self

    def _problem(self, responses, X, signs, weights, options) -> Soft:
        """Everything that training looks at."""
        copies = np.ones(len(signs)) if weights is None else weights
        omega = copies * np.where(signs > 0, options["positive_weight"], 1.0)
        outputs = tree_outputs(responses.forest, X, threads_of(self))
        prices = tree_prices(
            responses.forest, self._price_list(responses.meter), options["tree_cost"]
        )
        total = math.fsum(prices.tree) + math.fsum(prices.item)
        check_factor("tradeoff", options["tradeoff"], total)
        decay, steps = options["tradeoff_decay"], options["n_stages"] - 1
        if steps * math.log10(decay) > math.log10(LARGEST_FACTOR):
            raise ValueError(
                f"tradeoff_decay ({decay:g}) to the power of n_stages - 1 ({steps}) must be at "
                f"most {LARGEST_FACTOR:g}."
            )
        check_factor("tradeoff", options["tradeoff"], total * decay**steps, "tradeoff_decay")
        last = options["last_penalty"]
        penalties = np.full(options["n_stages"], options["penalty"])
        penalties[-1] = options["penalty"] if last is None else last
        copies = copies / copies.sum()
        return Soft(
            outputs,
            signs,
            omega / omega.sum(),
            copies,
            prices,
            options["tradeoff"],
            penalties,
            options["steepness"],
            smoothing_of(outputs, copies),
        )

    def _learn(self, soft: Soft, options: dict, starts: list[Weights]) -> None:
        """Algorithm 2, then Algorithm 1 from each start on the trees that these use."""
        initial, self.gaps_ = initialise(
            soft,
            options["tradeoff_decay"],
            options["rejection"],
            options["threshold_rule"],
        )
        self._initial_ = self._optimised_ = initial
        smoothing, on_stages = soft.smoothing, options["support"] == "stage"
        soft = soft._replace(smoothing=0.0) if on_stages else soft
        self.initial_objective_ = self.objective_ = values(initial, soft).objective
        self.trace_, self.n_evaluations_, self.capped_ = [], 0, False
        limits = (options["max_cycles"], options["tolerance"], options["max_evaluations"])
        starts = [initial, *starts]
        kept = np.flatnonzero(np.any([np.any(s.weights != 0, axis=0) for s in starts], axis=0))
        among = soft.take(kept)
        for begun in starts if options["max_cycles"] else []:
            part = begun._replace(weights=begun.weights[:, kept])
            begin = values(part, among).objective
            part, trace = optimise(part, among, *limits, smoothing)
            end = np.zeros_like(begun.weights)
            weights = part.weights if on_stages else without_traces(part.weights, smoothing)
            end[:, kept] = weights
            optimised = part._replace(weights=end)
            objective = values(optimised, soft).objective
            self.n_evaluations_ += sum(step.evaluations for step in trace)
            self.capped_ = self.capped_ or _at_limit(begin, trace, options)
            if objective < self.objective_:
                self._optimised_, self.objective_, self.trace_ = optimised, objective, trace

    def initialised(self) -> CronusClassifier:
        """Give the cascade as the initialisation left it.

        Returns
        -------
        CronusClassifier
            A fitted copy; its parameters are those of this one.

        Raises
        ------
        ValueError
            If this one comes from a file, which holds the end alone.
        """
        check_is_fitted(self)
        if not hasattr(self, "_initial_"):
            raise ValueError("A cascade from a file no longer has its initialisation.")
        other = copy.copy(self)
        other._set_up(self._responses_, *self._initial_)
        other._optimised_ = self._initial_
        other.objective_, other.trace_ = self.initial_objective_, []
        return other


def _at_limit(begin: float, trace: list, options: dict) -> bool:
    """Whether the last cycle fell more than `tolerance`, or had a stage at its limit."""
    n_stages, most = options["n_stages"], options["max_evaluations"]
    ends = [begin, *(step.objective for step in trace[n_stages - 1 :: n_stages])]
    falling = ends[-2] - ends[-1] > options["tolerance"] * ends[-1]
    return falling or any(step.evaluations >= most for step in trace[-n_stages:])


_DECIDING = ("tree", "feature", "threshold", "left", "value")  # of a forest


def _check_start(start, responses: FittedTrees, n_stages: int) -> None:
    """Refuse what is no cascade of these trees to start from."""
    if not isinstance(start, CronusClassifier) or not hasattr(start, "coef_"):
        raise ValueError("start must be a fitted CronusClassifier.")
    shape = (n_stages, responses.forest.n_trees)
    if start.coef_.shape != shape:
        raise ValueError(
            f"start must have {shape[0]} stages and {shape[1]} trees, as this cascade has; it has "
            f"{start.coef_.shape[0]} and {start.coef_.shape[1]}."
        )
    if np.any(np.isnan(start.thresholds_)):
        raise ValueError("thresholds_ of start must not be missing (NaN).")
    own, other = responses.forest, start._responses_.forest
    if not all(np.array_equal(getattr(own, name), getattr(other, name)) for name in _DECIDING):
        raise ValueError(
            "start must be a cascade of the same trees, and its trees are others: give both the "
            "same fitted trees in a FrozenEstimator, or the same rows and estimator."
        )


def _cascade_of(start) -> Weights:
    """Give the weights of a cascade to start from."""
    return Weights(start.coef_, start.intercept_, start.thresholds_)


def initialise(soft: Soft, tradeoff_decay: float, rejection: float, rule: str) -> _Initialisation:
    """Algorithm 2: each stage as if it were the last."""
    n_stages, n_trees = len(soft.penalties), soft.outputs.n_trees
    cascade = Weights(
        np.zeros((n_stages, n_trees)), np.zeros(n_stages), np.full(n_stages - 1, -math.inf)
    )
    reach, before, gaps = np.ones_like(soft.y), np.zeros(n_trees), np.zeros(n_stages)
    alive = np.ones(len(soft.y), dtype=bool)
    for k in range(n_stages):
        remaining = float(soft.copies @ reach)
        inflated = soft.tradeoff * tradeoff_decay ** (n_stages - 1 - k)
        stage = Stage(
            soft.outputs, soft.y, soft.omega * reach, remaining, before,
            float(soft.penalties[k]), inflated, soft.prices, soft.smoothing,
        )  # fmt: skip
        solved = solve_stage(stage, np.flatnonzero(before))
        gaps[k] = solved.gap / (0.5 * float(stage.weights @ soft.y**2))
        cascade.weights[k] = without_traces(solved.weights, soft.smoothing)
        cascade.constants[k] = solved.constant
        before = before + (remaining * cascade.weights[k]) ** 2
        if k == n_stages - 1:
            break
        scores = scores_of(cascade.weights[k], solved.constant, soft.outputs)
        if rule == "soft":
            at = (scores, reach, soft.copies, soft.steepness)
            cascade.thresholds[k] = soft_threshold(*at, rejection)
        else:
            cascade.thresholds[k] = quantile_threshold(scores, alive, soft.copies, rejection)
        alive &= ~(scores < cascade.thresholds[k])
        reach = reach * expit(soft.steepness * (scores - cascade.thresholds[k]))
    return _Initialisation(cascade, gaps)
