"""How the Cronus artefacts are declared and drawn; nothing here measures."""
