"""Uploaded pictures: decoded and drawn again, so that nothing but the picture remains."""

from io import BytesIO
from pathlib import Path
from typing import Any

from mainstay.infrastructure.image_parts import NOT_A_PICTURE, UnacceptedPicture, reduce_picture
from mainstay.lazy_import import import_lazily
from mainstay.values.message import DecimalNumber, Message

__all__ = ["MAX_PHOTO_PIXELS", "PICTURE_TYPES", "UnacceptedPicture", "media_type_of", "redraw_picture"]

# The formats that are read, each saved again in the same format.
_MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg"}
PICTURE_TYPES = tuple(_MEDIA_TYPES.values())
# A few bytes can claim to be a huge picture. Larger pictures than this are not even decoded.
_MAX_PIXELS = 16_000_000
# The limit for photographs, which are decoded at a reduced size: as many pixels as phone cameras have.
MAX_PHOTO_PIXELS = 52_000_000
# Wider than the widest panoramas of phones.
_LONGEST_SIDE = 32_000
_PNG_HEADER = b"\x89PNG"
# Maximum PNG compression takes 50 times as long if neighbouring pixels differ, and saves little.
_SAVE_OPTIONS: dict[str, dict[str, Any]] = {"PNG": {"compress_level": 4}, "JPEG": {"quality": 88, "optimize": True}}


def redraw_picture(source: Path | bytes, side: int, max_photo_pixels: int = _MAX_PIXELS) -> bytes:
    """Return the picture of a file, redrawn with no side longer than this and with nothing else from the file."""
    try:
        return _redraw_content(source if isinstance(source, bytes) else source.read_bytes(), side, max_photo_pixels)
    except (UnacceptedPicture, MemoryError):
        raise
    except Exception:
        # If the decoder fails, other programs could not show the picture either.
        raise UnacceptedPicture(NOT_A_PICTURE) from None


def media_type_of(path: Path) -> str:
    """Return the media type of a redrawn picture."""
    with path.open("rb") as file:
        return _MEDIA_TYPES["PNG" if file.read(len(_PNG_HEADER)) == _PNG_HEADER else "JPEG"]


def _redraw_content(content: bytes, side: int, max_photo_pixels: int) -> bytes:
    library = import_lazily("PIL.Image")
    # The library's own limit only warns; ours is checked below, before decoding.
    library.MAX_IMAGE_PIXELS = None
    reduced = reduce_picture(content)
    with library.open(BytesIO(reduced.content), formats=tuple(_MEDIA_TYPES)) as picture:
        kind: str = picture.format
        limit = max_photo_pixels if kind == "JPEG" else _MAX_PIXELS
        if picture.width * picture.height > limit:
            raise UnacceptedPicture(
                Message("has more than {limit} million pixels; make it smaller first", limit=limit // 1_000_000)
            )
        if max(picture.size) > _LONGEST_SIDE:
            # Reducing a line of a million pixels takes seconds.
            raise UnacceptedPicture(
                Message(
                    "has a side of more than {limit} pixels; make it smaller first",
                    limit=DecimalNumber(str(_LONGEST_SIDE)),
                )
            )
        if reduced.is_costly:
            raise UnacceptedPicture(
                Message(
                    "takes too long to draw. Open it in another program and save it again, not as a progressive JPEG"
                )
            )
        # Decode a large photograph at a reduced size if its format allows that.
        picture.draft("RGB", (side, side))
        mode = "RGBA" if kind == "PNG" and picture.has_transparency_data else "RGB"
        resized = picture.convert(mode)
        resized.thumbnail((side, side))
        return _save_pixels(library, _turn_upright(library, resized, reduced.orientation), kind)


def _turn_upright(library: Any, picture: Any, orientation: int) -> Any:
    """Rotate a picture upright."""
    turns = library.Transpose
    transposition = (
        None,
        turns.FLIP_LEFT_RIGHT,
        turns.ROTATE_180,
        turns.FLIP_TOP_BOTTOM,
        turns.TRANSPOSE,
        turns.ROTATE_270,
        turns.TRANSVERSE,
        turns.ROTATE_90,
    )[orientation - 1]
    return picture if transposition is None else picture.transpose(transposition)


def _save_pixels(library: Any, picture: Any, kind: str) -> bytes:
    """Save only the pixels, without any metadata of the file."""
    plain = library.new(picture.mode, picture.size)
    plain.paste(picture)
    saved = BytesIO()
    plain.save(saved, kind, **_SAVE_OPTIONS[kind])
    return saved.getvalue()
