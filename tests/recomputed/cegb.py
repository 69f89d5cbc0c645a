"""Effects of the claims on CEGB, from the words of its README and of the claims."""

from __future__ import annotations

import math

from tests.recomputed import curves


def by_method(rows):
    """Models, of MSLR those with documents relevant from grade 3 on."""
    return curves.by_method([row for row in rows if row["panel"] != "b'"])


def ahead(better, worse):
    def effects(rows):
        pools = by_method(rows)
        return curves.mean_leads(pools[better], pools[worse])

    return effects


def saving(rows):
    pools = by_method(rows)
    both = curves.by_validation(pools["cegb"], pools["greedy_miser"]).values()
    return [curves.decades_saved(*each) for each in both]


# --- Figure 3 -------------------------------------------------------------------------------------


def ends(rows, method, tradeoff):
    """The last round of each seed's model."""
    pools = by_method(rows)[method]
    return [
        max((m for m in pool if m["tradeoff"] == tradeoff), key=lambda m: m["rounds"])
        for _, pool in sorted(pools.items())
    ]


def of_ends(effect, tradeoff):
    """An effect of the models of λ = 0 and of another λ."""
    return lambda rows: [
        effect(*both)
        for both in zip(ends(rows, "cegb", 0.0), ends(rows, "cegb", tradeoff), strict=True)
    ]


def lost(column):
    return lambda free, priced: free[column] - priced[column]


def deep(rows):
    """Depth of the deepest leaf over split nodes passed, best first against breadth first."""
    both = [ends(rows, method, 3e-4) for method in ("cegb", "cegb_breadth_first")]
    below = [[model["mean_depth"] / model["mean_path"] for model in grown] for grown in both]
    return [math.log10(a / b) for a, b in zip(*below, strict=True)]


# --- training time --------------------------------------------------------------------------------


def training_time(rows):
    seconds = {(row["method"], int(row["seed"])): float(row["fit_seconds"]) for row in rows}
    return [
        math.log2(1.5 / (time / seconds["gbrt", seed]))
        for (method, seed), time in sorted(seconds.items())
        if method == "cegb"
    ]


CLAIMS = {
    "cegb-classification": ahead("cegb", "greedy_miser"),
    "cegb-classification-shallow": ahead("cegb_shallow", "greedy_miser"),
    "cegb-ranking": ahead("cegb", "greedy_miser"),
    "cegb-ranking-shallow": ahead("cegb_shallow", "greedy_miser"),
    "cegb-saving": saving,
    "cegb-saving-ranking": saving,
    "cegb-similar": of_ends(lambda free, priced: -lost("test_score")(free, priced), 3e-4),
    "cegb-cheaper": of_ends(lambda a, b: math.log10(a["test_cost"] / b["test_cost"]), 3e-4),
    "cegb-lower": of_ends(lost("test_score"), 1e-3),
    "cegb-dear": of_ends(lost("test_dear"), 3e-4),
    "cegb-deep-cheap": deep,
    "cegb-best-first": ahead("cegb", "cegb_breadth_first"),
    "cegb-training-time": training_time,
}
