"""What users of boosted trees want beyond the papers, one naive file each."""

from reference.beyond.options import NOTHING, Beyond

__all__ = ["NOTHING", "Beyond"]
