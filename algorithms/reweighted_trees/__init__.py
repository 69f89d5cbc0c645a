"""Cascades that give weights to the trees of a forest: Cronus, the soft cascade, and AND-OR."""
