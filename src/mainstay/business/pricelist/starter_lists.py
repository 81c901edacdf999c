"""Price lists to begin with, one for each trade. They have no prices: only the firm knows its own."""

from typing import Any, NamedTuple

from mainstay.business.pricelist.model import ItemKind


class StarterItem(NamedTuple):
    """An item: its name, type and unit."""

    name: str
    kind: ItemKind
    unit: str

    def to_input(self, name: str) -> dict[str, Any]:
        """Return the input that saves the item under this name, in the language of the person."""
        return {"name": name, "kind": self.kind, "unit": self.unit}


class StarterList(NamedTuple):
    """The items of a trade."""

    title: str
    items: tuple[StarterItem, ...]


STARTER_LISTS: dict[str, StarterList] = {
    "plumbing": StarterList(
        "Plumbing and heating",
        (
            StarterItem("Plumber", "labour", "h"),
            StarterItem("Heating engineer", "labour", "h"),
            StarterItem("Call-out", "fee", "each"),
            StarterItem("Boiler service", "service", "each"),
            StarterItem("Gas safety check", "service", "each"),
            StarterItem("Unblock a drain", "service", "each"),
            StarterItem("Replace a tap", "service", "each"),
            StarterItem("Radiator", "material", "each"),
            StarterItem("Thermostatic radiator valve", "material", "each"),
            StarterItem("Copper pipe, 15 mm", "material", "m"),
        ),
    ),
    "electrical": StarterList(
        "Electrical",
        (
            StarterItem("Electrician", "labour", "h"),
            StarterItem("Electrician's mate", "labour", "h"),
            StarterItem("Call-out", "fee", "each"),
            StarterItem("Electrical safety report", "service", "each"),
            StarterItem("Fault finding", "service", "h"),
            StarterItem("Install a socket", "service", "each"),
            StarterItem("Install a light fitting", "service", "each"),
            StarterItem("Replace a fuse board", "service", "each"),
            StarterItem("Smoke alarm", "material", "each"),
            StarterItem("Cable, 2.5 mm²", "material", "m"),
        ),
    ),
    "painting": StarterList(
        "Painting and decorating",
        (
            StarterItem("Painter", "labour", "h"),
            StarterItem("Paint walls, two coats", "service", "m²"),
            StarterItem("Paint a ceiling", "service", "m²"),
            StarterItem("Paint a door, both sides", "service", "each"),
            StarterItem("Paint a window frame", "service", "each"),
            StarterItem("Hang wallpaper", "service", "m²"),
            StarterItem("Fill and sand", "service", "m²"),
            StarterItem("Wall paint", "material", "l"),
            StarterItem("Primer", "material", "l"),
            StarterItem("Scaffold tower", "fee", "day"),
        ),
    ),
    "carpentry": StarterList(
        "Carpentry and joinery",
        (
            StarterItem("Carpenter", "labour", "h"),
            StarterItem("Hang a door", "service", "each"),
            StarterItem("Fit skirting board", "service", "m"),
            StarterItem("Lay a wooden floor", "service", "m²"),
            StarterItem("Fit a kitchen unit", "service", "each"),
            StarterItem("Build a stud wall", "service", "m²"),
            StarterItem("Repair a window", "service", "each"),
            StarterItem("Internal door", "material", "each"),
            StarterItem("Timber, planed", "material", "m"),
            StarterItem("Removal and disposal of waste", "fee", "each"),
        ),
    ),
    "landscaping": StarterList(
        "Gardening and landscaping",
        (
            StarterItem("Gardener", "labour", "h"),
            StarterItem("Mow a lawn", "service", "each"),
            StarterItem("Cut a hedge", "service", "m"),
            StarterItem("Lay turf", "service", "m²"),
            StarterItem("Lay paving", "service", "m²"),
            StarterItem("Fence panel, fitted", "service", "each"),
            StarterItem("Turf", "material", "m²"),
            StarterItem("Topsoil", "material", "m³"),
            StarterItem("Mini digger", "fee", "day"),
            StarterItem("Removal of green waste", "fee", "each"),
        ),
    ),
    "cleaning": StarterList(
        "Cleaning",
        (
            StarterItem("Cleaner", "labour", "h"),
            StarterItem("Regular clean", "service", "h"),
            StarterItem("Deep clean", "service", "h"),
            StarterItem("End of tenancy clean", "service", "each"),
            StarterItem("Office clean", "service", "h"),
            StarterItem("Carpet clean", "service", "m²"),
            StarterItem("Oven clean", "service", "each"),
            StarterItem("Windows, inside and outside", "service", "each"),
            StarterItem("Cleaning products", "material", "each"),
            StarterItem("Travel", "fee", "each"),
        ),
    ),
}
