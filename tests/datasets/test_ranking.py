"""What the ranking sets share."""

import numpy as np
import pytest

from datasets import DamagedData, Dataset, clueweb09, dataset_checksum, letor, mslr
from datasets.ranking import (
    copies,
    divide_queries,
    fold,
    fold_members,
    fold_rows,
    part_arrays,
    query_facts,
    sample_queries,
)
from datasets.sources.find import Form, Found
from tests.datasets.contract import NEEDS_MIRROR

NUMBERED = {
    # from 1, in the order in which the authors' program writes the features
    clueweb09: {
        **{1: ("pagerank", 1), 2: ("spamrank", 1), 4: ("url_length", 1), 6: ("outlinks", 1)},
        **{7: ("tf_body", 20), 10: ("tf_main_content", 20), 13: ("tfidf_anchor", 20)},
        **{15: ("bm25_body", 100), 28: ("ql_title", 10), 41: ("spl_anchor", 50)},
    },
    # from the list of features of LETOR 4.0, which starts with 1
    letor: {
        **{1: ("tf_body", 20), 9: ("idf_url", 20), 12: ("tfidf_anchor", 20)},
        **{20: ("stream_length_document", 1), 21: ("bm25_body", 100)},
        **{22: ("lm_abs_body", 100), 25: ("bm25_anchor", 50), 36: ("lm_jm_url", 10)},
        **{37: ("bm25_document", 100), 41: ("pagerank", 1), 46: ("child_pages", 1)},
    },
}


@pytest.mark.parametrize("module", NUMBERED)
def test_names_and_prices_follow_the_sets_order(module):
    names, costs = module.FEATURES.names, module.FEATURES.costs
    assert len(names) == len(set(names)) == module.N_FEATURES
    for number, expected in NUMBERED[module].items():
        assert (names[number - 1], costs[number - 1]) == expected


LIKE = {"tf": "tf_sum", "tfidf": "tfidf_sum", "spamrank": "quality", "ql": "lm_dir"}


@NEEDS_MIRROR
@pytest.mark.parametrize("module", NUMBERED)
def test_prices_are_mslrs_for_like_features(cache, module):
    costs, origin, _ = mslr.feature_costs()
    assert origin.startswith("published")
    published = dict(zip(mslr.FEATURE_NAMES, costs, strict=True))
    for (kind, stream), cost in zip(module.FEATURES.features, module.FEATURES.costs, strict=True):
        name = LIKE.get(kind, kind)
        if module is clueweb09 and stream and kind not in LIKE:
            name = "bm25"
        stream = "document" if stream == "main_content" else stream
        if kind != "child_pages":  # has no like
            assert published[f"{name}_{stream}" if stream else name] == cost


def test_folds_are_letors():
    folds = [fold_members(seed) for seed in range(5)]
    assert folds[0] == (1, {"train": (0, 1, 2), "valid": (3,), "test": (4,)})
    assert folds[1] == (2, {"train": (1, 2, 3), "valid": (4,), "test": (0,)})
    assert [number for number, _ in folds] == [1, 2, 3, 4, 5]
    assert sorted(parts["test"][0] for _, parts in folds) == [0, 1, 2, 3, 4]
    assert fold_members(7) == fold_members(2)  # of another division of the queries


def test_folds_from_five_on_divide_all_queries_anew():
    queries = [np.repeat(np.arange(start, start + 11), 3) for start in range(0, 110, 22)]
    query = np.concatenate(queries)

    def tested(seeds):
        found = []
        for seed in seeds:
            record, rows = fold_rows("tiny", queries, seed)
            assert record == {"fold": seed % 5 + 1, "division": seed // 5}
            parts = [np.unique(query[rows[part]]) for part in ("train", "valid", "test")]
            # No query on two sides, none left out, and rows of one query follow each other.
            assert sorted(np.concatenate(parts)) == sorted(np.unique(query))
            assert sorted(np.concatenate(list(rows.values()))) == list(range(query.size))
            for part in rows.values():
                changes = (query[part][1:] != query[part][:-1]).sum()
                assert changes + 1 == np.unique(query[part]).size
            found.append(set(parts[2].tolist()))
        assert sorted(q for part in found for q in part) == sorted(np.unique(query))
        return found

    published, second, third = (tested(range(start, start + 5)) for start in (0, 5, 10))
    assert published[0] == set(queries[4].tolist())
    assert published[1] == set(queries[0].tolist())
    for one, other in ((published, second), (published, third), (second, third)):
        assert not any(part in other for part in one)
    np.testing.assert_array_equal(
        divide_queries("tiny", 1, query), divide_queries("tiny", 1, query)
    )
    assert (divide_queries("tiny", 1, query) != divide_queries("other", 1, query)).any()
    sizes = np.bincount(divide_queries("tiny", 3, np.arange(13)))
    assert sorted(sizes) == [2, 2, 3, 3, 3]


def subset(*queries: int):
    query = np.repeat(queries, 2)
    return np.arange(query.size * 3.0).reshape(-1, 3), np.zeros(query.size), query


def test_a_fold_keeps_rows_and_refuses_a_torn_query(tmp_path):
    (tmp_path / "a.txt").touch()
    file = Found(Form("a.txt", "text"), tmp_path / "a.txt", "cache", None)

    def loaded():
        return [(dict(zip(("X", "y", "query"), one, strict=True)), file) for one in subsets]

    subsets = [subset(1, 2), subset(3), subset(4), subset(5), subset(6)]
    arrays, record = fold("tiny", loaded(), 4, (12, 6))
    assert (record["fold"], record["division"], len(record["files"])) == (5, 0, 1)
    np.testing.assert_array_equal(arrays["query_train"], [6, 6, 1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(arrays["X_test"], subsets[3][0])
    with pytest.raises(DamagedData, match="12 documents and 6 queries instead of tiny's 12 and 7"):
        fold("tiny", loaded(), 4, (12, 7))
    subsets[3] = subset(5, 2)
    with pytest.raises(DamagedData, match="tiny: query 2 is in two"):
        fold("tiny", loaded(), 0, (14, 7))


def test_facts_about_queries():
    query = np.repeat([9, 3, 5], [4, 5, 6])
    y = np.r_[np.zeros(4), [0, 0, 1, 0, 0], np.zeros(6)]
    facts = {"queries": 3, "fewer_than_5_documents": 1, "none_relevant": 2}
    assert query_facts(y, query) == facts
    X = np.zeros((15, 2), dtype=np.float32, order="F")
    arrays, found = part_arrays({"train": (X, y, query)})
    assert found == {"train": facts}
    assert arrays["X_train"].dtype == np.float64
    assert arrays["X_train"].flags.c_contiguous


def test_copies():
    y = np.array([0.0, 1, 2, 3, 4, 0])
    assert copies(y).tolist() == [10, 1, 1, 1, 1, 10]
    assert copies(y, highest=2).tolist() == [10, 10, 10, 1, 1, 10]
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="times"):
            copies(y, times=wrong)


def test_samples_are_whole_queries():
    query = np.repeat(np.arange(50), np.arange(50) % 7 + 1)
    rows = sample_queries("tiny", 0, query, 60)
    assert 50 < rows.size <= 60
    assert (np.diff(rows) > 0).all()
    assert set(query[rows]).isdisjoint(np.delete(query, rows))
    assert sample_queries("tiny", 0, query, query.size) == slice(None)


def dataset(**what) -> Dataset:
    X, y = np.zeros((2, 3)), np.zeros(2, dtype=np.int64)
    rows = dict.fromkeys(("X_train", "X_valid", "X_test"), X)
    rows |= dict.fromkeys(("y_train", "y_valid", "y_test"), y)
    return Dataset("t", "binary", **rows, feature_costs=np.ones(3), cost_unit="u", cost_origin="o",
                   feature_names=("a", "b", "c"), **what)  # fmt: skip


def test_prices_of_groups_are_part_of_the_checksum():
    groups = np.array([0, 1, 1])
    priced = dataset(feature_groups=groups, group_costs={0: 0.0, 1: 2.1})
    changed = dataset(feature_groups=groups, group_costs={0: 0.0, 1: 2.2})
    assert dataset_checksum(priced) != dataset_checksum(changed)
    assert dataset_checksum(priced) != dataset_checksum(dataset(feature_groups=groups))


@pytest.mark.parametrize(
    ("groups", "costs", "message"),
    [
        ([0, 1, 1], {1: 2.1}, "exactly the groups"),
        ([0, 1, 1], {0: 0.0, 1: 2.1, 2: 1.0}, "exactly the groups"),
        (None, {0: 1.0}, "without feature_groups"),
        ([0, 1, 1], {0: -1.0, 1: 2.1}, "finite"),
        ([0, 1, 1], {0: float("nan"), 1: 2.1}, "finite"),
        ([0, 1, 1], {0: float("inf"), 1: 2.1}, "finite"),
    ],
)
def test_wrong_prices_of_groups_are_refused(groups, costs, message):
    groups = None if groups is None else np.array(groups)
    with pytest.raises(ValueError, match=message):
        dataset(feature_groups=groups, group_costs=costs)
