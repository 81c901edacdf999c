"""What records are found by: words without case and accents, e-mail addresses, phone numbers in any spelling.

A record is found by every word of a text that begins one of its own. Words that are not plain carry a mark in front, so
that they are found only by whoever looks for such a thing: `@` an address or its domain, `+` a phone number from its
beginning, `-` the same from its end, backwards, `#` the number of a record without the zeros that fill it up.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, NamedTuple
from unicodedata import east_asian_width, normalize

from pydantic import AfterValidator, StringConstraints

from mainstay.values.money import CURRENCIES
from mainstay.values.words import folded

# A text that is looked for has so many letters at most. So many of its words count; a word counts by so many letters.
LONGEST_TEXT = 100
MOST_WORDS = 6
LONGEST_WORD = 40
# Of all that a record says of itself, so many words are kept.
MOST_KEPT = 200
SHORTEST = 2

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['\N{RIGHT SINGLE QUOTATION MARK}](?=[^\W\d_])")
# How letters with marks are written by those who do not have them: `Mueller`, `Soerensen`, `Aarhus`. Two letters stand
# for one only within a word: at its end they are mostly what they seem, and after some letters always.
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_TWO_FOR_ONE = re.compile(r"(?<![aeiougq])(?:([aou])e|(a)a)(?=[bcdfghjklmnprstvwxz])")
_SHORTEST_SPELT_OUT = 5
_PHONE = re.compile(r"[0-9\s()+./-]+")
_DIGIT = re.compile("[0-9]")
# Fewer digits are no number of a phone but one of a house or a year.
_FEWEST_DIGITS = 4
# With fewer nobody is called: they are the end of a number, or the number of something else.
_FEWEST_TO_CALL = 6
# And fewer behind the zeros begin too many.
_FEWEST_BEGINNING = 3
# A number with more digits than any has within its country begins with the code of one.
_MOST_NATIONAL = 10
# What has more parts is a phone number and nothing else.
_MOST_PARTS = 4
# What a number has in common with itself as it is dialled from abroad: its last digits.
_LAST = 7
_LONGEST_CODE = 3


def words_of_text(text: str | None) -> set[str]:
    """The plain words of a text; what has an apostrophe in it also as one, as many type it: `O'Brien` as `obrien`."""
    plain = folded(text or "")
    words, joined = _WORD.findall(plain), _APOSTROPHE.sub("", plain)
    if joined != plain:
        words += _WORD.findall(joined)
    return {word[:LONGEST_WORD] for word in words}


def words_of_address(address: str | None) -> set[str]:
    """What an e-mail address is found by: itself, its domain, and the words before the @."""
    local, at, domain = folded(address or "").rpartition("@")
    if not at:
        return set()
    return {f"@{local}@{domain}"[:LONGEST_WORD], f"@@{domain}"[:LONGEST_WORD], *words_of_text(local)}


def words_of_phone(phone: str | None) -> set[str]:
    """What a phone number is found by: its digits from either end, with and without a country's code."""
    digits = _significant(phone or "")
    if len(digits) < _FEWEST_DIGITS:
        return set()
    dropped = range(_LONGEST_CODE + 1) if _is_international(phone or "", digits) else range(1)
    # A zero behind the code, in brackets, is for those who call from within.
    national = {digits[count:].lstrip("0") for count in dropped}
    return {f"-{digits[::-1]}"[:LONGEST_WORD], *(f"+{number}"[:LONGEST_WORD] for number in national if number)}


def words_of_digits(number: str) -> set[str]:
    """What a number with a point in it is found by: its digits from the beginning, as those of a phone are."""
    digits = _significant(number)
    return {f"+{digits}"[:LONGEST_WORD]} if len(digits) >= _FEWEST_DIGITS else set()


def words_of_number(number: str) -> set[str]:
    """What the number of a record is found by: `J-0229` also by `229`, `J-229` and `j229`."""
    letters, digits = _parts_of_number(number)
    short = digits.lstrip("0") or digits
    plain = {short, letters + short, letters + digits}
    # A mark alone would name every record that has no number yet.
    marked = {f"#{word}" for word in (letters + short, short) if word}
    return {word[:LONGEST_WORD] for word in (*words_of_text(number), *plain, *marked) if word}


def marked_number(number: str) -> str | None:
    """The one word that a record has whose number this is, with or without its letters and zeros; None if it has none.

    What has neither letters nor digits is nobody's number.
    """
    letters, digits = _parts_of_number(number)
    word = letters + (digits.lstrip("0") or digits)
    return f"#{word}"[:LONGEST_WORD] if word else None


def words_of_postal_address(address: Mapping[str, str | None]) -> set[str]:
    """What a postal address is found by, as it is written in JSON; its postcode also without blanks."""
    spoken = {name: text for name, text in address.items() if text and name != "country"}
    return words_of_text(" ".join(spoken.values())) | words_of_text((spoken.get("postalCode") or "").replace(" ", ""))


def kept_words(*words: Iterable[str]) -> frozenset[str]:
    """The words that a record is found by, out of what its fields say."""
    return frozenset(sorted({word for of_field in words for word in of_field})[:MOST_KEPT])


class Sought(NamedTuple):
    """What a record must have to be found: for each of these, a word that begins with any of its spellings.

    The first is what is likely to be rare.
    """

    words: tuple[tuple[str, ...], ...]


# An amount as countries write it: what stands between its thousands, its decimals behind a comma, and what it is in.
_GROUPED = re.compile(r"(?<=\d)[,'\N{RIGHT SINGLE QUOTATION MARK}](?=(?:\d{2},)*\d{3}(?!\d))")
_WITH_COMMA = re.compile(r"(?<![\w.,])(\d{1,3}(?:[.\s]\d{3})+|\d+),(\d{1,2})(?![\w.,])")
_CURRENCY = re.compile(r"[$£¥\u20a0-\u20cf]|\b[A-Z]{3}\s*(?=\d)|(?<=\d)\s*[A-Z]{3}\b")
# What stands around an e-mail address that was copied from somewhere.
_AROUND_ADDRESS = "<>()[],;:.\"'"


def looked_for(text: str) -> Sought | None:
    """What is looked for by a text; None where it has no word."""
    text = _plainly(text)
    if digits := _dialled(text):
        phone = _of_phone(text, digits)
        # The same may as well be the number of a job, or someone's reference: then each of its parts is a word.
        parts = [] if text.lstrip().startswith("+") else list(dict.fromkeys(_WORD.findall(text)))
        parts = sorted(parts, key=len, reverse=True) if len(parts) <= _MOST_PARTS else []
        return Sought(tuple((*phone, part[:LONGEST_WORD]) for part in parts) or (phone,))
    words: dict[str, tuple[str, ...]] = {}
    for piece in text.split():
        written = folded(piece)
        address = written.removeprefix("mailto:").strip(_AROUND_ADDRESS)
        found = [(f"@{address}"[:LONGEST_WORD],)] if "@" in written else _spellings(piece)
        words |= {word[0]: word for word in found}
    longest_first = sorted(list(words)[:MOST_WORDS], key=len, reverse=True)
    return Sought(tuple(words[word] for word in longest_first)) if longest_first else None


def _of_phone(text: str, digits: str) -> tuple[str, ...]:
    """How a phone number begins or ends, of which these are the digits."""
    if _is_international(text, digits) and len(digits) >= _LAST:
        return (f"-{digits[: -_LAST - 1 : -1]}",)
    # It begins behind its zeros, and ends with them.
    begins = (f"+{digits}",) if len(digits) >= _FEWEST_BEGINNING else ()
    return (*begins, f"-{''.join(_DIGIT.findall(text))[::-1]}")


def _spellings(piece: str) -> Iterator[tuple[str, ...]]:
    """Each word of a piece of text, and after it how others write the same."""
    plain = _WORD.findall(folded(piece))
    spelt_out = _WORD.findall(folded(normalize("NFC", piece.casefold()).translate(_SPELT_OUT)))
    for word, longer in zip(plain, spelt_out, strict=True):
        shorter = _TWO_FOR_ONE.sub(r"\1\2", word) if len(word) >= _SHORTEST_SPELT_OUT else word
        yield tuple(dict.fromkeys(spelling[:LONGEST_WORD] for spelling in (word, longer, shorter)))


def distance_from(text: str) -> Callable[[str], int]:
    """What tells how far a title is from a text: it begins with it, has its words, or not even these."""
    plain, sought = folded(_plainly(text)), looked_for(text)

    def distance(title: str) -> int:
        if folded(title).startswith(plain):
            return 1
        words = words_of_text(title)

        def has(prefix: str) -> bool:
            return any(word.startswith(prefix) for word in words)

        return 2 if sought and all(any(map(has, word)) for word in sought.words) else 3

    return distance


def is_phone_number(text: str) -> bool:
    """Return whether what someone looks for is long enough to be somebody's phone number, and nothing else."""
    return len(_dialled(text)) >= _FEWEST_TO_CALL


def end_of(prefix: str) -> str:
    """What comes behind every word that begins like this."""
    return prefix + "\U0010ffff"


def _plainly(text: str) -> str:
    """A text in which amounts stand as records are found by them: `11.760,00 EUR` as `11760.00`."""
    text = _WITH_COMMA.sub(lambda amount: f"{''.join(_DIGIT.findall(amount[1]))}.{amount[2]}", text)
    return _CURRENCY.sub(_without_currency, _GROUPED.sub("", text))


def _without_currency(found: re.Match[str]) -> str:
    code = found[0].strip()
    return found[0] if code.isalpha() and code not in CURRENCIES else ""


def _check(text: str) -> str:
    words = ("".join(_WORD.findall(piece)) for piece in folded(text).split())
    if not _dialled(text) and max(map(_length, words), default=0) < SHORTEST:
        raise ValueError("is too short: one word needs at least two letters or digits")
    return text


def _length(word: str) -> int:
    """How much a word says: a sign that stands for a word, as in Chinese, is one by itself."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in word)


# What someone looks for.
SearchText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TEXT), AfterValidator(_check)
]


def _parts_of_number(number: str) -> tuple[str, str]:
    """What stands before the last digits of a number, without marks between, and the digits."""
    plain = folded(number)
    before = plain.rstrip("0123456789")
    return "".join(_WORD.findall(before)), plain[len(before) :]


def _dialled(text: str) -> str:
    """The digits of a text that is a phone number and nothing else, or a good part of one."""
    enough = _PHONE.fullmatch(text) and len(_DIGIT.findall(text)) >= _FEWEST_DIGITS
    return _significant(text) if enough else ""


def _significant(phone: str) -> str:
    """The digits of a number, without the zeros by which one calls another town or country."""
    return "".join(_DIGIT.findall(phone)).lstrip("0")


def _is_international(phone: str, digits: str) -> bool:
    return phone.lstrip().startswith(("+", "00")) or len(digits) > _MOST_NATIONAL
