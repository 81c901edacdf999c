"""What a job's hours and materials come to before tax, where prices are told with it."""

from collections import defaultdict
from collections.abc import Sequence

from mainstay.business.costing.store import Taken
from mainstay.business.lines.pricing import PriceBook
from mainstay.values.money import spread
from mainstay.values.totals import rounded


def before_tax(prices: PriceBook, unit: int, parts: Sequence[Taken]) -> list[Taken]:
    """Hours and materials with what they come to before tax: together what one invoice of them all would say."""
    rates = [one.tax_rate_id or prices.usual_rate for one in parts]
    values = _shared_out(prices, unit, rates, [one.value for one in parts])
    unbilled = _shared_out(prices, unit, rates, [one.unbilled for one in parts])
    return [one._replace(value=value, unbilled=left) for one, value, left in zip(parts, values, unbilled, strict=True)]


def _shared_out(prices: PriceBook, unit: int, rates: Sequence[str | None], amounts: Sequence[int]) -> list[int]:
    """Amounts before tax: the tax is taken out of all that is taxed at one rate, and rounded once."""
    places: defaultdict[str | None, list[int]] = defaultdict(list)
    for place, rate in enumerate(rates):
        places[rate].append(place)
    net = dict[int, int]()
    for rate, those in places.items():
        told = [amounts[place] for place in those]
        whole = prices.as_told_here(rounded(sum(told), unit), rate)
        net |= zip(those, (share * unit for share in spread(whole, told)), strict=True)
    return [net[place] for place in range(len(amounts))]
