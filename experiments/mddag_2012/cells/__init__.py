"""What the paper's figures measure; nothing here draws."""
