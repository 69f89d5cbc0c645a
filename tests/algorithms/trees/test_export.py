"""A tree as text: its lines are scikit-learn's, its costs those of the meter; and as a picture."""

import re
import shutil
import subprocess

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import tree as scikit_learn
from sklearn.ensemble import GradientBoostingRegressor

from algorithms.cegb import CEGBRegressor
from algorithms.interop import from_scikit_learn
from algorithms.trees.export import _listed, export_dot, export_text, plot_tree

rng = np.random.default_rng(2)
X = rng.integers(0, 9, (90, 3)).astype(float)
PRICES = {"feature_costs": [1.0, 2.0, 4.0], "split_cost": 0.25}
NAMED = {"a": r"'a\nb'", "b": r"'\u2028'", "c": "' '"}
y = X[:, 0] + 3 * (X[:, 1] > 4) * X[:, 2] + rng.normal(size=90)


def test_lines_are_those_of_scikit_learn():
    theirs = GradientBoostingRegressor(
        n_estimators=1, max_leaf_nodes=9, max_depth=None, learning_rate=1.0, random_state=0
    ).fit(X, y)
    text = export_text(from_scikit_learn(theirs), feature_names=list("abc"))
    wanted = scikit_learn.export_text(theirs.estimators_[0, 0], feature_names=list("abc"))
    bare = re.sub(r" \[costs .*?\]| \(path: .*?\)", "", text)
    assert re.sub(r"value: \[(.*?)\]", r"value: \1", wanted).strip() == bare
    assert text.count("[costs 0.00]") == 8


def test_a_rows_leaf_says_what_the_meter_says():
    model = CEGBRegressor(n_estimators=2, max_leaves=7, min_samples_leaf=5, tradeoff=0.0, **PRICES)
    model.fit(X, y)
    # Of the first tree alone: a row pays in the second only for what it does not own.
    bills = model.first_rounds(1).prediction_cost(X)
    shown = re.findall(r"\(path: (.*?)\)", export_text(model, decimals=4))
    assert {float(bill) for bill in shown} == set(bills)
    assert len(set(bills)) > 2
    second = export_text(model, 1, feature_costs=[0, 0, 0], split_cost=1, decimals=0)
    depths = re.findall(r"^((?:\|   )+)\|--- value.*path: (\d+)", second, re.MULTILINE)
    assert depths
    assert all(len(indent) == 4 * int(bill) for indent, bill in depths)


def test_where_missing_values_go():
    few = np.column_stack([X[:, 0], np.full(90, 7.0)])
    few[::3, 0] = few[1::2, 1] = np.nan
    of_first = np.where(np.isnan(few[:, 0]), 9.0, 0.0) + (X[:, 0] > 4) * 3.0
    model = CEGBRegressor(n_estimators=1, max_leaves=2, tradeoff=0.0)
    text = export_text(model.fit(few, of_first), missing=True, decimals=0)
    assert "feature_0 is present [costs" in text
    assert "feature_0 is missing\n" in text
    model.fit(few[:, :1], (np.nan_to_num(few[:, 0]) > 4) * 1.0)
    text = export_text(model, missing=True, decimals=1)
    assert "|--- feature_0 <= 4.5 or missing [costs" in text
    assert "|--- feature_0 >  4.5\n" in text
    assert "missing" not in export_text(model)


def test_a_question_has_one_line_whatever_is_asked():
    model = CEGBRegressor(n_estimators=1, tradeoff=0.0).fit(X, y)
    plain = export_text(model, feature_names=["a", "b", "c"])
    odd = export_text(model, feature_names=["a\nb", "\u2028", " "])
    assert len(odd.splitlines()) == len(plain.splitlines())
    assert odd == re.sub(r"(?<=--- )[abc]", lambda m: NAMED[m.group()], plain)
    labels = np.array(["a, b", "a", "", "{", "ü"], dtype=object)
    assert _listed(labels) == "{'a, b', a, '', '{', ü}"


def test_what_is_refused():
    model = CEGBRegressor(n_estimators=1).fit(X, y)
    for tree in (1, -1, "0"):
        with pytest.raises(ValueError, match="tree must be a whole number below 1"):
            export_text(model, tree)
    with pytest.raises(ValueError, match="must have 3 names, got 2"):
        export_text(model, feature_names=["a", "b"])


# --- as a picture: its boxes say what the text says ---------------------------------------------

QUOTED = ['a "b"', "c\\d", "$e$"]


@pytest.fixture(scope="module")
def model():
    exact = X[:, 0] + 3 * (X[:, 1] > 4) * X[:, 2]
    return CEGBRegressor(
        n_estimators=2, max_leaves=7, min_samples_leaf=5, tradeoff=0.0, n_threads=1, **PRICES
    ).fit(X, exact)


def test_dot_says_what_the_text_says(model):
    dot = export_dot(model, 1, feature_names=["a", "b", "c"])
    text = export_text(model, 1, feature_names=["a", "b", "c"])
    boxes = dict(re.findall(r'^  (\d+) \[label="(.*)"\];', dot, re.MULTILINE))
    edges = re.findall(r'(\d+) -> (\d+) \[label="(yes|no)"\];', dot)

    def lines(node, indent=""):
        below = {label: child for parent, child, label in edges if parent == node}
        first, second = boxes[node].split(r"\n")
        if not below:
            yield f"{indent}|--- {first} ({second})"
            return
        yield f"{indent}|--- {first} [{second}]"
        yield from lines(below["yes"], indent + "|   ")
        yield f"{indent}|--- {first.replace('<=', '> ')}"
        yield from lines(below["no"], indent + "|   ")

    assert "\n".join(lines("0")) == text
    assert len(boxes) == len(edges) + 1 == 13


def test_names_are_quoted(model):
    dot = export_dot(model, feature_names=QUOTED)
    assert r"a \"b\" <= " in dot
    assert r"c\\d <= " in dot
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=dot, text=True, check=True, capture_output=True)


def test_a_picture_has_a_box_for_each_node(model):
    ax = Figure().subplots()
    assert plot_tree(model, feature_names=QUOTED, ax=ax) is ax
    shown = sorted(text.get_text().replace(r"\$", "$") for text in ax.texts)
    names = ["a", "b", "c"]
    dot = export_dot(model, feature_names=names)
    for plain, name in zip(names, QUOTED, strict=True):
        dot = dot.replace(f'"{plain} ', f'"{name} ')
    assert shown == sorted(
        box.replace(r"\n", "\n") for box in re.findall(r'label="(.*\\n.*)"', dot)
    )
    assert len(ax.lines) == len(ax.texts) - 1
    places = {text.get_position() for text in ax.texts}
    assert len(places) == len(ax.texts)
    ax.figure.canvas.draw()
    with matplotlib.rc_context({"backend": "agg"}):
        assert len(plot_tree(model, 1).texts) == 13
        matplotlib.pyplot.close("all")


def test_other_prices_and_what_is_refused(model):
    assert "costs 9.00" in export_dot(model, feature_costs=[9, 9, 9], split_cost=0)
    for draw in (export_dot, plot_tree):
        with pytest.raises(ValueError, match="tree must be a whole number below 2, got True"):
            draw(model, True)
        with pytest.raises(ValueError, match="must have 3 names, got 1"):
            draw(model, feature_names=["a"])
