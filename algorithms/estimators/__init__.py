"""What all estimators share: checked parameters, fits that change all or nothing, files."""
