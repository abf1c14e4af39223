"""Where a library's functions lie, how hot they are, and whether that is what layouts/ asks for."""

from pipeline.layout.heat import read_heat
from pipeline.toolchain.text_map import find_debug_file, read_text_map
from pipeline.toolchain.text_model import Function, Heat, Section, TextMap

__all__ = [
    "Function",
    "Heat",
    "Section",
    "TextMap",
    "find_debug_file",
    "read_heat",
    "read_text_map",
]
