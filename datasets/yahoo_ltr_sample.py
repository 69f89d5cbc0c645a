"""A part of the real Yahoo! LTR set 1: 3,773 documents, 251 queries, 218 features, labels 0..4.

Citation: O. Chapelle and Y. Chang, JMLR Workshop and Conference Proceedings 14 (2011); the part
ships with LightGBM as ``examples/lambdarank``, and a maintainer says that it is sampled from Yahoo
(LightGBM issue 1268; a row quoted in issue 2559 equals one of ``set1.train.txt``). 201 + 50
queries; of the 700 features only 1 to 300 were kept, of which 218 occur, with values to two
decimals. Yahoo's terms: research use, no redistribution.

Costs: the published ones of set 1, by feature number (all 218 have one); where that table cannot
be reached, the set is unavailable.

Split: the test file is fixed; the seed divides the 201 training queries, 70 % train, the others
validate; rows keep the order of the file.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from datasets import ranking, yahoo_ltr
from datasets.dataset import Dataset
from datasets.errors import DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.sources.svmrank import read_rows
from datasets.splits import split_queries
from datasets.synthetic.ranking import Ranking

N_FEATURES, N_PRESENT = 300, 218
TRAIN_SHARE = 0.7
MISSING = (
    "all but 3,773 of set 1's 709,877 documents and 251 of its 29,921 queries; 301 of its 519 "
    "features"
)
_ADDRESS = (
    "https://raw.githubusercontent.com/svenpeter42/LightGBM-CEGB/"
    "1793e616632a3e698d7a75d5b2cb86ca6cc0b59d/examples/lambdarank"
)
_DIGESTS = {
    "rank.train": ("a0c7201c89120879c14a5059e091f441cbf2a29b8aaef363885ccb1a530448df", 2_479_271),
    "rank.train.query": ("40cb5fef637229311cd30fab13cb7fb633b023e86a87ff04ec55db420143d6af", 580),
    "rank.test": ("3b1219ce117a0a36d2f76c02de7e7831c1d79af0d40f5195c03178bbe26c824b", 649_930),
    "rank.test.query": ("36dca82ba3bf99201bac3987b00a8fbf6fe5f563e9fa6d0da90e783710a32df4", 146),
}
FILES = {
    name: RawFile(
        folder="yahoo_ltr_sample",
        title=f"Yahoo! LTR, part of set 1, {name}",
        terms=yahoo_ltr.TERMS,
        advice="allow access to raw.githubusercontent.com, or put rank.train, rank.train.query, "
        "rank.test and rank.test.query (examples/lambdarank of LightGBM) into the folder "
        "yahoo_ltr_sample/ of COST_AWARE_BOOSTING_MIRROR.",
        forms=(Form(name, "text", digest, size, (f"{_ADDRESS}/{name}",)),),
    )
    for name, (digest, size) in _DIGESTS.items()
}
SMOKE_SIZES, SIZES = (1_000, 400, 500), (2_108, 897, 768)
GROUPS = ((1, 53), (5, 12), (20, 71), (50, 58), (100, 10), (150, 14))
"""Prices of the 218 features that occur and how many have each, as in the real part."""


def real(request: Request) -> Dataset:
    """Load the part, its training queries divided by seed."""
    halves = {half: _half(half) for half in ("train", "test")}
    occurs = np.any([tables["listed"] for tables, _ in halves.values()], axis=0)
    if occurs.sum() != N_PRESENT:
        raise DamagedData(f"yahoo_ltr_sample: {occurs.sum()} features occur, not {N_PRESENT}")
    columns = np.flatnonzero(occurs)
    table, origin, cost_files = ranking.published_costs(yahoo_ltr.COSTS)
    costs = table[columns]
    if (costs == yahoo_ltr.ABSENT).any():
        raise DamagedData("yahoo_ltr_sample: a feature that occurs has no published cost")
    tables = halves["train"][0]
    rows = split_queries("yahoo_ltr_sample", request.seed, tables["query"], TRAIN_SHARE)
    chosen = {"train": (tables, rows[0]), "valid": (tables, rows[1])}
    chosen["test"] = (halves["test"][0], np.arange(halves["test"][0]["y"].size))
    parts = {
        part: (source["X"][which][:, columns], source["y"][which], source["query"][which])
        for part, (source, which) in chosen.items()
    }
    arrays, queries = ranking.part_arrays(parts)
    files = [file for _, both in halves.values() for file in both]
    provenance = {
        "source": files[0].source,
        "files": [file.record() for file in files] + cost_files,
        "missing": MISSING,
        "queries": queries,
    }
    names = tuple(f"feature_{column + 1}" for column in columns)
    given = (costs, origin, names, provenance, yahoo_ltr.UNIT)
    return ranking.dataset("yahoo_ltr_sample", arrays, *given)


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    costs = yahoo_ltr.synthetic_costs(GROUPS)
    shape = Ranking("yahoo_ltr_sample", costs, (5, 25), yahoo_ltr.SHARES)
    sizes = SMOKE_SIZES if request.scale == "smoke" else SIZES
    return yahoo_ltr.synthetic_dataset(shape, sizes, request.seed)


def _half(half: str) -> tuple[dict[str, np.ndarray], tuple[Found, Found]]:
    text, sizes = find(FILES[f"rank.{half}"]), find(FILES[f"rank.{half}.query"])
    key = f"{half}-v1-{text.sha256[:16]}-{sizes.sha256[:16]}"
    tables, _ = decoded("yahoo_ltr_sample", key, partial(_decode, text, sizes, half))
    return tables, (text, sizes)


def _decode(text: Found, sizes: Found, half: str, out: Path) -> None:
    with open(text.path, "rb") as lines:
        rows = read_rows(
            lines, str(text.path), N_FEATURES, has_queries=False, grades=yahoo_ltr.GRADES
        )
    lengths = _lengths(sizes.path)
    if lengths.sum() != rows.y.size:
        raise DamagedData(
            f"{sizes.path}: the queries have {lengths.sum()} documents, {text.path} has "
            f"{rows.y.size}"
        )
    # Queries have no names here: the test ones are counted on, so that no number is in both.
    first = 0 if half == "train" else 1_000_000
    np.save(out / "X.npy", rows.X)
    np.save(out / "y.npy", rows.y)
    np.save(out / "query.npy", first + np.repeat(np.arange(lengths.size), lengths))
    np.save(out / "listed.npy", rows.listed)


def _lengths(path: Path) -> np.ndarray:
    """Read the numbers of documents of each query, one on a line."""
    lengths = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip().isdigit() or int(line) < 1:
            raise DamagedData(f"{path}, line {number}: no number of documents")
        lengths.append(int(line))
    return np.array(lengths, dtype=np.int64)


SPEC = DatasetSpec(
    name="yahoo_ltr_sample",
    task="ranking",
    title="Yahoo! Learning to Rank Challenge, a part of set 1 (LightGBM's example)",
    citation="Chapelle and Chang, JMLR W&CP 14 (2011)",
    terms=yahoo_ltr.TERMS,
    shape="3,773 documents, 251 queries, 218 features, labels 0-4",
    split_rule="test file fixed; of the 201 training queries 70 % train, the others validate",
    cost_rule="published, 1 to 150 per feature",
    real=real,
    synthetic=synthetic,
    files=(*FILES.values(), yahoo_ltr.COSTS),
    missing=MISSING,
)
