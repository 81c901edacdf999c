"""Prices as people and their files write them, into the one way in which operations take them.

Only what has one meaning is rewritten: `12,50`, `1 250`, `1.250,50`. Anything else goes on as it is, to be refused in
words: `1,250` is a thousand to some and a little more than one to others.
"""

import re

_GAP = "[ \u00a0\u2009\u202f'\u2019]"
# The whole and, where there is one, the part behind the decimal sign.
_PRICES = tuple(
    re.compile(form)
    for form in (
        rf"([0-9]{{1,3}}(?:{_GAP}[0-9]{{3}})+)(?:[.,]([0-9]{{1,4}}))?",
        r"([0-9]+),([0-9]{1,2}|[0-9]{4})",
        r"([0-9]{1,3}(?:\.[0-9]{3})+),([0-9]{1,4})",
        r"([0-9]{1,3}(?:,[0-9]{3})+)\.([0-9]{1,4})",
    )
)


def plain_price(written: str) -> str:
    """A price as a plain decimal, if it can be nothing else."""
    for form in _PRICES:
        if found := form.fullmatch(written.strip()):
            whole, part = re.sub("[^0-9]", "", found[1]), found[2]
            return f"{whole}.{part}" if part else whole
    return written
