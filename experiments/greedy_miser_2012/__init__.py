"""The Greedy Miser (ICML 2012): its figures, and what stands beside them."""
