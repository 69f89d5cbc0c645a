"""What methods and fields are called where people read."""

from __future__ import annotations

UNITS = {
    "dollars": "dollars",
    "milliseconds": "ms",
    "published": "published relative cost",
    "table": "our relative cost, by kind of feature",
    "uniform": "features",
}


def label_of(method: str) -> str:
    """Give a method's name; of a class of somebody's own its class."""
    from experiments.compare.methods import METHODS  # it imports them all

    return METHODS[method].label if method in METHODS else method.partition(":")[2] or method
