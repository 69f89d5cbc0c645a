"""The ways to sample for AdaBoost.MH, by their names."""
