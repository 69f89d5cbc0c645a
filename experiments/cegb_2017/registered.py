"""The artefacts of the paper: an import line for each figure, table, and what stands beside it."""

from types import ModuleType

from experiments.cegb_2017 import (
    extra_deviations,
    extra_training_time,
    figure1,
    figure2,
    figure3,
    figure4,
)

ARTEFACTS = tuple(
    module.ARTEFACT for module in list(globals().values()) if isinstance(module, ModuleType)
)
"""What each module declares."""
