"""Features computed from images, in families with a measured price each.

:func:`load` gives the columns of a set of images, computed once and kept in the cache;
:func:`sizes` says how many features each family has, without computing any.
``python -m datasets.features`` shows the families, their sizes and prices.
"""

from datasets.features.families import NAMES, Family, families_of, sizes
from datasets.features.feature_set import FeatureSet
from datasets.features.loading import images_of, load

__all__ = ["NAMES", "Family", "FeatureSet", "families_of", "images_of", "load", "sizes"]
