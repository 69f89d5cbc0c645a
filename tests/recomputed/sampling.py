"""Effects of the claims on adaptive sampling, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from functools import cache

from tests.experiments.published_rows import claims, lines

MAS = ("mas_naive", "mas_1q", "mas_q1")
TASTING = ("tasting_1q", "tasting_q1")
UNIFORM = ("uniform_naive", "uniform_1q", "uniform_q1")
BASELINES = ("best_family", *UNIFORM, "ucb", "exp3p", "epsilon_greedy")
THIRTEEN = (*BASELINES, *TASTING, *MAS, "laminating")


@cache
def measured(artefact, dataset, rounds, column):
    """Seed → method → a number after so many rounds of equal cost as the paper counts it."""
    found = defaultdict(dict)
    for row in lines(artefact):
        if (row["budget"], row["dataset"], row["rounds"]) == ("paper", dataset, rounds):
            found[int(row["seed"])][row["algorithm"]] = float(row[column])
    return [found[seed] for seed in sorted(found)]


def mean(runs, group):
    """For each seed the mean over a group of methods."""
    return [statistics.mean(run[method] for method in group) for run in runs]


def best(runs, among):
    """For each seed the number of one method: the one with the smallest mean over the seeds."""
    name = min(among, key=lambda method: statistics.mean(run[method] for run in runs))
    return [run[name] for run in runs]


def others(*left_out):
    return [method for method in THIRTEEN if method not in left_out]


def less(ones, twos, margin=0.0):
    return [margin + one - two for one, two in zip(ones, twos, strict=True)]


def laminating_wins(loss):
    return less(best(loss, others("laminating")), mean(loss, ["laminating"]))


def mas_ahead(loss):
    return less(mean(loss, BASELINES), mean(loss, MAS))


def tasting_ahead(loss):
    return less(mean(loss, BASELINES), mean(loss, TASTING))


def no_advantage(loss):
    """0.02 less the lead of the best that samples examples over the best that does not."""
    sampling = (*MAS, "laminating")
    return less(best(loss, sampling), best(loss, others(*sampling)), 0.02)


def mas_beaten(loss):
    return less(mean(loss, MAS), mean(loss, BASELINES))


def laminating_beaten(loss):
    return less(mean(loss, ["laminating"]), mean(loss, BASELINES))


def tasting_best(loss):
    return less(best(loss, others(*TASTING)), mean(loss, TASTING))


def alike(error):
    """0.6 percentage points less the span of all methods but Best family."""
    names = others("best_family")
    worst = [max(run[method] for method in names) for run in error]
    return less([min(run[method] for method in names) for run in error], worst, 0.6)


def best_family_behind(error):
    return less(mean(error, ["best_family"]), mean(error, UNIFORM))


def no_better_error(error):
    """0.2 percentage points less Laminating's lead over the best other."""
    return less(mean(error, ["laminating"]), best(error, others("laminating")), 0.2)


OF_LOSS = {
    "laminating-wins": laminating_wins,
    "mas-ahead": mas_ahead,
    "tasting-ahead": tasting_ahead,
    "no-advantage": no_advantage,
    "mas-beaten": mas_beaten,
    "laminating-beaten": laminating_beaten,
    "tasting-best": tasting_best,
}
OF_ERROR = {
    "alike": alike,
    "best-family-behind": best_family_behind,
    "no-better-error": no_better_error,
}
EFFECTS = {**OF_LOSS, **OF_ERROR}


def table(claim, artefact):
    name, _, rounds = claim.removesuffix("-rules").rpartition("-")
    column = "log10_loss" if name in OF_LOSS else "test_error"
    dataset = claims(artefact)[claim]["dataset"]
    runs = measured(artefact, dataset, rounds, column)
    if not runs or any(set(THIRTEEN) - set(run) for run in runs):
        return []  # not all methods were run
    return EFFECTS[name](runs)


def printed(claim, table):
    """The same effect of the numbers that the paper prints.

    Parameters
    ----------
    table : dict
        Method → pairs (loss, error) after 10, 100, 1,000 and 10,000 rounds.
    """
    name, _, rounds = claim.removesuffix("-rules").rpartition("-")
    place, column = ("10", "100", "1000", "10000").index(rounds), int(name in OF_ERROR)
    (effect,) = EFFECTS[name]([{method: table[method][place][column] for method in THIRTEEN}])
    return effect


# --- Figures 1 and 2 ------------------------------------------------------------------------------


def vertex(points):
    """Vertex of a parabola through the largest value and its neighbours, in log10 of Q."""
    points = sorted(points)
    top = max(range(len(points)), key=lambda i: points[i][1])
    if top in (0, len(points) - 1):
        return points[top][0]
    (a, u), (b, v), (c, w) = points[top - 1 : top + 2]
    over = (b - a) ** 2 * (v - w) - (b - c) ** 2 * (v - u)
    return b - over / (2 * ((b - a) * (v - w) - (b - c) * (v - u)))


def best_size_grows(claim):
    cost, drawn = claim.removeprefix("cost-"), defaultdict(list)
    for row in lines("sampling-figure1"):
        if row["kind"] == "line" and row["cost"] == cost:
            point = math.log10(float(row["n_features"])), float(row["simulated"])
            drawn[int(row["seed"]), float(row["std"])].append(point)
    seeds = sorted({seed for seed, _ in drawn})
    return [vertex(drawn[seed, 0.1]) - vertex(drawn[seed, 0.01]) for seed in seeds]


def loses_least(claim):
    passes, found = claim.removeprefix("passes-"), defaultdict(list)
    for row in lines("sampling-figure2"):
        if row["passes"] == passes:
            found[int(row["seed"]), row["algorithm"]].append(float(row["difference"]))
    effects = []
    for seed in sorted({seed for seed, _ in found}):
        means = {name: statistics.mean(v) for (of, name), v in found.items() if of == seed}
        ours = means.pop("laminating")
        effects.append(1 - ours / min(means.values()))
    return effects


# --- Theorem 1 ------------------------------------------------------------------------------------


def below_bound(claim):
    """Places (bound, failures, trials) where the printed bound is between 0.001 and 1."""
    procedure = {"lemma": "one iteration", "theorem": "whole"}[claim]
    counts = defaultdict(lambda: [0, 0])
    for row in lines("sampling-theorem1"):
        if row["procedure"] == procedure:
            place = row["votes"], row["n_features"], float(row["strength"])
            counts[place][0] += int(row["failures"])
            counts[place][1] += int(row["trials"])
    found = []
    for (_, _, strength), (failures, trials) in counts.items():
        if claim == "lemma":
            bound = 4 * math.exp(-strength / 2)
        else:
            bound = 4 / (1 - math.exp(-strength / 69)) - 4
        if 0.001 <= bound <= 1:
            found.append((bound, failures, trials))
    return found
