"""Order against order of the tables that print numbers for many methods: ``<paper>-order.csv``."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from experiments.artefact import Artefact
from experiments.registry import short_name


def order_tables(
    published: Sequence[tuple[Artefact, pd.DataFrame, dict]],
) -> dict[str, pd.DataFrame]:
    """Return for each file name the orders of a paper's published tables, one below the other."""
    found: dict[str, list[pd.DataFrame]] = {}
    for artefact, rows, meta in published:
        if artefact.orders is not None:
            table = artefact.orders(rows, meta)
            table.insert(0, "table", artefact.id)
            found.setdefault(f"{short_name(artefact.paper)}-order.csv", []).append(table)
    return {name: pd.concat(tables, ignore_index=True) for name, tables in found.items()}
