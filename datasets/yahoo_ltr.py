"""Yahoo! Learning to Rank Challenge, set 1: 709,877 documents, 519 features, labels 0..4.

Citation: O. Chapelle and Y. Chang, JMLR Workshop and Conference Proceedings 14 (2011). The data
are for research and may not be passed on. Their owner is said to distribute them as
``YahooResearch/Yahoo-Learning-to-Rank-Challenge`` on Hugging Face: ``dataset.tgz``, in which lies
``ltrc_yahoo.tar.bz2``. Public programs agree on the SHA-256 of that inner archive, which is
verified before anything of it is unpacked; the address could not be tried when this was written,
and is too large to be fetched in passing (``data fetch yahoo_ltr`` does). Or the user puts either
archive, or ``set1.train.txt``, ``set1.valid.txt`` and ``set1.test.txt`` (svmlight with qid), into
``yahoo_ltr/`` of the mirror or of the cache folder. No checksums of the texts are published; what
was found is recorded, and the numbers of rows and of features that occur are checked.

Of the 700 features 519 occur in set 1. Costs: one published cost per feature (WSDM 2019 code for
joint cascade ranking, MIT), 1 to 200, 10000 for features that are absent. Where that
table cannot be reached, the set is unavailable.

Greedy Miser repeats each row of label 0 ten times, Cronus each of a label below 3:
:func:`datasets.ranking.copies` gives the weights that stand for the copies.

Split: the official one. At laptop scale whole queries are drawn by seed until 20,000 / 5,000 /
10,000 documents are reached; at paper scale the seed changes nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from datasets import ranking
from datasets.dataset import Dataset
from datasets.errors import DataUnavailable
from datasets.registry import DatasetSpec, Request
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.nested import inner_archive, member_text
from datasets.sources.storage import announce, decoded, file_sha256
from datasets.sources.svmrank import save_rows
from datasets.synthetic.ranking import Ranking, dataset_parts
from datasets.synthetic.streams import PARTS, structure

N_FEATURES, N_PRESENT = 700, 519
GROUPS = ((1, 123), (5, 31), (20, 191), (50, 125), (100, 16), (150, 32), (200, 1))
"""Prices, and how many features have each."""
SHARES = (0.26, 0.36, 0.284, 0.076, 0.02)
"""Of the grades, for the synthetic sets."""
SYNTHETIC_ORIGIN = "the cost groups of the paper, given to the synthetic set's features"


def synthetic_costs(groups: tuple[tuple[int, int], ...]) -> np.ndarray:
    """Give prices to features in an order that is drawn."""
    costs = np.concatenate([np.full(count, float(price)) for price, count in groups])
    return structure("yahoo_ltr costs").permutation(costs)


SYNTHETIC = Ranking("yahoo_ltr", synthetic_costs(GROUPS), (5, 40), SHARES)
ROWS = {"train": 473_134, "valid": 71_083, "test": 165_660}
SIZES = {
    "smoke": (2_000, 1_000, 1_000),
    "laptop": (20_000, 5_000, 10_000),
    "paper": tuple(ROWS.values()),
}
ABSENT = 10_000.0
CHUNK_LINES = 10_000
GRADES = (0, 1, 2, 3, 4)
TERMS = "Yahoo! Webscope C14B: research use, no redistribution"
ADVICE = (
    "run 'python -m experiments data fetch yahoo_ltr' (from huggingface.co/datasets/YahooResearch/"
    "Yahoo-Learning-to-Rank-Challenge, where its terms are accepted), or request 'C14B - Yahoo! "
    "Learning to Rank Challenge' from the Webscope programme (webscope.sandbox.yahoo.com, "
    "Competition Data; for research); put dataset.tgz, or ltrc_yahoo.tar.bz2, or set1.train.txt, "
    "set1.valid.txt and set1.test.txt into the folder yahoo_ltr/ of COST_AWARE_BOOSTING_MIRROR "
    "or of the cache folder."
)
ARCHIVE = Form(
    "ltrc_yahoo.tar.bz2",
    "archive",
    "2d96b587828f5a4d43c508ba7ec3412a760b9be798f69313b38516544a33a6de",
)
OUTER_ARCHIVE = Form(
    "dataset.tgz",
    "outer archive",
    size=421_000_000,  # about; Webscope's list says 421 MB
    urls=(
        "https://huggingface.co/datasets/YahooResearch/Yahoo-Learning-to-Rank-Challenge/"
        "resolve/main/dataset.tgz",
    ),
)
FILES = {
    part: RawFile(
        folder="yahoo_ltr",
        title=f"Yahoo! LTR set 1, {part}",
        terms=TERMS,
        advice=ADVICE,
        forms=(Form(f"set1.{part}.txt", "svmlight"), ARCHIVE, OUTER_ARCHIVE),
    )
    for part in ROWS
}
COSTS = ranking.cost_file(
    "Yahoo! LTR",
    "yahoo_ltr_set1_feature_cost.txt",
    "dc6cc6cf0d065c576d12fd9a079ccca691a4fc69c3a86f8c203742bca423d2bc",
    2_538,
    "a28cf484a44868a2fd5e76af4f76ca1b611ad06d/exp/yahoo/feature_cost.txt",
)
UNIT = "weak-learner evaluations"


def real(request: Request) -> Dataset:
    """Load the user's copy."""
    halves = {part: part_tables(part) for part in ROWS}
    occurs = np.any([tables["occurs"] for tables, _, _ in halves.values()], axis=0)
    check_rows({part: tables["y"].size for part, (tables, _, _) in halves.items()})
    if occurs.sum() != N_PRESENT:
        raise _another_set(f"{occurs.sum()} features that occur instead of {N_PRESENT}")
    columns = np.flatnonzero(occurs)
    table, origin, cost_files = ranking.published_costs(COSTS)
    parts = {}
    for part, size in zip(PARTS, SIZES[request.scale], strict=True):
        tables = halves[part][0]
        rows = _sample(part, tables["query"], size, request)
        X = tables["X"][rows][:, columns].astype(np.float64, order="C")
        parts[part] = (X, tables["y"][rows], tables["query"][rows])
    arrays, queries = ranking.part_arrays(parts)
    files = [{**file.record(), "sha256": facts["sha256"]} for _, facts, file in halves.values()]
    provenance = {
        "source": halves["train"][2].source,
        "files": files + cost_files,
        "queries": queries,
    }
    names = tuple(f"feature_{column + 1}" for column in columns)
    costs = priced(table, columns)
    return ranking.dataset("yahoo_ltr", arrays, costs, origin, names, provenance, UNIT)


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    return synthetic_dataset(SYNTHETIC, SIZES[request.scale], request.seed)


def synthetic_dataset(shape: Ranking, sizes: tuple[int, int, int], seed: int) -> Dataset:
    """Draw a synthetic set, the same for this set and its parts."""
    names = tuple(f"synthetic_{i:03d}" for i in range(shape.costs.size))
    arrays, provenance = dataset_parts(shape, sizes, seed)
    provenance["sparsity"] = float(np.mean(arrays["X_train"] == 0.0))
    given = (shape.costs, SYNTHETIC_ORIGIN, names, provenance, UNIT)
    return ranking.dataset(shape.name, arrays, *given)


def priced(table: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Give the prices of the features that occur."""
    if (table[columns] == ABSENT).any() or (np.delete(table, columns) != ABSENT).any():
        raise DataUnavailable(
            "yahoo_ltr: the features that occur are not those that have a published cost; "
            f"is this set 1? Next: {ADVICE}"
        )
    return table[columns]


def check_rows(rows: dict[str, int]) -> None:
    """Raise :class:`DataUnavailable` unless official files have their numbers of rows."""
    if any(n_rows != ROWS[part] for part, n_rows in rows.items()):
        raise _another_set(f"{rows} rows instead of {ROWS}")


def _another_set(what: str) -> DataUnavailable:
    return DataUnavailable(f"yahoo_ltr: these files are not set 1 of C14B: {what}. Next: {ADVICE}")


def _sample(part: str, query: np.ndarray, size: int, request: Request) -> np.ndarray | slice:
    """Choose whole queries up to ``size`` documents, in the order of the file."""
    if request.scale == "paper":
        return slice(None)
    return ranking.sample_queries(f"yahoo_ltr {part}", request.seed, query, size)


def part_tables(part: str) -> tuple[dict[str, np.ndarray], dict, Found]:
    """Give a part of the user's copy, parsed once."""
    file = find(FILES[part])
    if file.form is OUTER_ARCHIVE:
        file = inner_archive(file, ARCHIVE, "yahoo_ltr")
    state = file.path.stat()
    # Hashing a gigabyte at every load is too much: the file's name, size and time of change
    # decide whether the decoded tables are still its own.
    stamp = f"{file.path.resolve()}|{state.st_size}|{state.st_mtime_ns}"
    key = f"{part}-v1-{hashlib.sha256(stamp.encode()).hexdigest()[:16]}"
    tables, facts = decoded("yahoo_ltr", key, lambda out: _decode(file, part, out))
    return tables, facts, file


def _decode(file: Found, part: str, out: Path) -> dict:
    """Parse the text in pieces of lines into float32 (the text has six digits)."""
    announce(f"parsing {file.path}; this is done once")
    if file.form.reader == "svmlight":
        _decode_text(file.path, str(file.path), out)
    else:
        member = f"set1.{part}.txt"
        with member_text(file.path, member, out) as text:
            _decode_text(text, f"{file.path}, {member}", out)
    return {"sha256": file_sha256(file.path)}


def _decode_text(path: Path, name: str, out: Path) -> None:
    how = {"grades": GRADES, "dtype": np.float32, "chunk_lines": CHUNK_LINES}
    np.save(out / "occurs.npy", save_rows(path, name, N_FEATURES, out, **how))


SPEC = DatasetSpec(
    name="yahoo_ltr",
    task="ranking",
    title="Yahoo! Learning to Rank Challenge, set 1",
    citation="Chapelle and Chang, JMLR W&CP 14 (2011)",
    terms=TERMS,
    shape="709,877 documents, 29,921 queries, 519 features, labels 0-4",
    split_rule="official; at laptop scale whole queries drawn by seed, at most 20,000 / 5,000 / "
    "10,000 documents",
    cost_rule="published, 1 to 200 per feature",
    real=real,
    synthetic=synthetic,
    files=(*FILES.values(), COSTS),
)
