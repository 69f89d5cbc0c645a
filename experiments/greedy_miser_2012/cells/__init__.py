"""What the cells of the Greedy Miser artefacts measure; nothing here draws."""
