"""Scans of pictures, against tables of the bytes of every window, cut out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.bourdev_cascade import BourdevCascadeClassifier
from algorithms.decision_dag.rewards import QUIT, SKIP, Cells, cell_of
from algorithms.exits.fitted_trees import fitted_trees_of
from algorithms.fcboost import FCBoostClassifier
from algorithms.gbrt import GBRTClassifier
from algorithms.mddag import MDDAGClassifier
from algorithms.on_demand import HaarFeatures, PictureScanner, Scan
from algorithms.on_demand.detectors import Policy, RunningSum, StageTable, detector_of, jumps
from algorithms.on_demand.scanning import Level, bin_of, level_shapes, shrunk
from algorithms.raykar_cascade import RaykarCascadeClassifier
from algorithms.viola_jones import ViolaJonesClassifier
from datasets import vj_faces
from datasets.features.faces import haar_columns

pytestmark = pytest.mark.slow  # kernels for each kind of detector

WINDOW, PER_KIND = (24, 24), 15
FEATURES = HaarFeatures(
    *haar_columns.outlines(haar_columns.feature_names(WINDOW, PER_KIND)), WINDOW
)


@pytest.fixture(scope="module")
def rows():
    columns = vj_faces.columns(scale="smoke", per_kind=PER_KIND)
    return np.asfortranarray(columns.columns.T), columns.y


@pytest.fixture(scope="module")
def boosted(rows):
    return AdaBoostMH(n_estimators=25).fit(*rows)


def in_stages(boosted, coef, intercept, thresholds):
    """A cascade with these weights of each stump at each stage."""
    model = RaykarCascadeClassifier(FrozenEstimator(boosted))
    model.classes_, model.n_features_in_ = boosted.classes_, boosted.n_features_in_
    model._set_up(fitted_trees_of(boosted), coef, np.array(intercept), np.array(thresholds))
    return model


def stage_weights(kind: str, sizes: tuple[int, ...]) -> np.ndarray:
    """Stumps of each stage alone, of all stages so far, or of these with other weights."""
    ends = np.cumsum(sizes)
    coef = np.zeros((len(sizes), 25))
    for k, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        first = end - size if kind == "afresh" else 0
        coef[k, first:end] = 1.0 + (0.3 * k if kind == "anew" else 0.0)
    return coef


@pytest.fixture(scope="module")
def models(boosted, rows):
    bytes_as_floats = rows[0].astype(float)
    soft = BourdevCascadeClassifier(FrozenEstimator(boosted), detection_rate=0.9, alpha=-2.0)
    found = {"AdaBoostMH": boosted, "soft cascade": soft.fit(bytes_as_floats, rows[1])}
    sizes = {
        "afresh": (3, 9, 13),
        "onward": (1, 4, 20),
        "anew": (2, 6, 17),
        "onward empty": (3, 0, 22),
    }
    for name, of_stages in sizes.items():
        coef = stage_weights(name.split()[0], of_stages)
        constants = [0.1, 0.1, 0.1] if name.startswith("onward") else [0.1, -0.2, 0.3]
        found[name] = in_stages(boosted, coef, constants, [-0.4, -0.1])
    trees = GBRTClassifier(n_estimators=12, max_leaves=2)
    found["boosted trees"] = trees.fit(bytes_as_floats, rows[1])
    stages = ViolaJonesClassifier(max_fpr=0.6, min_tpr=0.95, max_stages=3, random_state=0)
    found["Viola-Jones"] = stages.fit(*rows)
    found["FCBoost"] = FCBoostClassifier(n_estimators=12, eta=0.05).fit(*rows)
    options = {"beta": 0.003, "n_episodes": 20_000, "random_state": 0}
    dags = {
        "MDDAG": (boosted, options),
        "MDDAG by descent": (boosted, options | {"solver": "descent", "n_bins": 11}),
        "MDDAG of running sums": (boosted, options | {"normalisation": "running"}),
        "MDDAG of boosted trees": (found["boosted trees"], options),
    }
    for name, (model, parameters) in dags.items():
        dag = MDDAGClassifier(FrozenEstimator(model), **parameters)
        found[name] = dag.fit(bytes_as_floats, rows[1])
    return found


NAMES = (
    "AdaBoostMH",
    "soft cascade",
    "afresh",
    "onward",
    "anew",
    "onward empty",
    "boosted trees",
    "Viola-Jones",
    "FCBoost",
    "MDDAG",
    "MDDAG by descent",
    "MDDAG of running sums",
    "MDDAG of boosted trees",
)


def picture() -> np.ndarray:
    """Synthetic faces on noise, a slope, and a ground of one grey level."""
    found = np.random.default_rng(3).integers(0, 256, (61, 83), dtype=np.uint8)
    found[:, 50:] = 77
    found[30:, :40] = np.arange(40) * 3 + np.arange(31)[:, None]
    faces = vj_faces.images(scale="smoke").train
    found[5:29, 3:27], found[33:57, 52:76] = faces[0], faces[1]
    return found


def cut_out(smaller: np.ndarray, stride: int) -> np.ndarray:
    places = [range(0, side - 23, stride) for side in smaller.shape]
    return np.array([smaller[r : r + 24, c : c + 24] for r in places[0] for c in places[1]])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_scan_equals_the_table_of_bytes(models, name, n_threads):
    model, whole = models[name], picture()
    scan = PictureScanner(model, FEATURES, n_threads=n_threads).scan(
        whole, stride=2, scale_step=1.3
    )
    shapes = [(61, 83), (47, 64), (36, 49), (28, 38)]
    levels = [whole if shape == whole.shape else shrunk(whole, shape) for shape in shapes]
    windows = np.concatenate([cut_out(level, 2) for level in levels])
    X = haar_columns.computed(windows, PER_KIND).T.astype(float)
    np.testing.assert_array_equal(scan.scores, model.decision_function(X))
    np.testing.assert_array_equal(scan.evaluations, model.evaluations(X))
    np.testing.assert_array_equal(scan.decisions, model.predict(X) == 1)
    assert scan.decisions.any()
    assert not scan.decisions.all()
    if name not in ("AdaBoostMH", "boosted trees"):
        assert len(np.unique(scan.evaluations)) > 1


def test_cascades_take_the_way_that_fits_them(models):
    ways = {name: type(detector_of(model).follow) for name, model in models.items()}
    slow = dict.fromkeys(("anew", "onward empty", "FCBoost"), StageTable)
    dags = {name: Policy for name in NAMES if name.startswith("MDDAG")}
    assert ways == dict.fromkeys(NAMES, RunningSum) | slow | dags


def test_jumps_leave_out_what_is_skipped():
    rng = np.random.default_rng(5)
    policy = rng.integers(0, 3, (30, 7)).astype(np.int8)
    jump = jumps(policy)
    for first in range(31):
        for cell in range(7):
            j = first
            while j < 30 and policy[j, cell] == SKIP:
                j += 1
            quits = j == 30 or policy[j, cell] == QUIT
            assert jump[first, cell] == (30 if quits else j)


def test_boxes_lie_where_the_windows_were(boosted):
    whole = picture()
    scan = PictureScanner(boosted, FEATURES).scan(whole, stride=3, scale_step=1.3)
    first = scan.scale == 1.0
    expected = [[r, c, r + 24, c + 24] for r in range(0, 38, 3) for c in range(0, 60, 3)]
    assert scan.boxes[first].tolist() == expected
    second = np.flatnonzero(np.isclose(scan.scale, np.sqrt(61 * 83 / (47 * 64))))
    assert scan.boxes[second[0]].tolist() == [0, 0, round(24 * 61 / 47), round(24 * 83 / 64)]
    assert (scan.boxes[:, :2] >= 0).all()
    assert (scan.boxes[:, 2:] <= whole.shape).all()
    fewer = PictureScanner(boosted, FEATURES).scan(whole, stride=3, scale_step=1.3, n_scales=1)
    np.testing.assert_array_equal(fewer.scores, scan.scores[first])
    one = PictureScanner(boosted, FEATURES).scan(whole[:24, :24])
    assert (len(one.scores), one.boxes.tolist()) == (1, [[0, 0, 24, 24]])


def test_threshold_moves_decisions_but_not_rejections(models):
    for name in ("AdaBoostMH", "afresh"):
        scanner = PictureScanner(models[name], FEATURES)
        scan, high = scanner.scan(picture()), scanner.scan(picture(), threshold=1.0)
        np.testing.assert_array_equal(high.decisions, scan.decisions & (scan.scores > 1.0))
        every = scanner.scan(picture(), threshold=-np.inf)
        assert every.decisions.all() == (name == "AdaBoostMH")
        np.testing.assert_array_equal(every.scores, scan.scores)


def test_later_fits_change_nothing(rows):
    model = AdaBoostMH(n_estimators=5).fit(*rows)
    scanner = PictureScanner(model, FEATURES)
    before = scanner.scan(picture())
    model.fit(rows[0], 1 - rows[1])
    np.testing.assert_array_equal(scanner.scan(picture()).scores, before.scores)


def test_large_pictures_are_summed_in_longer_numbers(boosted):
    small, large = picture()[:24, :24], np.zeros((2_910, 2_910), dtype=np.uint8)
    large[-24:, -24:] = small
    large[:, :-24] = 255
    scanner = PictureScanner(boosted, FEATURES)
    scan = scanner.scan(large, stride=2_886, n_scales=1)
    assert scan.boxes[-1].tolist() == [2_886, 2_886, 2_910, 2_910]
    assert scan.scores[-1] == scanner.scan(small).scores[0]


def test_constant_window_has_the_bytes_of_zero(models):
    flat = np.full((24, 24), 9, dtype=np.uint8)
    zeros = np.full((1, 5 * PER_KIND), 128.0)
    for model in models.values():
        scan = PictureScanner(model, FEATURES).scan(flat)
        np.testing.assert_array_equal(scan.scores, model.decision_function(zeros))


def test_constant_votes_are_no_evaluations(rows):
    X = np.full((4, 5 * PER_KIND), 128, dtype=np.uint8)
    model = AdaBoostMH(n_estimators=2).fit(X, [0, 1, 1, 1])
    scan = PictureScanner(model, FEATURES).scan(picture(), n_scales=1)
    assert scan.evaluations.max() == 0
    assert (scan.scores == model.decision_function(X[:1])).all()


def test_strongest_of_those_that_overlap():
    """Five boxes: two rows of them at one scale, and one at another."""
    down = np.array([[0, 10], [1, 11]])
    across = np.array([[0, 10], [30, 40]])
    levels = (Level(1.0, down, across), Level(2.0, np.array([[5, 15]]), np.array([[5, 15]])))
    scores = np.array([1.0, 9.0, 3.0, 0.5, 2.0])
    decisions = np.array([True, False, True, True, True])
    scan = Scan(scores, decisions, np.ones(5, dtype=np.int64), levels)
    assert scan.boxes.tolist() == [
        [0, 0, 10, 10],
        [0, 30, 10, 40],
        [1, 0, 11, 10],
        [1, 30, 11, 40],
        [5, 5, 15, 15],
    ]
    assert scan.boxes_of([4, 1]).tolist() == [[5, 5, 15, 15], [0, 30, 10, 40]]
    assert scan.scale.tolist() == [1.0, 1.0, 1.0, 1.0, 2.0]
    assert scan.strongest().tolist() == [2, 4, 3]
    assert scan.strongest(0.99).tolist() == [2, 4, 0, 3]
    assert scan.strongest(0.0).tolist() == [2, 3]
    none = Scan(scores, np.zeros(5, dtype=bool), scan.evaluations, levels)
    assert none.strongest().tolist() == []


@pytest.mark.parametrize("running", [False, True])
def test_bins_are_those_of_the_policy(running):
    rng = np.random.default_rng(2)
    cells = Cells(np.array([12345]), np.ones(3, dtype=np.int64), False, 101, running)
    half = 2**40
    for ran in (0, 1, 7, 10**6, half):
        bound = ran if running else half
        drawn = rng.integers(-bound, bound + 1, 200)
        for score in [*drawn.tolist(), -bound, bound, 0]:
            expected = cell_of(cells, cells.initial + score, ran)
            assert bin_of(score, 101, running, ran) == expected


# --- smaller pictures ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(61, 83), (47, 64), (24, 24), (1, 1), (60, 83)])
def test_shrunk_against_repeated_pixels(shape):
    whole = picture()
    fine = whole.repeat(shape[0], axis=0).repeat(shape[1], axis=1).astype(np.int64)
    sums = fine.reshape(shape[0], 61, shape[1], 83).sum(axis=(1, 3))
    expected = np.floor(sums / (61 * 83) + 0.5).astype(np.uint8)
    np.testing.assert_array_equal(shrunk(whole, shape), expected)


def test_sizes_of_the_scan():
    assert level_shapes((100, 60), (24, 24), 2.0, None) == [(100, 60), (50, 30)]
    assert level_shapes((100, 60), (24, 24), 2.0, 1) == [(100, 60)]
    assert level_shapes((24, 24), (24, 24), 1.5, None) == [(24, 24)]
    slow = level_shapes((26, 26), (24, 24), 1.001, None)
    assert slow == [(26, 26), (25, 25), (24, 24)]


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((23, 80), dtype=np.uint8), "23×80 pixels and is smaller than a window of 24×24"),
        (np.zeros((80, 23), dtype=np.uint8), "smaller than a window"),
        (np.zeros((80, 80, 3), dtype=np.uint8), r"grey levels as uint8.*\(80, 80, 3\)"),
        (np.zeros((80, 80)), "grey levels as uint8.*float64"),
        (np.zeros((0, 0), dtype=np.uint8), "smaller than a window"),
        ("picture", "grey levels as uint8"),
    ],
)
def test_wrong_pictures(boosted, wrong, message):
    with pytest.raises(ValueError, match=message):
        PictureScanner(boosted, FEATURES).scan(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stride": 0}, "stride"),
        ({"stride": 1.5}, "stride"),
        ({"scale_step": 1.0}, "scale_step must be above 1"),
        ({"scale_step": np.nan}, "scale_step"),
        ({"n_scales": 0}, "n_scales"),
        ({"threshold": np.nan}, "threshold"),
    ],
)
def test_wrong_options(boosted, options, message):
    with pytest.raises(ValueError, match=message):
        PictureScanner(boosted, FEATURES).scan(picture(), **options)


def test_wrong_window_size(boosted):
    with pytest.raises(ValueError, match="in a window of 19×19 pixels"):
        PictureScanner(boosted, FEATURES._replace(window=(19, 19)))
    with pytest.raises(ValueError, match="75 features, but kinds"):
        PictureScanner(boosted, HaarFeatures(FEATURES.kinds[:9], FEATURES.boxes[:9], WINDOW))


def test_wrong_models(rows, boosted):
    X = rows[0][:60]
    with pytest.raises(NotFittedError):
        PictureScanner(AdaBoostMH(), FEATURES)
    with pytest.raises(NotFittedError):
        PictureScanner(BourdevCascadeClassifier(), FEATURES)
    with pytest.raises(ValueError, match="additive model"):
        PictureScanner("model", FEATURES)
    many = AdaBoostMH(n_estimators=2).fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="one score to each window"):
        PictureScanner(many, FEATURES)
    dag = MDDAGClassifier(FrozenEstimator(many), n_episodes=100).fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="one score to each window"):
        PictureScanner(dag, FEATURES)
    with pytest.raises(NotFittedError):
        PictureScanner(MDDAGClassifier(), FEATURES)
    deep = GBRTClassifier(n_estimators=2, max_leaves=4).fit(rows[0].astype(float), rows[1])
    with pytest.raises(ValueError, match="more than one split"):
        PictureScanner(deep, FEATURES)
    with pytest.warns(UserWarning, match="constant"):
        one = AdaBoostMH(n_estimators=2).fit(X, np.ones(60, dtype=int))
    with pytest.raises(ValueError, match=r"one class only \(1\)"):
        PictureScanner(one, FEATURES)
