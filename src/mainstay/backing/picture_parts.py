"""Reduce a PNG or JPEG file to what is needed to draw it, and tell one that takes long to draw.

Whatever else is in the file never reaches the library that draws it: a few megabytes of empty comments keep it busy for
ten seconds, and one layer of a JPEG that is repeated 500 times for forty.
"""

import re
import struct
import zlib
from dataclasses import dataclass

PNG_MARK, JPEG_MARK = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
# Segments of a JPEG and chunks of a PNG; files of 15 MB have a few thousand.
_MOST_PARTS = 20_000
# Layers of a JPEG: programs write about ten. Each goes through all dots of its colours, a million in about 1.1 ms.
_MOST_SCANS = 100
_MOST_SCANNED = 1_600_000_000
# A JPEG in layers is held in memory with two bytes for each dot of each colour.
_MOST_HELD = 160_000_000

_FIRST_ORIENTATION, _LAST_ORIENTATION = 1, 8


class Unfit(Exception):
    """A file cannot be drawn; the text says why, behind the name of the field."""


@dataclass(frozen=True, slots=True)
class PlainPicture:
    """A picture without anything that is not drawn."""

    content: bytes
    # How it is to be turned, as cameras note it: 1 is upright.
    orientation: int = _FIRST_ORIENTATION
    # Whether drawing it takes longer, or more memory, than any picture should.
    is_costly: bool = False


def plain_picture(content: bytes) -> PlainPicture:
    """Reduce a PNG or JPEG file to what is needed to draw it."""
    try:
        if content.startswith(PNG_MARK):
            return _plain_png(content)
        if content.startswith(JPEG_MARK):
            return _plain_jpeg(content)
    except (struct.error, IndexError):
        pass
    raise Unfit("is not a PNG or JPEG picture")


# PNG: chunks of a length, a name, data and a checksum.

_DRAWN_CHUNKS = {b"IHDR", b"PLTE", b"tRNS"}


def _plain_png(content: bytes) -> PlainPicture:
    kept: list[bytes] = []
    packed: list[bytes] = []
    orientation = _FIRST_ORIENTATION
    at = len(PNG_MARK)
    for _ in range(_MOST_PARTS):
        length, kind = struct.unpack_from(">I4s", content, at)
        chunk, data = content[at : at + 12 + length], content[at + 8 : at + 8 + length]
        at += len(chunk)
        if kind == b"IEND":
            kept += [_chunk(b"IDAT", b"".join(packed)), chunk]
            return PlainPicture(PNG_MARK + b"".join(kept), orientation)
        if kind == b"IDAT":
            packed.append(data)
        elif kind == b"eXIf":
            orientation = _read_orientation(data)
        elif kind in _DRAWN_CHUNKS:
            kept.append(chunk)
    raise Unfit("consists of far too many parts. Open it in another program and save it anew")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# JPEG: segments that begin with a marker, and behind the header of each scan its data.

# The next marker: within the data of a scan, FF stands before 00, and markers of restarts belong to the data.
_MARKER = re.compile(rb"\xff([\x02-\xcf\xd8-\xfe])")
_START_OF_SCAN, _END_OF_IMAGE, _START_OF_IMAGE = 0xDA, 0xD9, 0xD8
_HUFFMAN_TABLES, _QUANTISATION_TABLES, _RESTART_INTERVAL = 0xC4, 0xDB, 0xDD
_JFIF, _EXIF, _ADOBE = 0xE0, 0xE1, 0xEE
# Frames of kinds that programs write: at once or in layers, both packed by Huffman's method.
_FRAMES = {0xC0, 0xC1, 0xC2}
_OTHER_FRAMES = {0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
_LAYERED = 0xC2
_KEPT = {_HUFFMAN_TABLES, _QUANTISATION_TABLES, _RESTART_INTERVAL, _START_OF_SCAN, *_FRAMES}
# These say which colours there are, and are told from others with the same marker by how they begin.
_COLOURS = {_JFIF: b"JFIF\0", _ADOBE: b"Adobe"}
_EXIF_MARK = b"Exif\0\0"


def _plain_jpeg(content: bytes) -> PlainPicture:
    kept = [JPEG_MARK]
    orientation = _FIRST_ORIENTATION
    work = _JpegWork()
    found = _MARKER.search(content, len(JPEG_MARK))
    for _ in range(_MOST_PARTS):
        if found is None:
            # It did not arrive whole, which the library notices.
            break
        marker, at = found[1][0], found.end()
        if marker in {_END_OF_IMAGE, _START_OF_IMAGE}:
            kept.append(found[0])
            break
        (length,) = struct.unpack_from(">H", content, at)
        data = content[at + 2 : at + length]
        work.add(marker, data)
        found = _MARKER.search(content, at + length)
        if marker == _START_OF_SCAN:
            kept.append(content[at - 2 : found.start() if found else len(content)])
        elif marker in _KEPT or (marker in _COLOURS and data.startswith(_COLOURS[marker])):
            kept.append(content[at - 2 : at + length])
        elif marker == _EXIF and data.startswith(_EXIF_MARK):
            orientation = _read_orientation(data[len(_EXIF_MARK) :])
    else:
        raise Unfit("consists of far too many parts. Open it in another program and save it anew")
    return PlainPicture(b"".join(kept), orientation, work.is_costly)


@dataclass
class _JpegWork:
    """How much work it is to draw a JPEG."""

    dots: int = 0
    colours: int = 0
    layered: bool = False
    scans: int = 0
    scanned: int = 0

    def add(self, marker: int, data: bytes) -> None:
        """Count a segment."""
        if marker in _OTHER_FRAMES:
            raise Unfit("is a JPEG picture of a rare kind. Open it in another program and save it anew")
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, 1)
            self.dots, self.colours, self.layered = height * width, data[5], marker == _LAYERED
        elif marker == _START_OF_SCAN:
            self.scans += 1
            self.scanned += data[0] * self.dots
            # Only what has all colours in one scan is drawn line by line.
            self.layered = self.layered or data[0] != self.colours

    @property
    def is_costly(self) -> bool:
        """Whether drawing it takes seconds, or hundreds of megabytes."""
        held = self.dots * self.colours if self.layered else 0
        return self.scans > _MOST_SCANS or self.scanned > _MOST_SCANNED or held > _MOST_HELD


# How cameras note which side is up: a directory of entries with a number, a kind, a count and a value.

_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_ORIENTATION, _SHORT, _ENTRY = 0x0112, 3, 12


def _read_orientation(exif: bytes) -> int:
    order = _ORDERS.get(exif[:4])
    if order is None:
        return _FIRST_ORIENTATION
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for place in range(start + 2, start + 2 + count * _ENTRY, _ENTRY):
            number, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, place)
            if number == _ORIENTATION and kind == _SHORT and value <= _LAST_ORIENTATION:
                return max(_FIRST_ORIENTATION, int(value))
    except struct.error:
        pass
    return _FIRST_ORIENTATION
