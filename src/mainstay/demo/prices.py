"""The price list of the demo: tax rates, suppliers, items and kits of a plumbing firm."""

from collections.abc import Iterator
from typing import Any

from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.demo.performing import DemoPerformer
from mainstay.vocabulary.actor import Actor

_TAXES: tuple[dict[str, Any], ...] = (
    {"name": "VAT 20%", "components": [{"name": "VAT", "percent": "20"}], "isDefault": True},
    {"name": "VAT 5 %", "components": [{"name": "VAT", "percent": "5"}], "note": "Energy-saving materials, installed."},
    {
        "name": "Reverse charge",
        "category": "reverseCharge",
        "components": [{"name": "VAT", "percent": "0"}],
        "note": "Domestic reverse charge: the customer accounts for the VAT.",
    },
)
_REDUCED_RATE = "VAT 5 %"
# By key: the name, town and payment days of a supplier.
_SUPPLIERS = {
    "pennine": ("Pennine Plumbing Supplies", "Halifax", 30),
    "boiler": ("The Boiler Depot", "Leeds", 30),
    "calder": ("Calder Copper and Fittings", "Brighouse", 30),
    "bath": ("Aire Valley Bathrooms", "Bradford", 14),
    "tile": ("Colne Tile Works", "Huddersfield", 14),
    "heat": ("Northern Heat Pumps", "Manchester", 45),
    "drain": ("Ryburn Drainage", "Elland", 30),
    "tool": ("Shibden Tool Hire", "Halifax", 7),
}
# Code, name, unit, price, cost and, for materials, the key of the supplier.
_LABOUR = (
    ("LAB-ENG", "Heating engineer", "h", "62.00", "24.50"),
    ("LAB-PLB", "Plumber", "h", "54.00", "21.00"),
    ("LAB-APP", "Apprentice", "h", "32.00", "12.00"),
    ("LAB-TIL", "Tiler", "h", "58.00", "35.00"),
    ("LAB-OUT", "Engineer, evenings and weekends", "h", "93.00", "36.75"),
)
_SERVICES = (
    ("SRV-BLR", "Annual boiler service", "pcs", "95.00", "28.00"),
    ("SRV-CYL", "Unvented cylinder service", "pcs", "140.00", "42.00"),
    ("SRV-GAS", "Landlord gas safety check", "pcs", "78.00", "24.00"),
    ("SRV-FLU", "Power flush, up to ten radiators", "pcs", "420.00", "145.00"),
    ("SRV-CAM", "Drain survey by camera", "pcs", "165.00", "60.00"),
)
_FEES = (
    ("FEE-CALL", "Call-out", "pcs", "45.00", None),
    ("FEE-WASTE", "Removal and disposal of waste", "pcs", "60.00", "38.00"),
    ("FEE-PARK", "Parking", "day", "12.50", "12.50"),
)
_MATERIALS = (
    ("BLR-24", "Combi boiler, 24 kW", "pcs", "890.00", "612.50", "boiler"),
    ("BLR-30", "Combi boiler, 30 kW", "pcs", "1040.00", "724.00", "boiler"),
    ("BLR-FLUE", "Horizontal flue", "pcs", "92.00", "58.40", "boiler"),
    ("THERM-S", "Smart thermostat", "pcs", "189.00", "121.00", "boiler"),
    ("FLT-22", "Magnetic filter, 22 mm", "pcs", "124.00", "79.50", "pennine"),
    ("INHIB", "Inhibitor, 1 l", "pcs", "21.50", "11.80", "pennine"),
    ("RAD-600", "Radiator, 600 x 1000 mm", "pcs", "118.00", "71.00", "pennine"),
    ("TRV-15", "Thermostatic radiator valve, 15 mm", "pcs", "26.00", "14.20", "pennine"),
    ("TAP-OUT", "Outside tap", "pcs", "18.40", "9.65", "pennine"),
    ("STOP-15", "Stopcock, 15 mm", "pcs", "11.20", "5.85", "pennine"),
    ("PIPE-15", "Copper pipe, 15 mm", "m", "5.10", "2.7425", "calder"),
    ("PIPE-22", "Copper pipe, 22 mm", "m", "9.80", "5.3175", "calder"),
    ("PIPE-28", "Copper pipe, 28 mm", "m", "14.60", "8.2250", "calder"),
    ("FIT-22", "Elbow, 22 mm", "pcs", "2.40", "1.0650", "calder"),
    ("LAG-22", "Pipe lagging, 22 mm", "m", "1.85", "0.7125", "calder"),
    ("BATH-17", "Bath, 1700 mm", "pcs", "265.00", "158.00", "bath"),
    ("BASIN", "Basin with pedestal", "pcs", "142.00", "83.00", "bath"),
    ("TOILET", "Close-coupled toilet", "pcs", "198.00", "117.00", "bath"),
    ("SHOWER", "Thermostatic shower", "pcs", "229.00", "139.00", "bath"),
    ("TILE-W", "Wall tiles, white, 200 x 250 mm", "m2", "32.00", "16.40", "tile"),
    ("ADHES", "Tile adhesive, 20 kg", "pcs", "27.50", "15.90", "tile"),
    ("HP-8", "Air source heat pump, 8 kW", "pcs", "4650.00", "3420.00", "heat"),
    ("CYL-210", "Hot water cylinder, 210 l", "pcs", "1380.00", "985.00", "heat"),
    ("ROD-SET", "Drain rods, a day's hire", "day", "24.00", "14.00", "tool"),
    ("GULLY", "Yard gully with grate", "pcs", "46.00", "27.30", "drain"),
)
# Energy-saving materials.
_REDUCED_CODES = {"HP-8", "CYL-210", "LAG-22"}
# Code, name, description for customers, own price if it has one, and the quantity of each item.
_KITS: tuple[tuple[str, str, str, str | None, dict[str, str]], ...] = (
    (
        "KIT-BLR",
        "New combi boiler, fitted",
        "Boiler with flue and filter, old one removed, system filled and commissioned.",
        "2450.00",
        {"BLR-30": "1", "BLR-FLUE": "1", "FLT-22": "1", "INHIB": "1", "PIPE-22": "6", "LAB-ENG": "14",
         "FEE-WASTE": "1"},
    ),
    (
        "KIT-RAD",
        "New radiator, fitted",
        "Radiator with thermostatic valve on pipes that are there.",
        None,
        {"RAD-600": "1", "TRV-15": "2", "INHIB": "0.5", "LAB-ENG": "2.5"},
    ),
    (
        "KIT-TAP",
        "Outside tap, fitted",
        "With stopcock and up to three metres of pipe.",
        "120.00",
        {"TAP-OUT": "1", "STOP-15": "1", "PIPE-15": "3", "LAB-PLB": "1.25"},
    ),
    (
        "KIT-BATH",
        "New bathroom",
        "Bath, basin, toilet and shower, tiled around.",
        None,
        {"BATH-17": "1", "BASIN": "1", "TOILET": "1", "SHOWER": "1", "TILE-W": "14", "ADHES": "3", "LAB-PLB": "32",
         "LAB-TIL": "24", "FEE-WASTE": "2"},
    ),
    (
        "KIT-HP",
        "Heat pump, installed",
        "Heat pump with cylinder, lagged, commissioned and explained.",
        "9800.00",
        {"HP-8": "1", "CYL-210": "1", "PIPE-28": "18", "LAG-22": "18", "THERM-S": "1", "LAB-ENG": "46"},
    ),
)  # fmt: skip


def make_prices(performer: DemoPerformer, owner: Actor, office: Actor) -> Iterator[int]:
    """Save the tax rates as the owner, and the suppliers, items and kits as the office; yield 0 jobs now and then."""
    rates = {rate["name"]: performer.perform(save_tax_rate, owner, **rate)["id"] for rate in _TAXES}
    suppliers = {
        word: performer.perform(save_supplier, office, **_supplier_input(number, *details))["id"]
        for number, (word, details) in enumerate(_SUPPLIERS.items(), 1)
    }
    simple_items = [
        *((row, "labour", None) for row in _LABOUR),
        *((row, "service", None) for row in _SERVICES),
        *((row, "fee", None) for row in _FEES),
        *((row[:5], "material", suppliers[row[5]]) for row in _MATERIALS),
    ]
    for (code, name, unit, price, cost), kind, supplier in simple_items:
        fields = {"code": code, "name": name, "kind": kind, "unit": unit, "sellPrice": price, "costPrice": cost}
        rate = rates[_REDUCED_RATE] if code in _REDUCED_CODES else None
        performer.perform(save_price_item, office, **fields, supplierId=supplier, taxRateId=rate)
        yield 0
    for code, name, description, own_price, parts in _KITS:
        fields = {"code": code, "name": name, "description": description, "kind": "service", "unit": "pcs"}
        components = [{"itemId": part, "quantity": quantity} for part, quantity in parts.items()]
        performer.perform(save_price_item, office, **fields, sellPrice=own_price, components=components)


def _supplier_input(number: int, name: str, town: str, days: int) -> dict[str, Any]:
    mailbox = "".join(char for char in name.lower() if char.isalnum())
    return {
        "name": name,
        "email": f"orders@{mailbox}.example",
        "phone": f"+44 1422 555 09{number:02d}",
        "address": {"line1": f"Unit {number}, Trade Park", "city": town, "country": "GB"},
        "accountNumber": f"HAR{number:03d}",
        "paymentTermsDays": days,
    }
