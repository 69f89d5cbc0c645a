"""What the CEGB artefacts' pictures share; nothing here measures."""
