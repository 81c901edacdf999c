"""The codes that EN 16931 uses for tax categories, address schemes and units."""

from collections.abc import Mapping
from types import MappingProxyType

# UNTDID 5305.
TAX_CATEGORY_CODES: Mapping[str, str] = MappingProxyType(
    {"standard": "S", "zero": "Z", "exempt": "E", "reverseCharge": "AE", "outside": "O"}
)

# The schemes of electronic addresses (EAS). Those with letters are other networks than Peppol, such as email.
_SCHEMES = """
    0002 0007 0009 0037 0060 0088 0096 0097 0106 0130 0135 0142 0147 0151 0154 0158 0170 0177 0183 0184 0188 0190 0191
    0192 0193 0194 0195 0196 0198 0199 0200 0201 0202 0203 0204 0205 0208 0209 0210 0211 0212 0213 0215 0216 0217 0218
    0219 0220 0221 0225 0230 0235 0240 0242 0244 0245 0246 0248 9910 9913 9914 9915 9918 9919 9920 9922 9923 9924 9925
    9926 9927 9928 9929 9930 9931 9932 9933 9934 9935 9936 9937 9938 9939 9940 9941 9942 9943 9944 9945 9946 9947 9948
    9949 9950 9951 9952 9953 9957 9959
"""
PEPPOL_SCHEMES = frozenset(_SCHEMES.split())
ADDRESS_SCHEMES = PEPPOL_SCHEMES | {"AN", "AQ", "AS", "AU", "EM"}

# Currencies that are in ISO 4217, but not in the code lists of the validation rules.
UNLISTED_CURRENCIES = frozenset({"STN"})

# Codes of UN/ECE Recommendation 20, with the words that people write for them in the five languages of documents.
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
_CODE_BY_WORD = {word: code for code, words in _UNITS.items() for word in words.split()}


def unit_code(unit: str | None) -> str:
    """Return the code of a unit. An unknown unit gets the code for "one"."""
    return _CODE_BY_WORD.get((unit or "").strip().rstrip(".").lower(), "C62")
