"""How methods are built and searched, alike in figures, ``compare`` and the leaderboard."""
