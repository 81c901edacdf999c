"""What the codes of EN 16931 are for what we keep in words."""

from collections.abc import Mapping
from types import MappingProxyType

# UNTDID 5305.
CATEGORIES: Mapping[str, str] = MappingProxyType(
    {"standard": "S", "zero": "Z", "exempt": "E", "reverseCharge": "AE", "outside": "O"}
)

# UN/ECE Recommendation 20, by what people write in the five languages of documents.
_UNITS = {
    "H87": "pc pcs piece pieces ea each stk stück st stuk stuks pce pièce pièces ud uds unidad unidades u unit units",
    "HUR": "h hr hrs hour hours std stunde stunden heure heures uur uren hora horas",
    "MIN": "min minute minutes minuten minuut minuto minutos",
    "DAY": "d day days tag tage jour jours dag dagen día días dia dias",
    "WEE": "week weeks woche wochen semaine semaines weken semana semanas",
    "MON": "month months monat monate mois maand maanden mes meses",
    "ANN": "year years jahr jahre an ans année années jaar año años",
    "MTR": "m metre metres meter meters mètre mètres metro metros lm lfm ml",
    "MMT": "mm",
    "CMT": "cm",
    "KMT": "km kilometre kilometres kilometer kilometers kilomètre kilomètres kilómetro kilómetros",
    "SMI": "mi mile miles",
    "FOT": "ft foot feet",
    "INH": "in inch inches zoll pouce",
    "YRD": "yd yard yards",
    "MTK": "m² m2 qm sqm",
    "FTK": "ft² ft2 sqft",
    "MTQ": "m³ m3 cbm",
    "LTR": "l lt ltr litre litres liter liters litro litros",
    "GRM": "g gram grams gramm gramme grammes",
    "KGM": "kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes",
    "TNE": "t to tonne tonnes ton tons tonelada toneladas",
    "LBR": "lb lbs pound pounds",
    "KWH": "kwh",
    "SET": "set sets satz sätze",
    "PR": "pair pairs paar paire paires par pares",
    "XBX": "box boxes karton kartons boîte boîtes doos dozen caja cajas",
    "XRO": "roll rolls rolle rollen rouleau rouleaux rol rollo rollos",
    "XBG": "bag bags sack säcke sac sacs zak zakken saco sacos",
    "XPA": "pack packs packung packungen paquet paquets pak pakken paquete paquetes",
    "LS": "lump ls pauschal psch pausch forfait ens global lump-sum",
}
_BY_WORD = {word: code for code, words in _UNITS.items() for word in words.split()}


def unit_code(unit: str | None) -> str:
    """The code of a unit; of one that nobody counts in, the code for one."""
    return _BY_WORD.get((unit or "").strip().rstrip(".").lower(), "C62")
