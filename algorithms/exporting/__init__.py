"""Boosted trees in other forms: ONNX, LightGBM's text, and plain C that makes the bill, too."""

from .c_source import export_c
from .lightgbm_text import export_lightgbm
from .onnx_model import export_onnx

__all__ = ["export_c", "export_lightgbm", "export_onnx"]
