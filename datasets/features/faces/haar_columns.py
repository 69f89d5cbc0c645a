"""Haar-like features alone, for grey windows of any size: columns as bytes, and tables of them.

As :mod:`datasets.features.faces.haar` computes them, the same number of each of the five kinds,
drawn once for each size of window and number. What MDDAG's paper and the cascades that it is
compared with use; :mod:`datasets.features.faces.tables` has other families beside them.

Costs are uniform, 1 per feature: the paper counts classifiers, of which each reads one feature.
Prices measured on windows of 19×19 are not taken for windows of another size.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from datasets.cbcl_windows import divisions, rows_of
from datasets.dataset import Dataset, checksum, uniform
from datasets.features.faces import haar, tables
from datasets.features.families import Family
from datasets.features.store import made_from
from datasets.images import ImageSet, PictureSpec
from datasets.registry import Request, serve
from datasets.sources.storage import decoded, new_array
from datasets.synthetic.pictures import Pictures
from datasets.synthetic.streams import RECORD

PER_KIND = 400
"""Features of each kind in a table."""
DRAWN = {
    **RECORD,
    "split_rule": "windows are drawn independently into five divisions; division number seed mod 5 "
    "tests, the next one validates, three train",
}
"""What the provenance of drawn windows says."""
BLOCK_VALUES = 2**22
"""Values computed at once."""
COST_ORIGIN = "uniform, 1 per Haar-like feature (the paper counts them)"
NAME = re.compile(rf"haar_({'|'.join(haar.KINDS)})_(\d+)_(\d+)_(\d+)_(\d+)")


class Outlines(NamedTuple):
    """Where features lie in a window."""

    kinds: np.ndarray  # (n_features,) int64: place in :data:`~datasets.features.faces.haar.KINDS`
    boxes: np.ndarray  # (n_features, 4) int64: top, left, bottom, right; the last two are exclusive


@dataclass(frozen=True)
class HaarColumns:
    """The Haar-like features of all windows as bytes, one row per feature."""

    # (n_features, n_windows) uint8: of real windows memory-mapped and read-only: pages are read
    # when a row is used
    columns: np.ndarray
    y: np.ndarray  # (n_windows,) int64: 1 = face, or person
    # (n_windows,) int64: which of the five divisions of repetitions 0 to 4 each window is in, 0..4
    fold: np.ndarray
    # (n_windows,) int64: windows with one number are in one division, in repetitions from 5 on
    group: np.ndarray
    # ``haar_<kind>_<top>_<left>_<bottom>_<right>``; :func:`outlines` reads them
    feature_names: tuple[str, ...]
    shape: tuple[int, int]  # Height and width of a window
    # As `Dataset.provenance`
    provenance: dict[str, Any] = field(default_factory=dict)

    def rows(self, seed: int) -> dict[str, np.ndarray]:
        """Choose the windows of a repetition."""
        train, test, valid = rows_of(self.fold, self.group, self.y, seed, 2)
        return {"train": train, "valid": valid, "test": test}


def families(per_kind: int = PER_KIND) -> tuple[Family, ...]:
    """Give the families: one for each kind of Haar-like feature."""
    if isinstance(per_kind, bool) or not isinstance(per_kind, int) or per_kind < 1:
        raise ValueError(f"per_kind must be an integer of 1 or more, not {per_kind!r}")
    return tuple(
        Family(
            f"haar_{kind}",
            "Haar-like",
            lambda shape: per_kind,
            partial(haar.haar, kind=kind, n=per_kind),
        )
        for kind in haar.KINDS
    )


def feature_names(shape: tuple[int, int], per_kind: int = PER_KIND) -> tuple[str, ...]:
    """Name the features by kind and outline, in the order of their columns."""
    return tuple(
        f"haar_{kind}_{'_'.join(map(str, outline))}"
        for kind in haar.KINDS
        for outline in haar.boxes(kind, shape, per_kind).tolist()
    )


def outlines(names: Sequence[str]) -> Outlines:
    """Read kinds and outlines of features from their names, those of CBCL's tables too.

    Parameters
    ----------
    names : sequence of str
        ``haar_<kind>_<top>_<left>_<bottom>_<right>``.

    Returns
    -------
    Outlines

    Raises
    ------
    ValueError
        If a name is that of another feature; names it.
    """
    matches = [NAME.fullmatch(name) for name in names]
    if None in matches:
        raise ValueError(f"{names[matches.index(None)]!r} is no Haar-like feature")
    kinds = [list(haar.KINDS).index(match[1]) for match in matches]
    boxes = [[int(number) for number in match.groups()[1:]] for match in matches]
    return Outlines(np.array(kinds, dtype=np.int64), np.array(boxes, dtype=np.int64).reshape(-1, 4))


def computed(
    windows: np.ndarray, per_kind: int = PER_KIND, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the columns of windows."""
    kinds = families(per_kind)
    if out is None:
        out = np.empty((len(kinds) * per_kind, len(windows)), dtype=np.uint8)
    step = max(1, BLOCK_VALUES // per_kind)
    for start in range(0, len(windows), step):
        block = windows[start : start + step]
        for k, family in enumerate(kinds):
            rows = slice(k * per_kind, (k + 1) * per_kind)
            out[rows, start : start + step] = family.columns(block).T
    return out


def stored(name: str, windows: np.ndarray, per_kind: int = PER_KIND) -> tuple[np.ndarray, str]:
    """Give the columns of real windows, computing once what the cache does not have.

    With a digest of the windows and of what computes the columns.
    """
    record = {"windows": checksum({"windows": windows}), **made_from(families(per_kind))}
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()

    def build(out: Path) -> None:
        shape = (len(haar.KINDS) * per_kind, len(windows))
        columns = new_array(out / "columns.npy", np.uint8, shape)
        computed(windows, per_kind, columns)
        columns.flush()

    arrays, _ = decoded(name, f"haar-{per_kind}-{digest[:16]}", build)
    return arrays["columns"], digest


def columns_checksum(columns: HaarColumns) -> str:
    """Give the SHA-256 over the columns, labels and divisions, 64 hex digits."""
    return checksum({name: getattr(columns, name) for name in ("columns", "y", "fold")})


@dataclass(frozen=True, kw_only=True)
class WindowSpec(PictureSpec):
    """A set of windows without an official test part: what makes these makes everything else."""

    # Gives ``windows``, ``y``, ``group`` and ``fold``, and their provenance
    windows: Callable[[], tuple[dict[str, np.ndarray], dict[str, Any]]]
    drawn: Pictures
    drawn_sizes: dict[str, int]  # Windows of the synthetic set, "smoke" and "real"
    real: Callable[[Request], Dataset] = field(init=False, repr=False)
    synthetic: Callable[[Request], Dataset] = field(init=False, repr=False)
    real_images: Callable[[Request], ImageSet] = field(init=False, repr=False)
    drawn_images: Callable[[Request], ImageSet] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "real", partial(self._table, self._real_columns))
        object.__setattr__(self, "synthetic", partial(self._table, self._drawn_columns))
        object.__setattr__(self, "real_images", self._real_images)
        object.__setattr__(self, "drawn_images", self._drawn_images)

    def columns(
        self,
        *,
        per_kind: int = PER_KIND,
        scale: str = "laptop",
        data: str = "auto",
        seed: int = 0,
    ) -> HaarColumns:
        """Give the Haar-like features of all windows as bytes, with the divisions.

        Parameters
        ----------
        per_kind : int, default 400
            Features of each of the five kinds: with 4,000 of them the columns of 12,788 windows are
            a file of 256 MB in the cache, computed once. Another number draws other features.
        scale, data, seed
            As :meth:`images`; errors are the same.

        Returns
        -------
        HaarColumns
            In the order of :meth:`images`.
        """
        families(per_kind)  # refuses what is no number
        return serve(
            self,
            Request(self.name, scale, data, seed),
            real=partial(self._real_columns, per_kind=per_kind),
            synthetic=partial(self._drawn_columns, per_kind=per_kind),
            checksum=columns_checksum,
        )

    def _real_images(self, request: Request) -> ImageSet:
        arrays, provenance = self.windows()
        return self._undivided(arrays["windows"], arrays["y"], provenance)

    def _drawn_images(self, request: Request) -> ImageSet:
        n_windows = self.drawn_sizes["smoke" if request.scale == "smoke" else "real"]
        return self._undivided(*self.drawn.draw(n_windows, request.seed, "train"), DRAWN)

    def _undivided(self, windows: np.ndarray, labels: np.ndarray, provenance: dict) -> ImageSet:
        return ImageSet(
            name=self.name,
            train=windows,
            y_train=labels.astype(np.int64),
            test=np.empty((0, *windows.shape[1:]), dtype=np.uint8),
            y_test=np.empty(0, dtype=np.int64),
            n_valid=len(labels) // 5,
            provenance=provenance,
        )

    def _real_columns(self, request: Request, per_kind: int = PER_KIND) -> HaarColumns:
        arrays, provenance = self.windows()
        rows, digest = stored(self.name, arrays["windows"], per_kind)
        shape = arrays["windows"].shape[1:]
        return HaarColumns(
            rows,
            arrays["y"].astype(np.int64),
            np.array(arrays["fold"]),
            np.array(arrays["group"]),
            feature_names(shape, per_kind),
            shape,
            {**provenance, "features_checksum": digest},
        )

    def _drawn_columns(self, request: Request, per_kind: int = PER_KIND) -> HaarColumns:
        """Compute the columns of synthetic windows, which fall into divisions one by one."""
        drawn = self._drawn_images(request)
        windows, labels, group = drawn.train, drawn.y_train, np.arange(len(drawn.y_train))
        fold, shape = divisions(group, labels), windows.shape[1:]
        names, rows = feature_names(shape, per_kind), computed(windows, per_kind)
        return HaarColumns(rows, labels, fold, group, names, shape, drawn.provenance)

    def _table(self, give: Callable[[Request], HaarColumns], request: Request) -> Dataset:
        """Make the table of a repetition, every feature at cost 1."""
        columns, arrays = give(request), {}
        for part, numbers in columns.rows(request.seed).items():
            arrays[f"X_{part}"] = tables.rows(columns.columns, numbers)
            arrays[f"y_{part}"] = columns.y[numbers]
        names = columns.feature_names
        return uniform(self.name, self.task, arrays, names, columns.provenance, COST_ORIGIN)
