"""What all estimators share: fitting boosted trees, checked parameters, files."""
