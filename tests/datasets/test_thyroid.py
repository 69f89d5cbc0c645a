"""Thyroid disease: Turney's prices in dollars, groups with remainders, damage."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import thyroid
from datasets.sources.find import Form
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import zipped

BLOOD = ("TSH", "T3", "TT4", "T4U")
ALONE = {"TSH": "22.78", "T3": "11.41", "TT4": "14.51", "T4U": "11.41"}
LATER = {"TSH": "20.68", "T3": "9.31", "TT4": "12.41", "T4U": "9.31"}


def texts() -> dict[str, str]:
    """The seven files in small: two patients, Turney's prices."""
    patient = "0.73 0 1 0 0 0 0 0 1 0 0 0 0 0 0 0 0.0006 0.015 0.12 0.082 0.146 3  \n"
    other = "0.24 " + "0 " * 15 + "0.05 0.03 0.143 0.133 0.108 1\n"
    names = thyroid.FEATURE_NAMES
    return {
        "ann-train.data": patient + other,
        "ann-test.data": other,
        "ann-thyroid.cost": "".join(f"{n}:\t\t{ALONE.get(n, '1.00')}\n" for n in names),
        "ann-thyroid.expense": "".join(
            f"{n}:\t\t{ALONE.get(n, '1.00')},\t{LATER.get(n, '1.00')}\n" for n in names
        ),
        "ann-thyroid.group": "A.\n\n" + "".join(f"{n}:\t\tA.\n" for n in BLOOD),
    }


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Puts files into a mirror, by themselves or in an archive, and registers their digests."""
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(thyroid, "ROWS", {"train": 2, "test": 1})
    monkeypatch.setattr(thyroid, "N_TRAIN", 1)
    folder = tmp_path / "mirror" / "thyroid"
    folder.mkdir(parents=True)

    def put(files: dict[str, str], in_archive: bool = False) -> None:
        digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
        members = {name: (digests[name], len(text)) for name, text in files.items()}
        monkeypatch.setattr(thyroid, "_MEMBERS", members)
        forms = {name: Form(name, "text", *members[name]) for name in files}
        if in_archive:
            places = {name: f"costs/{name}" if "thyroid" in name else name for name in files}
            archive = zipped({places[name]: text for name, text in files.items()})
            (folder / "t.zip").write_bytes(archive)
            digest = hashlib.sha256(archive).hexdigest()
            forms = dict.fromkeys(files, Form("t.zip", "zip", digest))
        else:
            for name, text in files.items():
                (folder / name).write_text(text)
        declared = {name: replace(raw, forms=(forms[name],)) for name, raw in thyroid.FILES.items()}
        monkeypatch.setattr(thyroid, "FILES", declared)

    return put


@pytest.mark.parametrize("in_archive", [False, True])
def test_turneys_numbers(tiny, in_archive):
    tiny(texts(), in_archive)
    data = datasets.load("thyroid", data="real")
    check_contract(data)
    assert data.cost_unit == "dollars"
    own = dict(zip(data.feature_names, data.feature_costs, strict=True))
    group = dict(zip(data.feature_names, data.feature_groups, strict=True))
    assert "FTI" not in own
    for name in thyroid.FEATURE_NAMES:
        price = own[name] + data.group_costs[int(group[name])]
        assert price == pytest.approx(float(ALONE.get(name, 1.0)), abs=1e-12)
        assert own[name] == float(LATER.get(name, 1.0))
    labels = {int(group[name]) for name in BLOOD}
    assert [data.group_costs[label] for label in labels] == [2.1]
    assert sum(data.group_costs.values()) == 2.1
    assert data.X_test[0, -1] == 0.133  # T4U, with FTI gone
    assert data.y_test.tolist() == [0]
    assert len(data.provenance["files"]) == (1 if in_archive else 5)


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("ann-thyroid.expense", "22.78,\t20.68", "22.78,\t20.67", "contradict each other"),
        ("ann-thyroid.cost", "22.78", "23.78", "contradict each other"),
        ("ann-thyroid.expense", "age:\t\t1.00,\t1.00", "age:\t\t1.00,\t0.50", "contradict"),
        ("ann-thyroid.cost", "psych", "FTI", "do not price the 20"),
        ("ann-thyroid.group", "T4U", "FTI", "do not price the 20"),
        ("ann-thyroid.group", "T4U:\t\tA", "T4U:\t\tB", "contradict each other"),
        ("ann-thyroid.cost", "sex:\t\t1.00", "sex:\t\tfree", "'free' is no price"),
        ("ann-thyroid.cost", "sex:\t\t1.00", "sex:\t\t-1.00", "'-1.00' is no price"),
        ("ann-thyroid.cost", "sex:\t\t1.00", "sex:\t\tNaN", "'NaN' is no price"),
        ("ann-thyroid.cost", "sex:\t\t1.00", "sex:", r"cost, line 2: 'sex:' is no line"),
        ("ann-thyroid.cost", "sex:", "age:", "line 2: 'age:.*is no line"),
        ("ann-train.data", "0.73 0 1", "0.73 0", r"line 1 of ann-train\.data: not 21 numbers"),
        ("ann-train.data", "0.24 ", "0.24x ", r"line 2 of ann-train\.data"),
        ("ann-train.data", "0.108 1", "0.108 4", r"line 2 of ann-train\.data"),
        ("ann-train.data", "0.24 ", "nan ", r"line 2 of ann-train\.data"),
        ("ann-test.data", "1\n", "1\n\n0.1 " + "0 " * 20 + "2\n", "2 rows in ann-test.data"),
    ],
)
def test_damaged_files_are_refused(tiny, name, old, new, reason):
    files = texts()
    assert old in files[name]
    files[name] = files[name].replace(old, new, 1)
    tiny(files)
    with pytest.raises(datasets.DamagedData, match=reason):
        datasets.load("thyroid")  # and no synthetic form takes its place


def test_an_archive_without_a_file(tiny):
    files = texts()
    tiny(files, in_archive=True)
    path = thyroid.find(thyroid.FILES["ann-train.data"]).path
    kept = ("ann-train.data", "ann-test.data", "ann-thyroid.cost")
    path.write_bytes(zipped({name: files[name] for name in kept}))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for raw in thyroid.FILES.values():
        object.__setattr__(raw.forms[0], "sha256", digest)
    with pytest.raises(datasets.DamagedData, match=r"0 members named ann-thyroid\.expense"):
        datasets.load("thyroid")


def test_synthetic_data_have_turneys_prices():
    data = datasets.load("thyroid", scale="smoke")
    assert data.group_costs[16] == 2.1
    assert data.cost_unit == "dollars"


@NEEDS_MIRROR
def test_real_thyroid(cache):
    data = datasets.load("thyroid", data="real", seed=3)
    check_contract(data)
    assert [data.y_train.size, data.y_valid.size, data.y_test.size] == [2_640, 1_132, 3_428]
    training = np.bincount(data.y_train) + np.bincount(data.y_valid)
    assert training.tolist() == [93, 191, 3_488]
    assert np.bincount(data.y_test).tolist() == [73, 177, 3_178]
    costs, group_costs, groups = thyroid.synthetic_prices()
    np.testing.assert_array_equal(data.feature_costs, costs)
    np.testing.assert_array_equal(data.feature_groups, groups)
    assert data.group_costs == group_costs
    assert data.X_test[:, 1:16].max() == 1
    assert datasets.verify("thyroid")
