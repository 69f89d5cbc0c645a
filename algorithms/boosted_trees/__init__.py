"""What the estimators of boosted trees share: the estimator, its two tasks, its files."""
