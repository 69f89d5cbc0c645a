"""How methods of other libraries are built, alike in figures, ``compare`` and leaderboard."""
