"""Prices as users write them: by the names of columns, for groups of features, in several units."""

from ..inputs.price_lists import PriceLists

__all__ = ["PriceLists"]
