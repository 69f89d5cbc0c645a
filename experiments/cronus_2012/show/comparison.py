"""What is compared: each method's pool of models, and differences between pools."""

from __future__ import annotations

import pandas as pd

PAPER = "_paper"
"""Of the columns of costs: all features of the trees evaluated; the claims are judged in it."""


def models(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about whole models, as :mod:`experiments.curves` reads them.

    Early exits of all rules are one method, ``early_exit``, beside those of each rule.
    """
    whole = rows[rows["stage"] == 0]
    whole = whole.assign(algorithm=whole["method"])
    exits = whole[whole["method"].str.startswith("early_exit_")]
    return pd.concat([whole, exits.assign(algorithm="early_exit")], ignore_index=True)
