"""Cascades whose stages are stumps or single trees: Viola-Jones, FCBoost, Bourdev-Brandt."""
