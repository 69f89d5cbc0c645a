"""The claims: what the paper's own tables say of the sets and variants that they pool."""

import pytest

from experiments.adaptive_sampling_2014.cells.headline import FAMILIES
from experiments.adaptive_sampling_2014.cells.methods import BASELINE, group
from experiments.adaptive_sampling_2014.claims import CLAIMS, paper_at
from experiments.adaptive_sampling_2014.show.orderings import lead
from experiments.claims.declared import check_declared

NAMED = {one.id: one for one in CLAIMS}


@pytest.mark.parametrize(("slug", "name"), [("mas", "M.A.S."), ("tasting", "Tasting")])
def test_a_set_that_the_papers_table_denies_is_pooled_with_no_other(slug, name):
    """Table 4 denies it of CIFAR-10 for M.A.S., which was pooled with two sets all the same."""
    check_declared(CLAIMS)
    printed = {
        FAMILIES[images]: float(
            lead(paper_at(images, 1_000), ahead=group(name), behind=group(BASELINE))[0]
        )
        for images in FAMILIES
    }
    pooled = {part.dataset for part in NAMED[f"sampling-{slug}-ahead"].parts}
    assert pooled == {images for images, ahead in printed.items() if ahead > 0}
    denied = [images for images, ahead in printed.items() if ahead <= 0]
    assert denied == ["cifar10_mash"] * (slug == "mas")


def test_a_mean_over_variants_that_rests_on_one_of_them_is_withdrawn():
    assert NAMED["sampling-mas-beaten"].withdrawn
    alone = {f"sampling-mas-{name}-beaten" for name in ("naive", "1q", "q1")}
    assert alone <= {one.id for one in CLAIMS if not one.withdrawn}
