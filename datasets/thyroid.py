"""Thyroid disease: 3,772 + 3,428 patients, 20 priced features, 3 classes, prices in dollars.

Citation: J. R. Quinlan's Garavan data as prepared by R. Werner (``ann-train.data``,
``ann-test.data``; UCI Machine Learning Repository, CC BY 4.0), with the prices of P. D. Turney,
Cost-Sensitive Classification, Journal of Artificial Intelligence Research 2 (1995), from the
Ontario Health Insurance Program's fee schedule of 1992. Features: age, 15 answers yes or no, and
five blood tests. Classes 1, 2, 3 of the files are 0, 1, 2 here: two kinds of disease (in the data
high TSH with low TT4, and high TSH alone) and normal, 92.5 %.

Prices, as Turney's files say them. ``ann-thyroid.cost``: price of a test bought alone.
``ann-thyroid.expense``: the price alone, and the price once another test of its group was bought.
``ann-thyroid.group``: the blood tests TSH, T3, TT4 and T4U are group A. The difference, 2.10
dollars for each of the four, is the drawing of blood, which is paid once. So ``feature_costs`` are
the remainders (TSH 20.68, T3 9.31, TT4 12.41, T4U 9.31; each question 1.00), ``group_costs`` have
2.10 for group A and 0 for each other feature, which is a group of its own.

FTI, the free thyroxine index, has no price of its own (it is calculated from TT4 and T4U): the
column is left out. Turney's delays (blood tests are answered later) are not used.

Split: the official test file; the seed divides the 3,772 training rows, 70 % train, the others
validate.
"""

from __future__ import annotations

import hashlib
import zipfile
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from datasets.dataset import Dataset
from datasets.errors import ChecksumMismatch, DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.splits import split_generator
from datasets.synthetic.tables import Table, dataset_parts

ROWS = {"train": 3_772, "test": 3_428}
N_TRAIN = 2_640
FEATURE_NAMES = (
    *("age", "sex", "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication", "sick"),
    *("pregnant", "thyroid_surgery", "I131_treatment", "query_hypothyroid", "query_hyperthyroid"),
    *("lithium", "goitre", "tumor", "hypopituitary", "psych", "TSH", "T3", "TT4", "T4U"),
)
N_FEATURES, N_COLUMNS = len(FEATURE_NAMES), 22
GROUP = "A"
SMOKE_SIZES, SIZES = (2_000, 1_000, 1_000), (N_TRAIN, ROWS["train"] - N_TRAIN, ROWS["test"])
# Share of yes of each question, and Turney's prices with the 2.10 dollars for drawing blood.
YES = (0.30, 0.13, 0.015, 0.013, 0.038, 0.011, 0.014, 0.017, 0.066, 0.069, 0.013, 0.008, 0.026)
YES = (*YES, 0.0005, 0.05)
PRICES = (*[1.0] * 16, 20.68, 9.31, 12.41, 9.31)
DRAWING_BLOOD = 2.10
NOISE = (*[3.0] * 16, 0.3, 1.0, 0.6, 1.5)
"""Of the synthetic features: TSH, the dearest, says most."""
SYNTHETIC = Table(
    "thyroid",
    N_FEATURES,
    (166 / 7_200, 368 / 7_200, 6_666 / 7_200),
    noise=NOISE,
    binary=dict(enumerate(YES, start=1)),
    spread=2.0,
    simple=True,
)
TERMS = "CC BY 4.0 (UCI Machine Learning Repository, Thyroid Disease; prices by P. D. Turney)"
COST_ORIGIN = (
    "published: Turney (1995), ann-thyroid.expense and .group, Ontario's fees of 1992; drawing "
    "blood is paid once"
)
_ZIP = Form(
    "thyroid+disease.zip",
    "zip",
    "a0982569a7442c03a20815db58f271245e7a111b10ac46f6c6b5fa6feee4c1f4",
    0,
    ("https://archive.ics.uci.edu/static/public/102/thyroid+disease.zip",),
)
_MEMBERS = {
    "ann-train.data": ("3da53a156bda36cb0c97e9f4b6b111c9226c54c4aa00230de5604b787c47e3a6", 264_725),
    "ann-test.data": ("c649ea19416e78c7996cfaaa2a9e281cb597d4b075aaa68c494fc3e4ee3aa30b", 241_196),
    "ann-thyroid.cost": ("39c3e6e62209505cec6b8c36697a6622ed6e553f0ead409149481de6535b891f", 372),
    "ann-thyroid.expense": (
        "a0b3ab6a3b5743952f2bc061d3909edc9dacbd8c6b2c286261f094c70665ceac",
        494,
    ),
    "ann-thyroid.group": ("97b709a689cf3818c91df2eafe95552ad257f142a931524e18ac44cfabfc959a", 39),
}
FILES = {
    name: RawFile(
        folder="thyroid",
        title=f"Thyroid disease, {name}",
        terms=TERMS,
        advice="allow access to archive.ics.uci.edu, or put ann-train.data, ann-test.data and "
        "ann-thyroid.cost, .expense and .group into the folder thyroid/ of "
        "COST_AWARE_BOOSTING_MIRROR.",
        forms=(Form(name, "text", digest, size), _ZIP),
    )
    for name, (digest, size) in _MEMBERS.items()
}


def real(request: Request) -> Dataset:
    """Load the official test rows and the division of the training rows that the seed draws."""
    tables, records = {}, []
    for part in ROWS:
        file = find(FILES[f"ann-{part}.data"])
        key = f"{part}-v1-{file.sha256[:16]}"
        tables[part] = decoded("thyroid", key, partial(_decode, file, part))[0]["table"]
        records.append(file)
    costs, group_costs, groups, price_files = prices()
    order = split_generator("thyroid", request.seed).permutation(ROWS["train"])
    rows = {"train": tables["train"][order[:N_TRAIN]], "valid": tables["train"][order[N_TRAIN:]]}
    arrays = {}
    for part, table in {**rows, "test": tables["test"]}.items():
        arrays[f"X_{part}"] = np.array(table[:, :N_FEATURES], order="C")
        arrays[f"y_{part}"] = table[:, -1].astype(np.int64) - 1
    files = {file.path: file.record() for file in records + price_files}
    provenance = {"source": records[0].source, "files": list(files.values())}
    return _dataset(arrays, costs, group_costs, groups, COST_ORIGIN, provenance)


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    sizes = SMOKE_SIZES if request.scale == "smoke" else SIZES
    arrays, provenance = dataset_parts(SYNTHETIC, sizes, request.seed)
    costs, group_costs, groups = synthetic_prices()
    origin = "Turney's prices, given to the synthetic set's features"
    return _dataset(arrays, costs, group_costs, groups, origin, provenance)


def _dataset(arrays, costs, group_costs, groups, origin: str, provenance: dict) -> Dataset:
    return Dataset(
        name="thyroid",
        task="multiclass",
        **arrays,
        feature_costs=costs,
        cost_unit="dollars",
        cost_origin=origin,
        feature_names=FEATURE_NAMES,
        feature_groups=groups,
        group_costs=group_costs,
        provenance=provenance,
    )


# --- prices --------------------------------------------------------------------------------------


def synthetic_prices() -> tuple[np.ndarray, dict[int, float], np.ndarray]:
    """Give remainders, prices of groups, and groups, without Turney's files."""
    groups = np.array([*range(16), 16, 16, 16, 16], dtype=np.int64)
    return np.array(PRICES), dict.fromkeys(range(16), 0.0) | {16: DRAWING_BLOOD}, groups


def prices() -> tuple[np.ndarray, dict[int, float], np.ndarray, list[Found]]:
    """Derive remainders, prices of groups, and groups from Turney's files, and give these.

    In dollars. Group A is the last one; each other feature is a group of its own.
    """
    kinds = ("cost", "expense", "group")
    files = {kind: find(FILES[f"ann-thyroid.{kind}"]) for kind in kinds}
    lines = {kind: _entries(file, kind) for kind, file in files.items()}
    alone = {name: _dollars(files["cost"], text) for name, (text,) in lines["cost"].items()}
    both = {
        name: tuple(_dollars(files["expense"], text) for text in texts)
        for name, texts in lines["expense"].items()
    }
    members = {name for name, (label,) in lines["group"].items() if label == GROUP}
    where = files["expense"].path.parent
    if set(alone) != set(FEATURE_NAMES) or set(both) != set(alone) or not members <= set(alone):
        raise DamagedData(f"{where}: Turney's files do not price the {N_FEATURES} features")
    first = {name: both[name][0] - both[name][1] for name in FEATURE_NAMES}
    drawing = {first[name] for name in members}
    others = {first[name] for name in FEATURE_NAMES if name not in members}
    if any(both[name][0] != alone[name] for name in alone) or len(drawing) != 1 or others != {0}:
        raise DamagedData(f"{where}: Turney's files contradict each other on what a group costs")
    costs = np.array([float(both[name][1]) for name in FEATURE_NAMES])
    single = [name for name in FEATURE_NAMES if name not in members]
    groups = np.array(
        [len(single) if name in members else single.index(name) for name in FEATURE_NAMES],
        dtype=np.int64,
    )
    group_costs = dict.fromkeys(range(len(single)), 0.0) | {len(single): float(drawing.pop())}
    return costs, group_costs, groups, list(files.values())


def _entries(file: Found, kind: str) -> dict[str, tuple[str, ...]]:
    """Read lines of ``name: value, value``; the group file starts with the groups' names."""
    width = 2 if kind == "expense" else 1
    entries = {}
    for number, line in enumerate(_content(file, f"ann-thyroid.{kind}").splitlines(), start=1):
        text = line.decode("ascii", "replace").strip()
        if not text or (kind == "group" and ":" not in text):
            continue
        name, _, values = text.partition(":")
        parts = tuple(value.strip() for value in values.split(","))
        if kind == "group":
            parts = tuple(value.rstrip(".") for value in parts)
        if len(parts) != width or not all(parts) or name in entries:
            raise DamagedData(f"{file.path}, line {number}: {text!r} is no line of ann-thyroid")
        entries[name] = parts
    return entries


def _dollars(file: Found, text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0:
        raise DamagedData(f"{file.path}: {text!r} is no price")
    return value


# --- rows ----------------------------------------------------------------------------------------


def _decode(file: Found, part: str, out: Path) -> None:
    """Parse a table of 21 features and the class, and drop FTI."""
    name = f"ann-{part}.data"
    rows = []
    for number, line in enumerate(_content(file, name).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != N_COLUMNS or not np.isfinite(values).all() or values[-1] not in (1, 2, 3):
            raise DamagedData(
                f"{file.path}, line {number} of {name}: not 21 numbers and a class of 1 to 3"
            )
        rows.append(values)
    if len(rows) != ROWS[part]:
        raise DamagedData(f"{file.path}: {len(rows)} rows in {name} instead of {ROWS[part]}")
    table = np.array(rows)
    np.save(out / "table.npy", np.delete(table, N_FEATURES, axis=1))  # column 20 is FTI


def _content(file: Found, name: str) -> bytes:
    """Read one of the files, inside the official archive or by itself."""
    if file.form.reader == "text":
        return file.path.read_bytes()
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = [n for n in archive.namelist() if PurePosixPath(n).name.lower() == name]
            if len(names) != 1:
                raise DamagedData(f"{file.path}: {len(names)} members named {name}, not 1")
            content = archive.read(names[0])
    except zipfile.BadZipFile as error:
        raise DamagedData(f"{file.path}: damaged or incomplete archive ({error})") from error
    if name.endswith(".data"):
        _check_digest(file, name, content)
    return content


def _check_digest(file: Found, name: str, content: bytes) -> None:
    expected, digest = _MEMBERS[name][0], hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise ChecksumMismatch(f"{name} in {file.path}", expected, digest)


SPEC = DatasetSpec(
    name="thyroid",
    task="multiclass",
    title="Thyroid disease (ann-train, ann-test), priced in dollars",
    citation="Quinlan (1987), Werner; prices: Turney, JAIR 2 (1995)",
    terms=TERMS,
    shape="7,200 rows, 20 priced features of 21 (FTI has no price and is left out), 3 classes",
    split_rule="test file fixed; of the 3,772 training rows 2,640 drawn by seed train (70 %), the "
    "others validate",
    cost_rule="published, dollars: 1.00 a question, 9.31 to 20.68 a blood test, and 2.10 once for "
    "drawing blood",
    real=real,
    synthetic=synthetic,
    files=tuple(FILES.values()),
)
