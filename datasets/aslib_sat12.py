"""SAT12-ALL of ASlib: 1,614 formulas, 115 features in 10 groups, CPU seconds measured for each row.

Citation: B. Bischl et al., ASlib: a benchmark library for algorithm selection, Artificial
Intelligence 237 (2016); L. Xu, F. Hutter, H. H. Hoos and K. Leyton-Brown computed the features. The
class is 1 where a formula can be satisfied, 949 of 1,614. Terms: GPL-3; nothing of it is in this
project.

A group of features is computed by one program, or not at all, and most need that the formula was
preprocessed (``Pre``) first. Where a program ended early, 5.5 % of the values are missing: they
count as one less than the smallest value of the feature in training. Twenty formulas were solved
while they were preprocessed: what was not run on them took no time.

Costs: ``group_costs`` are the mean CPU seconds of the training rows, features themselves cost
nothing. What a row really took varies by orders of magnitude; :func:`bill` gives it from what a
model says it acquired, groups that another needs included.

Split: a draw of the seed, 900 / 300 / 414 formulas.
"""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import numpy as np

from datasets.dataset import Dataset
from datasets.errors import DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.archives import damage_named
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.splits import split_parts

SIZES = (900, 300, 414)
N_FEATURES, N_GROUPS = 115, 10
TERMS = "GPL-3 (coseal/aslib_data); read from there, not passed on"
_ADDRESS = "https://raw.githubusercontent.com/coseal/aslib_data/551b22be/SAT12-ALL"
_DIGESTS = {
    "description.txt": ("e2152abeb2311213fb69f1881071b87eb584a5817ca361022a00e4cf3313f28c", 7_927),
    "feature_values.arff": (
        "4453d1d24a1377a8fe2e5abf1ceee5f981e799db20ce6ab657ea0969dadfc335",
        1_282_253,
    ),
    "feature_costs.arff": (
        "dc1c89e0e2676979d24905f3d2fcfdc848b067ab9115fd97c4dde119c0784050",
        216_282,
    ),
    "ground_truth.arff": (
        "39aa83727074725ee3aab1067108057d6ca5a736fca3d2db23a8a70be9c17046",
        144_161,
    ),
}
FILES = {
    name: RawFile(
        folder="aslib_sat12",
        title=f"ASlib's SAT12-ALL, {name}",
        terms=TERMS,
        advice="allow access to raw.githubusercontent.com, or put description.txt, "
        "feature_values.arff, feature_costs.arff and ground_truth.arff of SAT12-ALL into the "
        "folder aslib_sat12/ of COST_AWARE_BOOSTING_MIRROR.",
        forms=(Form(name, "text", digest, size, (f"{_ADDRESS}/{name}",)),),
    )
    for name, (digest, size) in _DIGESTS.items()
}


def real(request: Request) -> Dataset:
    """Load the formulas, divided by the seed."""
    files = {name: find(raw) for name, raw in FILES.items()}
    names, steps, _ = _steps(files["description.txt"])
    tables = _tables(files)
    rows = _divided(request.seed)
    floor = np.nanmin(tables["X"][rows["train"]], axis=0) - 1.0
    X = np.where(np.isnan(tables["X"]), floor, tables["X"])
    arrays = {f"X_{part}": np.array(X[which], order="C") for part, which in rows.items()}
    arrays |= {f"y_{part}": tables["y"][which].astype(np.int64) for part, which in rows.items()}
    prices = tables["seconds"][rows["train"]].mean(axis=0)
    groups = [list(steps).index(step) for step in names.values()]
    return Dataset(
        name="aslib_sat12",
        task="binary",
        **arrays,
        feature_costs=np.zeros(N_FEATURES),
        cost_unit="CPU seconds",
        cost_origin="measured by its authors for each row and group; means of the training rows",
        feature_names=tuple(names),
        feature_groups=np.array(groups, dtype=np.int64),
        group_costs=dict(enumerate(prices.tolist())),
        provenance={
            "source": files["feature_values.arff"].source,
            "files": [file.record() for file in files.values()],
        },
    )


def seconds(seed: int = 0) -> dict[str, np.ndarray]:
    """Give what each group of features took on each row.

    Parameters
    ----------
    seed : int, default 0
        As for :func:`datasets.load`.

    Returns
    -------
    dict of str to ndarray of shape (n, 10), float64
        CPU seconds on the rows of ``train``, ``valid`` and ``test``; columns as the groups are
        numbered.
    """
    tables = _tables({name: find(raw) for name, raw in FILES.items()})
    return {part: np.array(tables["seconds"][which]) for part, which in _divided(seed).items()}


def bill(acquired, seconds: np.ndarray) -> np.ndarray:
    """Add up what the acquired features of each row really took.

    Parameters
    ----------
    acquired : (n, 115) bool, array or sparse matrix
        ``acquired_features`` of a model, or of anything else.
    seconds : ndarray of shape (n, 10), float64
        Of the same rows, from :func:`seconds`.

    Returns
    -------
    ndarray of shape (n,), float64
        CPU seconds: a group of which any feature was acquired, and those that it needs, count once.

    Raises
    ------
    ValueError
        If the rows or columns are not those of the set.
    """
    acquired = np.asarray(acquired.toarray() if hasattr(acquired, "toarray") else acquired, bool)
    if acquired.shape != (len(seconds), N_FEATURES) or seconds.shape[1] != N_GROUPS:
        raise ValueError(
            f"acquired must be ({len(seconds)}, {N_FEATURES}) and seconds (n, {N_GROUPS}), not "
            f"{acquired.shape} and {seconds.shape}"
        )
    names, steps, needs = _steps(find(FILES["description.txt"]))
    order = list(steps)
    bought = np.zeros(seconds.shape, dtype=bool)
    for column, step in enumerate(names.values()):
        for one in (step, *needs[step]):
            bought[:, order.index(one)] |= acquired[:, column]
    return (bought * seconds).sum(axis=1)


def _divided(seed: int) -> dict[str, np.ndarray]:
    return split_parts("aslib_sat12", seed, sum(SIZES), SIZES)


def _tables(files: dict[str, Found]) -> dict[str, np.ndarray]:
    key = "v1-" + "-".join(files[name].sha256[:8] for name in sorted(files))
    return decoded("aslib_sat12", key, partial(_decode, files))[0]


def _decode(files: dict[str, Found], out: Path) -> None:
    """Write features, seconds by group, and classes, rows in the order of the classes' file."""
    names, steps, _ = _steps(files["description.txt"])
    _, truth = _arff(files["ground_truth.arff"])
    for name, array, columns in (
        ("feature_values.arff", "X", list(names)),
        ("feature_costs.arff", "seconds", list(steps)),
    ):
        head, rows = _arff(files[name])
        places = [head.index(column) for column in columns]
        if rows.keys() != truth.keys():
            raise DamagedData(f"{files[name].path}: other formulas than in ground_truth.arff")
        table = np.array([[_number(rows[one][place]) for place in places] for one in truth])
        np.save(out / f"{array}.npy", np.nan_to_num(table) if array == "seconds" else table)
    np.save(out / "y.npy", np.array([values[1] == "SAT" for values in truth.values()]))


def _number(text: str) -> float:
    return float("nan") if text == "?" else float(text)


def _arff(file: Found) -> tuple[list[str], dict[str, list[str]]]:
    """Read the names of the columns, and the rows by the formula, which is their first value."""
    with damage_named(file.path), file.path.open(encoding="utf-8", newline="") as stream:
        lines = [line.strip() for line in stream if line.strip()]
        data = next(i for i, line in enumerate(lines) if line.lower() == "@data")
        head = [line.split()[1] for line in lines[:data] if line.lower().startswith("@attribute")]
        rows = {row[0]: row for row in csv.reader(lines[data + 1 :])}
    if len(rows) != sum(SIZES) or any(len(row) != len(head) for row in rows.values()):
        raise DamagedData(f"{file.path}: not {sum(SIZES)} rows of {len(head)} columns")
    return head, rows


def _steps(file: Found) -> tuple[dict[str, str], dict[str, list[str]], dict[str, list[str]]]:
    """Read which group gives each feature, what each gives, and which groups it needs first."""
    step, entries = "", []
    gives: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    with damage_named(file.path):
        text = file.path.read_text(encoding="utf-8").partition("feature_steps:\n")[2]
    for line in text.splitlines():
        if not line.startswith(" "):
            break
        word = line.strip().removeprefix("- ").rstrip(":")
        if line.startswith("    - "):
            entries.append(word)
        elif line.startswith("    "):
            entries = (gives if word == "provides" else needs)[step]
        else:
            step = word
            gives[step], needs[step] = [], []
    names = {feature: step for step, features in gives.items() for feature in features}
    if (len(gives), len(names)) != (N_GROUPS, N_FEATURES):
        raise DamagedData(f"{file.path}: {len(gives)} groups of {len(names)} features")
    return names, gives, needs


SPEC = DatasetSpec(
    name="aslib_sat12",
    task="binary",
    title="SAT12-ALL of ASlib: which formulas can be satisfied",
    citation="Bischl et al., Artificial Intelligence 237 (2016)",
    terms=TERMS,
    shape="1,614 rows, 115 features in 10 groups, 2 classes",
    split_rule="each seed draws {} / {} / {} formulas".format(*SIZES),
    cost_rule="CPU seconds of a group, mean of the training rows; measured ones for each row",
    real=real,
    files=tuple(FILES.values()),
)
