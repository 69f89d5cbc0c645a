"""Tables are laid out from ten resamples; the tests of their orders draw all of them."""

import pytest

from experiments.adaptive_sampling_2014.show import ranking


@pytest.fixture(scope="module", autouse=True)
def _ten_resamples(request):
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.endswith("test_table_orders"):
            patch.setattr(ranking, "RESAMPLES", 10)
        yield
