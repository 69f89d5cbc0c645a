"""The artefacts of the paper: an import line for each figure, table, and extra."""

from types import ModuleType

from experiments.cronus_2012 import (
    extra_choices,
    extra_divisions,
    figure1,
    figure2,
    figure3,
    figure4,
)

ARTEFACTS = tuple(
    module.ARTEFACT for module in list(globals().values()) if isinstance(module, ModuleType)
)
"""What each module declares."""
