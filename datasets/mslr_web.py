"""MSLR-WEB10K and MSLR-WEB30K: 1.2 and 3.8 million documents, 136 features, labels 0..4.

Citation: T. Qin and T.-Y. Liu, Introducing LETOR 4.0 Datasets, arXiv:1306.2597 (2013); Microsoft
Research's terms for research use. The archives lie behind a page where these are accepted, so no
address is fetched by a program: the user puts ``MSLR-WEB10K.zip`` into ``mslr_web10k/`` (or
``MSLR-WEB30K.zip`` into ``mslr_web30k/``) of the mirror or of the cache folder, or the unpacked
``Fold1/test.txt`` to ``Fold5/test.txt``, which together are the whole set. The SHA-256 of archives
and texts are those on which public programs agree.

Split: five folds by LETOR's rotation; the test part of fold 1 is S5, that of fold 2 S1, and so on.
The seed picks the fold: seeds 0 to 4 are folds 1 to 5; from 5 on each five seeds are the folds of a
random division of all queries, drawn from seed // 5. At laptop scale the seed also draws whole
queries, at most 20,000 / 5,000 / 10,000 documents.

Costs: as :mod:`datasets.mslr`, the published ones.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from datasets import mslr, ranking
from datasets.dataset import Dataset
from datasets.errors import ChecksumMismatch, DamagedData
from datasets.registry import DatasetSpec, Request
from datasets.sources.find import Form, Found, RawFile, find
from datasets.sources.storage import announce, decoded
from datasets.sources.svmrank import save_rows
from datasets.synthetic.ranking import Ranking, dataset_parts
from datasets.synthetic.streams import PARTS

GRADES = (0, 1, 2, 3, 4)
SMOKE_SIZES = (2_000, 1_000, 1_000)
SHARES = (0.515, 0.325, 0.134, 0.018, 0.008)
"""Of the grades, for the synthetic sets."""
LAPTOP_SIZES = (20_000, 5_000, 10_000)
CHUNK_LINES = 10_000
_PAGE = "www.microsoft.com/en-us/research/project/mslr"


@dataclass(frozen=True)
class Collection:
    """One of the two sets."""

    name: str  # name, official: Ours, and the official one
    official: str
    n_documents: str  # n_documents, n_queries: As published, for descriptions
    n_queries: str
    archive_sha256: str  # Of the official zip file
    test_sha256: tuple[str, ...]  # Of ``Fold1/test.txt`` to ``Fold5/test.txt``
    paper_sizes: tuple[int, int, int]  # Of the synthetic set at paper scale

    @property
    def archive(self) -> Form:
        """The official zip file."""
        return Form(f"{self.official}.zip", "zip", self.archive_sha256)

    @property
    def subsets(self) -> tuple[RawFile, ...]:
        """S1 to S5, each the test part of the next fold."""
        advice = (
            f"get {self.official}.zip from {_PAGE} (accept the terms there) and put it, or its "
            f"unpacked folders Fold1 to Fold5, into the folder {self.name}/ of "
            "COST_AWARE_BOOSTING_MIRROR or of the cache folder."
        )
        return tuple(
            RawFile(
                self.name,
                f"{self.official}, subset S{k + 1}",
                mslr.TERMS,
                advice,
                (Form(self.member(k), "text", self.test_sha256[(k + 1) % 5]), self.archive),
            )
            for k in range(ranking.N_FOLDS)
        )

    def member(self, k: int) -> str:
        """Name of the file that is S(k+1)."""
        return f"Fold{(k + 1) % 5 + 1}/test.txt"


COLLECTIONS = {
    "mslr_web10k": Collection(
        "mslr_web10k",
        "MSLR-WEB10K",
        "1,200,192",
        "10,000",
        "2902142ea33f18c59414f654212de5063033b707d5c3939556124b1120d3a0ba",
        (
            "33fe002374a4fce58c4e12863e4eee74745d5672a26f3e4ddacc20ccfe7d6ba0",
            "44add582ccd674cf63af24d3bf6e1074e87a678db77f00b44c37980a3010917a",
            "c0a5a3c6bd7790d0b4ff3d5e961d0c8c5f8ff149089ce492540fa63035801b7a",
            "dc6083c24a5f0c03df3c91ad3eed7542694115b998acf046e51432cb7a22b848",
            "e86fb3fe7e8a5f16479da7ce04f783ae85735f17f66016786c3ffc797dd9d4db",
        ),
        (720_115, 240_038, 240_039),
    ),
    "mslr_web30k": Collection(
        "mslr_web30k",
        "MSLR-WEB30K",
        "3,771,125",
        "31,531",
        "08cb7977e1d5cbdeb57a9a2537a0923dbca6d46a76db9a6afc69e043c85341ae",
        (
            "9a4668fd2615e6772d2e5c4d558d084b2daaf2405571eaf3e4d0526f4da096c7",
            "d192c023baebdae148d902d716aeebf3df2f2f1ce5aee12be4f0b8bb76a8c04a",
            "ba2487a27c21dceea0b9afaadbb6b392d5f652eb0fb8649cbd201bb894c47c12",
            "a7ba03d708ae6b21556a8a6859d52e37cc0dcb2cbff992c630ef6173bb02122a",
            "7647834b84c849a61e5cf3c999a2f72a4785613286fd972a5615e9fcb58f94d8",
        ),
        (2_262_675, 754_225, 754_225),
    ),
}


def real(collection: Collection, request: Request) -> Dataset:
    """Load the fold that the seed picks from the user's copy."""
    loaded = [_subset(collection, k) for k in range(ranking.N_FOLDS)]
    tables = [table for table, _ in loaded]
    record, members = ranking.fold_rows(
        collection.name, [table["query"] for table in tables], request.seed
    )
    query, y = (np.concatenate([table[name] for table in tables]) for name in ("query", "y"))
    parts = {}
    for part, size in zip(PARTS, LAPTOP_SIZES, strict=True):
        rows = members[part]
        rows = rows[_rows(collection, part, query[rows], size, request)]
        parts[part] = (_chosen([table["X"] for table in tables], rows), y[rows], query[rows])
    arrays, queries = ranking.part_arrays(parts)
    costs, origin, cost_files = mslr.feature_costs()
    provenance = ranking.fold_provenance(loaded, record, queries, cost_files)
    return ranking.dataset(collection.name, arrays, costs, origin, mslr.FEATURE_NAMES, provenance)


def synthetic(collection: Collection, request: Request) -> Dataset:
    """Draw the synthetic set at the sizes of the scale."""
    shape = Ranking(collection.name, mslr.own_costs(), (20, 220), SHARES)
    by_scale = {"smoke": SMOKE_SIZES, "paper": collection.paper_sizes}
    sizes = by_scale.get(request.scale, LAPTOP_SIZES)
    arrays, provenance = dataset_parts(shape, sizes, request.seed)
    origin = "our own table by kind of feature (datasets.mslr.own_costs), for the synthetic set"
    return ranking.dataset(
        collection.name, arrays, mslr.own_costs(), origin, mslr.FEATURE_NAMES, provenance
    )


def _rows(collection: Collection, part: str, query: np.ndarray, size: int, request: Request):
    if request.scale == "paper":
        return slice(None)
    return ranking.sample_queries(f"{collection.name} {part}", request.seed, query, size)


def _chosen(tables: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Give rows of tables that lie one after another, without putting them together first."""
    chosen = np.empty((rows.size, tables[0].shape[1]))
    edges = np.cumsum([0, *(table.shape[0] for table in tables)])
    for table, start, stop in zip(tables, edges[:-1], edges[1:], strict=True):
        here = (rows >= start) & (rows < stop)
        chosen[here] = table[rows[here] - start]
    return chosen


def _subset(collection: Collection, k: int) -> tuple[dict[str, np.ndarray], Found]:
    file = find(collection.subsets[k])
    key = f"S{k + 1}-v1-{collection.test_sha256[(k + 1) % 5][:16]}"
    tables, _ = decoded(collection.name, key, partial(_decode, collection, k, file))
    return tables, file


def _decode(collection: Collection, k: int, file: Found, out: Path) -> None:
    announce(f"parsing {collection.member(k)} of {collection.official}; this is done once")
    if file.form.reader == "text":
        _decode_text(file.path, str(file.path), out)
        return
    with tempfile.TemporaryDirectory(dir=out) as room:
        text = Path(room) / "test.txt"
        _unpack(collection, k, file, text)
        _decode_text(text, f"{file.path}, {collection.member(k)}", out)


def _unpack(collection: Collection, k: int, file: Found, target: Path) -> None:
    """Write a member of the zip file to the disk and verify it."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = [n for n in archive.namelist() if n.endswith(collection.member(k))]
            if len(names) != 1:
                raise DamagedData(f"{file.path}: {len(names)} members {collection.member(k)}")
            with archive.open(names[0]) as source, open(target, "wb") as handle:
                shutil.copyfileobj(source, handle, 2**20)
    except zipfile.BadZipFile as error:
        raise DamagedData(f"{file.path}: damaged or incomplete archive ({error})") from error
    with open(target, "rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    expected = collection.test_sha256[(k + 1) % 5]
    if digest != expected:
        raise ChecksumMismatch(f"{collection.member(k)} in {file.path}", expected, digest)


def _decode_text(path: Path, name: str, out: Path) -> None:
    """Parse the text in pieces of lines into float64: some features are counts of a million."""
    how = {"grades": GRADES, "complete": True, "chunk_lines": CHUNK_LINES}
    save_rows(path, name, mslr.N_FEATURES, out, **how)


def _spec(collection: Collection) -> DatasetSpec:
    return DatasetSpec(
        name=collection.name,
        task="ranking",
        title=f"{collection.official}, five folds",
        citation="Qin and Liu, Introducing LETOR 4.0 Datasets, arXiv:1306.2597 (2013)",
        terms=mslr.TERMS,
        shape=f"{collection.n_documents} documents, {collection.n_queries} queries, 136 features, "
        "labels 0-4",
        split_rule="five folds by LETOR's rotation: three parts train, one validates, one tests; "
        "fold seed % 5 + 1, of a random division of all queries for each five seeds from 5 on; at "
        "laptop scale whole queries drawn by seed, at most 20,000 / 5,000 / 10,000 documents",
        cost_rule="published, 1 to 100 per feature",
        real=partial(real, collection),
        synthetic=partial(synthetic, collection),
        files=(*collection.subsets, mslr.COSTS),
    )


SPECS = {name: _spec(collection) for name, collection in COLLECTIONS.items()}
