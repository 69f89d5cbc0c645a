"""Synthetic data: seeded generators for smoke scale and tests, all of them described here.

Synthetic data have the shapes, class balance, costs and rough structure of the set they stand for.
They were written by us, so they can contain a paper's claim: no claim is judged on them.
Every parameter below was frozen before any result was looked at.

Rows of a part (training, validation, test) are drawn from
``default_rng([crc32(name), seed, part])``; what is fixed for all seeds (loadings, prices, centres)
from ``default_rng(crc32(name + " structure"))``. Features are rounded to multiples of 2^-16, so
that processors whose ``exp`` or matrix product differs in the last bit deliver the same rows.

``miniboone``
    50 continuous features, 28.06 % signal (36,499 of 130,064). 12 latent variables; signal is a
    mixture of 3, background of 5 Gaussian clusters, so that classes surround each other and no
    single cut separates them. 20 features are linear in the latent variables, 15 are exponentials
    of such combinations (skewed), 15 are products of two latent variables; all with noise, so that
    features are correlated. 0.36 % of the rows are -999 throughout (the real file has such rows).
    No zeros beyond chance: dense.

``hepmass_1000``, ``hepmass_not1000``
    27 features named and ordered as in the real files (22 low-level, 5 high-level), for not1000 a
    28th, the mass, drawn for background too. Half of the rows are signal. A resonance of mass 1000
    (not1000: one of 500, 750, 1250, 1500), 6 % wide, against a broad log-normal spectrum; momenta
    are shares of the total mass; directions are back to back the more, the heavier; high-level
    masses are smeared and sometimes taken from the wrong combination. Low-level features say
    little alone, m_wwbb says most. Scaled by the mean and spread of a reference draw. Dense.

``yahoo_ltr``
    519 features in [0, 1) in the cost groups of the paper (123×1, 31×5, 191×20, 125×50, 16×100,
    32×150, 1×200, in a fixed random order), graded labels 0..4 with about the frequencies of set 1
    (26, 36, 28, 7.6 and 1.9 %), queries of 5 to 40 documents. 15 % of the features are the same
    for all documents of a query. Relevance is a nonlinear function of 10 latent properties of the
    document and 4 of the query, plus noise. The more expensive a feature, the less noise it has;
    features of cost 100 and above see the interactions that relevance is made of, cheaper ones
    only its simple terms; the one of cost 200 sees the noise-free relevance, blurred. Sparsity:
    a feature is 0 where its raw value is below its own threshold, set so that a share p of
    uniform(0.1, 1) is zero: 56 % of the entries are 0 (``provenance["sparsity"]`` has the share).

``mq2007``, ``mq2008`` (generator in :mod:`datasets.synthetic.ranking`, sizes in the sets' modules)
    Documents with five streams (body, anchor, title, URL, all together). How well a stream matches
    the query is normal, correlated 0.6 with a match that all streams share; a stream is without the
    query's terms, and its features 0, in 5, 60, 50, 80 and 5 % of the documents. Relevance: 0.6,
    0.4, 0.5 and 0.2 times the matches, 0.3 times body by title, 0.35 times the quality of the page,
    0.4 times the query's own level, noise of 0.7. Features carry the match with noise of 1.2
    (frequencies), 0.8 (weighted by idf) or 0.4 (BM25, language models and their like): the more
    expensive, the clearer. Those of the page alone carry its quality with noise of 1; lengths carry
    nothing; idf is the query's. Grades have the real set's shares (81, 13, 6 %; MQ2007 about 74,
    20, 6 %), queries 5 to 34 (6 to 76) documents, values are scaled to [0, 1] within the query,
    features 6 to 10 and 43 of MQ2008 are constant, as the real ones.

``clueweb09`` (sizes in :mod:`datasets.clueweb09`)
    The same generator with the 42 features of that set (main content is the stream of all
    together), 230 to 644 documents a query, grades of 81.8, 12.3, 4.7, 0.6 and 0.6 %.

``mslr_web10k``, ``mslr_web30k`` (sizes in :mod:`datasets.mslr_web`)
    The same generator with MSLR's 136 features, not scaled within the query: values between 0 and
    10, many of them 0. Queries of 20 to 220 documents, grades of 51.5, 32.5, 13.4, 1.8 and 0.8 %.

``yahoo_ltr_small``, ``yahoo_ltr_sample`` (sizes in the modules of these names)
    The generator of ``yahoo_ltr`` with streams of their own. The small set has the same 519
    features; the part has 218 of them, the first ones of each price, with as many of each price as
    the real part (53×1, 12×5, 71×20, 58×50, 10×100, 14×150), and queries of 5 to 25 documents.

``thyroid`` (generator and parameters in :mod:`datasets.synthetic.thyroid`)
    Age, 15 answers that are yes as often as the real ones, four blood tests with about the centres
    and spreads of the real classes; 2.3 and 5.1 % of the rows are ill. The second disease is never
    found in patients on thyroxine. TSH, the most expensive test, says most; T3 and TT4 tell the
    first disease; T4U and the questions say little. Tests are independent within a class, which the
    real ones are not. Prices are Turney's, with the 2.10 dollars for drawing blood.

``phc_c2dl_psc`` (generator in :mod:`datasets.synthetic.flies`)
    A video of 1024×1024 grey pixels (smoke: 192×192) with 50 (2) insects, inverted, so that bodies
    are bright. Before that, bodies are ellipses of 40 to 50 by 15 to 20 pixels with a soft edge, 10
    to 80 grey levels darker than the ground (some hardly more than its noise), under a blur of
    wings and legs of a quarter of that contrast, 1.2 times as long and 1.3 body lengths wide, that
    is no part of the exact mask. Insects move 0 to 5 pixels a step; heading and speed persist and
    drift (0.15 rad and 0.2 pixels a step). The middles of insects keep 80 pixels apart: who would
    come nearer to another stays for a step and turns back. One in 40 walks beside another, touching
    it. The ground, the same in all frames, has mean 160, noise on lattices of 256, 64, 16 and 4
    pixels (amplitudes 10, 8, 6, 4), a gradient of light of up to 25 across a frame, and 150 dust
    specks of radius 1 to 3, 10 to 60 darker. Sensor noise has a standard deviation of 5. Every
    fifth step is a frame: 9 + 3 for training and validation, then 100 steps later 12 for the test.
    Positions and grey levels are rounded to multiples of 2^-16, features to multiples of 2^-8. Most
    pixels are easy ground, as in a real video: what a multi-scale classifier can save is built in.
    Real cells are less alike and change their form.

``mnist`` (generator and parameters in :mod:`datasets.synthetic.digits`)
    28×28 grey pixels, ten equally likely classes: a glyph for each digit, its points moved, then
    stretched, slanted, turned, shifted and drawn with pens of different widths on an empty ground,
    rounded to bytes. A fifth of the pixels are not 0, and pixels at the edge nearly always are, as
    in the real set. Much easier than real digits: nobody wrote them.

``cifar10`` (generator and parameters in :mod:`datasets.synthetic.shapes`)
    32×32 colour pixels, ten equally likely classes: a shape in a colour of its own on a cloudy
    ground, with noise, rounded to bytes. Place, size and colours are drawn apart from the class.

``inria_person``, ``caltech101`` (generators and parameters in :mod:`datasets.synthetic.pictures`)
    Windows of 128×64 colour pixels, two in three with a figure of head, trunk and legs, over
    clutter on a cloudy ground; pictures of 128×128 with one shape and a smaller one beside it, the
    pair being the class. What tells the classes apart is form, never colour. Real persons are far
    more varied, and real categories are no pairs of shapes.

``cbcl``, ``cbcl_divided`` (generator and parameters in :mod:`datasets.synthetic.faces`)
    Windows of 19×19 grey pixels in the shares of the real set (35 % of the training and 2 % of the
    test windows are faces): an ellipse with eyes, brows, nose and mouth, lit from a side, over
    clutter on a cloudy ground. Every sixth window without a face has one that is out of place. Real
    faces are far more varied, and real windows without faces were selected for being hard.

``vj_faces``, ``daimler_pedestrians`` (generators in :mod:`datasets.synthetic.windows`)
    Windows of 24×24 and of 36×18 grey pixels in the shares of the real sets: those of ``cbcl`` and
    of ``inria_person`` above, from streams of their own, resized. All are independent of each
    other; of the real ones neighbours are nearly the same.

``scene15`` (generators and parameters in :mod:`datasets.synthetic.scenes`)
    For the table: bytes of 108 descriptors (smoke: 20) that do not come from pictures, 299 rows of
    each of 15 classes (smoke: 44); kernel machines are trained on 30 (6) of each class as on the
    real set, at the real set's measured prices. Rows have a place in 8 dimensions around their
    class's centre; each descriptor sees a mixture of it with noise of its own, the detectors with
    the most. For pictures: a horizon and stripes, whose height and direction are the class.
"""
