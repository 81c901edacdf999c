"""The letters that documents can be printed with: what no font of ours has is replaced before."""

import struct
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FONTS = Path(__file__).parent / "fonts"
_UNKNOWN = "\N{WHITE SQUARE}"
_LINE_ENDS = {"\r\n": "\n", "\r": "\n", "\u2028": "\n", "\u2029": "\n", "\t": " "}
# Say how letters are joined, as Persian needs it.
_JOINERS = "\u200c\u200d"
# Controls, halves of letters, and what turns the direction of text around or hides in it: it could only mislead.
_UNSEEN = {"Cc", "Cf", "Cs"}
# Not assigned, or assigned by each font as it likes.
_NOBODY_S = {"Cn", "Co"}
# Of a font: the tables we read, by their format, and what ends the second one.
_WHOLE, _FIRST_PLANE, _END = 12, 4, 0xFFFF


def printable(text: str) -> str:
    """A text in which every letter can be printed; what cannot be is shown as a square, or by what it stands for."""
    if text.isascii() and text.isprintable():
        return text
    for end, plain in _LINE_ENDS.items():
        text = text.replace(end, plain)
    return "".join(map(_printed, unicodedata.normalize("NFC", text)))


@cache
def _printed(letter: str) -> str:
    category = unicodedata.category(letter)
    if letter == "\n" or letter in _JOINERS:
        return letter
    if category in _UNSEEN:
        return ""
    if category in _NOBODY_S:
        return _UNKNOWN
    if ord(letter) in _covered():
        return letter
    if category.startswith("M"):  # a mark on another letter
        return ""
    plainer = unicodedata.normalize("NFKC", letter)
    return plainer if all(ord(each) in _covered() for each in plainer) else _UNKNOWN


@cache
def _covered() -> frozenset[int]:
    """Every letter that a font of ours has."""
    return frozenset(code for path in sorted(FONTS.glob("*-Regular.ttf")) for code in _codes(path.read_bytes()))


def _codes(font: bytes) -> Iterator[int]:
    """The letters of a font: its table of Unicode's whole range, or else the one of the first plane."""
    (tables,) = struct.unpack_from(">H", font, 4)
    places = {font[at : at + 4]: struct.unpack_from(">I", font, at + 8)[0] for at in range(12, 12 + 16 * tables, 16)}
    start = places[b"cmap"]
    (count,) = struct.unpack_from(">H", font, start + 2)
    offsets = [struct.unpack_from(">I", font, start + 8 + 8 * place)[0] for place in range(count)]
    maps = {struct.unpack_from(">H", font, start + offset)[0]: start + offset for offset in offsets}
    yield from _ranges(font, maps[_WHOLE]) if _WHOLE in maps else _segments(font, maps[_FIRST_PLANE])


def _ranges(font: bytes, at: int) -> Iterator[int]:
    """Format 12 of the table: groups of letters that follow each other."""
    (groups,) = struct.unpack_from(">I", font, at + 12)
    for group in range(groups):
        first, last, glyph = struct.unpack_from(">III", font, at + 16 + 12 * group)
        yield from (code for code in range(first, last + 1) if glyph + code - first)


def _segments(font: bytes, at: int) -> Iterator[int]:
    """Format 4 of the table: segments, each moved by a number or told one by one."""
    (doubled,) = struct.unpack_from(">H", font, at + 6)
    ends, starts = at + 14, at + 16 + doubled
    deltas, offsets = starts + doubled, starts + 2 * doubled
    for place in range(0, doubled, 2):
        first, last, delta, offset = (
            struct.unpack_from(">H", font, part + place)[0] for part in (starts, ends, deltas, offsets)
        )
        for code in range(first, last + 1):
            where = offsets + place + offset + 2 * (code - first)
            glyph = code + delta if not offset else struct.unpack_from(">H", font, where)[0]
            if glyph % 0x10000 and code != _END:
                yield code
