"""Fast classification using sparse decision DAGs (ICML 2012): its figures."""
