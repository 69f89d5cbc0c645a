"""The small Yahoo! set: the 473,134 training documents of set 1, cut in three.

M. Chen, Z. Xu, K. Weinberger, O. Chapelle and D. Kedem, Classifier Cascade for Minimizing Feature
Evaluation Cost (Cronus, AISTATS 2012), and Greedy Miser's Figure 1 (right) use 141,397 training,
146,769 validation and 184,968 test documents. They add up to the official training file, so here
it is cut in that order; where a cut would tear a query, at the nearest border of a query (the
provenance says where it came to be). Terms, sources and prices are those of
:mod:`datasets.yahoo_ltr`. The seed draws whole queries at laptop scale and changes nothing at paper
scale.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from datasets import ranking, yahoo_ltr
from datasets.dataset import Dataset
from datasets.registry import DatasetSpec, Request
from datasets.synthetic.streams import PARTS

ROWS = (141_397, 146_769, 184_968)
LAPTOP_SIZES = (20_000, 5_000, 10_000)
SMOKE_SIZES = (2_000, 1_000, 1_000)


def cuts(query: np.ndarray, sizes: tuple[int, ...]) -> list[int]:
    """Give the rows at which the parts after the first begin."""
    borders = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    wished = np.cumsum(sizes)[:-1]
    return [int(borders[np.argmin(np.abs(borders - cut))]) for cut in wished]


def real(request: Request) -> Dataset:
    """Load the user's copy of the training file."""
    tables, facts, file = yahoo_ltr.part_tables("train")
    yahoo_ltr.check_rows({"train": tables["y"].size})
    table, origin, cost_files = ranking.published_costs(yahoo_ltr.COSTS)
    # A feature may occur in the official validation and test files only.
    columns = np.flatnonzero(tables["occurs"] | (table != yahoo_ltr.ABSENT))
    edges = [0, *cuts(tables["query"], ROWS), tables["y"].size]
    parts = {}
    for i, part in enumerate(PARTS):
        where = slice(edges[i], edges[i + 1])
        rows = _rows(tables["query"][where], i, request)
        X = tables["X"][where][rows][:, columns].astype(np.float64, order="C")
        parts[part] = (X, tables["y"][where][rows], tables["query"][where][rows])
    arrays, queries = ranking.part_arrays(parts)
    provenance = {
        "source": file.source,
        "files": [{**file.record(), "sha256": facts["sha256"]}, *cost_files],
        "missing": "the official validation and test files, as in the papers",
        "cut_at": edges[1:-1],
        "queries": queries,
    }
    names = tuple(f"feature_{column + 1}" for column in columns)
    costs = yahoo_ltr.priced(table, columns)
    given = (costs, origin, names, provenance, yahoo_ltr.UNIT)
    return ranking.dataset("yahoo_ltr_small", arrays, *given)


def _rows(query: np.ndarray, i: int, request: Request) -> np.ndarray | slice:
    if request.scale == "paper":
        return slice(None)
    stream = f"yahoo_ltr_small {PARTS[i]}"
    return ranking.sample_queries(stream, request.seed, query, LAPTOP_SIZES[i])


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    sizes = {"smoke": SMOKE_SIZES, "paper": ROWS}.get(request.scale, LAPTOP_SIZES)
    shape = replace(yahoo_ltr.SYNTHETIC, name="yahoo_ltr_small")
    return yahoo_ltr.synthetic_dataset(shape, sizes, request.seed)


SPEC = DatasetSpec(
    name="yahoo_ltr_small",
    task="ranking",
    title="Yahoo! Learning to Rank Challenge, set 1, training file cut in three",
    citation="Chapelle and Chang, JMLR W&CP 14 (2011); Chen et al., AISTATS 2012",
    terms=yahoo_ltr.TERMS,
    shape="473,134 documents, 19,944 queries, 519 features, labels 0-4",
    split_rule="the official training file in its order: 141,397 / 146,769 / 184,968 documents, "
    "cut at the nearest border of a query; at laptop scale whole queries drawn by seed, at most "
    "20,000 / 5,000 / 10,000 documents",
    cost_rule="published, 1 to 200 per feature",
    real=real,
    synthetic=synthetic,
    files=(yahoo_ltr.FILES["train"], yahoo_ltr.COSTS),
    missing="the official validation and test files, as in the papers",
)
