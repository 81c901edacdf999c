"""Pictures that people hand in: taken apart and made anew, so that nothing but the picture is left of them."""

from io import BytesIO
from pathlib import Path
from typing import Any

from mainstay.backing.child import BadContent
from mainstay.backing.picture_parts import Unfit, plain_picture
from mainstay.late import late

# What is read, and what each is made into again.
_KINDS = {"PNG": "image/png", "JPEG": "image/jpeg"}
ACCEPTED = tuple(_KINDS.values())
# A few bytes can say that they are a picture as large as a house. What is larger than this is not even begun.
_MOST_PIXELS = 16_000_000
# Of a photograph, which is drawn small at once: as many as the cameras of phones have.
MOST_OF_PHOTOGRAPH = 52_000_000
# As wide as the widest panoramas of phones, and wider.
_LONGEST_SIDE = 32_000
_PNG_BEGINS = b"\x89PNG"
# To pack a PNG as small as can be takes 50 times as long where neighbouring dots differ, and saves little.
_SAVED: dict[str, dict[str, Any]] = {"PNG": {"compress_level": 4}, "JPEG": {"quality": 88, "optimize": True}}


class NotAPicture(BadContent):
    """What was handed in is no picture that we take; the text says why, behind the name of the field."""


def redrawn(source: Path | bytes, side: int, most_of_photograph: int = _MOST_PIXELS) -> bytes:
    """The picture of a file, drawn anew with no side longer than this; nothing else that was in the file is in it."""
    try:
        return _redraw(source if isinstance(source, bytes) else source.read_bytes(), side, most_of_photograph)
    except (NotAPicture, MemoryError):
        raise
    except Unfit as fault:
        raise NotAPicture(str(fault)) from None
    except Exception:
        # Whatever its reader stumbles over, it is not a picture that others could show.
        raise NotAPicture("is not a PNG or JPEG picture") from None


def kind_of(path: Path) -> str:
    """The media type of a picture that was drawn anew."""
    with path.open("rb") as file:
        return _KINDS["PNG" if file.read(len(_PNG_BEGINS)) == _PNG_BEGINS else "JPEG"]


def _redraw(content: bytes, side: int, most_of_photograph: int) -> bytes:
    library = late("PIL.Image")
    # Its own bound only warns; ours is below, before anything is drawn.
    library.MAX_IMAGE_PIXELS = None
    plain = plain_picture(content)
    with library.open(BytesIO(plain.content), formats=tuple(_KINDS)) as picture:
        kind: str = picture.format
        most = most_of_photograph if kind == "JPEG" else _MOST_PIXELS
        if picture.width * picture.height > most:
            raise NotAPicture(f"has more than {most // 1_000_000} million dots; make it smaller first")
        if max(picture.size) > _LONGEST_SIDE:
            # To draw a line of a million dots small takes seconds.
            raise NotAPicture(f"has a side of more than {_LONGEST_SIDE:,} dots; make it smaller first")
        if plain.is_costly:
            raise NotAPicture(
                "takes too long to draw. Open it in another program and save it anew, not as a progressive JPEG"
            )
        # A large photograph is drawn small at once, where its kind can do that.
        picture.draft("RGB", (side, side))
        mode = "RGBA" if kind == "PNG" and picture.has_transparency_data else "RGB"
        drawn = picture.convert(mode)
        drawn.thumbnail((side, side))
        return _save(library, _turn(library, drawn, plain.orientation), kind)


def _turn(library: Any, picture: Any, orientation: int) -> Any:
    """Turn a picture upright."""
    turns = library.Transpose
    turned = (
        None,
        turns.FLIP_LEFT_RIGHT,
        turns.ROTATE_180,
        turns.FLIP_TOP_BOTTOM,
        turns.TRANSPOSE,
        turns.ROTATE_270,
        turns.TRANSVERSE,
        turns.ROTATE_90,
    )[orientation - 1]
    return picture if turned is None else picture.transpose(turned)


def _save(library: Any, picture: Any, kind: str) -> bytes:
    """The dots alone: what the file said beside them goes nowhere."""
    plain = library.new(picture.mode, picture.size)
    plain.paste(picture)
    saved = BytesIO()
    plain.save(saved, kind, **_SAVED[kind])
    return saved.getvalue()
