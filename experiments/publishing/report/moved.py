"""Leads old links to the one page of before, ``index.html#…``, to the pages that it became."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.publishing.report.papers import Paper


def moved(papers: Sequence[Paper]) -> dict[str, str]:
    """Return for what an old anchor begins with its page; the longest beginning counts."""
    found = {"claim": "claims.html", "described": "claims.html", "speed": "speed.html"}
    for paper in papers:
        begins = (paper.id, f"{paper.short}-", f"primary-{paper.short}-", f"board-{paper.short}")
        found |= dict.fromkeys(begins, paper.page)
    return found
