"""The features of Scene-15 for Greedy Miser's Figure 3: 108 descriptors and kernel machines.

:mod:`~datasets.features.scenes.descriptors` says which descriptor stands for which of the paper's;
one module for each kind computes it; :mod:`~datasets.features.scenes.learning` learns codebooks and
detectors on Caltech-101; :mod:`~datasets.features.scenes.svm_features` turns the descriptors of a
draw into decision values; :mod:`~datasets.features.scenes.prices` holds what they cost.
``python -m datasets.features scene15`` shows descriptors and prices.
"""
