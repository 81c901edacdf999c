"""Reduce a PNG or JPEG file to the parts that are needed to draw it, and detect files that take long to draw.

Other parts of the file never reach the drawing library: a few megabytes of empty comments keep it busy for ten seconds,
and one JPEG scan that is repeated 500 times for forty.
"""

import re
import struct
import zlib
from dataclasses import dataclass

from mainstay.infrastructure.child_process import BadContent
from mainstay.values.message import Message

PNG_MARK, JPEG_MARK = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
# The most segments of a JPEG or chunks of a PNG; files of 15 MB have a few thousand.
_MAX_PARTS = 20_000
# The most scans of a JPEG: programs write about ten. Each scan passes over all pixels of its colours, a million in
# about 1.1 ms.
_MAX_SCANS = 100
_MAX_SCANNED_PIXELS = 1_600_000_000
# A progressive JPEG needs two bytes of memory for each pixel of each colour.
_MAX_PIXELS_IN_MEMORY = 160_000_000

_FIRST_ORIENTATION, _LAST_ORIENTATION = 1, 8
NOT_A_PICTURE = Message("is not a PNG or JPEG picture")
_TOO_MANY_PARTS = Message("has too many parts. Open it in another program and save it again")


class UnacceptedPicture(BadContent):
    """The upload is not an acceptable picture; the message says why, and follows the name of the field."""


@dataclass(frozen=True, slots=True)
class ReducedPicture:
    """A picture reduced to the parts that are drawn."""

    content: bytes
    # The orientation as cameras record it: 1 is upright.
    orientation: int = _FIRST_ORIENTATION
    # Whether drawing it takes more time or memory than any picture should.
    is_costly: bool = False


def reduce_picture(content: bytes) -> ReducedPicture:
    """Reduce a PNG or JPEG file to the parts that are needed to draw it."""
    try:
        if content.startswith(PNG_MARK):
            return _reduce_png(content)
        if content.startswith(JPEG_MARK):
            return _reduce_jpeg(content)
    except (struct.error, IndexError):
        pass
    raise UnacceptedPicture(NOT_A_PICTURE)


# PNG: chunks of a length, a name, data and a checksum.

_DRAWN_CHUNKS = {b"IHDR", b"PLTE", b"tRNS"}


def _reduce_png(content: bytes) -> ReducedPicture:
    kept: list[bytes] = []
    pixel_data: list[bytes] = []
    orientation = _FIRST_ORIENTATION
    offset = len(PNG_MARK)
    for _ in range(_MAX_PARTS):
        length, kind = struct.unpack_from(">I4s", content, offset)
        chunk, data = content[offset : offset + 12 + length], content[offset + 8 : offset + 8 + length]
        offset += len(chunk)
        if kind == b"IEND":
            kept += [_build_chunk(b"IDAT", b"".join(pixel_data)), chunk]
            return ReducedPicture(PNG_MARK + b"".join(kept), orientation)
        if kind == b"IDAT":
            pixel_data.append(data)
        elif kind == b"eXIf":
            orientation = _read_orientation(data)
        elif kind in _DRAWN_CHUNKS:
            kept.append(chunk)
    raise UnacceptedPicture(_TOO_MANY_PARTS)


def _build_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# JPEG: segments that begin with a marker, and after the header of each scan its data.

# The next marker: in the data of a scan, FF is followed by 00, and restart markers belong to the data.
_MARKER = re.compile(rb"\xff([\x02-\xcf\xd8-\xfe])")
_START_OF_SCAN, _END_OF_IMAGE, _START_OF_IMAGE = 0xDA, 0xD9, 0xD8
_HUFFMAN_TABLES, _QUANTISATION_TABLES, _RESTART_INTERVAL = 0xC4, 0xDB, 0xDD
_JFIF, _EXIF, _ADOBE = 0xE0, 0xE1, 0xEE
# The kinds of frames that programs write: baseline and progressive, both with Huffman coding.
_FRAMES = {0xC0, 0xC1, 0xC2}
_OTHER_FRAMES = {0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}
_PROGRESSIVE_FRAME = 0xC2
_DRAWN_SEGMENTS = {_HUFFMAN_TABLES, _QUANTISATION_TABLES, _RESTART_INTERVAL, _START_OF_SCAN, *_FRAMES}
# These define the colours; their content distinguishes them from others with the same marker.
_COLOUR_SEGMENTS = {_JFIF: b"JFIF\0", _ADOBE: b"Adobe"}
_EXIF_MARK = b"Exif\0\0"


def _reduce_jpeg(content: bytes) -> ReducedPicture:
    kept = [JPEG_MARK]
    orientation = _FIRST_ORIENTATION
    work = _JpegWork()
    found = _MARKER.search(content, len(JPEG_MARK))
    for _ in range(_MAX_PARTS):
        if found is None:
            # The file is incomplete; the library will notice.
            break
        marker, offset = found[1][0], found.end()
        if marker in {_END_OF_IMAGE, _START_OF_IMAGE}:
            kept.append(found[0])
            break
        (length,) = struct.unpack_from(">H", content, offset)
        data = content[offset + 2 : offset + length]
        work.add(marker, data)
        found = _MARKER.search(content, offset + length)
        if marker == _START_OF_SCAN:
            kept.append(content[offset - 2 : found.start() if found else len(content)])
        elif marker in _DRAWN_SEGMENTS or (marker in _COLOUR_SEGMENTS and data.startswith(_COLOUR_SEGMENTS[marker])):
            kept.append(content[offset - 2 : offset + length])
        elif marker == _EXIF and data.startswith(_EXIF_MARK):
            orientation = _read_orientation(data[len(_EXIF_MARK) :])
    else:
        raise UnacceptedPicture(_TOO_MANY_PARTS)
    return ReducedPicture(b"".join(kept), orientation, work.is_costly)


@dataclass
class _JpegWork:
    """The work that it takes to draw a JPEG."""

    pixels: int = 0
    colours: int = 0
    is_layered: bool = False
    scans: int = 0
    scanned_pixels: int = 0

    def add(self, marker: int, data: bytes) -> None:
        """Count a segment."""
        if marker in _OTHER_FRAMES:
            raise UnacceptedPicture(Message("is a rare kind of JPEG. Open it in another program and save it again"))
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, 1)
            self.pixels, self.colours, self.is_layered = height * width, data[5], marker == _PROGRESSIVE_FRAME
        elif marker == _START_OF_SCAN:
            self.scans += 1
            self.scanned_pixels += data[0] * self.pixels
            # Only a JPEG with all colours in one scan is drawn line by line.
            self.is_layered = self.is_layered or data[0] != self.colours

    @property
    def is_costly(self) -> bool:
        """Whether drawing takes seconds, or hundreds of megabytes."""
        in_memory = self.pixels * self.colours if self.is_layered else 0
        return self.scans > _MAX_SCANS or self.scanned_pixels > _MAX_SCANNED_PIXELS or in_memory > _MAX_PIXELS_IN_MEMORY


# How cameras record the orientation: a directory of entries with a number, a type, a count and a value.

_BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_ORIENTATION, _SHORT, _ENTRY_BYTES = 0x0112, 3, 12


def _read_orientation(exif: bytes) -> int:
    order = _BYTE_ORDERS.get(exif[:4])
    if order is None:
        return _FIRST_ORIENTATION
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for offset in range(start + 2, start + 2 + count * _ENTRY_BYTES, _ENTRY_BYTES):
            number, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, offset)
            if number == _ORIENTATION and kind == _SHORT and value <= _LAST_ORIENTATION:
                return max(_FIRST_ORIENTATION, int(value))
    except struct.error:
        pass
    return _FIRST_ORIENTATION
