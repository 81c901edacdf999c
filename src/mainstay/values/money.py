"""Money, prices and quantities: exact decimals held as integers, never as binary floats."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import lru_cache
from types import MappingProxyType

from mainstay.values.message import Message

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

MAX_STORED = 2**53 - 1  # every JSON reader holds it exactly, and a database's 64 bits are far larger
UNIT = 10_000  # prices, quantities and percentages are counts of such parts

CURRENCIES: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(_NO_DECIMALS.split(), 0)
    | dict.fromkeys(_TWO_DECIMALS.split(), 2)
    | dict.fromkeys(_THREE_DECIMALS.split(), 3)
)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in whole minor units, such as cents, of one currency."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        _decimals_of(self.currency)
        if not -MAX_STORED <= self.minor <= MAX_STORED:
            raise ValueError(Message("The amount is too large."))

    @classmethod
    def parse(cls, text: str, currency: str) -> "Money":
        """Parse a decimal such as `1190.00`, with at most the currency's number of decimals."""
        return cls(_parse_decimal(text, _decimals_of(currency)), currency)

    def to_text(self) -> str:
        """Return the amount with all of the currency's decimals."""
        return amount_text(self.minor, self.currency)


def round_half_away(value: Decimal, digits: int) -> Decimal:
    """Round to this number of decimals, a half away from zero: 0.125 to 0.13 and -0.125 to -0.13."""
    if not value.is_finite():
        raise ValueError("Only a finite number can be rounded.")
    try:
        rounded = value.quantize(Decimal((0, (1,), -digits)), context=_WIDE_CONTEXT)
    except InvalidOperation:
        raise ValueError(Message("The number is too large.")) from None
    return _WIDE_CONTEXT.plus(rounded)  # plus turns -0.00 into 0.00


def spread_total(total: int, weights: Sequence[int]) -> list[int]:
    """Share a total out in proportion to signed weights, so that the parts add up to it exactly.

    A weight of the opposite sign gets a part of the opposite sign. If the weights add up to zero, only their sizes
    count.
    """
    weight_sum = sum(weights)
    if not weight_sum:
        weights = [abs(weight) for weight in weights] if any(weights) else [1] * len(weights)
        weight_sum = sum(weights)
    if weight_sum:
        return round_to_total([total * weight for weight in weights], weight_sum, total)
    if total:
        raise ValueError("There is nothing to spread the total over.")
    return []


def round_to_total(numerators: Sequence[int], denominator: int, total: int) -> list[int]:
    """Round fractions to whole numbers that add up to a total (largest remainder, ties to the front).

    The total is the sum of the fractions, rounded. If every sign is reversed, the parts are the same with reversed
    signs, so that a credit note mirrors its invoice.
    """
    sign = 1 if denominator > 0 else -1
    parts, remainders = [], []
    for numerator in numerators:
        # Towards zero, so that a negative fraction mirrors a positive one.
        size, remainder = divmod(abs(numerator), abs(denominator))
        part_sign = sign if numerator > 0 else -sign
        parts.append(part_sign * size)
        remainders.append(part_sign * remainder)
    remaining = total - sum(parts)
    step = 1 if remaining > 0 else -1
    by_remainder = sorted(range(len(parts)), key=lambda position: -step * remainders[position])
    for position in by_remainder[: abs(remaining)]:
        parts[position] += step
    return parts


def amount_text(minor: int, currency: str) -> str:
    """Return an amount in whole minor units with all of the currency's decimals."""
    return _decimal_text(minor, _decimals_of(currency))


def price_to_minor(price: int, currency: str) -> int:
    """Convert an amount that was parsed as a price to whole minor units.

    Raise ValueError if it has more decimals than the currency.
    """
    digits = _decimals_of(currency)
    scale: int = 10**digits
    minor, remainder = divmod(price * scale, UNIT)
    if remainder:
        raise ValueError(
            Message("has more than {digits} decimals", digits=digits) if digits else Message("has decimals")
        )
    return minor


def minor_to_price(minor: int, currency: str) -> int:
    """Convert an amount in whole minor units to the integer form of a price; this is exact for every currency."""
    scale: int = 10 ** _decimals_of(currency)
    return minor * UNIT // scale


class TooLargeError(ValueError):
    """A well-formed number is larger than can be stored."""


# Document lines repeat the same prices, and are read on every change of their document.
@lru_cache(4096)
def parse_price(text: str) -> int:
    """Parse a price or quantity with at most 4 decimals as a count of 1/10,000."""
    stored = _parse_decimal(text, _PRICE_DIGITS)
    if not -MAX_STORED <= stored <= MAX_STORED:
        raise TooLargeError(Message("The number is too large."))
    return stored


def price_text(stored: int) -> str:
    """Return a price or quantity with 2 to 4 decimals, as many as it needs."""
    text = _decimal_text(stored, _PRICE_DIGITS)
    return text[:-2] + text[-2:].rstrip("0")


def pad_decimals(price: str, currency: str) -> str:
    """Return a price text with all of the currency's decimals, and more if the price needs them."""
    whole, _, part = price.partition(".")
    part = part.rstrip("0").ljust(_decimals_of(currency), "0")
    return f"{whole}.{part}" if part else whole


def _decimals_of(currency: str) -> int:
    if currency not in CURRENCIES:
        raise ValueError(Message("The currency is not an active ISO 4217 code."))
    return CURRENCIES[currency]


def _parse_decimal(text: str, digits: int) -> int:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError(Message("Write a plain decimal number such as 1190 or -0.5."))
    sign, whole, fraction = match.groups(default="")
    if len(whole) > _MAX_LENGTH:
        raise TooLargeError(Message("The number is too large."))
    if len(text) > _MAX_LENGTH:
        raise ValueError(Message("The number is too long."))
    if len(fraction) > digits:
        raise ValueError(
            Message("At most {digits} decimals are allowed.", digits=digits)
            if digits
            else Message("No decimals are allowed.")
        )
    return int(sign + whole + fraction.ljust(digits, "0"))


def _decimal_text(stored: int, digits: int) -> str:
    if digits == 0:
        return str(stored)
    sign = "-" if stored < 0 else ""
    whole, fraction = divmod(abs(stored), 10**digits)
    return f"{sign}{whole}.{fraction:0{digits}d}"


_PRICE_DIGITS = 4
_MAX_LENGTH = 40  # far beyond the largest number; spares reading thousands of digits
_DECIMAL = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")
_WIDE_CONTEXT = Context(
    prec=400, rounding=ROUND_HALF_UP, traps=[InvalidOperation]
)  # the usual 28 digits would round twice
