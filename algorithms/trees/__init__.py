"""Binned regression trees: binning, histograms, growing, prediction."""
