"""Features that are acquired and paid for together, as prices of :mod:`reference.cegb`.

A group is one item: a row pays its β at the first feature that it uses of it, and the model its γ.
With ``group_costs``, from the label of every group to its price, each feature is an item besides.
"""

from dataclasses import replace

import numpy as np

from reference import cegb, costs


def price_list(
    n_features: int,
    split_cost: float = 0.0,
    feature_costs=None,
    model_feature_costs=None,
    feature_sharing=None,
    feature_groups=None,
    group_costs=None,
) -> cegb.Prices:
    """Prices of groups, then what each feature costs besides; without groups those of features."""
    of_features = feature_costs, model_feature_costs, feature_sharing
    prices = cegb.price_list(n_features, split_cost, *of_features)
    if feature_groups is None:
        return prices
    unit = costs.acquisition_units(feature_groups, n_features)
    shared, own = costs.shared_and_own(feature_costs, feature_groups, group_costs, unit)
    of_model = costs.unit_prices(model_feature_costs, unit)
    return replace(
        prices,
        row=np.concatenate([shared, own]),
        model=np.concatenate([of_model, np.zeros(n_features)]),
        items=[(int(unit[m]), len(shared) + m) for m in range(n_features)],
    )
