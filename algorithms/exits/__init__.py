"""Rows that leave a model early: any fitted additive model, its stages, and the walk along them."""
