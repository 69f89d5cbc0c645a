"""What the cells of the adaptive-sampling artefacts measure; nothing here draws."""
