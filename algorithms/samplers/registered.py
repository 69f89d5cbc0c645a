"""The samplers by their names.

Each is a class of :mod:`algorithms.feature_sampling` or :mod:`algorithms.adaptive_sampling`; its
twin is the function of the sampler's name in the reference's file of the same name, which the tests
find by the class.
"""

from __future__ import annotations

import copy

from .. import adaptive_sampling, feature_sampling
from ..stumps.sampling import Sampler

BEST_FAMILY = "best_family"
SAMPLERS = {
    "all_features": feature_sampling.AllFeatures,
    "uniform_naive": feature_sampling.UniformNaive,
    "uniform_1q": feature_sampling.Uniform1Q,
    "uniform_q1": feature_sampling.UniformQ1,
    "ucb": feature_sampling.UCB,
    "exp3p": feature_sampling.Exp3P,
    "epsilon_greedy": feature_sampling.EpsilonGreedy,
    "tasting_1q": feature_sampling.Tasting1Q,
    "tasting_q1": feature_sampling.TastingQ1,
    "mas_naive": adaptive_sampling.MASNaive,
    "mas_1q": adaptive_sampling.MAS1Q,
    "mas_q1": adaptive_sampling.MASQ1,
    "laminating": adaptive_sampling.Laminating,
}


def new_samplers(sampler: str | object | list, n_families: int) -> Sampler | list[Sampler]:
    """Samplers for one training, from the parameter."""
    if isinstance(sampler, list | tuple):
        if not sampler:
            raise ValueError("sampler is an empty list.")
        if BEST_FAMILY in [name for name in sampler if isinstance(name, str)]:
            raise ValueError(f"sampler: {BEST_FAMILY!r} is a list itself, it cannot be in one.")
        if any(isinstance(one, list | tuple) for one in sampler):
            raise ValueError(f"sampler: a list of samplers cannot hold a list, got {sampler!r}.")
        return [new_samplers(one, n_families) for one in sampler]
    if isinstance(sampler, str):
        if sampler == BEST_FAMILY:
            return [feature_sampling.FixedFamily(k) for k in range(n_families)]
        if sampler not in SAMPLERS:
            names = ", ".join(map(repr, [BEST_FAMILY, *SAMPLERS]))
            raise ValueError(f"sampler must be one of {names}, got {sampler!r}.")
        return SAMPLERS[sampler]()
    if isinstance(sampler, type):
        raise ValueError(f"sampler must be an object, not a class: {sampler.__name__}().")
    if all(callable(getattr(sampler, method, None)) for method in ("begin", "propose", "update")):
        return copy.deepcopy(sampler)
    raise ValueError(
        "sampler must be a name, or an object with begin, propose and update, or a list of them, "
        f"got {sampler!r}."
    )


def check_trees_can_grow(samplers: Sampler | list[Sampler]) -> None:
    """Refuse samplers that propose what one stump is to be made of, and no tree can."""
    for sampler in samplers if isinstance(samplers, list) else [samplers]:
        if getattr(sampler, "for_one_stump", False):
            raise ValueError(
                f'weak_learner="hamming_tree" does not go with the sampler {sampler!r}, which '
                "seeks the one feature of a stump: a tree is grown of all features that are "
                'proposed for the round, as by "all_features", "best_family", the uniform '
                "samplers, the bandits and Tasting."
            )
