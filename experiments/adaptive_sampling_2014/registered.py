"""The artefacts of the paper: an import line for each figure, table, and what stands beside it."""

from types import ModuleType

from experiments.adaptive_sampling_2014 import (
    extra_choices,
    extra_milliseconds_table,
    extra_table3_rules,
    extra_theorem1,
    figure1,
    figure2,
    figure3,
    table1,
    table2,
    table3,
    table4,
)

ARTEFACTS = tuple(
    module.ARTEFACT for module in list(globals().values()) if isinstance(module, ModuleType)
)
"""What each module declares."""
