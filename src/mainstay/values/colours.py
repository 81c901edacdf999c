"""Colours that people pick by name: distinct from each other, and readable next to white and black."""

from collections.abc import Mapping
from types import MappingProxyType

# The name of each colour by its code.
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "#0072c3": "Blue",
        "#33b1ff": "Light blue",
        "#007d79": "Teal",
        "#24a148": "Green",
        "#0e6027": "Dark green",
        "#b28600": "Gold",
        "#ff832b": "Orange",
        "#da1e28": "Red",
        "#9f1853": "Burgundy",
        "#d12771": "Pink",
        "#8a3ffc": "Purple",
        "#6f6f6f": "Grey",
    }
)
