"""References by the names of an estimator's parameters: so both twins are fitted with the same."""

from collections.abc import Callable
from inspect import signature
from types import ModuleType

from reference import cegb, forest_costs, greedy_miser, trees
from reference.beyond import Beyond, groups
from reference.beyond.lambdarank import ranking_of
from reference.boosting import Model

MADE_BY = {
    cegb: {"prices": groups.price_list},
    greedy_miser: {"prices": forest_costs.price_list, "limits": greedy_miser.tree_limits},
}


def makers(reference: ModuleType) -> dict[str, Callable]:
    """What makes the arguments of a fit that are made of several parameters."""
    return {"limits": trees.Limits, "beyond": Beyond} | MADE_BY.get(reference, {})


def names(reference: ModuleType) -> set[str]:
    """The parameters that a reference knows."""
    known = [signature(make).parameters for make in (reference.fit, *makers(reference).values())]
    return set().union(*known, {"query_id", "lambdarank_truncation"})


def fit(
    reference: ModuleType,
    X,
    y,
    *,
    loss="squared",
    query_id=None,
    lambdarank_truncation: int | None = None,
    **named,
) -> Model:
    """Fit a reference; ``loss`` may be ``"lambdarank"`` here."""
    if loss == "lambdarank":
        loss = ranking_of(query_id, named.get("sample_weight"), lambdarank_truncation or 30)
    arguments = {}
    for argument, make in makers(reference).items():
        its = signature(make).parameters.keys() & named.keys()
        n_features = (len(X[0]),) if argument == "prices" else ()
        arguments[argument] = make(*n_features, **{name: named.pop(name) for name in its})
    return reference.fit(X, y, loss=loss, **arguments, **named)
