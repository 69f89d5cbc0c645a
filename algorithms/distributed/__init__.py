"""Training on rows that the workers of a Dask cluster hold: the model of one machine, bit for bit.

Sums are integers on a grid (DESIGN §4), so histograms of any number of workers add up to the same
bits in any order. Rows never move: a worker answers what is asked of its own, and the process that
called `fit` decides every split with the code that decides it on one machine. Transport, and who is
alive, is Dask's business alone.
"""
