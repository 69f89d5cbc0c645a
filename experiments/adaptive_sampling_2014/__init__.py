"""Adaptive sampling for large scale boosting (Dubout & Fleuret, JMLR 2014)."""
