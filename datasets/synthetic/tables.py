"""Synthetic data for tables, as :mod:`datasets.synthetic` describes them."""

from __future__ import annotations

import zlib
from functools import lru_cache

import numpy as np
from threadpoolctl import threadpool_limits

PARTS = ("train", "valid", "test")
CHUNK = 50_000
_GRID = 2.0**16


def part_generator(name: str, seed: int, part: str) -> np.random.Generator:
    """Give the generator of one part of synthetic data."""
    return np.random.default_rng([zlib.crc32(name.encode()), int(seed), PARTS.index(part)])


def _structure(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(f"{name} structure".encode()))


def _rounded(values: np.ndarray) -> np.ndarray:
    """Round to the grid, in place (scaling by a power of two is exact)."""
    values *= _GRID
    np.rint(values, out=values)
    values /= _GRID
    return values


def _pieces(n_rows: int) -> list[int]:
    """Cut ``n_rows`` into pieces of at most ``CHUNK``."""
    return [min(CHUNK, n_rows - start) for start in range(0, n_rows, CHUNK)]


# --- miniboone -----------------------------------------------------------------------------------

MINIBOONE_SIGNAL = 36_499 / 130_064
MINIBOONE_OUTLIERS = 0.0036
_LATENT, _LINEAR, _SKEWED, _PRODUCT = 12, 20, 15, 15


@lru_cache(maxsize=1)
def _miniboone_structure() -> dict[str, np.ndarray]:
    rng = _structure("miniboone")
    return {
        "centres": rng.normal(0.0, 0.8, (8, _LATENT)),  # clusters 0-2 signal, 3-7 background
        "loadings": rng.normal(0.0, 1.0, (_LATENT, _LINEAR + _SKEWED)) / np.sqrt(_LATENT),
        "pairs": rng.integers(0, _LATENT, (2, _PRODUCT)),
        "scale": np.round(np.exp(rng.normal(0.0, 1.5, 50)), 4),
        "shift": np.round(rng.normal(0.0, 2.0, 50), 4),
        "order": rng.permutation(50),
    }


def miniboone(n_rows: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of the MiniBooNE synthetic."""
    rng = part_generator("miniboone", seed, part)
    X, y = np.empty((n_rows, 50)), np.empty(n_rows, dtype=np.int64)
    start = 0
    for size in _pieces(n_rows):
        X[start : start + size], y[start : start + size] = _miniboone_piece(rng, size)
        start += size
    return X, y


def _miniboone_piece(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    fixed = _miniboone_structure()
    y = (rng.random(size) < MINIBOONE_SIGNAL).astype(np.int64)
    cluster = np.where(y == 1, rng.integers(0, 3, size), rng.integers(3, 8, size))
    z = fixed["centres"][cluster] + rng.standard_normal((size, _LATENT))
    combined = z @ fixed["loadings"] + 0.5 * rng.standard_normal((size, _LINEAR + _SKEWED))
    first, second = fixed["pairs"]
    products = z[:, first] * z[:, second] + 0.5 * rng.standard_normal((size, _PRODUCT))
    raw = np.hstack([combined[:, :_LINEAR], np.exp(combined[:, _LINEAR:]), products])
    X = _rounded(raw[:, fixed["order"]] * fixed["scale"] + fixed["shift"])
    X[rng.random(size) < MINIBOONE_OUTLIERS] = -999.0
    return X, y


# --- hepmass -------------------------------------------------------------------------------------

HEPMASS_NAMES = (
    *("lepton_pt", "lepton_eta", "lepton_phi", "met", "met_phi", "n_jets"),
    *(f"jet{i}_{what}" for i in range(1, 5) for what in ("pt", "eta", "phi", "btag")),
    *("m_jj", "m_jjj", "m_lv", "m_jlv", "m_wwbb"),
)
HEPMASS_MASSES = {"hepmass_1000": (1000.0,), "hepmass_not1000": (500.0, 750.0, 1250.0, 1500.0)}


def hepmass(name: str, n_rows: int, seed: int, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of a HEPMASS synthetic."""
    mean, spread = _hepmass_scaling(name)
    rng = part_generator(name, seed, part)
    X, y = np.empty((n_rows, mean.size)), np.empty(n_rows, dtype=np.int64)
    start = 0
    for size in _pieces(n_rows):
        rows, y[start : start + size] = _hepmass_piece(name, rng, size)
        X[start : start + size] = _rounded((rows - mean) / spread)
        start += size
    return X, y


@lru_cache(maxsize=2)
def _hepmass_scaling(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Give mean and spread of a reference draw; coarse numbers, so that they are stable."""
    rows, _ = _hepmass_piece(name, _structure(name), 20_000)
    mean, spread = np.round(rows.mean(axis=0), 2), np.round(rows.std(axis=0), 2)
    if len(HEPMASS_MASSES[name]) > 1:
        mean[-1], spread[-1] = 0.0, 1.0  # the mass stays in GeV
    return mean, spread


def _hepmass_piece(name: str, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    masses = HEPMASS_MASSES[name]
    y = rng.integers(0, 2, size)
    mass = np.asarray(masses)[rng.integers(0, len(masses), size)]
    broad = np.exp(rng.normal(np.log(700.0), 0.4, size))
    total = np.where(y == 1, mass * (1.0 + 0.06 * rng.standard_normal(size)), broad)
    pt = 0.6 * total[:, None] * rng.dirichlet(np.full(6, 4.0), size)  # lepton, neutrino, 4 jets
    jets = -np.sort(-pt[:, 2:], axis=1)
    eta = rng.standard_normal((size, 5)) * (1.3 - 0.3 * np.minimum(total / 1500.0, 1.0))[:, None]
    phi = rng.uniform(-np.pi, np.pi, (size, 6))
    back = 3.0 - np.minimum(total / 600.0, 2.0)  # the heavier, the closer to back to back
    phi[:, 1] = phi[:, 0] + np.pi + back * 0.5 * rng.standard_normal(size)
    phi = phi - 2.0 * np.pi * np.rint(phi / (2.0 * np.pi))
    btag = (rng.random((size, 4)) < np.array([0.6, 0.5, 0.35, 0.25])).astype(float)
    n_jets = 4.0 + rng.poisson(0.8, size)
    wrong = rng.random((size, 2)) < 0.3  # hadronic and leptonic side, wrong combination
    smear = 1.0 + 0.12 * rng.standard_normal((size, 5))
    m_jj = np.where(wrong[:, 0], 0.7 * np.sqrt(jets[:, 0] * jets[:, 2]), 80.4) * smear[:, 0]
    m_jjj = np.where(wrong[:, 0], 1.3 * m_jj + 0.3 * jets[:, 1], 172.5) * smear[:, 1]
    m_lv = np.where(wrong[:, 1], 0.8 * np.sqrt(pt[:, 0] * pt[:, 1]), 80.4) * smear[:, 2]
    m_jlv = np.where(wrong[:, 1], 1.2 * m_lv + 0.4 * jets[:, 0], 172.5) * smear[:, 3]
    m_wwbb = total * smear[:, 4]
    columns = [pt[:, 0], eta[:, 0], phi[:, 0], pt[:, 1], phi[:, 1], n_jets]
    for i in range(4):
        columns += [jets[:, i], eta[:, i + 1], phi[:, i + 2], btag[:, i]]
    columns += [m_jj, m_jjj, m_lv, m_jlv, m_wwbb]
    if len(masses) > 1:
        columns.append(mass)
    return np.column_stack(columns), y


# --- yahoo_ltr -----------------------------------------------------------------------------------

YAHOO_GROUPS = ((1, 123), (5, 31), (20, 191), (50, 125), (100, 16), (150, 32), (200, 1))
YAHOO_NOISE = {1: 2.5, 5: 2.0, 20: 1.5, 50: 1.1, 100: 0.7, 150: 0.6, 200: 0.5}
YAHOO_QUERY_LEVEL = 0.15
YAHOO_THRESHOLDS = (-0.691, 0.331, 1.435, 2.326)  # from 400,000 reference documents
YAHOO_PIECE = 64  # queries drawn at once: about 6 MB, which stays in the processor's cache
_N_PLAIN, _N_INTERACTIONS, _N_QUERY = 10, 3, 4


@lru_cache(maxsize=1)
def _yahoo_structure() -> dict[str, np.ndarray]:
    from scipy.special import ndtri

    rng = _structure("yahoo_ltr")
    costs = np.concatenate([np.full(count, float(cost)) for cost, count in YAHOO_GROUPS])
    costs = costs[rng.permutation(costs.size)]
    d = costs.size
    on_query = (rng.random(d) < YAHOO_QUERY_LEVEL) & (costs < 100.0)
    weights = rng.normal(0.0, 1.0, (_N_PLAIN, d)) * (rng.random((_N_PLAIN, d)) < 0.25)
    interactions = rng.normal(0.0, 1.0, (_N_INTERACTIONS, d)) * (costs >= 100.0)
    query = rng.normal(0.0, 1.0, (_N_QUERY, d)) * np.where(on_query, 1.0, 0.2)
    weights[:, on_query] = 0.0
    relevance = np.where(costs == 200.0, 1.0, 0.0)[None, :]
    top = costs == 200.0
    weights[:, top], interactions[:, top], query[:, top] = 0.0, 0.0, 0.0
    loading = np.vstack([weights, interactions, query, relevance])
    noise = np.array([YAHOO_NOISE[int(cost)] for cost in costs])
    spread = np.sqrt((loading**2).sum(axis=0) + noise**2)
    zero_share = rng.uniform(0.1, 1.0, d)
    zero_share[top] = 0.1
    return {
        "costs": costs,
        "on_query": on_query,
        "loading": np.round(loading / spread, 4),
        "noise": np.round(noise / spread, 4),
        "threshold": np.round(ndtri(np.minimum(zero_share, 0.999)), 3),
    }


def yahoo_costs() -> np.ndarray:
    """Give the prices of the synthetic set's 519 features, shape (519,), in the paper's unit."""
    return _yahoo_structure()["costs"].copy()


def yahoo_ltr(
    n_rows: int, seed: int, part: str, *, stream: str = "yahoo_ltr", low: int = 5, high: int = 40
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw documents of the Yahoo! LTR synthetic.

    Parameters
    ----------
    n_rows, seed, part
        As :func:`miniboone`.
    stream : str
        Name of the stream: sets that are parts of this one draw rows of their own.
    low, high : int
        Least and most documents of a query.

    Returns
    -------
    X : ndarray of shape (n_rows, 519), float64
        In [0, 1).
    y : ndarray of shape (n_rows,), float64
        Grades 0..4.
    query : ndarray of shape (n_rows,), int64
        Contiguous blocks; no query is in two parts.
    """
    rng = part_generator(stream, seed, part)
    sizes = query_sizes(rng, n_rows, low, high)
    X, y = np.empty((n_rows, _yahoo_structure()["costs"].size)), np.empty(n_rows)
    query = np.repeat(np.arange(sizes.size) + 10_000_000 * PARTS.index(part), sizes)
    start = first = 0
    with threadpool_limits(1, user_api="blas"):  # the products are too small for threads
        while first < sizes.size:
            last = first + YAHOO_PIECE
            n = int(sizes[first:last].sum())
            X[start : start + n], y[start : start + n] = _yahoo_piece(rng, sizes[first:last])
            start, first = start + n, last
    return X, y, query.astype(np.int64)


def query_sizes(rng: np.random.Generator, n_rows: int, low: int = 5, high: int = 40) -> np.ndarray:
    """Draw numbers of documents per query that add up to ``n_rows``.

    The last query takes what is left; less than ``low`` joins the query before it.
    """
    draws = rng.integers(low, high + 1, n_rows // low + 1)
    ends = np.cumsum(draws)
    n_queries = int(np.searchsorted(ends, n_rows)) + 1
    sizes = draws[:n_queries].copy()
    sizes[-1] -= ends[n_queries - 1] - n_rows
    if sizes[-1] < low and n_queries > 1:
        sizes[-2] += sizes[-1]
        sizes = sizes[:-1]
    return sizes


def _yahoo_relevance(z: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the three interactions and the noise-free relevance of documents."""
    interactions = np.column_stack([z[:, 1] * z[:, 2], np.abs(z[:, 3]) - 0.8, z[:, 4] * u[:, 1]])
    relevance = (
        1.2 * z[:, 0] / (1.0 + np.abs(z[:, 0]))
        + 0.5 * interactions[:, 0]
        + 0.5 * interactions[:, 1]
        + 0.4 * interactions[:, 2]
        + 0.3 * u[:, 0]
        + 0.2 * (z[:, 5] + z[:, 6] - z[:, 7])
    )
    return interactions, relevance


def _yahoo_piece(rng: np.random.Generator, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    fixed = _yahoo_structure()
    n, d = int(sizes.sum()), fixed["costs"].size
    per_query = rng.standard_normal((sizes.size, _N_QUERY))
    query_noise = rng.standard_normal((sizes.size, int(fixed["on_query"].sum())))
    owner = np.repeat(np.arange(sizes.size), sizes)
    u, z = per_query[owner], rng.standard_normal((n, _N_PLAIN))
    interactions, relevance = _yahoo_relevance(z, u)
    y = np.searchsorted(YAHOO_THRESHOLDS, relevance + 0.5 * rng.standard_normal(n)).astype(float)
    raw = rng.standard_normal((n, d))  # noise, then in place: these arrays are the whole cost
    raw[:, fixed["on_query"]] = query_noise[owner]
    raw *= fixed["noise"]
    raw += np.column_stack([z, interactions, u, relevance]) @ fixed["loading"]
    raw -= fixed["threshold"]
    np.maximum(raw, 0.0, out=raw)
    raw /= 1.0 + raw
    return _rounded(raw), y
