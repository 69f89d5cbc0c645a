"""The leaderboard's card on the overview; light, for every command imports the report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from markupsafe import Markup

from experiments.looks import name_of


def leaderboard_card(results: Path) -> Markup:
    """Give the leaderboard's card for the overview; nothing before there is a ranking."""
    file = results / "leaderboard" / "ranking.csv"
    if not file.exists():
        return Markup("")
    ranking = pd.read_csv(file)
    several = ranking[ranking["n_sets"] > 1]  # one data set says little of a rating
    first = (ranking if several.empty else several).iloc[0]
    interval = "" if several.empty else f" ({first['low']:.0f} to {first['high']:.0f})"
    return Markup(
        '<li class="card">\n<h3><a href="leaderboard.html">Leaderboard</a></h3>\n'
        '<p class="answer">{n} methods on real data at equal cost. First by Elo: {label}, '
        "{elo:.0f}{interval}.</p>\n"
        '<p class="place">Intervals are of resampled data sets: {sets} of them.</p>\n</li>'
    ).format(
        n=len(ranking),
        label=name_of(first["method"]),
        elo=first["elo"],
        interval=interval,
        sets=int(ranking["n_sets"].max()),
    )
