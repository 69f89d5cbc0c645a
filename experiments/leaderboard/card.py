"""The leaderboard's card on the overview; light, for every command imports the report."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup


def leaderboard_card(results: Path) -> Markup:
    """Give the leaderboard's card for the overview; nothing before there is a ranking."""
    if not (results / "leaderboard" / "ranking.csv").exists():
        return Markup("")
    from experiments.leaderboard import page

    tables = page.read(results / "leaderboard")
    return Markup(
        '<li class="card">\n<h3><a href="leaderboard.html">Leaderboard</a></h3>\n'
        '<p class="answer">{n} methods on real data at equal cost. {lead}</p>\n'
        '<p class="place">Intervals are over {sets} data sets.</p>\n</li>'
    ).format(
        n=len(tables["ranking"]),
        lead=page.said_of_lead(tables),
        sets=tables["areas"]["dataset"].nunique(),
    )
