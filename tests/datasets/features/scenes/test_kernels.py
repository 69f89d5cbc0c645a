"""Kernels, machines and prices of the features of Scene-15."""

import numpy as np
import pytest
from sklearn.svm import SVC

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
    nothing = np.zeros((3, 12), dtype=np.uint8)  # empty pictures, and equal ones
    for reference in (nothing, a):
        assert np.isfinite(Kernel(descriptor, reference).rows(nothing)).all()


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


def test_every_descriptor_has_a_committed_price():
    table = prices.read()
    for descriptor in DESCRIPTORS:
        price = prices.of_descriptor(table, descriptor.name)
        assert min(price.descriptor, price.kernel, price.machine) > 0
        assert price.machine < price.kernel < price.descriptor
    assert prices.n_reference(table) == 450
    assert "measured CPU time per picture, one thread" in prices.origin(table)
