"""The features of Figure 3: decision values of one-against-all support vector machines.

For each descriptor a kernel against the "kernel" pictures of a draw (30 % of the training pictures)
and 15 machines trained on these; their decision values on all other pictures are 15 features. The
machines are scikit-learn's SVC with C = 10 and balanced class weights, frozen beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datasets.features.scenes.descriptors import Descriptor
from datasets.features.scenes.kernels import Kernel

C = 10.0
GRID = 2.0**16
"""Decision values are rounded to multiples of 2^-16: the rest is the processor's."""


@dataclass(frozen=True)
class Machines:
    """One-against-all machines on one kernel."""

    # (m, n_classes) float64: of the reference's pictures, 0 for those that are no support vector of
    # a class
    weights: np.ndarray
    intercept: np.ndarray  # (n_classes,) float64

    def decide(self, rows: np.ndarray) -> np.ndarray:
        """Give decision values, (n, n_classes), from rows of the kernel, (n, m)."""
        return rows @ self.weights + self.intercept


def train_machines(gram: np.ndarray, labels: np.ndarray) -> Machines:
    """Train one machine for each class against all others."""
    from sklearn.svm import SVC

    n_classes = int(labels.max()) + 1
    weights, intercept = np.zeros((len(labels), n_classes)), np.empty(n_classes)
    for c in range(n_classes):
        machine = SVC(C=C, kernel="precomputed", class_weight="balanced").fit(gram, labels == c)
        weights[machine.support_, c] = machine.dual_coef_[0]
        intercept[c] = machine.intercept_[0]
    return Machines(weights, intercept)


def of_descriptor(
    descriptor: Descriptor, columns: np.ndarray, labels: np.ndarray, parts: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Give the features of one descriptor for a draw."""
    rows = columns[descriptor.columns]
    kernel = Kernel(descriptor, rows[:, parts["kernel"]].T)
    machines = train_machines(kernel.rows(kernel.reference), labels[parts["kernel"]])
    decisions = {}
    for part, numbers in parts.items():
        if part != "kernel":
            pictures = np.ascontiguousarray(rows[:, numbers].T)
            decided = machines.decide(kernel.rows(pictures))
            decisions[part] = (np.rint(decided * GRID) / GRID).astype(np.float32)
    return decisions


def svm_features(
    descriptors: tuple[Descriptor, ...],
    columns: np.ndarray,
    labels: np.ndarray,
    parts: dict[str, np.ndarray],
    progress: bool = False,
) -> dict[str, np.ndarray]:
    """Give the features of all descriptors for a draw."""
    from threadpoolctl import threadpool_limits
    from tqdm import tqdm

    bar = tqdm(descriptors, desc="scene15: kernel machines", disable=None if progress else True)
    with threadpool_limits(1, user_api="blas"):  # the products are too small for threads
        parts_of = [of_descriptor(descriptor, columns, labels, parts) for descriptor in bar]
    return {part: np.hstack([one[part] for one in parts_of]) for part in parts if part != "kernel"}
