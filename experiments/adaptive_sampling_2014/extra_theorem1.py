"""Beside the adaptive-sampling paper: how often Laminating fails, and what the bounds say.

Theorem 1 bounds the probability that Laminating ends up with a learner at least δ worse than the
best one. Its proof rests on Lemma 1, the same for one iteration. What was checked, step by step
(the numbers are the paper's):

* (7) to (12): the learners kept are half of all (Q // 2), so if all of them are bad, at least so
  many bad ones look as good as the best one, q*; for such a one Δ_q - Δ_q* >= δ. Right. Q odd is
  covered too: q* is not counted, and (Q - 1) / (Q // 2) <= 2.
* (13) Markov's inequality, (14) linearity; (15) Δ_q - Δ_q* >= δ needs Δ_q >= δ/2 or
  Δ_q* <= -δ/2. Right; nothing is assumed on how learners depend on each other.
* (16) Hoeffding's inequality, for the mean of S votes: printed is 2 · 2 exp(-δ²S/2), which is that
  of votes in [0, 1]. Votes are -1 or 1: P(Δ >= δ/2) <= exp(-2 S (δ/2)² / 2²) = exp(-δ²S/8). So the
  lemma must say 4 exp(-δ²S/8). As printed it is not only unproven but false, see panel (a).
* (17) to (19): with δ_k = (δ/C) √(k / 2^(k-1)), Σ δ_k <= δ, and S 2^(k-1) examples in iteration k,
  each drawn anew, a term is 4 exp(-δ² S k / (2 C²)), a geometric series: 4 / (1 - r) - 4 with
  r = exp(-δ²S / (2 C²)). C = √2 Li_{-1/2}(1/√2) = 5.862, 2 C² = 68.7, printed 69. Right, given the
  lemma; with the lemma's exponent put right 2 C² becomes 8 C² = 274.9.

Theorem 1 as printed says something (less than 1) where δ²S > 111, as it follows where δ²S > 442.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.adaptive_sampling_2014.cells.trials import run_cell
from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import NAME
from experiments.estimates import rate_interval
from experiments.looks import LOOKS
from experiments.style import headline
from reference import adaptive_sampling

DELTA = 0.5
"""Edge by which the best learner is better than all others."""

_lemma_of_votes = partial(adaptive_sampling.lemma_bound, divisor=adaptive_sampling.OF_VOTES)
BOUNDS = {
    "one iteration": (adaptive_sampling.lemma_bound, _lemma_of_votes),
    "whole": (adaptive_sampling.failure_bound, adaptive_sampling.failure_bound_of_votes),
}
"""For each procedure the bound as printed and as it follows: (δ, S) -> probability."""

STRENGTHS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768)
"""Values of δ²S."""

TRIALS = {"smoke": 200, "laptop": 50_000, "overnight": 1_000_000, "paper": 1_000_000}
"""For each seed."""

SETTINGS = (
    ("one iteration", "opposed", 2),
    ("one iteration", "independent", 2),
    ("one iteration", "independent", 64),
    ("whole", "opposed", 64),
    ("whole", "independent", 64),
)
"""Procedure, how the learners' votes hang together, and Q."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return for each seed one cell for each setting."""
    return [
        Cell(
            NAME,
            "laminating",
            {
                "procedure": procedure,
                "votes": votes,
                "n_features": Q,
                "delta": DELTA,
                "strengths": list(STRENGTHS),
                "trials": TRIALS[scale],
            },
            seed,
        )
        for seed in seeds
        for procedure, votes, Q in SETTINGS
    ]


def _draw_bounds(ax: Axes, procedure: str) -> None:
    x = np.geomspace(STRENGTHS[0], STRENGTHS[-1], 400)
    names = {"one iteration": "Lemma 1", "whole": "Theorem 1"}
    for bound, says, colour, line in zip(
        BOUNDS[procedure],
        ("as printed", "as it follows (votes of ±1)"),
        ("black", "#0072B2"),
        ("-", "--"),
        strict=True,
    ):
        y = np.array([bound(DELTA, strength / DELTA**2) for strength in x])
        below = y < 1
        ax.plot(
            x[below], y[below], color=colour, linestyle=line, label=f"{names[procedure]} {says}"
        )


_BESIDE = 1.1
"""Factor between the places of upper limits of the same δ²S, which would lie on each other."""


def _draw_rates(
    ax: Axes, rows: pd.DataFrame, votes: str, Q: int, look: tuple[str, str], place: int
) -> None:
    """Draw a setting's rates; limits where no failure was seen, `place` steps to the right."""
    marker, colour = look
    mine = rows[(rows["votes"] == votes) & (rows["n_features"] == Q)]
    counted = mine.groupby("strength", as_index=False)[["failures", "trials"]].sum()
    failures, trials = counted["failures"].to_numpy(), counted["trials"].to_numpy()
    pairs = zip(failures.tolist(), trials.tolist(), strict=True)
    low, high = np.array([rate_interval(*pair) for pair in pairs]).T
    rate, seen = failures / trials, failures > 0
    says = "all others vote against the best" if votes == "opposed" else "votes independent"
    ax.errorbar(
        counted["strength"][seen],
        rate[seen],
        yerr=np.clip([rate - low, high - rate], 0, None)[:, seen],
        color=colour,
        marker=marker,
        linestyle="none",
        linewidth=0.9,
        label=f"observed, Q = {Q}, {says}",
    )
    ax.errorbar(
        counted["strength"][~seen] * _BESIDE**place,
        high[~seen],
        yerr=high[~seen] / 2,
        uplims=True,
        color=colour,
        marker=marker,
        markerfacecolor="white",
        markersize=3,
        linestyle="none",
        linewidth=0.9,
    )


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw the rates under their bounds."""
    figure = Figure(figsize=(11, 6.6), layout="constrained")
    crimson = LOOKS["laminating"].colour
    looks = {("opposed", 2): ("D", crimson), ("opposed", 64): ("D", crimson)}
    looks |= {("independent", 2): ("s", "#737373"), ("independent", 64): ("o", "#009E73")}
    trials = TRIALS[meta["scale"]] * len(meta["seeds"])
    for ax, letter, procedure, name in zip(
        figure.subplots(1, 2, sharey=True),
        "ab",
        BOUNDS,
        ("one iteration (Lemma 1)", "the whole procedure (Theorem 1)"),
        strict=True,
    ):
        _draw_bounds(ax, procedure)
        mine = rows[rows["procedure"] == procedure]
        settings = [setting[1:] for setting in SETTINGS if setting[0] == procedure]
        for place, setting in enumerate(settings, start=1 - len(settings) // 2 - len(settings) % 2):
            _draw_rates(ax, mine, *setting, looks[setting], place)
        ax.set_xscale("log")
        ax.set_yscale("log")
        # What the interval of one failure reaches down to: 2.5 % see none at this rate.
        ax.set_ylim(0.02 / trials, 1.6)
        ax.set_xlabel("δ²S, S examples in the first iteration")
        ax.set_title(f"({letter}) {name}", loc="left")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12))
    figure.axes[0].set_ylabel("probability of losing the best learner")
    headline(
        figure,
        f"Beside the paper: failures of Laminating · δ = {DELTA:g}, one best learner, all others δ "
        f"worse · scale {meta['scale']} · {trials:,} trials each\nbars: 95 % Clopper-Pearson "
        "intervals; open, with an arrow: no failure seen, upper limit (side by side "
        "where δ²S is the same)",
    )
    return figure


ARTEFACT = Artefact(
    id="sampling-theorem1",
    paper="adaptive_sampling_2014",
    title="Beside adaptive sampling: Theorem 1",
    shows="How often Laminating loses the best learner, against the bounds of Lemma 1 and Theorem "
    "1, as printed and as they follow.",
    minutes={"smoke": 0.1, "laptop": 1, "overnight": 20, "paper": 20},
    seeds={"smoke": 2, "laptop": 5, "overnight": 5, "paper": 5},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("procedure", "votes", "n_features", "strength"),
    tolerances={
        "n_examples": Tolerance(absolute=0),
        "failures": Tolerance(absolute=2),
        "trials": Tolerance(absolute=0),
    },
    render=render,
    paper_numbers="Lemma 1: 4 exp(-δ²S/2); Theorem 1: 4 / (1 - exp(-δ²S/69)) - 4; the paper shows "
    "no failure rates.",
    data_form="none",
)
