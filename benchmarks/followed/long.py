"""asv: boosted trees on a million rows, which ``make bench`` leaves out: ``make bench-long``."""

from __future__ import annotations

from .suite import suite_of
from .table import GROWN

for _name, _line in GROWN.items():
    _million = _line._replace(sizes=(1_000_000,), without=("time_predict",))
    globals()[_name] = suite_of(_name, _million, __name__)
