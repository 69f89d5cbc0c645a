"""AND-OR (Dundar & Bi, CVPR 2007): positives must pass all stages, negatives fail at one.

The formulas are reconstructed, see :mod:`reference.and_or_cascade`, which also lists the choices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .estimators.parameters import LARGEST_FACTOR, Parameter, documented, keep, number, whole
from .exits.prices import PRICED_CLASSES
from .reweighted_trees.dual_ascent import solve_block
from .reweighted_trees.pools import LIMITS, POOLED_ESTIMATOR, PooledCascade, Shared
from .validation.types import ClassWeight, FeatureCosts, FeatureGroups, GroupCosts, Seed


def objective(
    errors: NDArray[np.float64],
    squares: float,
    signs: NDArray[np.float64],
    copies: NDArray[np.float64],
    ridge: float,
    negative_weight: float,
    positive_weight: float,
) -> float:
    """½τ Σ_k ‖w_k‖² + ν₁ Σ_- m Π_k (e_k)₊ + ν₂ Σ_+ m max(0, max_k e_k).

    Parameters
    ----------
    errors : ndarray of shape (n_stages, n_samples), float64
        e = 1 - y f.
    squares : float
        Σ_k ‖w_k‖².
    """
    negative = np.prod(np.maximum(errors, 0.0), axis=0)
    positive = np.maximum(0.0, np.max(errors, axis=0))
    loss = np.where(signs > 0, positive_weight * positive, negative_weight * negative)
    return 0.5 * ridge * squares + float(copies @ loss)


_PARAMETERS = {
    "estimator": POOLED_ESTIMATOR,
    "price_limits": LIMITS,
    "ridge": number("float", "tau.", positive=True, most=LARGEST_FACTOR),
    "negative_weight": number("float", "nu_1.", positive=True, most=LARGEST_FACTOR),
    "positive_weight": number("float", "nu_2.", positive=True, most=LARGEST_FACTOR),
    "max_cycles": whole("int", "Cycles through the stages at most.", 1),
    "tolerance": number("float", "Relative fall of the objective below which the cycles end."),
    "max_sweeps": whole("int", "Sweeps through the rows for each stage in each cycle.", 1),
    **PRICED_CLASSES,
}
_ATTRIBUTES = {
    **PooledCascade._attributes,
    "objectives_": Parameter("ndarray", "The objective at 0 and after each block."),
    "capped_": Parameter("bool", "Whether a stage, or the cycles, ended at their limit."),
}


@documented
class AndOrCascadeClassifier(PooledCascade):
    """A cascade whose stages have trees of their own, trained as conjunction and disjunction.

    The second class is the positive one. Costs enter by the stages' price limits alone.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from algorithms.and_or_cascade import AndOrCascadeClassifier
    >>> x = np.arange(100.0)
    >>> model = AndOrCascadeClassifier(price_limits=[1, 10], feature_costs=[1.0, 10.0])
    >>> model = model.fit(np.column_stack([x // 2, x]), x >= 70)
    >>> model.predict([[3.0, 6.0], [49.0, 98.0]])
    array([False,  True])
    """

    _parameters = _PARAMETERS
    _attributes = _ATTRIBUTES

    def __init__(
        self,
        estimator: object = None,
        *,
        price_limits: ArrayLike = (5, 20, 50, 150, 200),
        ridge: float = 1e-2,
        negative_weight: float = 1.0,
        positive_weight: float = 3.5,
        max_cycles: int = 20,
        tolerance: float = 1e-4,
        max_sweeps: int = 2000,
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

    def _train(self, shared: Shared, options: dict):
        """Give constants, weights of the trees, and thresholds."""
        w, self.objectives_ = self._descend(shared, options)
        self.objective_ = float(self.objectives_[-1])
        weights = np.zeros(len(shared.pools))
        for k, stage in enumerate(w):
            weights[shared.pools == k] = stage[1:]
        constants = np.array([stage[0] for stage in w])
        return constants, weights, np.zeros(shared.n_stages - 1)

    def _descend(self, shared: Shared, options: dict):
        """Solve one stage after the other until nothing falls any more; what rises is refused."""
        n_stages, signs, copies = shared.n_stages, shared.y, shared.copies
        parts = [shared.outputs.take(np.flatnonzero(shared.pools == k)) for k in range(n_stages)]
        w = [np.zeros(part.n_trees + 1) for part in parts]
        errors = np.ones((n_stages, len(signs)))
        nu = options["negative_weight"], options["positive_weight"]
        ridge = options["ridge"]
        values, self.capped_ = [objective(errors, 0.0, signs, copies, ridge, *nu)], True
        for _ in range(options["max_cycles"]):
            before, at_limit = values[-1], False
            for k, part in enumerate(parts):
                others = np.delete(errors, k, axis=0)
                product = np.prod(np.maximum(others, 0.0), axis=0)
                worst = np.max(others, axis=0, initial=0.0)
                caps = copies * np.where(signs > 0, nu[1], nu[0] * product)
                targets = np.where(signs > 0, 1.0 - worst, 1.0)
                solution = solve_block(part, signs, caps, targets, ridge, options["max_sweeps"])
                at_limit = at_limit or solution.sweeps >= options["max_sweeps"]
                scores = part.times(
                    np.arange(part.n_trees), solution.weights[1:], solution.weights[0]
                )
                changed = errors.copy()
                changed[k] = 1.0 - signs * scores
                squares = sum(float(v @ v) for v in [*w[:k], solution.weights, *w[k + 1 :]])
                value = objective(changed, squares, signs, copies, ridge, *nu)
                if value < values[-1]:
                    w[k], errors = solution.weights, changed
                values.append(min(value, values[-1]))
            if not before - values[-1] > options["tolerance"] * values[-1]:
                self.capped_ = at_limit
                break
        return w, np.array(values)
