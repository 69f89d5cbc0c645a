"""Which function recomputes which published claim.

A claim that no pattern fits has no recomputation, and a test says so: whoever publishes a new one
adds a line here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tests.recomputed import cegb, cronus, greedy_miser, mddag, sampling


class Recomputation(NamedTuple):
    """How an effect is had from the published rows.

    Attributes
    ----------
    values : callable
        ``claim id -> values``: one for each repetition (``"seeds"``), one for each unit of the test
        set (``"units"``), for each repetition one for each query (``"crossed"``; where each
        repetition has queries of its own they are units), or (bound, failures, trials) for each
        place (``"trials"``); none where there are no rows, NaN for a repetition that has no effect.
    spread : {"seeds", "units", "crossed", "trials"}
        Where the uncertainty comes from.
    tests : bool
        Whether anything is tested, so that repetitions may share test rows; a training's time
        knows of none.
    """

    values: Callable[[str], list]
    spread: str = "seeds"
    tests: bool = True


TABLES = (*(f"sampling-table{number}" for number in range(1, 5)), "sampling-table3-rules")

PATTERNS: dict[str, dict[str, Recomputation]] = {
    "cegb-figure2": {
        r".*-(deep|shallow)(-paper)?": Recomputation(cegb.ahead),
        r".*-saving(-kept)?": Recomputation(cegb.saving),
    },
    "cegb-figure3": {
        r".*-(similar|cheaper|lower)-[\d.]+|.*-dear": Recomputation(cegb.of_ends),
        r".*-unit-costs": Recomputation(cegb.unit_costs),
        r".*-deeper": Recomputation(cegb.deep),
        r".*-best-first": Recomputation(cegb.best_first),
    },
    "cegb-figure4": {
        r"b3-.*": Recomputation(cegb.on_frames, "units"),
    },
    "cegb-queries": {
        r".*-(deep|shallow)(-paper)?-over-queries": Recomputation(cegb.over_queries, "crossed"),
        r".*-(best-first|(similar|lower)-[\d.]+)-over-queries": Recomputation(
            cegb.over_queries, "crossed"
        ),
    },
    "cegb-training-time": {
        r".*-cegb(-all-splits)?": Recomputation(cegb.training_time, tests=False)
    },
    "cronus-figure2": {
        r".-.*-above-.*": Recomputation(cronus.above),
        r".-.*-free-control": Recomputation(cronus.control),
        r".-whole-features": Recomputation(cronus.whole_features),
        r".-tenfold": Recomputation(cronus.tenfold),
        r".-exit-limited": Recomputation(cronus.exit_limited),
        r".-proximity-best": Recomputation(cronus.proximity),
        r".-.*-slower": Recomputation(cronus.slower),
    },
    "cronus-figure3": {
        r".-rejects-earlier": Recomputation(cronus.rejects_earlier),
        r".-fewer-stages": Recomputation(cronus.fewer_stages),
    },
    "cronus-figure4": {
        r".-cheap-first": Recomputation(cronus.cheap_first),
        r".-most-cheap-at-once": Recomputation(cronus.most_cheap),
        r".-some-dear-at-once": Recomputation(cronus.some_dear, "trials"),
    },
    "cronus-choices": {
        r".-(stages|rejection)-.*": Recomputation(cronus.insensitive),
        r".-initialisation-tunes": Recomputation(cronus.foretold),
    },
    "miser-figure1": {
        r".-gradual": Recomputation(greedy_miser.gradual),
        r".-(tenth|half)": Recomputation(greedy_miser.cheaper),
        r".-above-.*": Recomputation(greedy_miser.above),
        r".-reaches-.*": Recomputation(greedy_miser.reaches),
        r".-exit-limited": Recomputation(greedy_miser.exit_limited),
        r".-with-exits": Recomputation(greedy_miser.with_exits),
    },
    "miser-figure2": {
        r".-cheap-kept": Recomputation(greedy_miser.cheap_kept),
        r".-dearer-fall": Recomputation(greedy_miser.dearer_fall),
        r".-dearest-always": Recomputation(greedy_miser.dearest_always, "trials"),
        r".-dear-early": Recomputation(greedy_miser.dear_early, "trials"),
    },
    "miser-figure3": {
        r"s-half-of-svm": Recomputation(greedy_miser.half_of_svm),
        r"s-l1-below": Recomputation(greedy_miser.l1_below),
        r"s-above-.*": Recomputation(partial(greedy_miser.above, artefact="miser-figure3")),
        r"s-exit-limited": Recomputation(greedy_miser.exit_above_half),
    },
    "miser-choices": {r".-step-.*": Recomputation(greedy_miser.step)},
    "miser-training-time": {r".-training": Recomputation(greedy_miser.training_time, tests=False)},
    "mddag-figure1": {r".*": Recomputation(mddag.of_toy)},
    "mddag-figure2": {
        r".-(low-above-.*|i-low|exp-high|exp-(shares|slow)-high)-at-.*": Recomputation(mddag.ahead),
        r".-(competitive|adaboost|adaboost-high)-at-.*": Recomputation(mddag.within_margin),
        r".-(beta|not-overfitted)": Recomputation(mddag.of_policies),
    },
    "mddag-figure3": {r".-mddag-.*": Recomputation(mddag.twofold)},
    "mddag-choices": {r".-decreasing-worse": Recomputation(mddag.decreasing_worse)},
    "sampling-figure1": {r"cost-\d+": Recomputation(sampling.best_size_grows)},
    "sampling-figure2": {r"passes-\d+": Recomputation(sampling.loses_least)},
    "sampling-theorem1": {r"lemma|theorem": Recomputation(sampling.below_bound, "trials")},
    **{
        table: {
            rf"({'|'.join(sampling.EFFECTS)})-\d+(-rules)?": Recomputation(
                partial(sampling.table, artefact=table)
            )
        }
        for table in TABLES
    },
}


def recomputation(artefact: str, claim: str) -> Recomputation | None:
    """The one recomputation of a claim, or None."""
    fitting = [
        one for pattern, one in PATTERNS.get(artefact, {}).items() if re.fullmatch(pattern, claim)
    ]
    return fitting[0] if len(fitting) == 1 else None
