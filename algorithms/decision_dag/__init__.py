"""Decision DAGs of base classifiers: states, rewards, and policies learned over them (MDDAG)."""
