"""ClueWeb09: 26,646 judged documents of the TREC Web Tracks 2009 to 2012, 42 features, grades 0..4.

Citation: M. Fröbe, J. Bevendorff, J. H. Reimer, M. Potthast and M. Hagen, Sampling Bias Due to
Near-Duplicates in Learning to Rank, SIGIR 2020. The authors publish the features with their code
(webis-de/sigir20-sampling-bias-due-to-near-duplicates-in-learning-to-rank), CC BY-SA 4.0. 61
queries of 230 to 728 documents, about 437 each; every feature is scaled to [0, 1] within its query.
Text scores of four streams (body, title, anchor, main content), URL, PageRank, SpamRank and links;
order and names of the features are those of the authors' program (``ClueWeb09FeatureVectors``).

Split: the five published test parts are disjoint and are the five subsets of LETOR's rotation: that
of fold 1 is S5, that of fold 2 S1, and so on. Fold 1 trains on S1, S2 and S3, validates on S4 and
tests on S5; the seed picks the fold: seeds 0 to 4 are folds 1 to 5. From 5 on each five seeds are
the folds of a random division of all queries, drawn from seed // 5.

Costs: nobody has published any. :data:`PRICES` takes over the published prices of MSLR-WEB10K for
features of the same kind and stream, with the reason beside each. Frozen before any result was
looked at.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from datasets import ranking
from datasets.dataset import Dataset
from datasets.registry import DatasetSpec, Request
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import decoded
from datasets.sources.svmrank import read_rows
from datasets.synthetic.ranking import Ranking, dataset_parts

N_DOCUMENTS, N_QUERIES, N_FEATURES = 26_646, 61, 42
GRADES = (0, 1, 2, 3, 4)
TERMS = "CC BY-SA 4.0 (webis-de, features of judged ClueWeb09 documents)"

# --- features and what they cost -----------------------------------------------------------------

STREAMS = ("body", "title", "anchor", "main_content")
DOCUMENT_PRICES = {
    # Stored with the document, as their like in MSLR, which all cost 1.
    "pagerank": 1,
    "spamrank": 1,  # MSLR's two quality scores
    "url_slashes": 1,
    "url_length": 1,
    "inlinks": 1,
    "outlinks": 1,
}
PRICES = {
    # kind: price by stream. Main content is the page without menus and notices: the whole page is
    # read to find it, so it costs what MSLR's whole document does, which is what the body costs.
    "tf": (20, 10, 20, 20),  # MSLR's "sum of term frequency"
    "tfidf": (50, 10, 20, 50),  # MSLR's "sum of tf*idf"
    "bm25": (100, 10, 50, 100),  # MSLR's "BM25"
    # Retrieval models that need the same statistics as BM25 or the language models: as those.
    "f2exp": (100, 10, 50, 100),  # axiomatic, exponential length normalisation
    "f2log": (100, 10, 50, 100),  # axiomatic, logarithmic length normalisation
    "ql": (100, 10, 50, 100),  # query likelihood: MSLR's "LMIR.DIR"
    "qljm": (100, 10, 50, 100),  # query likelihood: MSLR's "LMIR.JM"
    "pl2": (100, 10, 50, 100),  # divergence from randomness
    "spl": (100, 10, 50, 100),  # information based
}
_KINDS = (
    *((kind, "") for kind in DOCUMENT_PRICES),
    *((kind, stream) for kind in PRICES for stream in STREAMS),
)
FEATURES = ranking.Priced(STREAMS, _KINDS, PRICES, DOCUMENT_PRICES)
COST_ORIGIN = (
    "our own table (datasets.clueweb09.PRICES): the published MSLR price of the same kind and "
    "stream"
)
SMOKE_SIZES, SIZES = (4_000, 2_000, 2_000), (15_988, 5_329, 5_329)
SHARES = (0.818, 0.123, 0.047, 0.006, 0.006)
"""Of the grades, for the synthetic set."""


# --- the files -----------------------------------------------------------------------------------

_REPOSITORY = (
    "webis-de/sigir20-sampling-bias-due-to-near-duplicates-in-learning-to-rank/"
    "a203e65d0e637ae46fbf0ac2d1321995d0cce6fb/data/features/ClueWeb09"
)
_HOSTS = ("https://raw.githubusercontent.com", "https://media.githubusercontent.com/media")
_DIGESTS = {
    1: ("ab05f742d7bf680db38f39d485788ccefc46ca5f9c450058adcf1b21cb2ed6eb", 2_874_211),
    2: ("882c9e3d0145608d906b25acccdc8cb1760faca6c13afbd86096b24bd9748680", 3_022_182),
    3: ("3598b6f1ff411e6fd5572e6bac392efc6814614fec68d881c1e4b5edaeb03c5d", 2_537_676),
    4: ("cdfa2d696b5bda4dfe27dfbba432e9dff2a481507736af594824881127cd4377", 2_710_477),
    5: ("a2db821816295163492ddeb9ef94a05bb80cb68c195a5e783167f65960ab03fb", 3_281_798),
}
_ADVICE = (
    "allow access to raw.githubusercontent.com or media.githubusercontent.com (the files may be "
    "under Git LFS), or put Fold1.test.txt to Fold5.test.txt into the folder clueweb09/ of "
    "COST_AWARE_BOOSTING_MIRROR."
)
FILES = {
    fold: RawFile(
        folder="clueweb09",
        title=f"ClueWeb09, test part of fold {fold}",
        terms=TERMS,
        advice=_ADVICE,
        forms=(
            Form(
                f"Fold{fold}.test.txt",
                "text",
                digest,
                size,
                tuple(f"{host}/{_REPOSITORY}/Fold{fold}/test.txt" for host in _HOSTS),
            ),
        ),
    )
    for fold, (digest, size) in _DIGESTS.items()
}
SUBSETS = (2, 3, 4, 5, 1)
"""Whose test part each of S1 to S5 is."""


def real(request: Request) -> Dataset:
    """Load the fold that the seed picks."""
    loaded, counts = [_part(fold) for fold in SUBSETS], (N_DOCUMENTS, N_QUERIES)
    return _dataset(*ranking.fold("clueweb09", loaded, request.seed, counts))


def synthetic(request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    shape = Ranking("clueweb09", FEATURES.costs, (230, 644), SHARES, scaled=True)
    sizes = SMOKE_SIZES if request.scale == "smoke" else SIZES
    return _dataset(*dataset_parts(shape, sizes, request.seed))


def _dataset(arrays: dict[str, np.ndarray], provenance: dict) -> Dataset:
    names = FEATURES.names
    return ranking.dataset("clueweb09", arrays, FEATURES.costs, COST_ORIGIN, names, provenance)


def _part(fold: int) -> tuple[dict[str, np.ndarray], Found]:
    file = find(FILES[fold])
    key = f"fold{fold}-v1-{file.sha256[:16]}"
    tables, _ = decoded("clueweb09", key, partial(_decode, file))
    return tables, file


def _decode(file: Found, out: Path) -> None:
    with open(file.path, "rb") as lines:
        read_rows(lines, str(file.path), N_FEATURES, grades=GRADES, complete=True).save(out)


SPEC = DatasetSpec(
    name="clueweb09",
    task="ranking",
    title="ClueWeb09, TREC Web Tracks 2009 to 2012",
    citation="Fröbe, Bevendorff, Reimer, Potthast and Hagen, SIGIR 2020",
    terms=TERMS,
    shape="26,646 documents, 61 queries, 42 features, labels 0-4",
    split_rule="five folds by LETOR's rotation: three parts train, one validates, one tests; fold "
    "seed % 5 + 1, of a random division of all queries for each five seeds from 5 on",
    cost_rule="our own table: the published MSLR prices by kind and stream",
    real=real,
    synthetic=synthetic,
    files=tuple(FILES.values()),
)
