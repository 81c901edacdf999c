"""Money, prices and quantities: exact decimals kept as integers, never binary floats."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from types import MappingProxyType

# ISO 4217 without metals, funds, units of account and test codes.
_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_TWO_DECIMALS = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE
    CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR
    KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB
    PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY
    TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
"""
_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"

LARGEST = 2**53 - 1  # what every JSON reader holds exactly, and far inside a database's 64 bits
UNIT = 10_000  # prices, quantities and percentages are counts of such parts

CURRENCIES: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(_NO_DECIMALS.split(), 0)
    | dict.fromkeys(_TWO_DECIMALS.split(), 2)
    | dict.fromkeys(_THREE_DECIMALS.split(), 3)
)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in whole minor units (cents) of one currency."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        _decimals(self.currency)
        if not -LARGEST <= self.minor <= LARGEST:
            raise ValueError("The amount is too large.")

    @classmethod
    def parse(cls, text: str, currency: str) -> "Money":
        """Read a decimal such as `1190.00`, with at most the currency's decimals."""
        return cls(_parse(text, _decimals(currency)), currency)

    def text(self) -> str:
        """Write the amount with all of the currency's decimals."""
        return amount_text(self.minor, self.currency)


def round_half_away(value: Decimal, digits: int) -> Decimal:
    """Round to so many decimals, a half away from zero: 0.125 to 0.13 and -0.125 to -0.13."""
    if not value.is_finite():
        raise ValueError("Only a finite number can be rounded.")
    try:
        rounded = value.quantize(Decimal((0, (1,), -digits)), context=_WIDE)
    except InvalidOperation:
        raise ValueError("The number is too large.") from None
    return _WIDE.plus(rounded)  # plus turns -0.00 into 0.00


def spread(total: int, weights: Sequence[int]) -> list[int]:
    """Share a total out in proportion to signed weights, so that the parts sum to it exactly.

    A weight of the other sign gets a part of the other sign. Weights that cancel each other out have no proportion:
    there, only their sizes count.
    """
    whole = sum(weights)
    if not whole:
        weights = [abs(weight) for weight in weights] if any(weights) else [1] * len(weights)
        whole = sum(weights)
    if whole:
        return round_to_total([total * weight for weight in weights], whole, total)
    if total:
        raise ValueError("There is nothing to spread the total over.")
    return []


def round_to_total(numerators: Sequence[int], denominator: int, total: int) -> list[int]:
    """Round fractions to whole numbers that sum to a total (largest remainder, ties to the front).

    The total is the sum of the fractions, rounded. With every sign turned around, the parts are the same with their
    signs turned around: a credit note mirrors its invoice.
    """
    sign = 1 if denominator > 0 else -1
    parts, remainders = [], []
    for numerator in numerators:
        # Towards zero, so that a negative fraction mirrors a positive one.
        size, remainder = divmod(abs(numerator), abs(denominator))
        of_part = sign if numerator > 0 else -sign
        parts.append(of_part * size)
        remainders.append(of_part * remainder)
    left = total - sum(parts)
    step = 1 if left > 0 else -1
    by_remainder = sorted(range(len(parts)), key=lambda place: -step * remainders[place])
    for place in by_remainder[: abs(left)]:
        parts[place] += step
    return parts


def amount_text(minor: int, currency: str) -> str:
    """Write an amount in whole minor units with all of the currency's decimals."""
    return _text(minor, _decimals(currency))


def in_minor(price: int, currency: str) -> int:
    """An amount that was read as a price, in whole minor units; ValueError where it has more decimals than those."""
    digits = _decimals(currency)
    scale: int = 10**digits
    minor, rest = divmod(price * scale, UNIT)
    if rest:
        raise ValueError(f"has more than {digits} decimals" if digits else "has decimals")
    return minor


def in_parts(minor: int, currency: str) -> int:
    """An amount in whole minor units as a price is kept, the other way round: every currency's fit into its parts."""
    scale: int = 10 ** _decimals(currency)
    return minor * UNIT // scale


class TooLargeError(ValueError):
    """A number that is written as it should be, and is more than is kept."""


# Lines of documents cost the same again and again, and are read whenever something becomes of their document.
@lru_cache(4096)
def parse_price(text: str) -> int:
    """Read a price or quantity with at most 4 decimals as a count of 1/10,000."""
    stored = _parse(text, _PRICE_DIGITS)
    if not -LARGEST <= stored <= LARGEST:
        raise TooLargeError("The number is too large.")
    return stored


def price_text(stored: int) -> str:
    """Write a price or quantity with 2 to 4 decimals, as many as it needs."""
    text = _text(stored, _PRICE_DIGITS)
    return text[:-2] + text[-2:].rstrip("0")


def with_decimals(price: str, currency: str) -> str:
    """A price that was written, with all of the currency's decimals, and more where it needs them."""
    whole, _, part = price.partition(".")
    part = part.rstrip("0").ljust(_decimals(currency), "0")
    return f"{whole}.{part}" if part else whole


def _decimals(currency: str) -> int:
    if currency not in CURRENCIES:
        raise ValueError("The currency is not an active ISO 4217 code.")
    return CURRENCIES[currency]


def _parse(text: str, digits: int) -> int:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError("Write a plain decimal number such as 1190 or -0.5.")
    sign, whole, fraction = match.groups(default="")
    if len(whole) > _LONGEST:
        raise TooLargeError("The number is too large.")
    if len(text) > _LONGEST:
        raise ValueError("The number is too long.")
    if len(fraction) > digits:
        raise ValueError(f"At most {digits} decimals are allowed." if digits else "No decimals are allowed.")
    return int(sign + whole + fraction.ljust(digits, "0"))


def _text(stored: int, digits: int) -> str:
    if digits == 0:
        return str(stored)
    sign = "-" if stored < 0 else ""
    whole, fraction = divmod(abs(stored), 10**digits)
    return f"{sign}{whole}.{fraction:0{digits}d}"


_PRICE_DIGITS = 4
_LONGEST = 40  # far beyond the largest number; spares reading thousands of digits
_DECIMAL = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")
_WIDE = Context(prec=400, rounding=ROUND_HALF_UP, traps=[InvalidOperation])  # the usual 28 digits would round twice
