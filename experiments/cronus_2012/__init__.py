"""Cronus (AISTATS 2012): its figures, and what stands beside them."""
