"""The characters that documents can be printed with. Characters that our fonts lack are replaced beforehand."""

import struct
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FONTS = Path(__file__).parent / "fonts"
_REPLACEMENT = "\N{WHITE SQUARE}"
_LINE_ENDS = {"\r\n": "\n", "\r": "\n", "\u2028": "\n", "\u2029": "\n", "\t": " "}
# These control how letters are joined, which Persian needs.
_JOINERS = "\u200c\u200d"
# Control characters, surrogates, and characters that change the direction of text or are invisible. They could only
# mislead.
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cs"}
# Unassigned characters, or those whose meaning depends on the font.
_UNASSIGNED_CATEGORIES = {"Cn", "Co"}
# The formats of a font's character table that we read, and the code that ends the second one.
_FULL_FORMAT, _BASIC_FORMAT, _END_CODE = 12, 4, 0xFFFF


def to_printable(text: str) -> str:
    """Return a text in which every character can be printed.

    A character that cannot be printed becomes its plainer equivalent, or a square.
    """
    if text.isascii() and text.isprintable():
        return text
    for end, plain in _LINE_ENDS.items():
        text = text.replace(end, plain)
    return "".join(map(_replace_letter, unicodedata.normalize("NFC", text)))


@cache
def _replace_letter(letter: str) -> str:
    category = unicodedata.category(letter)
    if letter == "\n" or letter in _JOINERS:
        return letter
    if category in _INVISIBLE_CATEGORIES:
        return ""
    if category in _UNASSIGNED_CATEGORIES:
        return _REPLACEMENT
    if ord(letter) in _covered_codes():
        return letter
    if category.startswith("M"):  # a mark on another letter
        return ""
    plainer = unicodedata.normalize("NFKC", letter)
    return plainer if all(ord(part) in _covered_codes() for part in plainer) else _REPLACEMENT


@cache
def _covered_codes() -> frozenset[int]:
    """Return the code points of every character that our fonts have."""
    return frozenset(code for path in sorted(FONTS.glob("*-Regular.ttf")) for code in _read_codes(path.read_bytes()))


def _read_codes(font: bytes) -> Iterator[int]:
    """Yield the code points that a font has.

    They are read from its table for all of Unicode, or else from its table for the basic plane.
    """
    (tables,) = struct.unpack_from(">H", font, 4)
    offsets_of_tables = {
        font[entry : entry + 4]: struct.unpack_from(">I", font, entry + 8)[0]
        for entry in range(12, 12 + 16 * tables, 16)
    }
    start = offsets_of_tables[b"cmap"]
    (count,) = struct.unpack_from(">H", font, start + 2)
    offsets = [struct.unpack_from(">I", font, start + 8 + 8 * index)[0] for index in range(count)]
    maps = {struct.unpack_from(">H", font, start + offset)[0]: start + offset for offset in offsets}
    yield from (
        _read_ranges(font, maps[_FULL_FORMAT]) if _FULL_FORMAT in maps else _read_segments(font, maps[_BASIC_FORMAT])
    )


def _read_ranges(font: bytes, table: int) -> Iterator[int]:
    """Read a character table of format 12: groups of consecutive characters."""
    (groups,) = struct.unpack_from(">I", font, table + 12)
    for group in range(groups):
        first, last, glyph = struct.unpack_from(">III", font, table + 16 + 12 * group)
        yield from (code for code in range(first, last + 1) if glyph + code - first)


def _read_segments(font: bytes, table: int) -> Iterator[int]:
    """Read a character table of format 4: segments whose glyphs are shifted by a number or listed one by one."""
    (doubled,) = struct.unpack_from(">H", font, table + 6)
    ends, starts = table + 14, table + 16 + doubled
    deltas, offsets = starts + doubled, starts + 2 * doubled
    for shift in range(0, doubled, 2):
        first, last, delta, offset = (
            struct.unpack_from(">H", font, part + shift)[0] for part in (starts, ends, deltas, offsets)
        )
        for code in range(first, last + 1):
            where = offsets + shift + offset + 2 * (code - first)
            glyph = code + delta if not offset else struct.unpack_from(">H", font, where)[0]
            if glyph % 0x10000 and code != _END_CODE:
                yield code
