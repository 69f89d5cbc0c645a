"""MSLR-WEB10K and WEB30K from a copy of the user's own."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import datasets
from datasets import mslr, mslr_web
from tests.datasets.contract import PARTS, check_contract
from tests.datasets.picture_archives import zipped


def texts() -> list[bytes]:
    """The test parts of folds 1 to 5: 12 documents of 4 queries each."""
    found = []
    for fold in range(5):
        rng = np.random.default_rng(fold)
        lines = [
            f"{rng.integers(5)} qid:{100 * fold + i // 3 + 1} "
            + " ".join(f"{c + 1}:{v:g}" for c, v in enumerate(rng.normal(size=136) * 1e6))
            for i in range(12)
        ]
        found.append(("\n".join(lines) + " \n").encode())
    return found


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Puts the five parts into a mirror, by themselves or in the archive."""
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(mslr_web, "CHUNK_LINES", 5)
    monkeypatch.setattr(mslr, "feature_costs", lambda: (mslr.own_costs(), "ours", []))
    folder = tmp_path / "mirror" / "mslr_web10k"

    def put(contents: list[bytes], in_archive: bool, on_record: list[bytes] | None = None) -> None:
        folder.mkdir(parents=True)
        names = [f"Fold{fold}/test.txt" for fold in range(1, 6)]
        if in_archive:
            archive = zipped(dict(zip(names, contents, strict=True)))
            (folder / "MSLR-WEB10K.zip").write_bytes(archive)
            digest = hashlib.sha256(archive).hexdigest()
        else:
            digest = "0" * 64
            for name, content in zip(names, contents, strict=True):
                (folder / name).parent.mkdir()
                (folder / name).write_bytes(content)
        digests = tuple(hashlib.sha256(text).hexdigest() for text in on_record or contents)
        collection = replace(
            mslr_web.COLLECTIONS["mslr_web10k"], archive_sha256=digest, test_sha256=digests
        )
        monkeypatch.setitem(mslr_web.SPECS, "mslr_web10k", mslr_web._spec(collection))

    return put


@pytest.mark.parametrize("in_archive", [False, True])
def test_folds_of_a_copy(tiny, monkeypatch, in_archive):
    tiny(texts(), in_archive)
    data = datasets.load("mslr_web10k", scale="paper", data="real", seed=1)
    check_contract(data)
    assert data.provenance["fold"] == 2
    # The test part of fold 2 is what it tests on; fold 1's validates, the others train.
    assert (np.unique(data.query_test // 100)).tolist() == [1]
    assert (np.unique(data.query_valid // 100)).tolist() == [0]
    assert (data.query_train[::12] // 100).tolist() == [2, 3, 4]
    assert [getattr(data, f"y_{part}").size for part in PARTS] == [36, 12, 12]
    values = texts()[1].split(b"\n")[0].split()
    expected = [float(word.split(b":")[1]) for word in values[2:]]
    np.testing.assert_array_equal(data.X_test[0], expected)
    monkeypatch.setattr(mslr_web, "LAPTOP_SIZES", (20, 7, 3))
    laptop = datasets.load("mslr_web10k", data="real", seed=1)
    assert [getattr(laptop, f"y_{part}").size for part in PARTS] == [18, 6, 3]
    rows = np.flatnonzero(np.isin(data.query_train, laptop.query_train))
    np.testing.assert_array_equal(laptop.X_train, data.X_train[rows])
    anew = datasets.load("mslr_web10k", scale="paper", data="real", seed=6)
    check_contract(anew)
    assert (anew.provenance["fold"], anew.provenance["division"]) == (2, 1)
    assert set(anew.query_test) != set(data.query_test)
    for query in np.unique(data.query_test):  # the same documents, wherever the query is now
        part = next(part for part in PARTS if query in getattr(anew, f"query_{part}"))
        there = getattr(anew, f"X_{part}")[getattr(anew, f"query_{part}") == query]
        np.testing.assert_array_equal(there, data.X_test[data.query_test == query])


def test_a_changed_text_in_an_archive_is_refused(tiny):
    changed = texts()
    changed[3] = changed[3].replace(b"qid:301", b"qid:399")
    tiny(changed, True, texts())
    with pytest.raises(
        datasets.ChecksumMismatch, match=r"Fold4/test\.txt in .*WEB10K\.zip(?s:.*)replace"
    ):
        datasets.load("mslr_web10k")


def test_a_line_cut_off_is_named(tiny):
    cut = texts()
    cut[2] = cut[2][: cut[2].rindex(b" 100:")]
    tiny(cut, False)
    with pytest.raises(datasets.DamagedData, match=r"Fold3/test\.txt, line 12: lists 99 of"):
        datasets.load("mslr_web10k")
