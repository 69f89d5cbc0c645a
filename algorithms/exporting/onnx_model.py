"""A model as an ONNX graph, in double precision or in ONNX's older single one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..boosted_trees.estimator import BoostedTrees
from ..estimators.parameters import check_choice
from ..raw_tables import RawColumn, TableModel
from ..raw_tables.columns import GONE
from ..trees.categorical_forest import CategoricalForest
from ..trees.forest import NODE_DTYPES, Forest
from .exported import Exported, apart, check_texts, exported

if TYPE_CHECKING:
    from onnx import ModelProto

_PRODUCER = "cost-aware-boosting"
_OPSET = 17
_TREES = "ai.onnx.ml"
_LEQ, _MEMBER = 0, 6  # of TreeEnsemble: modes of the splits x <= threshold and x in a set
_SUM = 1  # and how trees add up
_OUR_NAMES = re.compile(r"X|classes|label|probabilities|variable|(value|constant)_\d+")


def export_onnx(model: BoostedTrees | TableModel, *, precision: str = "double") -> ModelProto:
    """Write a model as ONNX: ``onnx.save(export_onnx(model), "model.onnx")``.

    Parameters
    ----------
    model : fitted estimator of boosted trees, or TableModel of one
        GBRT, CEGB or Greedy Miser.
    precision : {"double", "single"}
        ``"double"``: the operator ``TreeEnsemble`` of ai.onnx.ml 5 (onnxruntime 1.20 or newer) on
        rows of float64. Each row takes the paths that it takes in the model; scores differ by the
        rounding of their sum alone, as the runtime adds in an order of its own.
        ``"single"``: the older ``TreeEnsembleRegressor`` of ai.onnx.ml 3 on rows of float32.
        Thresholds are rounded down to float32, which changes the path of no row of float32; leaf
        values and sums are of float32, about seven digits. It knows no sets of categories.

    Returns
    -------
    onnx.ModelProto
        Input ``X`` (n_samples, n_features), where NaN is a missing value. A model that knows
        categories has an input (n_samples, 1) for each column instead, called as the column is
        (``x0``, ``x1``, … without names): text, where a category that the model does not know
        counts as missing, or float64; and so has a TableModel, of the table's columns, where a
        missing text is "". A regressor has the
        output ``variable`` (n_samples, 1); a classifier ``label`` (n_samples,) and
        ``probabilities`` (n_samples, n_classes), as scikit-learn's converter names them. Bills are
        not in it: ONNX has no operator that remembers what a row owns;
        :func:`algorithms.exporting.export_c` writes them.

    Raises
    ------
    ImportError
        Without the package ``onnx``.
    TypeError
        If it is no model of boosted trees.
    ValueError
        If `precision` is another word, or class labels are neither text nor numbers that ONNX has.
        If a model knows categories: of single precision, columns that cannot be told apart by name,
        or the category "", as which a missing text is read. If a text has a NUL.
    """
    check_choice("precision", precision, ("double", "single"))
    model, columns = apart(model)
    what = exported(model, "ONNX", one_class=False)
    double, names = precision == "double", []
    labels = None if what.classes is None else _labels(what.classes)
    if what.categories:
        if not double:
            raise ValueError(
                "ONNX's operator for float32 knows no sets of categories: precision='double'."
            )
        for known in what.categories.values():
            check_texts(known, "ONNX", there=True)
    if what.categories or columns is not None:
        names = _column_inputs(model, columns)
        check_texts([*names, *(v for column in columns or () for v in column.values)], "ONNX")
    try:
        from onnx import helper
    except ImportError:
        raise ImportError("export_onnx writes with the package onnx: pip install onnx.") from None
    graph = _Graph(helper, np.float64 if double else np.float32)
    if columns is not None:
        rows = _inputs_by_column(graph, names, [bool(column.values) for column in columns])
        _join_columns(graph, _made_columns(graph, names, columns, what.categories))
    elif what.categories:
        known = [what.categories.get(m) for m in range(len(names))]
        texts = [labels is not None and labels.dtype.kind == "O" for labels in known]
        rows = _inputs_by_column(graph, names, texts)
        each = zip(names, known, strict=True)
        _join_columns(graph, [n if v is None else _codes(graph, n, v) for n, v in each])
    else:
        rows = [helper.make_tensor_value_info("X", graph.onnx_type, [None, what.n_features])]
    scores = (_double_trees if double else _single_trees)(graph, _with_a_tree(what))
    scores = graph.node("Add", scores, graph.constant(what.initial[None].astype(graph.kind)))
    outputs = _answers(graph, what, scores, labels)
    made = helper.make_graph(graph.nodes, type(model).__name__, rows, outputs, graph.constants)
    versions = {"": _OPSET, _TREES: 5 if double else 3}
    return helper.make_model(
        made,
        opset_imports=[helper.make_opsetid(*version) for version in versions.items()],
        producer_name=_PRODUCER,
        ir_version=10 if double else 8,
    )


def _with_a_tree(what: Exported) -> Exported:
    """A model without trees gets one that adds nothing: no operator takes none."""
    if what.forest.n_trees:
        return what
    leaf = Forest(  # of no categories, even of a model that knows some
        np.array([0, 1]), *(np.array([-1 if name in ("feature", "left") else 0], dtype=dtype)
                            for name, dtype in NODE_DTYPES.items())
    )  # fmt: skip
    return what._replace(forest=leaf, contribution=np.zeros(1))


class _Graph:
    """Nodes and constants of a graph that is being made."""

    def __init__(self, helper: Any, kind: type) -> None:
        self.helper, self.kind = helper, kind
        self.onnx_type = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes) -> str:
        """Add an operator; returns the name of what it gives."""
        name = output or f"value_{len(self.nodes)}"
        domain = {"domain": _TREES} if operator.startswith(("Tree", "Label")) else {}
        made = self.helper.make_node(operator, list(inputs), [name], **domain, **attributes)
        self.nodes.append(made)
        return name

    def tensor(self, name: str, values: np.ndarray) -> Any:
        """Values as a tensor."""
        flat = values.ravel().tolist()
        if values.dtype.kind in "US":
            return self.helper.make_tensor(name, 8, values.shape, [s.encode() for s in flat])
        kind = self.helper.np_dtype_to_tensor_dtype(values.dtype)
        return self.helper.make_tensor(name, kind, values.shape, flat)

    def constant(self, values: np.ndarray) -> str:
        """Add values as a constant; returns its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.tensor(name, np.asarray(values)))
        return name


# --- trees ----------------------------------------------------------------------------------------


def _double_trees(graph: _Graph, what: Exported) -> str:
    """Sums of the trees by TreeEnsemble, whose leaves are numbered apart from its splits."""
    forest, n_scores = what.forest, len(what.initial)
    split = forest.left >= 0
    roots, is_root = forest.tree[:-1], np.zeros(len(split), dtype=bool)
    is_root[roots] = True
    shown = split | is_root  # a lone leaf needs a split above it, both of whose sides it is
    number = np.where(shown, np.cumsum(shown) - 1, 0)
    leaf = np.cumsum(~split) - 1
    at = np.flatnonzero(shown)
    left = np.where(split[at], forest.left[at], at)
    right = np.where(split[at], forest.left[at] + 1, at)
    of_tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree))
    modes, members = _sets_of(forest, at)
    return graph.node(
        "TreeEnsemble",
        "X",
        tree_roots=number[roots].tolist(),
        n_targets=n_scores,
        aggregate_function=_SUM,
        nodes_featureids=np.maximum(forest.feature[at], 0).tolist(),
        nodes_splits=graph.tensor("splits", forest.threshold[at]),
        nodes_modes=graph.tensor("modes", modes),
        **({"membership_values": graph.tensor("members", members)} if len(members) else {}),
        nodes_truenodeids=np.where(split[left], number[left], leaf[left]).tolist(),
        nodes_falsenodeids=np.where(split[right], number[right], leaf[right]).tolist(),
        nodes_trueleafs=(~split[left]).astype(int).tolist(),
        nodes_falseleafs=(~split[right]).astype(int).tolist(),
        nodes_missing_value_tracks_true=forest.missing_left[at].tolist(),
        leaf_targetids=(of_tree[~split] % n_scores).tolist(),
        leaf_weights=graph.tensor("weights", what.contribution[~split]),
    )


def _sets_of(forest: Forest | CategoricalForest, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mode of each split, and the codes of all sets one after the other, each with a NaN behind."""
    modes, members = np.full(len(at), _LEQ, dtype=np.uint8), []
    if isinstance(forest, CategoricalForest):
        modes[forest.by_set[at] == 1] = _MEMBER
        for node in at[forest.by_set[at] == 1]:
            members += [*forest.codes_left(node), np.nan]
    return modes, np.array(members, dtype=np.float64)


def rounded_down(thresholds: np.ndarray) -> np.ndarray:
    """Largest float32 that is at most each threshold: no float32 lies between the two."""
    with np.errstate(over="ignore"):
        nearest = thresholds.astype(np.float32)
    above = nearest.astype(np.float64) > thresholds
    return np.where(above, np.nextafter(nearest, np.float32(-np.inf)), nearest)


def _single_trees(graph: _Graph, what: Exported) -> str:
    """Sums of the trees by TreeEnsembleRegressor."""
    forest, n_scores = what.forest, len(what.initial)
    split, nodes = forest.left >= 0, np.arange(len(forest.left))
    of_tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree))
    within = nodes - forest.tree[of_tree]
    left = np.where(split, forest.left - forest.tree[of_tree], 0)
    return graph.node(
        "TreeEnsembleRegressor",
        "X",
        n_targets=n_scores,
        nodes_treeids=of_tree.tolist(),
        nodes_nodeids=within.tolist(),
        nodes_featureids=np.maximum(forest.feature, 0).tolist(),
        nodes_values=rounded_down(forest.threshold).tolist(),
        nodes_modes=["BRANCH_LEQ" if one else "LEAF" for one in split],
        nodes_truenodeids=left.tolist(),
        nodes_falsenodeids=np.where(split, left + 1, 0).tolist(),
        nodes_missing_value_tracks_true=forest.missing_left.tolist(),
        target_treeids=of_tree[~split].tolist(),
        target_nodeids=within[~split].tolist(),
        target_ids=(of_tree[~split] % n_scores).tolist(),
        target_weights=what.contribution[~split].astype(np.float32).tolist(),
    )


# --- answers --------------------------------------------------------------------------------------


def _answers(graph: _Graph, what: Exported, scores: str, classes: np.ndarray | None) -> list[Any]:
    """Turn scores into what ``predict`` and ``predict_proba`` say; returns the outputs."""
    info = graph.helper.make_tensor_value_info
    if classes is None:
        graph.node("Identity", scores, output="variable")
        return [info("variable", graph.onnx_type, [None, 1])]
    if len(what.initial) == 1:
        positive = graph.node("Greater", scores, graph.constant(np.zeros(1, dtype=graph.kind)))
        number = graph.node(
            "Cast", positive, to=graph.helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))
        )
        number = graph.node("Squeeze", number, graph.constant(np.array([1])))
        second = graph.node("Sigmoid", scores)
        first = graph.node("Sub", graph.constant(np.ones(1, dtype=graph.kind)), second)
        graph.node("Concat", first, second, output="probabilities", axis=1)
    else:
        number = graph.node("ArgMax", scores, axis=1, keepdims=0)
        graph.node("Softmax", scores, output="probabilities", axis=1)
    labels = graph.tensor("classes", classes)
    graph.constants.append(labels)
    graph.node("Gather", "classes", number, output="label")
    return [
        info("label", labels.data_type, [None]),
        info("probabilities", graph.onnx_type, [None, len(classes)]),
    ]


def _labels(classes: np.ndarray) -> np.ndarray:
    """Class labels as ONNX has them: whole numbers, booleans, float64 or text."""
    if classes.dtype.kind in "OU":
        check_texts(classes, "ONNX")
        classes = classes.astype(str)
    kinds = {"b": bool, "f": np.float64, "i": np.int64, "u": np.int64, "U": classes.dtype}
    labels = classes.astype(kinds.get(classes.dtype.kind, object))
    if labels.dtype == object or np.any(labels != classes):
        raise ValueError(
            "ONNX has class labels that are text, numbers of 64 bits or booleans, and no others: "
            f"got {classes.dtype}."
        )
    return labels


# --- columns of categories ------------------------------------------------------------------------


def _column_inputs(model: BoostedTrees, columns: list[RawColumn] | None) -> list[str]:
    """Names of the inputs: those of the columns, or x0, x1, … ; ValueError if one is taken."""
    names = getattr(model, "feature_names_in_", None)
    if columns is not None:
        names = [column.name for column in columns]
    if names is None:
        return [f"x{m}" for m in range(model.n_features_in_)]
    names = list(names)
    for name in names:
        if _OUR_NAMES.fullmatch(name) or not name or names.count(name) > 1:
            raise ValueError(
                f"An ONNX graph of categories has an input for each column, and {name!r} cannot be "
                "one's name: it is empty, or another is called so, too. Rename the column and fit "
                "again."
            )
    return names


def _inputs_by_column(graph: _Graph, names: list[str], texts: list[bool]) -> list[Any]:
    """Declare an input (n_samples, 1) for each column: text, or numbers."""
    text = graph.helper.np_dtype_to_tensor_dtype(np.dtype(object))
    return [
        graph.helper.make_tensor_value_info(name, text if is_text else graph.onnx_type, [None, 1])
        for name, is_text in zip(names, texts, strict=True)
    ]


def _join_columns(graph: _Graph, columns: list[str]) -> None:
    """Put columns side by side as X."""
    graph.node("Concat", *columns, output="X", axis=1)


def _made_columns(
    graph: _Graph, names: list[str], columns: list[RawColumn], categories: dict[int, np.ndarray]
) -> list[str]:
    """Name what becomes of each column of a table."""
    made, place = [], 0
    for name, column in zip(names, columns, strict=True):
        if column.kind == "category":
            made.append(_codes(graph, name, categories[place]))
        else:
            made.append(_levels(graph, name, column) if column.values else name)
        place += len(column.made)
    return made


def _levels(graph: _Graph, name: str, column: RawColumn) -> str:
    """Places of a column's texts among its levels, -1 of others; or a column for each level."""
    keys = ["" if value == GONE else value for value in column.values]
    places = np.arange(len(keys), dtype=graph.kind)
    given = {
        "keys_tensor": graph.tensor("keys", np.array(keys)),
        "values_tensor": graph.tensor("places", places),
        "default_tensor": graph.tensor("unknown", np.array([-1], dtype=graph.kind)),
    }
    if graph.kind is np.float32:  # of ai.onnx.ml 3
        given = {"keys_strings": keys, "values_floats": places.tolist(), "default_float": -1.0}
    at = graph.node("LabelEncoder", name, **given)
    if column.kind != "columns":
        return at
    return graph.node(
        "Cast", graph.node("Equal", at, graph.constant(places[None])), to=graph.onnx_type
    )


def _codes(graph: _Graph, name: str, known: np.ndarray) -> str:
    """Codes of a column's categories; NaN for all that the model does not know."""
    kind = str if known.dtype.kind == "O" else np.float64
    keys, codes = np.array(known.tolist(), dtype=kind), np.arange(len(known), dtype=np.float64)
    if not len(known):  # an encoder wants at least one key, and this one gives it no code
        keys, codes = np.zeros(1, dtype=kind), np.array([np.nan])
    return graph.node(
        "LabelEncoder",
        name,
        keys_tensor=graph.tensor("keys", keys),
        values_tensor=graph.tensor("codes", codes),
        default_tensor=graph.tensor("unknown", np.array([np.nan])),
    )
