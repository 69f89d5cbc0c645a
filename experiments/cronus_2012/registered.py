"""The artefacts of the paper: an import line for each figure, table, and what stands beside them."""

from types import ModuleType

from experiments.cronus_2012 import figure2

ARTEFACTS = tuple(
    module.ARTEFACT for module in list(globals().values()) if isinstance(module, ModuleType)
)
"""What each module declares."""
