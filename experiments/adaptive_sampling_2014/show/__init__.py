"""What the adaptive-sampling pictures, tables and claims share; nothing here measures."""
