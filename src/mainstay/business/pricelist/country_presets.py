"""What is usual for a firm in a country: its tax rates, its payment terms and the language of its documents.

These are proposals. A person looks at them before they are saved.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mainstay.documents.snapshot import Language, TaxCategory


class RatePreset(NamedTuple):
    """A tax rate: its name, its taxes, and its category for the tax office."""

    name: str
    # The name and the percentage of each tax.
    taxes: tuple[tuple[str, str], ...]
    category: TaxCategory = "standard"

    def to_input(self, *, is_default: bool) -> dict[str, Any]:
        """Return the input that saves the rate."""
        taxes = [{"name": name, "percent": percent} for name, percent in self.taxes]
        return {"name": self.name, "category": self.category, "components": taxes, "isDefault": is_default}


class CountryPreset(NamedTuple):
    """The usual settings in a country. Its first rate is the default."""

    language: Language
    payment_terms_days: int
    rates: tuple[RatePreset, ...]


def _rates(tax: str, *percents: str, zero: bool = False) -> tuple[RatePreset, ...]:
    """Return the rates of a country with one tax, the usual one first."""
    rates = tuple(RatePreset(f"{tax} {percent}%", ((tax, percent),)) for percent in percents)
    return (*rates, RatePreset(f"{tax} 0%", ((tax, "0"),), "zero")) if zero else rates


# For firms that charge no tax.
NO_TAX = RatePreset("No tax", (("Tax", "0"),), "outside")
COUNTRY_PRESETS: Mapping[str, CountryPreset] = {
    "AT": CountryPreset("de", 14, _rates("USt", "20", "13", "10")),
    "AU": CountryPreset("en", 14, _rates("GST", "10", zero=True)),
    "BE": CountryPreset("nl", 30, _rates("btw", "21", "12", "6", zero=True)),
    "CA": CountryPreset(
        "en",
        30,
        (
            *_rates("GST", "5"),
            *_rates("HST", "13", "14", "15"),
            RatePreset("GST 5% + PST 7%", (("GST", "5"), ("PST", "7"))),
            RatePreset("GST 5% + QST 9.975%", (("GST", "5"), ("QST", "9.975"))),
        ),
    ),
    "CH": CountryPreset("de", 30, _rates("MWST", "8.1", "2.6")),
    "DE": CountryPreset("de", 14, _rates("USt", "19", "7")),
    "DK": CountryPreset("en", 14, _rates("moms", "25")),
    "ES": CountryPreset("es", 30, _rates("IVA", "21", "10", "4")),
    "FR": CountryPreset("fr", 30, _rates("TVA", "20", "10", "5.5")),
    "GB": CountryPreset("en", 14, _rates("VAT", "20", "5", zero=True)),
    "IE": CountryPreset("en", 30, _rates("VAT", "23", "13.5", "9", zero=True)),
    "IT": CountryPreset("en", 30, _rates("IVA", "22", "10", "4")),
    "LU": CountryPreset("fr", 30, _rates("TVA", "17", "14", "8", "3")),
    "NL": CountryPreset("nl", 14, _rates("btw", "21", "9", zero=True)),
    "NO": CountryPreset("en", 14, _rates("mva", "25", "15", "12")),
    "NZ": CountryPreset("en", 14, _rates("GST", "15", zero=True)),
    "PL": CountryPreset("en", 14, _rates("VAT", "23", "8", "5")),
    "PT": CountryPreset("en", 30, _rates("IVA", "23", "13", "6")),
    "SE": CountryPreset("en", 30, _rates("moms", "25", "12", "6")),
    # Sales tax depends on the state, the county and the work, so each firm adds its own.
    "US": CountryPreset("en", 30, ()),
}
