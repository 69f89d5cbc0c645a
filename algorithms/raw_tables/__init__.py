"""Models that take tables as their user has them: columns by name, text, missing values."""

from .columns import RawColumn
from .model import TableModel

__all__ = ["RawColumn", "TableModel"]
