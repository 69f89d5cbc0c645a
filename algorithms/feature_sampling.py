"""Which features a round of boosting looks at: uniform, by bandits, and by Tasting.

C. Dubout, F. Fleuret: Adaptive sampling for large scale boosting. Journal of Machine Learning
Research 15 (2014), pages 1431-1453, sections 4, 6.3 and 6.4. The reference, with its deviations, is
:mod:`reference.feature_sampling`; what a sampler is says :mod:`algorithms.stumps.sampling`.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from .adaptive_sampling import MAS1Q, MASQ1, Laminating, MASNaive
from .estimators.parameters import check_flag, check_number, check_whole_number
from .stumps.sampling import Problem, Proposal, Sampler, draw, on_all_examples

_MOST_DRAWS = 1_000_000


def check_draws(name: str, problem: Problem) -> None:
    """Check that a sampler that draws feature by feature can do so in a lifetime."""
    if problem.n_passes > _MOST_DRAWS:
        raise ValueError(
            f"{name} draws one family for each pass of max_cost, at most {_MOST_DRAWS}; "
            f"got max_cost={problem.max_cost!r}."
        )


# --- Uniform, section 6.3 ------------------------------------------------------------------------


class AllFeatures(Sampler):
    """Every feature in every round: textbook AdaBoost, whatever it costs."""

    def propose(self, problem: Problem) -> Proposal:
        """Choose all features."""
        return on_all_examples(problem, problem.all_features())


class UniformNaive(Sampler):
    """Q features of all, whatever the sizes of the families."""

    def begin(self, problem: Problem) -> None:
        """List the features once: in every round that would take longer than the search."""
        self._features = problem.all_features()

    def propose(self, problem: Problem) -> Proposal:
        """Choose uniformly among all features."""
        features = draw(self._features, problem.n_passes, problem.rng)
        return on_all_examples(problem, features)


class Uniform1Q(Sampler):
    """Uniform 1.Q: one family at random, and Q features of it."""

    def propose(self, problem: Problem) -> Proposal:
        """Choose a family, then its features."""
        family = problem.families[int(problem.rng.integers(len(problem.families)))]
        return on_all_examples(problem, draw(family, problem.n_passes, problem.rng))


class UniformQ1(Sampler):
    """Uniform Q.1: Q families at random, and one feature of each."""

    def begin(self, problem: Problem) -> None:
        """Check that so many draws are meant."""
        check_draws("uniform_q1", problem)

    def propose(self, problem: Problem) -> Proposal:
        """Choose families (with replacement if there are fewer than Q), then features."""
        n_families, Q = len(problem.families), problem.n_passes
        chosen = problem.rng.choice(n_families, Q, replace=Q > n_families)
        places = problem.rng.integers(np.array([len(problem.families[k]) for k in chosen]))
        features = [problem.families[k][i] for k, i in zip(chosen, places, strict=True)]
        return on_all_examples(problem, np.array(features))


class FixedFamily(Sampler):
    """Q features of one family in every round; the best of all families is "Best family"."""

    def __init__(self, family: int) -> None:
        self.family = family

    def check_parameters(self) -> None:
        """Check that it is the number of a family."""
        check_whole_number("family", self.family, 0)

    def begin(self, problem: Problem) -> None:
        """Check that there is such a family."""
        self.check_parameters()
        if self.family >= len(problem.families):
            raise ValueError(
                f"There is no family {self.family!r}: families are numbered from 0 to "
                f"{len(problem.families) - 1}."
            )

    def propose(self, problem: Problem) -> Proposal:
        """Choose among the family's features."""
        family = problem.families[self.family]
        return on_all_examples(problem, draw(family, problem.n_passes, problem.rng))


# --- Bandits, section 6.4 ------------------------------------------------------------------------


def reward(edge: float) -> float:
    """Reward of a round, -½ log(1 - ε²): what it takes off the logarithm of the loss."""
    return -0.5 * float(np.log(1.0 - edge * edge)) if edge < 1 else math.inf


class Bandit(Sampler):
    """Base of the bandits: the arms are the families, Q features of one are searched in a round."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def check_parameters(self) -> None:
        """Check the scale."""
        check_number("scale", self.scale, positive=True)

    def begin(self, problem: Problem) -> None:
        """Check the parameters; know nothing of any arm."""
        self.check_parameters()
        self._scale = float(self.scale)
        n_arms = len(problem.families)
        self._pulls = np.zeros(n_arms, dtype=np.int64)
        self._rewards = np.zeros(n_arms)
        self._arm = -1

    def choose(self, problem: Problem) -> int:
        """Choose an arm."""
        raise NotImplementedError

    def propose(self, problem: Problem) -> Proposal:
        """Choose an arm, then its features."""
        self._arm = self.choose(problem)
        family = problem.families[self._arm]
        return on_all_examples(problem, draw(family, problem.n_passes, problem.rng))

    def _paid(self, edge: float) -> float:
        """Reward in [0, 1], as UCB and Exp3.P expect it."""
        return min(1.0, self._scale * reward(edge))

    def update(self, feature: int, edge: float) -> None:
        """Pay the arm."""
        self._pulls[self._arm] += 1
        self._rewards[self._arm] += self._paid(edge)


class UCB(Bandit):
    """UCB1: mean reward + sqrt(2 log(n) / n_j); each arm once first."""

    def __init__(self, scale: float = 1.0, shuffle: bool = False) -> None:
        super().__init__(scale)
        self.shuffle = shuffle

    def check_parameters(self) -> None:
        """Check scale and order."""
        super().check_parameters()
        check_flag("shuffle", self.shuffle)

    def begin(self, problem: Problem) -> None:
        """Check the parameters; settle the order of the arms."""
        super().begin(problem)
        n_arms = len(problem.families)
        self._order = problem.rng.permutation(n_arms) if self.shuffle else np.arange(n_arms)

    def choose(self, problem: Problem) -> int:
        """Choose the arm of the largest upper confidence bound."""
        untried = self._order[self._pulls[self._order] == 0]
        if len(untried):
            return int(untried[0])
        n = int(self._pulls.sum()) + 1
        bounds = self._rewards / self._pulls + np.sqrt(2 * np.log(n) / self._pulls)
        return int(self._order[np.argmax(bounds[self._order])])


class Exp3P(Bandit):
    """Exp3.P: arms are drawn by weights that grow with their rewards, and with doubt."""

    def __init__(self, scale: float = 1.0, eta: float = 0.3, lam: float = 0.15) -> None:
        super().__init__(scale)
        self.eta = eta
        self.lam = lam

    def check_parameters(self) -> None:
        """Check scale, doubt and the share of uniform draws."""
        super().check_parameters()
        check_number("eta", self.eta, positive=True)
        if check_number("lam", self.lam, positive=True) > 1:
            raise ValueError(f"lam must be at most 1, got {self.lam!r}.")

    def begin(self, problem: Problem) -> None:
        """Check the parameters; start from equal weights."""
        super().begin(problem)
        self._eta, self._lam = float(self.eta), float(self.lam)
        self._log_weights = np.zeros(len(problem.families))
        self._root = math.sqrt(len(problem.families) * problem.n_rounds)

    def choose(self, problem: Problem) -> int:
        """Draw an arm."""
        weights = np.exp(self._log_weights - self._log_weights.max())
        self._chances = (1 - self._lam) * (weights / np.cumsum(weights)[-1])
        self._chances += self._lam / len(weights)
        arm = np.searchsorted(np.cumsum(self._chances), problem.rng.random(), side="right")
        return min(int(arm), len(weights) - 1)

    def update(self, feature: int, edge: float) -> None:
        """Move the weights."""
        estimates = np.zeros(len(self._chances))
        estimates[self._arm] = self._paid(edge) / self._chances[self._arm]
        doubt = self._eta / (self._chances * self._root)
        self._log_weights = self._log_weights + self._lam / (3 * len(estimates)) * (
            estimates + doubt
        )


class EpsilonGreedy(Bandit):
    """ε-greedy: the arm of the largest mean reward, or with ε_n = c K / (d² n) any arm."""

    def choose(self, problem: Problem) -> int:
        """Draw an arm, or choose the best."""
        n = int(self._pulls.sum()) + 1
        if problem.rng.random() < self._scale * len(self._pulls) / n:
            return int(problem.rng.integers(len(self._pulls)))
        return int(np.argmax(self._rewards / np.maximum(self._pulls, 1)))

    def _paid(self, edge: float) -> float:
        return reward(edge)


# --- Tasting, section 4 --------------------------------------------------------------------------


class _Tasting(Sampler):
    """Base of both: a few features stored of each family say what the family is worth."""

    def __init__(self, n_tasted=10) -> None:
        self.n_tasted = n_tasted

    def check_parameters(self) -> None:
        """Check the number of stored features."""
        check_whole_number("n_tasted", self.n_tasted, 1)

    def begin(self, problem: Problem) -> None:
        """Store features of each family."""
        self.check_parameters()
        size = int(self.n_tasted)
        stored = [draw(family, size, problem.rng) for family in problem.families]
        self._tasted = np.concatenate(stored)
        self._sizes = np.array([len(features) for features in stored])
        # Where each stored feature's edge goes: a row per family, its last places.
        widest = self._sizes.max()
        self._places = np.arange(widest) >= widest - self._sizes[:, None]

    def _taste(self, problem: Problem) -> np.ndarray:
        """Edges of the stored features, (n_families, R), ascending in each row after zeros."""
        edges = np.zeros(self._places.shape)
        edges[self._places] = problem.edges(self._tasted) / problem.weights.total
        return np.sort(edges, axis=1)


class Tasting1Q(_Tasting):
    """Algorithm 1: Q features of the family that promises the best."""

    def begin(self, problem: Problem) -> None:
        """Store features, and how much each one's place counts in Eq. (5)."""
        super().begin(problem)
        Q, widest = problem.n_passes, self._places.shape[1]
        self._shares = np.zeros(self._places.shape)
        for k, R in enumerate(self._sizes.tolist()):
            powers = [(r / R) ** Q for r in range(R + 1)]
            self._shares[k, widest - R :] = np.diff(powers)

    def propose(self, problem: Problem) -> Proposal:
        """Choose a family, then its features."""
        # The order of the additions is the reference's: numpy's own sum would differ in last bits.
        # Eq. (4), estimated by Eq. (5).
        expected = np.cumsum(self._shares * self._taste(problem), axis=1)[:, -1]  # Eq. (5)
        family = problem.families[int(np.argmax(expected))]
        return on_all_examples(problem, draw(family, problem.n_passes, problem.rng))


class TastingQ1(_Tasting):
    """Algorithm 2: each of Q features from the family that promises most, given the best so far."""

    def begin(self, problem: Problem) -> None:
        """Check that so many draws are meant, and store features."""
        check_draws("tasting_q1", problem)
        super().begin(problem)

    def propose(self, problem: Problem) -> Proposal:
        """Choose family and feature, Q times."""
        edges = self._taste(problem)
        best, features = 0.0, []
        for _ in range(problem.n_passes):
            gains = np.where(self._places, np.maximum(edges, best), 0.0)
            expected = np.cumsum(gains, axis=1)[:, -1] / self._sizes
            family = problem.families[int(np.argmax(expected))]
            feature = family[int(problem.rng.integers(len(family)))]
            features.append(feature)
            edge = problem.edges(np.array([feature]))[0] / problem.weights.total
            best = max(best, edge)
        return on_all_examples(problem, np.array(features))


# --- the samplers by their names ---------------------------------------------------------------

# A sampler's twin is the function of its name in the reference's file that is called as the module
# of its class; the tests find it by the class.

BEST_FAMILY = "best_family"
SAMPLERS = {
    "all_features": AllFeatures,
    "uniform_naive": UniformNaive,
    "uniform_1q": Uniform1Q,
    "uniform_q1": UniformQ1,
    "ucb": UCB,
    "exp3p": Exp3P,
    "epsilon_greedy": EpsilonGreedy,
    "tasting_1q": Tasting1Q,
    "tasting_q1": TastingQ1,
    "mas_naive": MASNaive,
    "mas_1q": MAS1Q,
    "mas_q1": MASQ1,
    "laminating": Laminating,
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
            return [FixedFamily(k) for k in range(n_families)]
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
