"""What a figure or table of a paper declares: its cells and its picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments.cell import Cell, Tolerance, digest

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


SCALES = ("smoke", "laptop", "overnight", "paper")
"""Sizes of a run: seconds (what CI runs), minutes (the default), up to hours (laptop's data, with
more rounds, settings or repetitions: enough for verdicts), and the paper's own."""

DATA_SCALES = {"smoke": "smoke", "laptop": "laptop", "overnight": "laptop", "paper": "paper"}
"""For each scale that at which its data are loaded."""

LOADERS = {"table": "load", "images": "load_images", "features": "load_features"}
"""For each form of data the function of :mod:`datasets` that gives it; "none" needs no data."""


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
    paper_numbers : str
        The paper's own numbers and their place in the paper, or that it prints none.
    timing_columns : sequence of str
        Columns that hold measured times; they go to ``timings.csv``, not to ``rows.csv``. `render`
        is given rows that have them.
    judged_by_times : bool
        Whether claims are: else the repetitions that are kept for claims have no times.
    drawn_columns : sequence of str
        Text columns, such as the lines of a small picture or what a score was computed of;
        ``check`` does not judge them.
    data_form : {"table", "images", "features", "none"}
        What `run_cell` is given: a :class:`datasets.Dataset`, an
        :class:`~datasets.images.ImageSet`, or the families of features that are computed from it,
        before the first cell starts. "none": a simulation, see :mod:`experiments.data_kinds`.
    committed_picture : bool
        False where the picture is made of a data set's own images, whose terms may not let us pass
        them on: a run draws it, publishing leaves out both picture and `drawn_columns`.
    select : callable or None
        ``rows -> rows``: the rows and columns that it is about, where artefacts share cells that
        measure more.
    chosen : callable or None
        ``rows -> dict``: the hyper-parameters that validation chose, from all rows of the cells;
        they go to ``meta.json``.
    curve : (str, str) or None
        Of a figure with curves over cost: the column that says whose curve a row belongs to, and
        the cost by which budgets choose; its gaps are listed in ``results/gaps.csv``.
    of_users : (str, callable) or None
        What ``reproduce --method`` needs: the method for whose every λ a class of the user's has a
        draw, and what measures a draw in place of `run_cell`.
    orders : callable or None
        ``(rows, meta) -> DataFrame``: order against order of methods for which the paper prints
        numbers, see :func:`experiments.publishing.output.orders`.
    beside : Mapping of str to sequence of str
        For each method the parameters that it takes beside those that its cells have:
        ``reproduce --set`` puts them under ``given``.
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
    paper_numbers: str
    timing_columns: Sequence[str] = ()
    judged_by_times: bool = False
    drawn_columns: Sequence[str] = ()
    data_form: str = "table"
    committed_picture: bool = True
    select: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    chosen: Callable[[pd.DataFrame], dict] | None = None
    curve: tuple[str, str] | None = None
    of_users: tuple[str, Callable[[Cell, Any], list[dict]]] | None = None
    orders: Callable[[pd.DataFrame, Mapping], pd.DataFrame] | None = None
    beside: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def cells(self, scale: str, n_seeds: int | None = None) -> list[Cell]:
        """Return the grid of cells of a scale; ValueError if two cells are the same."""
        n_seeds = self.seeds[scale] if n_seeds is None else n_seeds
        cells = self.make_cells(scale, range(n_seeds))
        if len({digest(cell.to_json()) for cell in cells}) < len(cells):
            raise ValueError(f"{self.id} declares the same cell twice at scale {scale}.")
        return cells

    def repetitions(self, scale: str, seeds: Sequence[int]) -> int:
        """Return of how many repetitions a run with rows of these seeds had.

        Panels may count from seeds of their own, so that five repetitions have ten seeds.

        Parameters
        ----------
        scale : str
        seeds : sequence of int
            As in ``meta.json``.

        Returns
        -------
        int
            The fewest whose cells have all of these seeds; if none do, the number of seeds.
        """
        for n in range(1, len(seeds)):
            if {cell.seed for cell in self.make_cells(scale, range(n))}.issuperset(seeds):
                return n
        return len(seeds)

    def row_keys(self) -> list[str]:
        """Return the columns that identify a row, in the order rows are sorted by."""
        first = [key for key in self.keys if key not in ("dataset", "algorithm", "seed")]
        return [*first[:1], "dataset", "algorithm", "seed", *first[1:]]
