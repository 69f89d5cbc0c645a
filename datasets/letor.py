"""LETOR 4.0: MQ2008 (15,211 documents, 784 queries) and MQ2007 (69,623 documents, 1,692 queries).

Citation: T. Qin and T.-Y. Liu, Introducing LETOR 4.0 Datasets, arXiv:1306.2597 (2013). Queries of
the TREC Million Query tracks on the .GOV2 pages; 46 features, each scaled to [0, 1] within its
query; labels 0, 1, 2. Microsoft Research's terms for research use: the archives lie behind a page,
so no address can be fetched by a program. The user puts a copy into ``mq2008/`` or ``mq2007/`` of
the mirror or of the cache folder: the archive ``MQ2008.tar.xz``, the unpacked official folder
(``MQ2008/Fold1/test.txt`` and so on), its five subsets (``S1.txt`` to ``S5.txt``), or the official
RAR file, if a program on this machine can unpack it. No checksum of MQ2008.rar is published; what
was read is compared with the digest of its decoded tables. MQ2007.rar has a known MD5, which is
compared; a folder unpacked from it is checked by its numbers of documents and queries.

Split: LETOR's five folds. Fold 1 trains on S1, S2 and S3, validates on S4 and tests on S5, each
further one moves on by one; the seed picks the fold: seeds 0 to 4 are folds 1 to 5. From 5 on each
five seeds are the folds of a random division of all queries, drawn from seed // 5.

Costs: nobody has published any. :data:`PRICES` takes over the published prices of MSLR-WEB10K for
features of the same kind and stream, kind by kind with the reason beside it. Frozen before any
result was looked at.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import tarfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from datasets import ranking
from datasets.dataset import Dataset, checksum
from datasets.errors import ChecksumMismatch, DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.rar import rar_member
from datasets.sources.storage import decoded, file_sha256
from datasets.sources.svmrank import Rows, read_rows
from datasets.synthetic.ranking import Ranking, dataset_parts

N_FEATURES = 46
SMOKE_SIZES = (2_000, 1_000, 1_000)
GRADES = (0, 1, 2)
TERMS = "Microsoft Research's terms for LETOR 4.0 (research use, no redistribution)"
MQ2007_RAR_MD5 = "7be1640ae95c6408dab0ae7207bdc706"
_PAGE = "www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval"

# --- features and what they cost -----------------------------------------------------------------

STREAMS = ("body", "anchor", "title", "url", "document")
PRICES = {
    # kind: price by stream, and why. The published MSLR prices say: what is stored with the
    # document costs 1; a feature of the query's terms costs the more, the longer the text that is
    # read for it and the more is computed per term.
    "tf": (20, 20, 10, 10, 20),  # MSLR's "sum of term frequency"
    "idf": (50, 50, 20, 20, 50),  # MSLR's "IDF"
    "tfidf": (50, 20, 10, 10, 50),  # MSLR's "sum of tf*idf"
    "stream_length": (1, 1, 1, 1, 1),  # MSLR's "stream length": stored with the document
    "bm25": (100, 50, 10, 10, 100),  # MSLR's "BM25"
    "lm_abs": (100, 50, 10, 10, 100),  # MSLR's "LMIR.ABS"
    "lm_dir": (100, 50, 10, 10, 100),  # MSLR's "LMIR.DIR"
    "lm_jm": (100, 50, 10, 10, 100),  # MSLR's "LMIR.JM"
}
DOCUMENT_PRICES = {
    # Looked up in a table of documents, as their like in MSLR, which all cost 1.
    "pagerank": 1,
    "inlinks": 1,
    "outlinks": 1,
    "url_slashes": 1,
    "url_length": 1,
    "child_pages": 1,  # has no like in MSLR; a count stored with the document
}
# Features 1 to 20 go kind by kind, 21 to 40 stream by stream: LETOR's own order.
_BY_KIND = tuple((k, s) for k in ("tf", "idf", "tfidf", "stream_length") for s in STREAMS)
_BY_STREAM = tuple((k, s) for s in STREAMS for k in ("bm25", "lm_abs", "lm_dir", "lm_jm"))
_KINDS = (*_BY_KIND, *_BY_STREAM, *((kind, "") for kind in DOCUMENT_PRICES))
FEATURES = ranking.Priced(STREAMS, _KINDS, PRICES, DOCUMENT_PRICES)
COST_ORIGIN = (
    "our own table (datasets.letor.PRICES): the published MSLR price of the same kind and stream"
)


# --- the two sets --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Collection:
    """One of the two query sets."""

    # name, official: Ours, and the official one, which is also that of the folder in its archive
    name: str
    official: str
    n_documents: int  # n_documents, n_queries: Of all five subsets
    n_queries: int
    subsets: tuple[RawFile, ...]  # S1 to S5
    # sizes, query_documents, shares, constant: Of its synthetic set
    sizes: tuple[int, int, int]
    query_documents: tuple[int, int]
    shares: tuple[float, ...]
    constant: tuple[int, ...] = ()
    # Checksums of the decoded subsets (features, labels, queries); empty if none is known
    digests: tuple[str, ...] = ()
    rar_md5: str | None = None  # MD5 of the official archive, where it is known


def _subsets(name: str, official: str, advice: str, archive: tuple[Form, ...]):
    """Declare S1 to S5; that Sk is the test part of fold k + 1 is LETOR's rotation."""
    raw = []
    for k in range(1, 6):
        members = (f"{official}/S{k}.txt", f"{official}/Fold{k % 5 + 1}/test.txt")
        places = (*members, f"S{k}.txt", f"Fold{k % 5 + 1}/test.txt")
        texts = (Form(place, "text") for place in places)
        forms = (*archive, *texts, Form(f"{official}.rar", "rar"))
        raw.append(RawFile(name, f"LETOR 4.0 {official}, subset S{k}", TERMS, advice, forms))
    return tuple(raw)


def _advice(name: str, official: str) -> str:
    return (
        f"get {official}.rar from the LETOR 4.0 page ({_PAGE}), unpack it, and put the folder "
        f"{official} (with Fold1 to Fold5) into the folder {name}/ of COST_AWARE_BOOSTING_MIRROR "
        "or of the cache folder."
    )


_ARCHIVE = Form(
    "MQ2008.tar.xz",
    "tar",
    "86b2855d1a002bcde1d3bc8c8f66ffd78ec271f7d0a7aa263591438cc57ae830",
    1_237_752,
)
COLLECTIONS = {
    "mq2008": Collection(
        "mq2008",
        "MQ2008",
        15_211,
        784,
        _subsets("mq2008", "MQ2008", _advice("mq2008", "MQ2008"), (_ARCHIVE,)),
        (9_126, 3_042, 3_043),
        (5, 34),
        (0.81, 0.13, 0.06),
        (5, 6, 7, 8, 9, 42),  # the real ones of these are 0 throughout, too
        (
            "c5f7b494e80645da3dbd5c907a79cf6714382dd52bdbf7d504d8ab28a7aa05e8",
            "da1e8f2ed28ee8f3c44328f91b299bef89896f209399aad703c88492082d856d",
            "408531271a2b4524a808beca8cb0e59ba58207ba2068051443d2a048dd3019d6",
            "1e699dfcbc462cb7f7f1c6f9c3b80bd605c80f5313dd0787864dee952b683c33",
            "482364b7c6f5108c02643bf126f2cccc47b93e959eda4afc760b1ac1a6e6edd9",
        ),
    ),
    "mq2007": Collection(
        "mq2007",
        "MQ2007",
        69_623,
        1_692,
        _subsets(
            "mq2007",
            "MQ2007",
            _advice("mq2007", "MQ2007"),
            (),
        ),
        (41_774, 13_925, 13_924),
        (6, 76),
        (0.74, 0.20, 0.06),
        rar_md5=MQ2007_RAR_MD5,
    ),
}


def real(collection: Collection, request: Request) -> Dataset:
    """Load the fold that the seed picks."""
    loaded = [_subset(collection, k) for k in range(5)]
    counts = collection.n_documents, collection.n_queries
    arrays, provenance = ranking.fold(collection.name, loaded, request.seed, counts)
    return _dataset(collection.name, arrays, provenance)


def synthetic(collection: Collection, request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    shape = Ranking(
        collection.name,
        FEATURES.costs,
        collection.query_documents,
        collection.shares,
        scaled=True,
        constant=collection.constant,
    )
    sizes = SMOKE_SIZES if request.scale == "smoke" else collection.sizes
    return _dataset(collection.name, *dataset_parts(shape, sizes, request.seed))


def _dataset(name: str, arrays: dict[str, np.ndarray], provenance: dict) -> Dataset:
    return ranking.dataset(name, arrays, FEATURES.costs, COST_ORIGIN, FEATURES.names, provenance)


def _subset(collection: Collection, k: int) -> tuple[dict[str, np.ndarray], Found]:
    """Give the tables of S(k+1), decoded once per file."""
    file = find(collection.subsets[k])
    digest = file.sha256 or file_sha256(file.path)
    key = f"S{k + 1}-v1-{digest[:16]}"
    tables, _ = decoded(collection.name, key, partial(_decode, collection, k, file))
    return tables, file


def _decode(collection: Collection, k: int, file: Found, out: Path) -> None:
    rows = _rows(collection, k, file)
    if collection.digests:
        digest = checksum({"X": rows.X, "y": rows.y, "query": rows.query})
        if digest != collection.digests[k]:
            name = f"decoded tables of {file.path}"
            raise ChecksumMismatch(name, collection.digests[k], digest)
    rows.save(out)


def _rows(collection: Collection, k: int, file: Found) -> Rows:
    how = {"grades": GRADES, "complete": True}
    if file.form.reader == "text":
        with open(file.path, "rb") as lines:
            return read_rows(lines, str(file.path), N_FEATURES, **how)
    if file.form.reader == "rar":
        _check_md5(file.path, collection.rar_md5)
        member = f"{collection.official}/Fold{(k + 1) % 5 + 1}/test.txt"
        lines = io.BytesIO(rar_member(file.path, member))
        return read_rows(lines, f"{file.path}, {member}", N_FEATURES, **how)
    member = f"{collection.official}/S{k + 1}.txt"
    try:
        with tarfile.open(file.path) as archive:
            lines = archive.extractfile(member)
            return read_rows(lines, f"{file.path}, {member}", N_FEATURES, **how)
    except (tarfile.TarError, lzma.LZMAError, EOFError, KeyError) as error:
        raise DamagedData(f"{file.path}: damaged or incomplete archive ({error})") from error


def _check_md5(path: Path, expected: str | None) -> None:
    if expected is None:
        return
    with open(path, "rb") as handle:
        digest = hashlib.file_digest(handle, "md5").hexdigest()
    if digest != expected:
        raise DamagedData(f"{path}: MD5 {digest} instead of {expected}: not the official archive")


def _spec(collection: Collection) -> DatasetSpec:
    return DatasetSpec(
        name=collection.name,
        task="ranking",
        title=f"LETOR 4.0 {collection.official}",
        citation="Qin and Liu, Introducing LETOR 4.0 Datasets, arXiv:1306.2597 (2013)",
        terms=TERMS,
        shape=f"{collection.n_documents:,} documents, {collection.n_queries:,} queries, "
        "46 features, labels 0-2",
        split_rule="LETOR's five folds: three subsets train, one validates, one tests; fold "
        "seed % 5 + 1, of a random division of all queries for each five seeds from 5 on",
        cost_rule="our own table: the published MSLR prices by kind and stream",
        real=partial(real, collection),
        synthetic=partial(synthetic, collection),
        files=collection.subsets,
    )


SPECS = {name: _spec(collection) for name, collection in COLLECTIONS.items()}
