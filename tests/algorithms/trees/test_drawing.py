"""A tree as a picture: its boxes say what the text says."""

import re
import shutil
import subprocess

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from algorithms.cegb import CEGBRegressor
from algorithms.trees.export import export_dot, export_text, plot_tree

rng = np.random.default_rng(2)
X = rng.integers(0, 9, (90, 3)).astype(float)
PRICES = {"feature_costs": [1.0, 2.0, 4.0], "split_cost": 0.25}
NAMES = ['a "b"', "c\\d", "$e$"]


@pytest.fixture(scope="module")
def model():
    y = X[:, 0] + 3 * (X[:, 1] > 4) * X[:, 2]
    return CEGBRegressor(
        n_estimators=2, max_leaves=7, min_samples_leaf=5, tradeoff=0.0, n_threads=1, **PRICES
    ).fit(X, y)


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
    dot = export_dot(model, feature_names=NAMES)
    assert r"a \"b\" <= " in dot
    assert r"c\\d <= " in dot
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=dot, text=True, check=True, capture_output=True)


def test_a_picture_has_a_box_for_each_node(model):
    ax = Figure().subplots()
    assert plot_tree(model, feature_names=NAMES, ax=ax) is ax
    shown = sorted(text.get_text().replace(r"\$", "$") for text in ax.texts)
    names = ["a", "b", "c"]
    dot = export_dot(model, feature_names=names)
    for plain, name in zip(names, NAMES, strict=True):
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
