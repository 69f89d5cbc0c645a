"""Cascades of weighted trees with hard exits: who leaves where, and the bill of the papers.

A row is rejected at a stage if Σ_t β_t^k h_t(x) < θ^k. Trees are evaluated at the first stage that
uses them, and add to an accumulator of every stage, so that none is evaluated twice (footnote 5 of
M. Chen et al.: Classifier cascade for minimizing feature evaluation cost, 2012).

=========  ======================================================================
symbol     name
=========  ======================================================================
β^k, θ^k   ``beta`` (K, 1 + T), column 0 the constant; ``theta`` (K - 1,)
F          ``uses`` (d, T), whether tree t splits on feature α
e, c       ``tree_costs`` (T,), ``feature_costs`` (d,)
=========  ======================================================================
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cascade:
    """``beta`` (K, 1 + T) and ``theta`` (K - 1,)."""

    beta: np.ndarray
    theta: np.ndarray


@dataclass(frozen=True)
class Exits:
    """``stage`` (n,) from 1, ``scores`` (n,) at the exit, ``decision`` (n,): -1 if rejected."""

    stage: np.ndarray
    scores: np.ndarray
    decision: np.ndarray


def first_stages(beta) -> np.ndarray:
    """First stage, from 0, that uses each tree, (T,); K if none does."""
    used = beta[:, 1:] != 0
    return np.where(used.any(axis=0), used.argmax(axis=0), len(beta))


def leave(cascade: Cascade, outputs) -> Exits:
    """Walk rows (n, T) through the stages; each tree adds to all accumulators once (footnote 5)."""
    beta, theta, first = cascade.beta, [*cascade.theta, None], first_stages(cascade.beta)
    n, K = len(outputs), len(beta)
    sums = np.tile(beta[:, 0], (n, 1))
    stage, at_exit = np.full(n, K), np.zeros(n)
    inside = np.ones(n, dtype=bool)
    for k in range(K):
        for t in np.flatnonzero(first == k):
            for j in range(K):
                sums[:, j] += beta[j, 1 + t] * outputs[:, t]
        rejected = inside & (sums[:, k] < theta[k]) if k < K - 1 else inside
        stage[rejected], at_exit[rejected] = k + 1, sums[rejected, k]
        inside = inside & ~rejected
    return Exits(stage, at_exit, np.where(stage < K, -1.0, at_exit))


def stage_bills(cascade: Cascade, uses, tree_costs, feature_costs) -> np.ndarray:
    """Bill (K,) of a row that exits at each stage: its trees, and all features of these."""
    first, bills = first_stages(cascade.beta), []
    for k in range(len(cascade.beta)):
        trees = first <= k
        features = uses @ trees > 0
        bills.append(math.fsum([*np.asarray(tree_costs)[trees], *feature_costs[features]]))
    return np.array(bills)


def paper_bill(cascade: Cascade, exits: Exits, uses, tree_costs, feature_costs) -> np.ndarray:
    """Cost (n,) of each row by the paper's bill."""
    return stage_bills(cascade, uses, tree_costs, feature_costs)[exits.stage - 1]


def unrelaxed_cost(cascade: Cascade, exits: Exits, copies, uses, tree_costs, feature_costs):
    """Cost terms of (8) unrelaxed: each tree and feature pays d_k where it is first used."""
    bills = stage_bills(cascade, uses, tree_costs, feature_costs)
    reached = [float(copies[exits.stage > k].sum()) for k in range(len(bills))]
    return float(np.diff(bills, prepend=0.0) @ reached)


# --- Trees assigned to stages before anything is learned ------------------------------------


def pools_by_price(uses, feature_costs, limits) -> np.ndarray:
    """First stage, from 0, whose price limit covers all features of each tree, (T,); K if none."""
    dearest = np.max(np.where(uses > 0, feature_costs[:, None], 0.0), axis=0, initial=0.0)
    return np.array([sum(price > limit for limit in limits) for price in dearest], dtype=np.int64)


def pool_prices(pools, n_stages: int, uses, tree_costs, feature_costs) -> np.ndarray:
    """C_k (K,): all trees of a stage's pool, and their features that no earlier pool has bought."""
    bills = [0.0]
    for k in range(n_stages):
        trees = pools <= k
        features = uses @ trees > 0
        bills.append(math.fsum([*np.asarray(tree_costs)[trees], *feature_costs[features]]))
    return np.diff(bills)


def by_stage(weights, pools, n_stages: int) -> np.ndarray:
    """Weights (1 + T,) of each stage, (K, 1 + T), from (K,) constants and the trees' (T,)."""
    constants, of_trees = weights[:n_stages], weights[n_stages:]
    beta = np.zeros((n_stages, 1 + len(pools)))
    beta[:, 0] = constants
    beta[pools, 1 + np.arange(len(pools))] = of_trees
    return beta
