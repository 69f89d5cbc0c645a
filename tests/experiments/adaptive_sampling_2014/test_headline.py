"""Tables 1, 2 and 4 with the families `mash`: cells, weights of classes, sizes, what is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from experiments.adaptive_sampling_2014.cells import headline, measure
from experiments.adaptive_sampling_2014.cells.methods import KEYS, METHODS
from experiments.adaptive_sampling_2014.show import tables
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from tests.experiments.adaptive_sampling_2014.made_up_tables import cell as small_cell
from tests.experiments.adaptive_sampling_2014.made_up_tables import (
    features,
    line_of,
    made_up,
    meta_of,
)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((16_832, 45_000), 4_096),  # 4,096 · 12 · 9 is within 450,000; 8,192 · 13 · 5 is not
        ((217_912, 2_414), 512),
        ((31_656, 10_000), 1_024),
        ((31_656, 50_000), 4_096),
        ((100, 50_000), 64),  # no more than there are
        ((3, 10), 2),
    ],
)
def test_laminating_begins_with_as_many_features_as_leave_five_examples(sizes, expected):
    n_features, n_samples = sizes
    Q = measure.laminating_size(n_features, n_samples, 10, headline.LEAST_EXAMPLES)
    assert Q == expected

    def n_examples(size):
        return 10 * n_samples / (size * np.log2(size))

    assert Q <= n_features
    assert n_examples(Q) >= 5 or Q == 2
    assert 2 * Q > n_features or n_examples(2 * Q) < 5


def test_weights_give_classes_the_wanted_shares():
    y = np.array([0, 1, 1, 1, 0, 1, 1, 1])
    weights = measure.class_weights(y, [30, 10])
    assert weights[y == 1].sum() / weights.sum() == pytest.approx(0.25)
    assert weights.mean() == pytest.approx(1)
    assert measure.class_weights(y, None) is None
    paper = SETS["inria_person"]
    counts = headline.CLASS_COUNTS["inria_person"]
    assert (sum(counts["train"]), sum(counts["test"])) == (paper.train, paper.test)


def cell(method, **params):
    return small_cell(method, **{"n_estimators": 6, "rounds": [1, 6], "tables": [1]} | params)


def test_a_line_is_trained_with_its_sampler_its_parameters_and_weights():
    data = features()
    counts = {"train": [1, 2, 3], "test": [5, 1, 1]}
    given = {"ties": "spread", "n_features": 4}
    rows = measure.learning_curve(
        cell("a line", sampler="laminating", given=given, class_counts=counts), data
    )
    model = AdaBoostMH(
        n_estimators=6,
        sampler=Laminating(n_features=4, ties="spread"),
        max_cost=2,
        families=data.families,
        random_state=3,
        n_threads=1,
    )
    weights = measure.class_weights(data.y_train, counts["train"])
    model.fit(data.train.T, data.y_train, sample_weight=weights)
    assert rows[1]["log10_loss"] == pytest.approx(model.log_train_loss_[-1] / np.log(10), rel=1e-5)
    # The error by hand: the error of each class times its share.
    wrong = model.predict(data.test.T) != data.y_test
    shares = np.array(counts["test"]) / 7
    expected = sum(share * wrong[data.y_test == k].mean() for k, share in enumerate(shares))
    assert rows[1]["test_error"] == pytest.approx(100 * expected, rel=1e-5)
    assert rows[1]["test_error"] != pytest.approx(100 * wrong.mean(), rel=1e-3)


def test_the_rule_decides_laminatings_size():
    """120 examples, 12 features, two passes: 240 / 5 = 48 allows 8 · 3, and no more than 12."""
    by_rule = {"given": {"ties": "spread", "least_examples": 5}}
    of_eight = {"given": {"ties": "spread", "n_features": 8}, "sampler": "laminating"}
    ours = measure.learning_curve(cell("laminating", **by_rule), features())
    assert ours == measure.learning_curve(cell("any", **of_eight), features())


def test_bandits_get_their_parameters():
    assert all(one.shuffle for one in measure.sampler_of("ucb", 3, {"shuffle": True}))
    assert not any(one.shuffle for one in measure.sampler_of("ucb", 3))


# --- what is run ----------------------------------------------------------------------------------


@pytest.mark.parametrize("images", headline.FAMILIES)
def test_every_table_has_its_headline_and_what_stands_beside(images):
    cells = headline.make_cells(images, "laptop", range(5))
    assert {c.seed for c in cells} == {5, 6, 7, 8, 9}
    name = headline.FAMILIES[images]
    lines = {(c.dataset, c.algorithm): 0 for c in cells}
    for c in cells:
        lines[c.dataset, c.algorithm] += 1
    assert lines.pop((name, headline.EXHAUSTIVE)) == 1
    assert set(lines.values()) == {5}
    expected = {(name, line) for line in (*KEYS, *headline.FIXED_SIZES)}
    once = [m.key for m in METHODS if not m.tuned]
    on_inria = images == "inria_person"
    expected |= {(images, key) for key in once}
    expected |= {(name, headline.UNWEIGHTED + key) for key in once if on_inria}
    assert set(lines) == expected
    for c in cells:
        weighted = on_inria and not c.algorithm.startswith(headline.UNWEIGHTED)
        assert ("class_counts" in c.params) == weighted
    rules = {c.algorithm: c.params["given"] for c in cells if "given" in c.params}
    assert rules["mas_q1"] == {"ties": "spread"}
    assert rules["laminating_32"] == {"ties": "spread", "n_features": 32}
    assert "mas_1q" not in rules


def test_overnight_trains_the_methods_longer_and_nothing_else():
    laptop, overnight = (
        {(c.dataset, c.algorithm, c.seed): c.params for c in headline.make_cells(name, scale, five)}
        for name, five in [("inria_person", range(5))]
        for scale in ("laptop", "overnight")
    )
    assert set(laptop) == set(overnight)
    for key, params in overnight.items():
        if key[0] == "inria_person_mash" and key[1] in KEYS:
            assert params["rounds"][-1] == params["n_estimators"] == 10_000
            assert params["tables"] == [10, 100, 1_000, 10_000]
            shorter = {"n_estimators": 1_000, "tables": [10, 100, 1_000]}
            shorter["rounds"] = [t for t in params["rounds"] if t <= 1_000]
            assert params | shorter == laptop[key]
        else:
            assert params == laptop[key]
    paper = headline.make_cells("inria_person", "paper", range(1))
    assert {c.params["n_estimators"] for c in paper} == {1_000, 10_000}


# --- what is shown --------------------------------------------------------------------------------


def shown(images="inria_person"):
    """A table whose headline has another order than its variants."""
    name = headline.FAMILIES[images]
    rows = [made_up({"others": -1.0, "laminating": -2.0}, name)]
    more = made_up({"others": -0.25}, name)[lambda r: r["algorithm"] == "ucb"]
    once = more[(more["seed"] == 0) & (more["budget"] == "paper") & (more["rounds"] < 1_000)]
    rows.append(once.assign(algorithm=headline.EXHAUSTIVE, log10_loss=-3.5))
    rows.append(more.assign(algorithm="laminating_32"))
    other = made_up({"others": -0.5, "tasting_1q": -0.75}, name)
    rows.append(other.assign(algorithm=headline.UNWEIGHTED + other["algorithm"]))
    rows.append(made_up({"others": -0.125}, images))
    meta = meta_of(name)
    meta["data"][images] = meta_of(images)["data"][images]
    return pd.concat(rows, ignore_index=True), meta


def test_the_table_is_about_the_headline_and_the_variants_stand_below():
    rows, meta = shown()
    text = tables.render(rows, meta, dataset="inria_person")
    assert "± standard deviation over 5 repetitions" in text
    assert "are tuned for the last round, Laminating, M.A.S. and Tasting are not" in text
    assert "weighted so that the classes have the shares" in text
    assert line_of(text, "Laminating |").split("|")[2].strip().startswith("**−2.00")
    cells = [part.strip() for part in line_of(text, "exhaustive search").split("|")[2:-1]]
    assert cells[0] == "−3.500"  # neither bold, being no competitor, nor with a number in print
    assert cells[4:] == ["–", "–"]
    assert line_of(text, "Laminating, Q = 32").split("|")[2].strip().startswith("−0.25")
    below = text.partition("## Examples not weighted")[2]
    assert line_of(below, "Tasting 1.Q").split("|")[2].strip().startswith("**−0.75")
    first = below.partition("## The first families")[2]
    assert line_of(first, "UCB*").split("|")[2].strip().startswith("−0.12")
    assert text.count("| T = 1,000: loss | 13 |") == 3


def test_what_was_trained_for_fewer_rounds_has_no_column_of_the_last():
    rows, meta = shown()
    longer = made_up({"others": -3.0}, "inria_person_mash", rounds=(10_000,))
    text = tables.render(pd.concat([rows, longer]), meta, dataset="inria_person")
    above, _, below = text.partition("## Examples not weighted")
    assert "| T = 10,000: loss | 13 |" in above
    assert line_of(above, "Laminating, Q = 32").split("|")[8:10] == [" – ", " – "]
    assert "T = 10,000" not in below
    assert "nan" not in text
