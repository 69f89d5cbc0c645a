"""Cells that artefacts of several papers share; nothing here draws."""
