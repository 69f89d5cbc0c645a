"""What is told and watched after each round of boosting."""
