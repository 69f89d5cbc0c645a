"""The leaderboard's card on the overview; light, for every command imports the report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from markupsafe import Markup

from experiments.leaderboard.labels import label_of


def leaderboard_card(results: Path) -> Markup:
    """Give the leaderboard's card for the overview; nothing before there is a ranking.

    Parameters
    ----------
    results : Path
        The folder ``results``.
    """
    file = results / "leaderboard" / "ranking.csv"
    if not file.exists():
        return Markup("")
    ranking = pd.read_csv(file)
    first = ranking.iloc[0]
    return Markup(
        '<li class="card">\n<h3><a href="leaderboard.html">Leaderboard</a></h3>\n'
        '<p class="answer">{n} methods on real data at equal cost. First by Elo: {label}, '
        "{elo:.0f} ({low:.0f} to {high:.0f}).</p>\n"
        '<p class="place">Intervals are of resampled data sets: {sets} of them.</p>\n</li>'
    ).format(
        n=len(ranking),
        label=label_of(first["method"]),
        elo=first["elo"],
        low=first["low"],
        high=first["high"],
        sets=int(ranking["n_sets"].max()),
    )
