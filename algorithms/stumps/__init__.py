"""Boosted decision stumps: search, weights of pairs, rounds, sampling, files."""
