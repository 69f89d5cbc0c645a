"""The features of windows with and without a face: Haar-like, HOG and local binary patterns.

One module computes each; :mod:`~datasets.features.faces.families` lists them;
:mod:`~datasets.features.faces.prices` holds what they cost; :mod:`~datasets.features.faces.tables`
makes columns and tables of them. ``python -m datasets.features cbcl`` shows features and prices.
"""
