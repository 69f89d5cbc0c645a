"""asv: what ``make bench`` leaves out, and ``make bench-long`` measures.

That is boosted trees on a million rows, and what a newcomer waits for longest.
"""

from __future__ import annotations

from . import newcomer
from .suite import suite_of
from .table import GROWN

for _name, _line in GROWN.items():
    _million = _line._replace(sizes=(1_000_000,), without=("time_predict",))
    globals()[_name] = suite_of(_name, _million, __name__)


class FirstAnswer(newcomer.FirstFit):
    """Processor seconds to the first picture, and to the first answer for a table."""

    params = (list(newcomer.COMMANDS),)
    param_names = ("command",)
