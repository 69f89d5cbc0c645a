"""What a figure or table of a paper declares: its cells, its picture, its claims."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from experiments.claims import Claim

SCALES = ("smoke", "laptop", "paper")
"""Sizes of a run: seconds (what CI runs), minutes (the default), the paper's own."""

LOADERS = {"table": "load", "images": "load_images", "features": "load_features"}
"""For each form of data the function of :mod:`datasets` that gives it; "none" needs no data."""


def canonical_json(value: Any) -> str:
    """Return `value` as JSON text that is the same for equal values in any order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON-able value as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


@dataclass(frozen=True)
class Cell:
    """One piece of work: an algorithm with its parameters on one draw of a data set.

    Attributes
    ----------
    dataset : str
        Name known to :func:`datasets.load`.
    algorithm : str
        Slug of the algorithm.
    params : Mapping
        Everything else that determines the result; JSON-able.
    seed : int
        Repetition. The data are drawn from (data set, seed), whatever the algorithm, so that
        comparisons are paired.
    alone : bool
        The cell measures time: nothing else runs beside it.
    """

    dataset: str
    algorithm: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    alone: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return what determines the result as JSON-able values."""
        return {
            "dataset": self.dataset,
            "algorithm": self.algorithm,
            "params": dict(self.params),
            "seed": self.seed,
        }

    def label(self) -> str:
        """Return one line that names the cell."""
        plain = {n: v for n, v in self.params.items() if not isinstance(v, Mapping | list | tuple)}
        params = ", ".join(f"{name}={value}" for name, value in plain.items())
        return f"{self.dataset} · {self.algorithm} · seed {self.seed} · {params}"


@dataclass(frozen=True)
class Tolerance:
    """How far a column may be from the expected value: `absolute` + `relative` · |expected|."""

    absolute: float = 0.0
    relative: float = 0.0

    def allowed(self, expected):
        """Return the largest deviation allowed from `expected` (number or array)."""
        return self.absolute + self.relative * abs(expected)

    def __str__(self) -> str:
        parts = []
        if self.absolute or not self.relative:
            parts.append(f"{self.absolute:g}")
        if self.relative:
            parts.append(f"{100 * self.relative:g} %")
        return " + ".join(parts)


@dataclass(frozen=True)
class Artefact:
    """One figure or table of a paper.

    Attributes
    ----------
    id : str
        For example ``cegb-figure2``.
    paper : str
        Name of the paper's folder, for example ``cegb_2017``.
    title, shows : str
        Name in the paper; one sentence on what is to be seen.
    minutes : Mapping of str to float
        Expected minutes on 2 cores for each scale.
    make_cells : callable
        ``(scale, seeds) -> list[Cell]``; `seeds` is a range of repetitions.
    seeds : Mapping of str to int
        Repetitions for each scale, unless ``--seeds`` says otherwise.
    run_cell : callable
        ``(cell, dataset) -> list[dict]``: the rows of one cell. Runs in a worker, so it must be a
        function of an importable module. Values are text, whole numbers or floats.
    keys : sequence of str
        Columns that identify a row; ``dataset``, ``algorithm`` and ``seed`` are always there.
    tolerances : Mapping of str to Tolerance
        For each value column, what ``check`` lets pass.
    render : callable
        ``(rows, meta) -> matplotlib figure``, or markdown text for a table. Never computes.
    make_claims : callable
        ``(rows, meta) -> list[Claim]``: what the paper says about it.
    alt : callable
        ``(rows, meta) -> str``: one to three sentences for a reader who cannot see the picture:
        what is shown and what comes out, with numbers from the rows.
    paper_numbers : str
        The paper's own numbers and their place in the paper, or that it prints none.
    timing_columns : sequence of str
        Columns that hold measured times; they go to ``timings.csv``, not to ``rows.csv``. `render`,
        `make_claims` and `alt` are given rows that have them.
    drawn_columns : sequence of str
        Text columns that only draw, such as the lines of a small picture; ``check`` does not judge
        them.
    requires : sequence of str
        Modules of ``make setup-peers`` it needs.
    data_form : {"table", "images", "features", "none"}
        What `run_cell` is given: a :class:`datasets.Dataset`, an
        :class:`~datasets.images.ImageSet`, or the families of features that are computed from it,
        before the first cell starts. "none": a simulation, see :mod:`experiments.no_data`.
    committed_picture : bool
        False where the picture is made of a data set's own images, whose terms may not let us pass
        them on: a run draws it, publishing leaves out both picture and `drawn_columns`.
    """

    id: str
    paper: str
    title: str
    shows: str
    minutes: Mapping[str, float]
    seeds: Mapping[str, int]
    make_cells: Callable[[str, range], list[Cell]]
    run_cell: Callable[[Cell, Any], list[dict]]
    keys: Sequence[str]
    tolerances: Mapping[str, Tolerance]
    render: Callable[[pd.DataFrame, Mapping], Figure | str]
    make_claims: Callable[[pd.DataFrame, Mapping], list[Claim]]
    alt: Callable[[pd.DataFrame, Mapping], str]
    paper_numbers: str
    timing_columns: Sequence[str] = ()
    drawn_columns: Sequence[str] = ()
    requires: Sequence[str] = ()
    data_form: str = "table"
    committed_picture: bool = True

    def cells(self, scale: str, n_seeds: int | None = None) -> list[Cell]:
        """Return the grid of cells of a scale; ValueError if two cells are the same."""
        n_seeds = self.seeds[scale] if n_seeds is None else n_seeds
        cells = self.make_cells(scale, range(n_seeds))
        if len({digest(cell.to_json()) for cell in cells}) < len(cells):
            raise ValueError(f"{self.id} declares the same cell twice at scale {scale}.")
        return cells

    def missing(self) -> list[str]:
        """Return the required modules that are not installed."""
        return [name for name in self.requires if importlib.util.find_spec(name) is None]

    def row_keys(self) -> list[str]:
        """Return the columns that identify a row, in the order rows are sorted by."""
        first = [key for key in self.keys if key not in ("dataset", "algorithm", "seed")]
        return [*first[:1], "dataset", "algorithm", "seed", *first[1:]]
