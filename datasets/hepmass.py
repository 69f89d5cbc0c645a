"""HEPMASS: 10.5 million simulated collisions, a new particle against background.

Citation: P. Baldi, K. Cranmer, T. Faucett, P. Sadowski and D. Whiteson, European Physical Journal
C 76 (2016). UCI Machine Learning Repository, CC BY 4.0. Two of its three sets are used here:
``hepmass_1000`` (27 normalised features; the particle's mass is 1000) and ``hepmass_not1000``
(masses 500, 750, 1250, 1500; 28 features, the mass is the last one). Each has 7 million training
and 3.5 million test rows and half of them are signal.

The official file is a 7.9 GB zip of gzipped CSV. It is read as a stream, in pieces, into a compact
cache (float32 features, uint8 labels: 1.2 GB per set) that is memory-mapped from then on; values
are float32 in the source too. No digest of the zip is published, so ours records what was found;
gzip's own checksums and the numbers of rows are checked.

Split (the paper's 3.5/1.4/5.6 million is a re-split of all 10.5 million): one permutation of the
rows of the training file followed by those of the test file. At laptop scale the first
50,000/20,000/50,000 rows of the same three parts.
"""

from __future__ import annotations

import zipfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from datasets.dataset import Dataset, uniform
from datasets.errors import DataUnavailable
from datasets.registry import DatasetSpec, Request
from datasets.sources.archives import DAMAGE, opened
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import announce, cache_folder, decoded
from datasets.splits import split_parts
from datasets.synthetic.tables import Table, dataset_parts

ROWS = {"train": 7_000_000, "test": 3_500_000}
PAPER_SIZES = (3_500_000, 1_400_000, 5_600_000)
SIZES = {
    "smoke": (2_000, 1_000, 1_000),
    "laptop": (50_000, 20_000, 50_000),
    "paper": PAPER_SIZES,
}
CHUNK_ROWS = 250_000
LINE_BYTES, HEADER_BYTES = 1_000, 10_000
"""More than a line of the text has: 29 numbers of about 25 characters; and than its first line."""
_NAMES = (
    *("lepton_pt", "lepton_eta", "lepton_phi", "met", "met_phi", "n_jets"),
    *(f"jet{i}_{what}" for i in range(1, 5) for what in ("pt", "eta", "phi", "btag")),
    *("m_jj", "m_jjj", "m_lv", "m_jlv", "m_wwbb"),
)
NAMES = {"hepmass_1000": _NAMES, "hepmass_not1000": (*_NAMES, "mass")}
COST_ORIGIN = "uniform, as in the CEGB paper (no costs are known)"
SYNTHETIC = {name: Table(name, len(features), (0.5, 0.5)) for name, features in NAMES.items()}
ADVICE = (
    "python -m experiments data fetch {name} downloads 7.9 GB (and needs 9 GB of disk), or put "
    "hepmass.zip, or {variant}_train.csv.gz and {variant}_test.csv.gz, into the folder hepmass/ "
    "of COST_AWARE_BOOSTING_MIRROR."
)
ZIP = Form(
    filename="hepmass.zip",
    reader="zip",
    size=7_900_000_000,
    urls=("https://archive.ics.uci.edu/static/public/347/hepmass.zip",),
)


def _raw_files(name: str) -> dict[str, RawFile]:
    variant = name.removeprefix("hepmass_")
    return {
        half: RawFile(
            folder="hepmass",
            title=f"HEPMASS {variant}, {half}",
            terms="CC BY 4.0 (UCI Machine Learning Repository, Baldi et al.)",
            advice=ADVICE.format(name=name, variant=variant),
            forms=(Form(f"{variant}_{half}.csv.gz", "gz", None, 2_000_000_000), ZIP),
        )
        for half in ROWS
    }


FILES = {name: _raw_files(name) for name in NAMES}


def compact_key(name: str) -> str:
    """Give the name of a set's folder in the compact cache."""
    return f"{name.removeprefix('hepmass_')}-v1"


def compact(name: str) -> Path | None:
    """Give the folder of the compact cache if it is there."""
    folder = cache_folder() / "hepmass" / "decoded" / compact_key(name)
    return folder if (folder / "index.json").exists() else None


def real(request: Request) -> Dataset:
    """Load the split of a seed from the compact cache, converting the official file if present."""
    had = compact(request.name) is not None
    tables, facts = decoded(
        "hepmass", compact_key(request.name), lambda out: _convert(request.name, out)
    )
    source = "cache" if had else facts["source"]
    n_rows = tables["y"].size
    drawn = split_parts(request.name, request.seed, n_rows, _parts(n_rows))
    arrays = {}
    for (part, rows), size in zip(drawn.items(), SIZES[request.scale], strict=True):
        rows = rows[:size]
        arrays[f"X_{part}"] = tables["X"][rows].astype(np.float64)
        arrays[f"y_{part}"] = tables["y"][rows].astype(np.int64)
    return _dataset(request, arrays, {"source": source, "files": facts["files"]})


def _parts(n_rows: int) -> tuple[int, int, int]:
    """Give the paper's sizes, in proportion should the files have other numbers of rows."""
    total = sum(PAPER_SIZES)
    train, valid = (size * n_rows // total for size in PAPER_SIZES[:2])
    return train, valid, n_rows - train - valid


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    sizes = SIZES[request.scale]
    return _dataset(request, *dataset_parts(SYNTHETIC[request.name], sizes, request.seed))


def _dataset(request: Request, arrays: dict, provenance: dict) -> Dataset:
    return uniform(request.name, "binary", arrays, NAMES[request.name], provenance, COST_ORIGIN)


def _convert(name: str, out: Path) -> dict:
    """Stream both halves into ``X.npy`` and ``y.npy``."""
    halves = {half: find(FILES[name][half]) for half in ROWS}
    n_rows, d = sum(ROWS.values()), len(NAMES[name])
    announce(f"converting {name} into the compact cache, {n_rows:,} rows; this is done once")
    with open(out / "X.npy", "wb") as x_file, open(out / "y.npy", "wb") as y_file:
        # Written front to back, not memory-mapped: on a full disk a mapped page is a crash.
        for handle, shape, dtype in ((x_file, (n_rows, d), "<f4"), (y_file, (n_rows,), "|u1")):
            header = {"descr": dtype, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(handle, header)
        for half, expected in ROWS.items():
            got = sum(_pieces(name, half, halves[half], x_file, y_file))
            if got != expected:
                raise DataUnavailable(
                    f"{halves[half].path}: {half} has {got:,} rows instead of {expected:,}; "
                    f"Next: delete the file, then python -m experiments data fetch {name}"
                )
    records = {f.path: f.record() for f in halves.values()}
    return {"files": list(records.values()), "source": halves["train"].source}


def _pieces(name: str, half: str, file: Found, x_file, y_file):
    """Append the rows of one half piece by piece; yield their numbers."""
    import pandas as pd

    d, n_rows = len(NAMES[name]), 0
    try:
        with _text(name, half, file) as stream:
            reader = pd.read_csv(
                stream,
                header=None,
                skiprows=1,
                usecols=range(1 + d),  # some test rows carry a stray last column
                dtype=np.float32,
                chunksize=CHUNK_ROWS,
            )
            for piece in reader:
                n_rows += len(piece)
                if n_rows > ROWS[half]:
                    raise ValueError(f"more than {ROWS[half]:,} rows")
                values = piece.to_numpy()
                x_file.write(np.ascontiguousarray(values[:, 1:], dtype="<f4").tobytes())
                y_file.write(values[:, 0].astype(np.uint8).tobytes())
                yield len(piece)
    except (*DAMAGE, ValueError) as error:
        raise DataUnavailable(
            f"{file.path} is damaged ({error}). "
            f"Next: delete it, then python -m experiments data fetch {name}"
        ) from error


@contextmanager
def _text(name: str, half: str, file: Found):
    """Open the CSV of one half, inside the zip if need be, without unpacking to disk."""
    limit = ROWS[half] * LINE_BYTES + HEADER_BYTES
    if file.form.reader == "gz":
        with opened(file.path, limit) as stream:
            yield stream
        return
    wanted = FILES[name][half].forms[0].filename
    with zipfile.ZipFile(file.path) as archive:
        members = [m for m in archive.namelist() if m.rsplit("/", 1)[-1] == wanted]
        if not members:
            raise DataUnavailable(f"{file.path} has no member {wanted}")
    with opened(file.path, limit, members[0]) as stream:
        yield stream


SPECS = {
    name: DatasetSpec(
        name=name,
        task="binary",
        title=f"HEPMASS-{name.removeprefix('hepmass_')}",
        citation="Baldi et al., European Physical Journal C 76 (2016)",
        terms="CC BY 4.0 (UCI Machine Learning Repository, Baldi et al.)",
        shape=f"10,500,000 rows, {len(NAMES[name])} features, 2 classes",
        split_rule="permutation of the training rows followed by the test rows: 5.6 million "
        "test, 3.5 million training, 1.4 million validation; at laptop scale the first 50,000, "
        "50,000 and 20,000 of these",
        cost_rule="uniform, 1 per feature",
        real=real,
        synthetic=synthetic,
        files=tuple(FILES[name].values()),
        compact=partial(compact, name),
    )
    for name in NAMES
}
