"""Prices as people and their files write them, into the one way in which operations take them.

Only what has one meaning is rewritten: `12,50`, `1 250`, `1.250,50`. Anything else goes on as it is, to be refused in
words: `1,250` is a thousand to some and a little more than one to others. Where it is known who wrote it, their country
says which.
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
    sign, text = _signed(written)
    for form in _PRICES:
        if found := form.fullmatch(text):
            whole, part = re.sub("[^0-9]", "", found[1]), found[2]
            return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"
    return written


def plain_amount(written: str, country: str) -> str:
    """An amount as a plain decimal; the country of who wrote it says what a sign with three digits behind it is."""
    sign, text = _signed(written)
    return sign + _amount(text, country)


def is_unclear(written: str, country: str | None) -> bool:
    """Whether what a program may have written as `1.250` is a thousand and more to people of a country."""
    return country in _DECIMAL_COMMA and _DOTS.fullmatch(written) is not None and written.count(".") == 1


def typed_amount(plain: str, country: str) -> str:
    """A plain decimal as it stands where someone of a country types, and is read there as the same again."""
    return plain.replace(".", ",") if country in _DECIMAL_COMMA else plain


def _signed(written: str) -> tuple[str, str]:
    """The sign, and what stands behind it."""
    text = written.strip()
    return ("-", text[1:].lstrip()) if text.startswith(("-", "\N{MINUS SIGN}")) else ("", text)


def _amount(text: str, country: str) -> str:
    whole = _DOTS if country in _DECIMAL_COMMA else _COMMAS
    if whole.fullmatch(text) or _SEVERAL_GROUPS.fullmatch(text):
        return re.sub("[.,]", "", text)
    if _BARE_PART.fullmatch(text):
        return f"0.{text[1:]}"
    return text.replace(",", ".") if _THREE_BEHIND.fullmatch(text) else plain_price(text)


# Where `1.250` is a thousand and more; elsewhere `1,250` is.
_COMMA_COUNTRIES = """
    AD AL AM AR AT AZ BA BE BG BO BR BY CL CO CU CY CZ DE DK EC EE ES FI FO FR GE GL GR HR HU ID IS IT KG KZ LT LU LV MC
    MD ME MK NL NO PL PT PY RO RS RU SE SI SK SM SR TR UA UY UZ VA VE VN XK
"""
_DECIMAL_COMMA = frozenset(_COMMA_COUNTRIES.split())
_DOTS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
# In India, groups before the last have two digits.
_COMMAS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}")
_SEVERAL_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:,[0-9]{3}){2,})")
_THREE_BEHIND = re.compile(r"[0-9]+,[0-9]{3}")
_BARE_PART = re.compile(r"[.,][0-9]{1,4}")
