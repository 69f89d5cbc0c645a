"""Kernels, machines and prices of the features of Scene-15."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from datasets.features.__main__ import main
from datasets.features.measured_times import write_table
from datasets.features.scenes import prices
from datasets.features.scenes.descriptors import DESCRIPTORS, Descriptor
from datasets.features.scenes.kernels import Kernel, intersections, squared_distances
from datasets.features.scenes.svm_features import GRID, C, of_descriptor, train_machines

HISTOGRAM = Descriptor("histogram", "intersection", 2, ((4, 0.25), (8, 0.5)))
VECTOR = Descriptor("vector", "rbf", 2, ((12, 1.0),))


def rows(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (n, 12), dtype=np.uint8)


def test_intersections_and_distances_equal_plain_ones():
    a, b = rows(7), rows(5, 1)
    wide, narrow = a[:, None].astype(int), b[None].astype(int)
    np.testing.assert_array_equal(intersections(a, b), np.minimum(wide, narrow).sum(axis=2))
    np.testing.assert_array_equal(squared_distances(a, b), ((wide - narrow) ** 2).sum(axis=2))


def test_intersection_kernel_weighs_its_parts():
    a, b = rows(6), rows(4, 1)
    kernel = Kernel(HISTOGRAM, b)
    least = np.minimum(a[2].astype(int), b[3])
    own = [0.25 * r[:4].sum(dtype=float) + 0.5 * r[4:].sum(dtype=float) for r in (a[2], b[3])]
    expected = (0.25 * least[:4].sum() + 0.5 * least[4:].sum()) / np.sqrt(own[0] * own[1])
    np.testing.assert_allclose(kernel.rows(a)[2, 3], expected)


@pytest.mark.parametrize("descriptor", [HISTOGRAM, VECTOR], ids=lambda d: d.kernel)
def test_kernels_are_kernels(descriptor):
    a = rows(40)
    gram = Kernel(descriptor, a).rows(a)
    np.testing.assert_allclose(np.diag(gram), 1)
    np.testing.assert_allclose(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() > -1e-9
    single = Kernel(descriptor, a).rows(a[3:4])
    np.testing.assert_allclose(single[0], gram[3], rtol=1e-14)


@pytest.mark.parametrize("descriptor", [HISTOGRAM, VECTOR], ids=lambda d: d.kernel)
def test_empty_and_equal_pictures_have_a_kernel(descriptor):
    nothing = np.zeros((3, 12), dtype=np.uint8)
    assert np.isfinite(Kernel(descriptor, nothing).rows(nothing)).all()
    assert np.isfinite(Kernel(descriptor, rows(3)).rows(nothing)).all()


def test_width_of_the_rbf_is_the_mean_over_different_pictures():
    a = rows(5)
    mean = np.mean([squared_distances(a, a)[i, j] for i in range(5) for j in range(5) if i != j])
    np.testing.assert_allclose(Kernel(VECTOR, a).mean, mean)
    np.testing.assert_allclose(
        Kernel(VECTOR, a).rows(a)[0, 1], np.exp(-squared_distances(a, a)[0, 1] / mean)
    )


def test_machines_decide_as_scikit_learn_does():
    a, labels = rows(60), np.arange(60) % 3
    kernel = Kernel(VECTOR, a)
    gram = kernel.rows(a)
    machines, others = train_machines(gram, labels), kernel.rows(rows(9, 4))
    for c in range(3):
        svc = SVC(C=C, kernel="precomputed", class_weight="balanced").fit(gram, labels == c)
        np.testing.assert_allclose(machines.decide(others)[:, c], svc.decision_function(others))


def test_features_of_a_descriptor_are_rounded_decisions():
    columns = np.vstack([np.zeros((2, 50), dtype=np.uint8), rows(50).T])
    labels = np.arange(50) % 3
    parts = {"kernel": np.arange(30), "train": np.arange(30, 45), "test": np.arange(45, 50)}
    found = of_descriptor(VECTOR, columns, labels, parts)
    assert list(found) == ["train", "test"]
    kernel = Kernel(VECTOR, columns[2:, :30].T)
    machines = train_machines(kernel.rows(kernel.reference), labels[:30])
    decided = machines.decide(kernel.rows(np.ascontiguousarray(columns[2:, 45:].T)))
    np.testing.assert_array_equal(found["test"], np.rint(decided * GRID) / GRID)


# --- prices --------------------------------------------------------------------------------------


def test_every_descriptor_has_a_committed_price():
    table = prices.read()
    for descriptor in DESCRIPTORS:
        price = prices.of_descriptor(table, descriptor.name)
        assert min(price.descriptor, price.kernel, price.machine) > 0
        assert price.machine < price.kernel < price.descriptor
    assert prices.n_reference(table) == 450
    assert "measured CPU time per picture, one thread" in prices.origin(table)


def test_prices_are_written_and_read(tmp_path):
    path = tmp_path / "times.csv"
    write_table(path, prices.COLUMNS, prices.read())
    assert path.read_bytes() == prices.TABLE.read_bytes()


@pytest.mark.parametrize("wrong", ["", "-1", "nan", "inf", "0", "soon"])
def test_a_price_that_is_none_is_named(tmp_path, wrong):
    path = tmp_path / "times.csv"
    first = prices.read()[0]
    write_table(path, prices.COLUMNS, [first | {"kernel_ms": wrong}])
    with pytest.raises(ValueError, match=f"times.csv: {first['descriptor']}, kernel_ms: '{wrong}'"):
        prices.read(path)


def test_other_columns_are_refused(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("descriptor,ms\ngist,3\n")
    with pytest.raises(ValueError, match="columns are"):
        prices.read(path)


def test_a_descriptor_without_price_says_how_to_measure():
    with pytest.raises(ValueError, match="--remeasure"):
        prices.of_descriptor(prices.read()[1:], prices.read()[0]["descriptor"])


def test_command_line_shows_the_table(capsys):
    assert main(["scene15"]) == 0
    assert "geometric_texton" in capsys.readouterr().out


def test_command_line_without_data(capsys, unreachable):
    assert main(["--remeasure", "scene15"]) == 3
    assert "Scene-15" in capsys.readouterr().err


@pytest.mark.parametrize(("one", "whole"), [("3.2", "3.1"), ("0", "3.1"), ("", "3.1")])
def test_a_pass_that_is_no_part_of_a_detector_is_refused(tmp_path, one, whole):
    row = {"detector_ms": whole, "pass_ms": one, "block": 26, "processor": "any", "date": "today"}
    write_table(tmp_path / "pass.csv", prices.PASS_COLUMNS, [row])
    with pytest.raises(ValueError, match=r"positive|as long"):
        prices.shared_part(tmp_path / "pass.csv")
    longer = {**row, "pass_ms": "3.0", "detector_ms": "4.0"}
    write_table(tmp_path / "pass.csv", prices.PASS_COLUMNS, [longer])
    assert prices.shared_part(tmp_path / "pass.csv") == 0.75
