"""Features computed from images, in families with a measured price each."""

from datasets.features.families import NAMES, Family, families_of, sizes

__all__ = ["NAMES", "Family", "families_of", "sizes"]
