"""The columns on disk: computed once, one row per feature, checked whenever they are opened.

``<cache>/features/<set>/<key>/`` holds ``train.u8`` and ``test.u8``, arrays of shape (n_features,
n_images) without a header, and ``index.json`` with the SHA-256 of every family's rows in both. The
key is a digest of the images and of the families' sources and parameters. Rows count only once
they are in the index, which is replaced as a whole after they are written: an interrupted
computation goes on where it was. Rows that do not have their SHA-256 are named and computed anew.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets.errors import DataUnavailable
from datasets.features.families import Family, block_length
from datasets.sources.storage import (
    announce,
    cache_folder,
    full_disk_named,
    locked,
    obstacle_named,
    reserve,
    set_aside,
    write_atomically,
)

PARTS = ("train", "test")
MADE_FROM = "made_from.json"
"""Beside the columns: what :mod:`datasets.features.pruning` needs to know of them."""
LIBRARIES = ("numpy", "scipy", "PyWavelets", "scikit-image")
"""Their versions are part of the key: another version may round differently."""

WATCH_SECONDS = 0.5
"""How often a worker looks whether its driver lives."""

_verified: set[tuple] = set()
"""Families hashed by this process: path of the file, its size and time, name of the family."""


@dataclass(frozen=True)
class Columns:
    """The files of one set of images and its families."""

    folder: Path  # Where they are
    families: tuple[Family, ...]  # In the order of their rows
    images: dict[str, np.ndarray]  # Training and test images

    @property
    def sizes(self) -> list[int]:
        """Features of each family."""
        shape = self.images["train"].shape[1:]
        return [family.size(shape) for family in self.families]

    @property
    def offsets(self) -> list[int]:
        """First feature of each family, and the number of all features."""
        return [0, *np.cumsum(self.sizes).tolist()]

    def path(self, part: str) -> Path:
        """Give the file of a part."""
        return self.folder / f"{part}.u8"

    def n_bytes(self, part: str) -> int:
        """Give the size that the file of a part must have."""
        return self.offsets[-1] * len(self.images[part])

    def open(self, part: str) -> np.ndarray:
        """Map the file of a part, read-only: (n_features, n_images) uint8."""
        shape = (self.offsets[-1], len(self.images[part]))
        return np.memmap(self.path(part), dtype=np.uint8, mode="r", shape=shape)

    def rows(self, part: str, k: int, mode: str = "r") -> np.ndarray:
        """Map the rows of family k in the file of a part."""
        n_images = len(self.images[part])
        return np.memmap(
            self.path(part),
            dtype=np.uint8,
            mode=mode,
            offset=self.offsets[k] * n_images,
            shape=(self.sizes[k], n_images),
        )

    def index(self) -> dict[str, dict[str, str]]:
        """Read which rows are there: part to family to SHA-256; nothing of a part without file."""
        try:
            index = json.loads((self.folder / "index.json").read_text(encoding="utf-8"))
            index = {part: dict(index[part]) for part in PARTS}
            if not all(isinstance(v, str) for of_part in index.values() for v in of_part.values()):
                raise TypeError("a checksum is no text")
        except FileNotFoundError:
            return {part: {} for part in PARTS}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            announce(f"{self.folder / 'index.json'} is damaged ({error}); all is computed anew")
            return {part: {} for part in PARTS}
        for part in PARTS:
            path = self.path(part)
            size = path.stat().st_size if path.is_file() else -1
            if index[part] and size != self.n_bytes(part):
                state = f"{size} bytes" if size >= 0 else "missing"
                announce(f"{path} is {state}, not {self.n_bytes(part)} bytes; computed anew")
                index[part] = {}
        return index

    def damaged(self, index: dict[str, dict[str, str]]) -> list[tuple[str, int]]:
        """Hash the rows in the index that this process has not hashed; (part, k) of wrong ones."""
        wrong = []
        for part in PARTS:
            for k, family in enumerate(self.families):
                expected = index[part].get(family.name)
                if expected is None or self._mark(part, family) in _verified:
                    continue
                if rows_sha256(self.rows(part, k)) == expected:
                    _verified.add(self._mark(part, family))
                else:
                    wrong.append((part, k))
        return wrong

    def _mark(self, part: str, family: Family) -> tuple:
        status = self.path(part).stat()
        return (str(self.path(part)), status.st_size, status.st_mtime_ns, family.name)


def rows_sha256(rows: np.ndarray) -> str:
    """Give the SHA-256 of contiguous rows, 64 hex digits."""
    return hashlib.sha256(memoryview(rows).cast("B")).hexdigest()


def made_from(families: tuple[Family, ...]) -> dict:
    """Give what columns are made from beside images: keys of families, versions of libraries."""
    return {
        "families": [family.key() for family in families],
        "libraries": {library: importlib.metadata.version(library) for library in LIBRARIES},
    }


def _note(columns: Columns) -> None:
    """Leave a note of what the columns are made from, by which they are pruned one day."""
    path = columns.folder / MADE_FROM
    if not os.path.lexists(path):
        with contextlib.suppress(OSError):  # a cache that can only be read serves as well
            write_atomically(path, json.dumps(made_from(columns.families), indent=1).encode())


def columns_of(
    name: str, families: tuple[Family, ...], images: dict[str, np.ndarray], checksum: str
) -> Columns:
    """Give the place of the columns of a set of images."""
    record = {
        "images": [checksum, *(images[part].shape for part in PARTS)],
        **made_from(families),
    }
    key = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:20]
    return Columns(cache_folder() / "features" / name / key, families, images)


def complete(columns: Columns, n_jobs: int | None, progress: bool) -> dict[str, dict[str, str]]:
    """Compute what is missing or damaged, and give the complete index."""
    index = columns.index()
    if not _missing(columns, index) and not columns.damaged(index):
        _note(columns)
        return index
    try:
        full = full_disk_named(columns.folder, "features")
        with obstacle_named(), full, locked(columns.folder):
            set_aside(columns.folder, "folder")
            columns.folder.mkdir(exist_ok=True)
            for path in (columns.folder / "index.json", *map(columns.path, PARTS)):
                set_aside(path, "file")
            index = columns.index()  # another process may have been here
            for part, k in columns.damaged(index):
                family = columns.families[k].name
                announce(
                    f"{columns.path(part)}: family {family} is damaged (expected sha256 "
                    f"{index[part].pop(family)}); computed anew"
                )
            _note(columns)
            _compute(columns, index, n_jobs, progress)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        raise DataUnavailable(
            f"features cannot be kept in {columns.folder} ({error.strerror}). "
            "Next: set COST_AWARE_BOOSTING_CACHE to a folder that can be written."
        ) from error
    return index


def _missing(columns: Columns, index: dict[str, dict[str, str]]) -> list[tuple[str, int]]:
    """List (part, k) of families that are not in the index, the largest first."""
    missing = [
        (part, k)
        for part in PARTS
        for k, family in enumerate(columns.families)
        if family.name not in index[part]
    ]
    return sorted(missing, key=lambda task: -columns.sizes[task[1]] * len(columns.images[task[0]]))


def _compute(columns: Columns, index: dict, n_jobs: int | None, progress: bool) -> None:
    """Compute the missing families in parallel; after each the index is replaced."""
    from tqdm import tqdm

    missing = _missing(columns, index)
    for part in PARTS:
        if not index[part]:
            _allocate(columns.path(part), columns.n_bytes(part))
    total = sum(columns.sizes[k] * len(columns.images[part]) for part, k in missing)
    with tqdm(
        total=total,
        desc=f"features of {columns.folder.parent.name}",
        unit="B",
        unit_scale=True,
        disable=None if progress else True,  # None: only on a terminal
    ) as bar:
        for part, k, sha256 in _run(columns, missing, n_jobs):
            index[part][columns.families[k].name] = sha256
            write_atomically(columns.folder / "index.json", json.dumps(index, indent=1).encode())
            bar.update(columns.sizes[k] * len(columns.images[part]))


def _run(
    columns: Columns, missing: list[tuple[str, int]], n_jobs: int | None
) -> Iterator[tuple[str, int, str]]:
    """Compute families, here or in processes of their own, in any order."""
    from joblib import Parallel, cpu_count, delayed

    # More processes than families would only cost memory.
    n_jobs = min(cpu_count() if n_jobs is None else n_jobs, len(missing))
    if multiprocessing.current_process().daemon or len(missing) < 2:
        n_jobs = 1  # a daemon, such as a worker of Dask, may not have processes of its own
    # Images are memory-mapped or become so: processes share their pages.
    run = Parallel(
        n_jobs=n_jobs,
        return_as="generator_unordered",
        batch_size=1,
        backend="loky",
        initializer=end_with,
        initargs=(os.getpid(),),
    )
    yield from run(delayed(_compute_task)(columns, part, k) for part, k in missing)


def end_with(driver: int) -> None:
    """Let this process end when the one that started it is gone, however that ended.

    A killed driver cannot stop its workers. They would wait for it for minutes, and as long as they
    live joblib's copy of the images stays in shared memory.
    """

    def watch() -> None:
        import psutil

        while os.getppid() == driver and psutil.pid_exists(driver):
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="watches the driver", daemon=True).start()


def _compute_task(columns: Columns, part: str, k: int) -> tuple[str, int, str]:
    """Compute a family for all images of a part, one block after the other, into its rows."""
    family, images = columns.families[k], columns.images[part]
    rows = columns.rows(part, k, "r+")
    step = block_length(images.shape[1:])
    for start in range(0, len(images), step):
        rows[:, start : start + step] = family.columns(images[start : start + step]).T
    rows.flush()
    return part, k, rows_sha256(rows)


def _allocate(path: Path, n_bytes: int) -> None:
    """Give a file a size, with its space on the disk: a map on a full disk kills the process."""
    # Not truncated first: another process may still map it.
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b") as handle:
        reserve(handle, n_bytes)
        handle.truncate(n_bytes)
