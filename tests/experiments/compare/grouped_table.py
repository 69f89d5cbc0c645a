"""A table of four classes whose features come in groups, each with a price that is paid once."""

import numpy as np
import pandas as pd

GROUPS = {
    # name: (price of the group, price of each feature, features, noise)
    "asking": (0.5, 0.05, 3, 1.6),
    "weighing": (3.0, 0.2, 3, 1.0),
    "blood": (9.0, 0.5, 4, 0.5),
    "imaging": (40.0, 0.0, 3, 0.2),
}
CHEAPER = ("asking", "weighing")
"""Within 5 together; no other group is."""


def drawn(n_rows=1200, seed=0):
    """Draw rows of two latent numbers, whose quadrants are the classes ``a`` to ``d``.

    What each feature tells is the same for every seed.
    """
    rng, directions = np.random.default_rng(seed), np.random.default_rng(99)
    latent = rng.normal(size=(n_rows, 2))
    columns = {}
    for group, (_, _, n_features, noise) in GROUPS.items():
        for m in range(n_features):
            towards = directions.normal(size=2)
            told = latent @ (towards / np.linalg.norm(towards))
            columns[f"{group}_{m}"] = (told + noise * rng.normal(size=n_rows)).round(3)
    quadrant = 2 * (latent[:, 0] > 0.1) + (latent[:, 1] > -0.1)
    return pd.DataFrame(columns).assign(y=np.array(list("abcd"))[quadrant])


def price_list():
    """Give the lines of the price list."""
    lines = ["feature,cost,group"]
    for group, (price, each, n_features, _) in GROUPS.items():
        lines += [f"{group}_{m},{each},{group}" for m in range(n_features)]
        lines.append(f"{group},{price},")
    return "\n".join(lines) + "\n"
