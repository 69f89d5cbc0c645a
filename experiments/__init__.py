"""Experiments: one folder per paper, one file per figure or table, and their runner."""
