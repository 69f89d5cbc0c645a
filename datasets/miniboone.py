"""MiniBooNE: 130,064 events of a neutrino experiment, 50 features, signal against background.

Citation: B. P. Roe et al., Nuclear Instruments and Methods A 543 (2005). UCI Machine Learning
Repository, CC BY 4.0. The text begins with the counts ``36499 93565``: the signal rows come
first. Some rows are -999 throughout; they are kept.

A mirror may hold a rebuilt file with 125,649 of the rows and their numbers in the official file.
A split is therefore drawn over the official row numbers, and rows a copy lacks are dropped from
it. Values are held as float32 (the text has six digits), so that both copies agree.

Split (the paper's): 65,031 test, 45,523 training, 19,510 validation rows.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np

from datasets.dataset import Dataset, uniform
from datasets.errors import ChecksumMismatch, DataUnavailable
from datasets.registry import DatasetSpec, Request
from datasets.sources.archives import damage_named, opened, read_npz
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.splits import split_parts
from datasets.synthetic.tables import Table, dataset_parts

N_ROWS, N_SIGNAL, N_FEATURES = 130_064, 36_499, 50
SIZES = (45_523, 19_510, 65_031)
SMOKE_SIZES = (2_000, 1_000, 1_000)
MEMBER = "MiniBooNE_PID.txt"
TEXT_BYTES = 100_000_000
"""More than the official text has: 130,064 lines of 701 bytes."""
TEXT_SHA256 = "577ab8bcb612199a0386cef1725058295df9a18b778a003a6a4349bbd51abd48"
FEATURE_NAMES = tuple(f"particle_id_{i}" for i in range(N_FEATURES))
COST_ORIGIN = "uniform, as in the CEGB paper (no costs are known)"
SYNTHETIC = Table("miniboone", N_FEATURES, (1 - N_SIGNAL / N_ROWS, N_SIGNAL / N_ROWS))

FILE = RawFile(
    folder="miniboone",
    title="MiniBooNE",
    terms="CC BY 4.0 (UCI Machine Learning Repository, Roe et al.)",
    advice="allow access to archive.ics.uci.edu, or put miniboone+particle+identification.zip "
    "into the folder miniboone/ of COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="miniboone+particle+identification.zip",
            reader="zip",
            sha256="af4573ca81797ca1c5bfc623f0fdf26ed07e626e2717c322224f96e8795f8752",
            size=35_000_000,
            urls=(
                "https://archive.ics.uci.edu/static/public/199/"
                "miniboone+particle+identification.zip",
            ),
        ),
        Form(
            filename="miniboone_125649.npz",
            reader="npz",
            sha256="eb284f8ed3e0935890b0ed67631a8f96b832e766f9c31be639e00c1f53c8556c",
            size=23_409_842,
        ),
    ),
)


def real(request: Request) -> Dataset:
    """Load the split of a seed, less the rows this copy lacks."""
    file = find(FILE)
    tables, _ = decoded("miniboone", f"v1-{file.sha256[:16]}", lambda out: _decode(file, out))
    place = np.full(N_ROWS, -1, dtype=np.int64)
    place[tables["row"]] = np.arange(tables["row"].size)
    arrays, lost = {}, {}
    for part, rows in split_parts("miniboone", request.seed, N_ROWS, SIZES).items():
        here = place[rows]
        here = here[here >= 0]
        arrays[f"X_{part}"] = tables["X"][here].astype(np.float64)
        arrays[f"y_{part}"] = tables["y"][here].astype(np.int64)
        lost[part] = int(rows.size - here.size)
    n_lost = N_ROWS - tables["row"].size
    of_parts = ", ".join(f"{part} {n:,}" for part, n in lost.items())
    missing = f"{n_lost:,} of {N_ROWS:,} rows ({of_parts})" if n_lost else "nothing"
    provenance = {"source": file.source, "files": [file.record()], "missing": missing}
    return _dataset(arrays, provenance)


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set at the paper's sizes (smoke: 2,000/1,000/1,000)."""
    sizes = SMOKE_SIZES if request.scale == "smoke" else SIZES
    return _dataset(*dataset_parts(SYNTHETIC, sizes, request.seed))


def _dataset(arrays: dict, provenance: dict) -> Dataset:
    return uniform("miniboone", "binary", arrays, FEATURE_NAMES, provenance, COST_ORIGIN)


def _decode(file: Found, out: Path) -> None:
    """Write X (float32), y (uint8) and row (int32)."""
    if file.form.reader == "npz":
        stored = read_npz(file.path, ("X", "y", "row"), TEXT_BYTES)
        X, y, row = stored["X"], stored["y"], stored["row"]
    else:
        with damage_named(file.path), opened(file.path, TEXT_BYTES, MEMBER) as stream:
            X = _read_text(file.path, stream.read())
        y = np.arange(N_ROWS) < N_SIGNAL
        row = np.arange(N_ROWS)
    if X.shape != (row.size, N_FEATURES) or y.shape != row.shape:
        raise DataUnavailable(f"{file.path} has an unexpected shape {X.shape}")
    np.save(out / "X.npy", X.astype(np.float32))
    np.save(out / "y.npy", y.astype(np.uint8))
    np.save(out / "row.npy", row.astype(np.int32))


def _read_text(path: Path, text: bytes) -> np.ndarray:
    """Parse the official text in pieces."""
    import pandas as pd

    digest = hashlib.sha256(text).hexdigest()
    if digest != TEXT_SHA256:
        raise ChecksumMismatch(f"{MEMBER} in {path.name}", TEXT_SHA256, digest)
    X = np.empty((N_ROWS, N_FEATURES), dtype=np.float32)
    start = 0
    pieces = pd.read_csv(
        io.BytesIO(text), sep=r"\s+", skiprows=1, header=None, dtype=np.float32, chunksize=20_000
    )
    for piece in pieces:
        X[start : start + len(piece)] = piece.to_numpy()
        start += len(piece)
    return X[:start]


SPEC = DatasetSpec(
    name="miniboone",
    task="binary",
    title="MiniBooNE particle identification",
    citation="Roe et al., Nuclear Instruments and Methods A 543 (2005)",
    terms=FILE.terms,
    shape="130,064 rows, 50 features, 2 classes",
    split_rule="permutation of the 130,064 official row numbers: 65,031 test, 45,523 training, "
    "19,510 validation; rows a copy lacks are then dropped",
    cost_rule="uniform, 1 per feature",
    real=real,
    synthetic=synthetic,
    files=(FILE,),
)
