"""What the cells of the CEGB artefacts measure; nothing here draws."""
