"""Preregistered claims: what a paper itself puts forward, each answered by one pooled effect."""
