"""Which columns made features need: what changes when a column does, for many transformers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)

import algorithms.pipelines.transformers as asked
from algorithms.pipelines import made_of, register_transformer

rng = np.random.default_rng(0)
X = rng.integers(0, 4, (60, 3)).astype(float)
Y = X[:, 0] > 1
HOLED = np.where(rng.random(X.shape) < 0.2, np.nan, X)
NAMES = ["a", "b", "c"]
TURNED = dict(zip(NAMES, ["b", "c", "a"], strict=True))
OF_NUMBERS = [
    OneHotEncoder(drop="first"),
    OneHotEncoder(min_frequency=16, handle_unknown="infrequent_if_exist"),
    OrdinalEncoder(),
    OneHotEncoder(feature_name_combiner=lambda column, category: f"is {category}"),
    PolynomialFeatures(2),
    SplineTransformer(3),
    KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    QuantileTransformer(n_quantiles=5),
    SelectKBest(k=2),
    FunctionTransformer(np.log1p, feature_names_out="one-to-one"),
    PCA(3),
    FeatureUnion([("p", PolynomialFeatures()), ("s", "passthrough"), ("d", "drop")]),
    ColumnTransformer(
        [
            ("o", OneHotEncoder(), ["b"]),
            ("n", make_pipeline(StandardScaler(), PCA(2)), slice("a", "b")),
            ("x", "drop", [0]),
            ("e", OneHotEncoder(), make_column_selector(dtype_include=object)),
        ],
        remainder=MinMaxScaler(),
    ),
    # Columns change their names, and are chosen by the new ones.
    make_pipeline(
        ColumnTransformer(
            [("n", StandardScaler(), NAMES)], verbose_feature_names_out=lambda _, name: TURNED[name]
        ).set_output(transform="pandas"),
        ColumnTransformer([("a", "passthrough", ["a"]), ("c", PCA(2), slice("c", "a"))]),
    ),
]
OF_HOLES = [
    SimpleImputer(add_indicator=True),
    make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), PolynomialFeatures()),
]


def dense(made):
    return made.toarray() if hasattr(made, "toarray") else np.asarray(made)


@pytest.mark.parametrize("transformer", OF_NUMBERS + OF_HOLES, ids=lambda t: type(t).__name__)
def test_a_feature_needs_just_the_columns_that_change_it(transformer):
    """Values of one column are drawn anew: what changes in some row needs it, nothing else does."""
    table = pd.DataFrame(HOLED if transformer in OF_HOLES else X, columns=NAMES)
    transformer.fit(table, Y)
    needs, before = made_of(transformer, NAMES), dense(transformer.transform(table))
    assert needs.shape == (before.shape[1], 3)
    for m, name in enumerate(NAMES):
        shuffled = table.assign(**{name: table[name].to_numpy()[rng.permutation(60)]})
        changed = np.any(dense(transformer.transform(shuffled)) != before, axis=0)
        np.testing.assert_array_equal(changed, needs[:, m])


def test_what_has_no_rule_needs_all():
    assert made_of(Normalizer().fit(X), NAMES).all()
    assert made_of(KNNImputer().fit(HOLED), NAMES).shape == (3, 3)


class Nameless(StandardScaler):
    """Its method takes no names."""

    def get_feature_names_out(self):
        return np.array(NAMES, dtype=object)


class Sums:
    """A transformer of somebody's own: without names, or with a rule."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.column_stack([X[:, 0] + X[:, 1], X[:, 2]])


def test_hidden_names_are_one_sentence_and_a_rule_mends_them():
    for hiding in (Sums(), Nameless(), FunctionTransformer(np.log1p).fit(X)):
        with pytest.raises(ValueError, match="hides the names of the features that it makes"):
            made_of(make_pipeline(hiding).fit(X), NAMES)
    try:
        register_transformer(Sums, lambda _, n: np.array([[1, 1, 0], [0, 0, 1]], dtype=bool))
        assert made_of(Sums(), NAMES).tolist() == [[True, True, False], [False, False, True]]
        register_transformer(Sums, lambda _, n: np.ones((2, 9)))
        with pytest.raises(ValueError, match=r"rule of Sums must give a bool .* shape \(2, 9\)"):
            made_of(Sums(), NAMES)
    finally:
        asked._RULES.pop(Sums)
    with pytest.raises(TypeError, match="a class of transformers and a function"):
        register_transformer(Sums(), None)


class Renaming(StandardScaler):
    """Its names are the user's own, and the first is that of a column by chance."""

    def get_feature_names_out(self, input_features=None):
        return np.array(["a", "x1", "bias"], dtype=object)


@pytest.mark.parametrize(
    "wrapped", [lambda t: t, lambda t: FeatureUnion([("r", t)]), make_pipeline]
)
def test_names_that_tell_no_column_are_refused(wrapped):
    table = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(ValueError, match="Renaming makes a feature 'a', whose name is of none"):
        made_of(wrapped(Renaming()).fit(table), NAMES)
