"""Synthetic data: seeded generators for smoke scale and tests, one for each form of data.

Synthetic data have the shapes and class shares of the set whose name they bear, and where it has
prices these. They were written by us, so they can contain a paper's claim: no claim is judged on
them, and no published figure shows them. Parameters were chosen so that classes are told apart with
some effort and no single feature says it all; what methods make of them is no result. What
distinguishes the sets stands in their modules, as ``SYNTHETIC`` or beside it.

Rows of a part (training, validation, test) are drawn from
``default_rng([crc32(name), seed, part])``; what is fixed for all seeds (loadings, centres)
from ``default_rng(crc32(name + " structure"))``. Features are rounded to multiples of 2^-16, so
that processors whose matrix product differs in the last bit deliver the same rows.

Table (:mod:`datasets.synthetic.tables`)
    Each class has two centres in eight dimensions. A feature is a mixture of a row's place there,
    or the square of one, or has no information; all with noise. Answers yes or no have stated
    shares, and say a little about the class.
Ranking (:mod:`datasets.synthetic.ranking`)
    Documents of queries. Relevance is a nonlinear function of the document's properties and the
    query's, plus noise; grades have stated shares. The more expensive a feature, the less noise it
    has, and the most expensive see the relevance itself. A tenth of the features is the query's.
Pictures and windows (:mod:`datasets.synthetic.pictures`)
    Grey or colour bytes. Each class is an arrangement of six soft ellipses, moved, stretched and
    faded, among three stray ones, on a cloudy ground with noise. Windows without what is looked
    for have the same ellipses, all astray. Digits are bright ellipses on an empty ground.
Video (:mod:`datasets.synthetic.video`)
    Bright ellipses move straight ahead over a cloudy ground and turn back at its edge; exact masks
    of them, noise in every frame.
"""
