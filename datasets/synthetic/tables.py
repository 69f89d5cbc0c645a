"""The generator of synthetic tables: rows around two centres for each class."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from datasets.synthetic.streams import PARTS, part_generator, record, rounded, structure

N_LATENT, N_CENTRES = 8, 2
N_KINDS = 3  # of continuous features: linear, quadratic, without information
PIECE = 50_000
"""Rows drawn at once."""


@dataclass(frozen=True)
class Table:
    """What a table looks like."""

    name: str
    n_features: int
    shares: tuple[float, ...]  # Of each class
    noise: float | tuple[float, ...] = 0.7  # Of each continuous feature, in standard deviations
    binary: dict[int, float] = field(default_factory=dict)  # Share of ones of such features
    spread: float = 1.0  # Of the classes' centres, in that of a class
    simple: bool = False  # One centre a class, all continuous features linear

    def rows(self, n_rows: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
        """Draw features and classes."""
        rng = part_generator(self.name, seed, part)
        y = np.searchsorted(np.cumsum(self.shares)[:-1], rng.random(n_rows), side="right")
        pieces = [y[start : start + PIECE] for start in range(0, n_rows, PIECE)]
        return np.concatenate([self.features(piece, rng) for piece in pieces]), y.astype(np.int64)

    def features(self, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw features of rows of given classes."""
        fixed, n, d = structure(self.name), len(y), self.n_features
        n_centres = 1 if self.simple else N_CENTRES
        centres = fixed.normal(0.0, self.spread, (len(self.shares), n_centres, N_LATENT))
        loadings = fixed.normal(0.0, 1.0, (N_LATENT, d)) / np.sqrt(N_LATENT)
        kind = np.zeros(d, dtype=int) if self.simple else fixed.permutation(d) % N_KINDS
        z = centres[y, rng.integers(0, n_centres, n)] + rng.standard_normal((n, N_LATENT))
        X = z @ loadings
        X = np.where(kind == 1, X * X - 1.0, np.where(kind == 2, 0.0, X))
        X += self.noise * rng.standard_normal((n, d))
        if self.binary:
            X[:, list(self.binary)] = self._answers(y, fixed, rng)
        return rounded(X)

    def _answers(self, y: np.ndarray, fixed, rng: np.random.Generator) -> np.ndarray:
        """Draw yes or no; the share of yes hangs on the class, its mean does not."""
        share = np.array(list(self.binary.values()))
        tilt = fixed.uniform(-0.9, 0.9, (len(self.shares), share.size))
        tilt -= np.array(self.shares) @ tilt
        return rng.random((len(y), share.size)) < share * (1.0 + tilt[y])


def dataset_parts(table: Table, sizes: tuple[int, int, int], seed: int):
    """Draw the three parts of a set, and give its record."""
    arrays = {}
    for part, size in zip(PARTS, sizes, strict=True):
        arrays[f"X_{part}"], arrays[f"y_{part}"] = table.rows(size, seed, part)
    return arrays, record(sizes)
