"""How the Greedy Miser artefacts are declared and drawn; nothing here measures."""
