"""What the cells of the Cronus artefacts measure; nothing here draws."""
