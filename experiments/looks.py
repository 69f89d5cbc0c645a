"""What methods are called where people read, and the colour, marker and line of each.

No cell imports this file: a name or a colour changes no stored result. The colours are Okabe and
Ito's, told apart by colour-blind readers; in grey the marker and the line style do it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

_BLACK, _ORANGE, _SKY = "#000000", "#E69F00", "#56B4E9"
_BLUE, _VERMILION, _PURPLE = "#0072B2", "#D55E00", "#CC79A7"
# Eight colours do not reach for all methods: darker shades of them, and grey.
_DARK_ORANGE, _DARK_PURPLE, _WINE = "#8A5F00", "#5B2A47", "#A8477E"
_DARK_GREEN, _GREY = "#006046", "#8C8C8C"
_OLIVE, _DARK_RED = "#5A6B00", "#7A1212"
# Thirteen methods in one plot: a hue for each kind (uniform grey, bandits ochre, Tasting blue,
# M.A.S. green, Laminating red), lightness, marker and line for the method.
_GREYS = "#262626", "#4D4D4D", "#737373", "#A6A6A6"
_OCHRES = "#7A5C00", "#B38F00", "#E0BC2E"
_BLUES = "#1F4E9C", "#6F9FD8"
_GREENS = "#1E5218", "#3C8D2F", "#86C25E"
_PINK, _TEAL, _INDIGO, _GOLD = "#E85D9E", "#00796B", "#3F3D99", "#B07D00"
_INK, _RUST, _PLUM = "#1A1A2E", "#B5541C", "#6B3FA0"
_MOSS, _SEA, _STONE, _BRICK, _MAUVE = "#4E7D2D", "#2F6F9F", "#7D7468", "#B23A2E", "#9A4C95"
_SALMON, _LILAC = "#E08070", "#C9A0DC"
_COAL, _AZURE, _TANGERINE, _CORNFLOWER = "#3A3A3A", "#0A62B8", "#DB6A00", "#7FA8E8"
_PEACH, _LEAF, _VIOLET_RED, _UMBER = "#F0A868", "#1B7F4B", "#A0327A", "#6B4A1E"
_RUSSET, _CLAY, _STEEL, _APRICOT = "#A34400", "#C87137", "#4A90D9", "#D98E32"
_CRIMSON, _VIOLET = "#C2185B", "#7B4FA8"
_FOREST, _LIME, _NAVY, _ICE = "#2D5D34", "#7FA61B", "#12306B", "#5FA3C7"
_ROSE, _SAND, _ASH, _SLATE = "#D0417E", "#C29A4B", "#9E9E9E", "#49596B"
_TURQUOISE, _COPPER = "#00A5A8", "#B87333"


@dataclass(frozen=True)
class Look:
    """How an algorithm is drawn."""

    label: str  # Name in the legend
    colour: str  # colour, marker, line: As matplotlib understands them
    marker: str
    line: str


LOOKS = {
    "cegb": Look("CEGB, deep", _BLUE, "o", "-"),
    "cegb_shallow": Look("CEGB, 16 leaves, depth 4", _SKY, "s", "--"),
    "cegb_as_miser": Look("CEGB set up as Greedy Miser", _VERMILION, "^", "-."),
    "gbrt": Look("GBRT, no costs", _BLACK, "x", ":"),
    "cegb_breadth_first": Look("CEGB, deep, breadth first", _PURPLE, "v", (0, (3, 1, 1, 1))),
    "cegb_all_splits": Look("CEGB, no stop at negative gain", _OLIVE, "+", "--"),
    "lightgbm": Look("LightGBM", _ORANGE, "P", (0, (1, 2))),
    "lightgbm_cegb": Look("LightGBM, its CEGB, per row", _DARK_ORANGE, "d", (0, (6, 2))),
    "lightgbm_lambdarank": Look("LightGBM, lambdarank", _CLAY, "X", (0, (3, 1, 1, 1))),
    "xgboost": Look("XGBoost", _COPPER, "v", (0, (5, 3))),
    "catboost": Look("CatBoost", _DARK_PURPLE, "*", (0, (2, 1))),
    "catboost_per_object": Look(
        "CatBoost, Lossguide, penalties per object", _WINE, "<", (0, (4, 1, 1, 1))
    ),
    "catboost_first_use": Look(
        "CatBoost, penalties of first use", _DARK_GREEN, ">", (0, (8, 1, 2, 1))
    ),
    "hist_gradient_boosting": Look("scikit-learn HistGradientBoosting", _GREY, "p", (0, (1, 1))),
    "best_family": Look("Best family", _GREYS[0], "X", ":"),
    "uniform_naive": Look("Uniform Naive", _GREYS[1], "s", ":"),
    "uniform_1q": Look("Uniform 1.Q", _GREYS[2], "<", ":"),
    "uniform_q1": Look("Uniform Q.1", _GREYS[3], ">", ":"),
    "ucb": Look("UCB", _OCHRES[0], "v", "-."),
    "exp3p": Look("Exp3.P", _OCHRES[1], "p", "-."),
    "epsilon_greedy": Look("ε-greedy", _OCHRES[2], "h", "-."),
    "tasting_1q": Look("Tasting 1.Q", _BLUES[0], "^", "--"),
    "tasting_q1": Look("Tasting Q.1", _BLUES[1], "D", "--"),
    "mas_naive": Look("M.A.S. Naive", _GREENS[0], "P", (0, (5, 1, 1, 1))),
    "mas_1q": Look("M.A.S. 1.Q", _GREENS[1], "d", (0, (5, 1, 1, 1))),
    "mas_q1": Look("M.A.S. Q.1", _GREENS[2], "8", (0, (5, 1, 1, 1))),
    "laminating": Look("Laminating", _CRIMSON, "*", "-"),
    "greedy_miser": Look("Greedy Miser", _DARK_RED, "H", (0, (4, 1, 2, 1))),
    "greedy_miser_early_exit": Look("Greedy Miser + early exit", _PINK, "^", (0, (1, 1, 4, 1))),
    "stagewise": Look("Stage-wise regression (λ = 0)", _INK, "+", ":"),
    "stagewise_subsets": Look("Stage-wise regression, feature subsets", _TEAL, "D", (0, (2, 2))),
    "early_exit": Look("Early exit", _INDIGO, "v", (0, (5, 2))),
    "svm_averaged_kernel": Look("SVM, averaged kernel", _RUST, "P", "-"),
    "l1_raw_descriptors": Look("Linear, ℓ1, on the descriptors", _PLUM, "X", "-"),
    "cronus": Look("Cronus", _GOLD, "*", (0, (6, 1))),
    "cronus_initial": Look("Cronus, initialisation alone", _MOSS, "D", (0, (3, 1))),
    "single_stage": Look("Cronus, single stage", _SEA, "s", (0, (4, 2, 1, 2))),
    "plain_l1": Look("Single stage, ℓ1 without prices", _STONE, "p", (0, (2, 1, 1, 1))),
    "raykar_cascade": Look("Soft cascade (Raykar)", _BRICK, "P", (0, (7, 1, 1, 1))),
    "and_or_cascade": Look("AND-OR (Dundar & Bi)", _MAUVE, "X", (0, (2, 1))),
    "raykar_free": Look("Soft cascade, trees in boosting order", _SALMON, "+", (0, (1, 3))),
    "and_or_free": Look("AND-OR, trees in boosting order", _LILAC, "x", (0, (1, 3))),
    "adaboost": Look("AdaBoost, every j", _COAL, ",", "-"),
    "viola_jones": Look("Viola & Jones", _LEAF, "s", (0, (5, 2, 1, 2))),
    "fcboost": Look("FCBoost", _VIOLET_RED, "D", (0, (3, 1, 1, 1, 1, 1))),
    "bourdev_cascade": Look("SoftCascade (Bourdev & Brandt)", _UMBER, "v", (0, (2, 1))),
    "mddag_i": Look("MDDAG.I", _AZURE, "o", (0, (9, 1))),
    "mddag_i_accuracy": Look("MDDAG.I, fewest errors kept", _STEEL, "s", (0, (1, 2))),
    "mddag_exp": Look("MDDAG.EXP", _TANGERINE, "^", "-"),
    "mddag_exp_shares": Look("MDDAG.EXP of f/Σα (footnote 1)", _APRICOT, ">", (0, (1, 1))),
    "mddag_exp_slow": Look("MDDAG.EXP, rate 0.02 (ours)", _RUSSET, "<", (0, (6, 2))),
    "mddag_i_descent": Look("MDDAG.I, descent (ours)", _CORNFLOWER, "o", (0, (2, 2))),
    "mddag_exp_descent": Look("MDDAG.EXP, descent (ours)", _PEACH, "^", (0, (2, 2))),
    "uniform_examples": Look("All features, few examples", _VIOLET, "v", (0, (3, 2))),
    "budget_forest": Look("BudgetRF", _FOREST, "h", (0, (5, 1))),
    "budget_prune": Look("BudgetPrune", _LIME, "8", "-"),
    "mddag": Look("MDDAG on trees", _NAVY, "o", (0, (9, 2))),
    "mddag_stumps": Look("MDDAG on stumps", _ICE, "s", (0, (2, 3))),
    "adaboost_mh": Look("AdaBoost.MH with Laminating", _ROSE, "*", (0, (8, 2))),
    "lightgbm_early_stop": Look("LightGBM, its early stop", _SAND, "d", (0, (2, 2))),
    "blind_subset": Look("Features first, whatever they cost", _ASH, "+", (0, (1, 2))),
    "priced_subset": Look("Features first, by price", _SLATE, "D", (0, (4, 1))),
    "streed": Look("STreeD, an optimal tree", _TURQUOISE, "^", (0, (3, 1))),
}
"""For each algorithm its look; add a line, never re-use one."""

NAMES = {
    "cegb": "CEGB",
    "early_exit": "Early exit from GBRT",
    "gbrt": "GBRT (no costs in training)",
    "raykar_cascade": "Raykar's soft cascade",
    "and_or_cascade": "AND-OR cascade",
    "viola_jones": "Viola–Jones",
    "bourdev_cascade": "SoftCascade",
    "blind_subset": "GBRT on features chosen whatever they cost",
    "priced_subset": "GBRT on features chosen by price",
    "lightgbm": "LightGBM (no costs in training)",
    "lightgbm_lambdarank": "LightGBM, lambdarank (no costs in training)",
    "catboost": "CatBoost (no costs in training)",
    "catboost_first_use": "CatBoost, penalty at first use",
    "catboost_per_object": "CatBoost, penalty per row",
    "hist_gradient_boosting": "scikit-learn HGB (no costs in training)",
    "xgboost": "XGBoost (no costs in training)",
}
"""In ``compare`` and the leaderboard, where a figure sets a method up in its own way."""

_OF_USERS = (
    Look("", "#000000", "X", "--"),
    Look("", "#7A5C00", "H", "-."),
    Look("", "#3F3D99", "8", ":"),
)


def name_of(method: str) -> str:
    """Give a method's name; of a class of the user's, ``package:Class``, its class."""
    if method in NAMES:
        return NAMES[method]
    return LOOKS[method].label if method in LOOKS else method.partition(":")[2] or method


def look_of(method: str, number: int = 0) -> Look:
    """Give how a method is drawn; a class of the user's by its number."""
    if method in LOOKS:
        return LOOKS[method]
    return replace(_OF_USERS[number % len(_OF_USERS)], label=name_of(method))
