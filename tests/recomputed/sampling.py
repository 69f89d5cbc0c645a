"""Effects of the claims on adaptive sampling, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

MAS = ("mas_naive", "mas_1q", "mas_q1")
TASTING = ("tasting_1q", "tasting_q1")
UNIFORM = ("uniform_naive", "uniform_1q", "uniform_q1")
BASELINES = ("best_family", *UNIFORM, "ucb", "exp3p", "epsilon_greedy")
THIRTEEN = (*BASELINES, *TASTING, *MAS, "laminating")


def of_table(effect):
    """An effect on the losses after 1,000 rounds of equal cost as the paper counts it."""

    def effects(rows):
        found = defaultdict(dict)
        for row in rows:
            if (row["budget"], row["rounds"]) == ("paper", "1000"):
                found[int(row["seed"])][row["algorithm"]] = float(row["log10_loss"])
        return effect([found[seed] for seed in sorted(found)])

    return effects


def mean(runs, group):
    """For each seed the mean over a group of methods."""
    return [statistics.mean(run[method] for method in group) for run in runs]


def best(runs, among):
    """For each seed the number of one method: the one with the smallest mean over the seeds."""
    name = min(among, key=lambda method: statistics.mean(run[method] for run in runs))
    return [run[name] for run in runs]


def others(*left_out):
    return [method for method in THIRTEEN if method not in left_out]


def less(ones, twos):
    return [one - two for one, two in zip(ones, twos, strict=True)]


def laminating_wins(loss):
    return less(best(loss, others("laminating")), mean(loss, ["laminating"]))


def mas_ahead(loss):
    return less(mean(loss, BASELINES), mean(loss, MAS))


def tasting_ahead(loss):
    return less(mean(loss, BASELINES), mean(loss, TASTING))


def no_advantage(loss):
    """The lead, sign changed, of the best that samples examples over the best that does not."""
    sampling = (*MAS, "laminating")
    return less(best(loss, sampling), best(loss, others(*sampling)))


def beaten(*methods):
    return lambda loss: less(mean(loss, methods), mean(loss, BASELINES))


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


def best_size_grows(rows):
    """By seed, mean over costs, in decades: best Q for the larger variance above the other."""
    drawn = defaultdict(list)
    for row in rows:
        if row["kind"] == "line":
            point = math.log10(float(row["n_features"])), float(row["simulated"])
            drawn[int(row["seed"]), row["cost"], float(row["std"])].append(point)
    of = {key: vertex(points) for key, points in drawn.items()}
    seeds, costs = (sorted({key[i] for key in of}) for i in (0, 1))
    return [statistics.mean(of[s, c, 0.1] - of[s, c, 0.01] for c in costs) for s in seeds]


def loses_least(rows):
    """By seed, mean over costs: by what share Laminating is nearer than the better strategy."""
    found = defaultdict(list)
    for row in rows:
        key = int(row["seed"]), row["passes"], row["algorithm"]
        found[key].append(float(row["difference"]))
    means, effects = {key: statistics.mean(v) for key, v in found.items()}, defaultdict(list)
    for seed, passes in sorted({key[:2] for key in means}):
        others = [v for (s, p, name), v in means.items() if (s, p) == (seed, passes)]
        ours = means[seed, passes, "laminating"]
        effects[seed].append(1 - ours / min(one for one in others if one != ours))
    return [statistics.mean(each) for each in effects.values()]


CLAIMS = {
    **{
        f"sampling-laminating-{x}": of_table(laminating_wins) for x in ("mnist", "inria", "cifar10")
    },
    "sampling-mas-ahead": of_table(mas_ahead),
    "sampling-mas-ahead-cifar10": of_table(mas_ahead),
    "sampling-tasting-ahead": of_table(tasting_ahead),
    "sampling-no-advantage": of_table(no_advantage),
    "sampling-mas-beaten": of_table(beaten(*MAS)),
    **{f"sampling-{one.replace('_', '-')}-beaten": of_table(beaten(one)) for one in MAS},
    "sampling-laminating-beaten": of_table(beaten("laminating")),
    "sampling-more-features": best_size_grows,
    "sampling-laminating-nearest": loses_least,
}
