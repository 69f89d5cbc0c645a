"""Cost efficient gradient boosting (Peter, Diego, Hamprecht & Nadler, NIPS 2017)."""
