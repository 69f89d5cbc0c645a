"""Prices of an estimator that is made of the trees of another one."""

from __future__ import annotations

import copy

from .. import costs
from ..estimators.threads import threads_elsewhere
from ..prices.by_name import column_labels, take_column_numbers
from .parameters import PRICES
from .responses import Responses


class PricedTrees:
    """The prices of such an estimator, where it has any, and else those of the trees; a mixin."""

    def _priced(self, responses: Responses) -> Responses:
        """Put this estimator's prices, where it has any, in the place of the trees' own."""
        meter = copy.copy(responses.meter)
        meter.n_threads, meter.n_jobs = threads_elsewhere(self), None
        take_column_numbers(meter, self)
        for name in PRICES:
            value = getattr(self, name)
            if value is not None:
                by_name = name in ("feature_costs", "feature_groups")
                setattr(meter, name, meter._in_its_spelling(value) if by_name else value)
        if meter.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"X has {self.n_features_in_} features, but the trees were trained on "
                f"{meter.n_features_in_}."
            )
        responses = responses._replace(meter=meter)
        self._price_list(meter)
        meter._grid_prices()
        return responses

    def _price_list(self, meter, feature_costs=None) -> costs.PriceList:
        """What is paid once: the meter's prices but for those given here."""
        own = feature_costs is None
        return costs.price_list(
            meter.feature_costs if own else meter._in_its_spelling(feature_costs),
            meter.feature_groups,
            meter.group_costs,
            meter.n_features_in_,
            column_labels(meter),
        )
