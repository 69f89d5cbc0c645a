"""Effects of the claims on Greedy Miser, from the words of its README and of the claims."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

from tests.experiments.published_rows import correlation
from tests.recomputed import curves, divisions


def falls(rows):
    """Of each repetition the rank correlation of -λ with the used features of each higher price."""
    used = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        at = used[int(row["seed"])][float(row["tradeoff"])]
        at[float(row["price"])] = int(row["n_used"])
    found = []
    for _, mine in sorted(used.items()):
        tradeoffs = sorted(mine)
        _, *higher = sorted(mine[0.0])
        falling = [-tradeoff for tradeoff in tradeoffs]
        found.append(
            {price: correlation(falling, [mine[t][price] for t in tradeoffs]) for price in higher}
        )
    return found


def dearer_fall(rows):
    return [statistics.mean(one.values()) for one in falls(rows)]


def pools_of_scenes(rows):
    """Models by the paper's bill; λ = 0 is a limiting case of ours and of early exits."""
    pools = curves.by_method([row for row in rows if row["panel"] == "s"], accounting="_paper")
    for name in ("greedy_miser", "early_exit"):
        pools[name] = curves.together(pools[name], pools["stagewise"])
    return pools


def saved_of_svm(rows):
    pools = pools_of_scenes(rows)
    both = curves.by_validation(pools["greedy_miser"], pools["svm_averaged_kernel"], 0.01)
    return [curves.decades_saved(*each) for each in both.values()]


def answers(text):
    """{picture: whether the model is right}, from two rows of bits: which are tested, and right."""
    tested, right = (f"{int(bits, 16):0{4 * len(bits)}b}" for bits in text.split(":"))
    return {i: int(right[i]) for i, bit in enumerate(tested) if bit == "1"}


def scenes_ahead(rows):
    """Of each draw {picture: how much oftener one is right}, the mean over budgets."""
    pools, found = pools_of_scenes(rows), []
    for both in curves.pairs(pools["greedy_miser"], pools["early_exit"], ends=max).values():
        right = [[answers(model["right"]) for model in pair] for pair in both]
        found.append(
            {i: statistics.mean(mine[i] - other[i] for mine, other in right) for i in right[0][0]}
        )
    return found


def by_rows(rows, column):
    """(seed, number of rows) → a number of Greedy Miser's training."""
    mine = [row for row in rows if row["method"] == "greedy_miser"]
    return {(int(row["seed"]), int(row["n_rows"])): float(row[column]) for row in mine}


def memory(rows):
    data, beside = by_rows(rows, "data_bytes"), by_rows(rows, "beside_bytes")
    most = max(n for _, n in data)
    return [math.log2(data[key] / beside[key]) for key in data if key[1] == most]


def scales(rows):
    seconds = by_rows(rows, "fit_seconds")
    few, many = min(n for _, n in seconds), max(n for _, n in seconds)
    each = {key: value / key[1] for key, value in seconds.items()}
    return [math.log2(2 * each[seed, few] / each[seed, many]) for seed in {s for s, _ in each}]


def training_time(rows):
    seconds = {(row["method"], int(row["seed"])): float(row["fit_seconds"]) for row in rows}
    return [
        math.log2(1.25 / (time / seconds["stagewise", seed]))
        for (method, seed), time in sorted(seconds.items())
        if method == "greedy_miser"
    ]


CLAIMS = {
    "miser-cheaper": divisions.saved("greedy_miser"),
    "miser-almost-matches": divisions.at("greedy_miser", "stagewise", 0.1),
    "miser-above-early-exit": divisions.lead("greedy_miser", "early_exit"),
    "miser-above-cronus": divisions.lead("greedy_miser", "cronus"),
    "miser-above-subsets": divisions.lead("greedy_miser", "stagewise_subsets"),
    "miser-step": divisions.at("step_0.2", "step_0.05", divisions.UNLIMITED),
    "miser-dear-features": dearer_fall,
    "miser-half-of-svm": saved_of_svm,
    "miser-scenes-above-early-exit": scenes_ahead,
    "miser-training-time": training_time,
    "miser-memory": memory,
    "miser-scales": scales,
}
