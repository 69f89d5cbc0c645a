"""The leaderboard: every method on every real data set of the suite, under one meter."""
