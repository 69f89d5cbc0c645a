"""What the paper's figures draw and claim; nothing here computes."""
