"""Search words of records: words without case and accents, email addresses, and phone numbers in any spelling.

A record is found if each word of the search begins one of the record's words. Words that are not plain text start with
a mark, so that only a search for that kind of thing finds them: `@` an address or its domain, `+` a phone number from
its beginning, `-` the same number from its end, reversed, `#` the number of a record without leading zeros.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, NamedTuple
from unicodedata import east_asian_width, normalize

from pydantic import AfterValidator, StringConstraints

from mainstay.values.choices import fold_text
from mainstay.values.message import Message
from mainstay.values.money import CURRENCIES

# Limits of a search: its characters, the words of it that count, and the characters of a word that count.
MAX_TEXT_LENGTH = 100
MAX_WORDS = 6
MAX_WORD_LENGTH = 40
# The most words that are stored for one record.
MAX_STORED_WORDS = 200
MIN_WORD_LENGTH = 2

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['\N{RIGHT SINGLE QUOTATION MARK}](?=[^\W\d_])")
# How people without umlauts write them: `Mueller`, `Soerensen`, `Aarhus`. Two letters stand for one only within a word:
# at its end they are usually two letters, and after some letters always.
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_TWO_FOR_ONE = re.compile(r"(?<![aeiougq])(?:([aou])e|(a)a)(?=[bcdfghjklmnprstvwxz])")
_MIN_SPELT_OUT_LENGTH = 5
_PHONE = re.compile(r"[0-9\s()+./-]+")
_DIGIT = re.compile("[0-9]")
# Fewer digits are not a phone number but a house number or a year.
_MIN_DIGITS = 4
# Fewer digits cannot be dialled: they are the end of a phone number, or a number of something else.
_MIN_DIGITS_TO_CALL = 6
# Fewer digits after the zeros are the beginning of too many numbers.
_MIN_BEGINNING = 3
# A number with more digits than any national number begins with a country code.
_MAX_NATIONAL_DIGITS = 10
# A text with more parts can only be a phone number.
_MAX_PARTS = 4
# The last digits, which are the same when the number is dialled from abroad.
_SUBSCRIBER_DIGITS = 7
_MAX_COUNTRY_CODE = 3


def words_of_text(text: str | None) -> set[str]:
    """Return the plain words of a text.

    A word with an apostrophe is also returned as many people type it: `O'Brien` as `obrien`.
    """
    plain = fold_text(text or "")
    words, joined = _WORD.findall(plain), _APOSTROPHE.sub("", plain)
    if joined != plain:
        words += _WORD.findall(joined)
    return {word[:MAX_WORD_LENGTH] for word in words}


def words_of_address(address: str | None) -> set[str]:
    """Return the search words of an email address: the address, its domain, and the words before the @."""
    local, at, domain = fold_text(address or "").rpartition("@")
    if not at:
        return set()
    return {f"@{local}@{domain}"[:MAX_WORD_LENGTH], f"@@{domain}"[:MAX_WORD_LENGTH], *words_of_text(local)}


def words_of_phone(phone: str | None) -> set[str]:
    """Return the search words of a phone number: its digits from either end, with and without a country code."""
    digits = _significant_digits(phone or "")
    if len(digits) < _MIN_DIGITS:
        return set()
    code_lengths = range(_MAX_COUNTRY_CODE + 1) if _is_international(phone or "", digits) else range(1)
    # A zero in brackets after the country code is dialled only within the country.
    national = {digits[count:].lstrip("0") for count in code_lengths}
    return {f"-{digits[::-1]}"[:MAX_WORD_LENGTH], *(f"+{number}"[:MAX_WORD_LENGTH] for number in national if number)}


def words_of_digits(number: str) -> set[str]:
    """Return the search words of a decimal number: its digits from the beginning, marked like a phone number."""
    digits = _significant_digits(number)
    return {f"+{digits}"[:MAX_WORD_LENGTH]} if len(digits) >= _MIN_DIGITS else set()


def words_of_number(number: str) -> set[str]:
    """Return the search words of a record's number: `J-0229` is also found by `229`, `J-229` and `j229`."""
    letters, digits = _split_number(number)
    short = digits.lstrip("0") or digits
    plain = {short, letters + short, letters + digits}
    # The mark alone would match every record that has no number yet.
    number_words = {f"#{word}" for word in (letters + short, short) if word}
    return {word[:MAX_WORD_LENGTH] for word in (*words_of_text(number), *plain, *number_words) if word}


def exact_number_word(number: str) -> str | None:
    """Return the one word by which a record with exactly this number is found, or None.

    The number may be given with or without its letters and zeros. A text with neither letters nor digits is not a
    number.
    """
    letters, digits = _split_number(number)
    word = letters + (digits.lstrip("0") or digits)
    return f"#{word}"[:MAX_WORD_LENGTH] if word else None


def words_of_postal_address(address: Mapping[str, str | None]) -> set[str]:
    """Return the search words of a postal address in its JSON form, with its postcode also without blanks."""
    searchable = {name: text for name, text in address.items() if text and name != "country"}
    return words_of_text(" ".join(searchable.values())) | words_of_text(
        (searchable.get("postalCode") or "").replace(" ", "")
    )


def combine_words(*words: Iterable[str]) -> frozenset[str]:
    """Return the search words to store for a record, from the words of its fields."""
    return frozenset(sorted({word for of_field in words for word in of_field})[:MAX_STORED_WORDS])


class SearchTerms(NamedTuple):
    """The conditions of a search: for each entry, a record needs a word that begins with one of its spellings.

    The entry that is probably the rarest comes first.
    """

    terms: tuple[tuple[str, ...], ...]


# Amounts as countries write them: separators of thousands, decimals after a comma, and the currency.
_THOUSANDS_SEPARATOR = re.compile(r"(?<=\d)[,'\N{RIGHT SINGLE QUOTATION MARK}](?=(?:\d{2},)*\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d{1,3}(?:[.\s]\d{3})+|\d+),(\d{1,2})(?![\w.,])")
_CURRENCY = re.compile(r"[$£¥\u20a0-\u20cf]|\b[A-Z]{3}\s*(?=\d)|(?<=\d)\s*[A-Z]{3}\b")
# Characters around an email address that was copied from somewhere.
_AROUND_ADDRESS = "<>()[],;:.\"'"


def parse_search(text: str) -> SearchTerms | None:
    """Return the search that a text asks for; None if it has no words."""
    text = _normalise_amounts(text)
    if digits := _dialled_digits(text):
        phone = _phone_terms(text, digits)
        # The same digits may be the number of a job or a reference: then each part is a word.
        parts = [] if text.lstrip().startswith("+") else list(dict.fromkeys(_WORD.findall(text)))
        parts = sorted(parts, key=len, reverse=True) if len(parts) <= _MAX_PARTS else []
        return SearchTerms(tuple((*phone, part[:MAX_WORD_LENGTH]) for part in parts) or (phone,))
    words: dict[str, tuple[str, ...]] = {}
    for piece in text.split():
        folded_piece = fold_text(piece)
        address = folded_piece.removeprefix("mailto:").strip(_AROUND_ADDRESS)
        terms = [(f"@{address}"[:MAX_WORD_LENGTH],)] if "@" in folded_piece else _find_spellings(piece)
        words |= {word[0]: word for word in terms}
    longest_first = sorted(list(words)[:MAX_WORDS], key=len, reverse=True)
    return SearchTerms(tuple(words[word] for word in longest_first)) if longest_first else None


def _phone_terms(text: str, digits: str) -> tuple[str, ...]:
    """Return the beginnings or ends that match a phone number with these digits."""
    if _is_international(text, digits) and len(digits) >= _SUBSCRIBER_DIGITS:
        return (f"-{digits[: -_SUBSCRIBER_DIGITS - 1 : -1]}",)
    # The beginning leaves out leading zeros; the end includes them.
    beginnings = (f"+{digits}",) if len(digits) >= _MIN_BEGINNING else ()
    return (*beginnings, f"-{''.join(_DIGIT.findall(text))[::-1]}")


def _find_spellings(piece: str) -> Iterator[tuple[str, ...]]:
    """Yield each word of a piece of text, followed by other spellings of it."""
    plain = _WORD.findall(fold_text(piece))
    spelt_out = _WORD.findall(fold_text(normalize("NFC", piece.casefold()).translate(_SPELT_OUT)))
    for word, longer in zip(plain, spelt_out, strict=True):
        shorter = _TWO_FOR_ONE.sub(r"\1\2", word) if len(word) >= _MIN_SPELT_OUT_LENGTH else word
        yield tuple(dict.fromkeys(spelling[:MAX_WORD_LENGTH] for spelling in (word, longer, shorter)))


def make_title_rater(text: str) -> Callable[[str], int]:
    """Return a function that rates how far a title is from a text.

    It gives 1 if the title begins with the text, 2 if it has all words of the text, and 3 otherwise.
    """
    start, search = fold_text(_normalise_amounts(text)), parse_search(text)

    def rate_title(title: str) -> int:
        if fold_text(title).startswith(start):
            return 1
        words = words_of_text(title)

        def has_word(prefix: str) -> bool:
            return any(word.startswith(prefix) for word in words)

        return 2 if search and all(any(map(has_word, word)) for word in search.terms) else 3

    return rate_title


def is_phone_number(text: str) -> bool:
    """Return whether a search is only a phone number, and long enough to be somebody's."""
    return len(_dialled_digits(text)) >= _MIN_DIGITS_TO_CALL


def prefix_end(prefix: str) -> str:
    """Return a text that sorts after every word with this prefix."""
    return prefix + "\U0010ffff"


def _normalise_amounts(text: str) -> str:
    """Return a text with its amounts in the form that search words have: `11.760,00 EUR` as `11760.00`."""
    text = _DECIMAL_COMMA.sub(lambda amount: f"{''.join(_DIGIT.findall(amount[1]))}.{amount[2]}", text)
    return _CURRENCY.sub(_remove_currency, _THOUSANDS_SEPARATOR.sub("", text))


def _remove_currency(match: re.Match[str]) -> str:
    code = match[0].strip()
    return match[0] if code.isalpha() and code not in CURRENCIES else ""


def _check_search_text(text: str) -> str:
    words = ("".join(_WORD.findall(piece)) for piece in fold_text(text).split())
    if not _dialled_digits(text) and max(map(_word_length, words), default=0) < MIN_WORD_LENGTH:
        raise ValueError(Message("is too short; enter a word of at least two letters or digits"))
    return text


def _word_length(word: str) -> int:
    """Return the length of a word; a character that is a word by itself, as in Chinese, counts twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in word)


# The text of a search.
SearchText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT_LENGTH),
    AfterValidator(_check_search_text),
]


def _split_number(number: str) -> tuple[str, str]:
    """Split a record's number into what comes before its last digits, without separators, and these digits."""
    plain = fold_text(number)
    before = plain.rstrip("0123456789")
    return "".join(_WORD.findall(before)), plain[len(before) :]


def _dialled_digits(text: str) -> str:
    """Return the digits of a text that is only a phone number or a large part of one; otherwise an empty text."""
    is_phone = _PHONE.fullmatch(text) and len(_DIGIT.findall(text)) >= _MIN_DIGITS
    return _significant_digits(text) if is_phone else ""


def _significant_digits(phone: str) -> str:
    """Return the digits of a phone number without its leading zeros for other towns or countries."""
    return "".join(_DIGIT.findall(phone)).lstrip("0")


def _is_international(phone: str, digits: str) -> bool:
    return phone.lstrip().startswith(("+", "00")) or len(digits) > _MAX_NATIONAL_DIGITS
