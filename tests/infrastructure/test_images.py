"""Pictures are drawn again, so that nothing but the picture is left; other files are refused."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from PIL import Image, ImageOps

from mainstay.infrastructure.images import UnacceptedPicture, media_type_of, redraw_picture
from support import hostile
from support.images import IMAGES_WITH_BOMBS, NOT_IMAGES, draw_image, open_image
from support.limits import run_with_cpu_limit

SCRIPT = b"<script>alert(1)</script>"


def redraw(folder: Path, content: bytes, side: int = 1000) -> bytes:
    path = folder / "handed in.exe"
    path.write_bytes(content)
    return redraw_picture(path, side)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_is_known_by_its_content_and_stays_of_its_kind(tmp_path: Path, kind: str) -> None:
    made = redraw(tmp_path, draw_image(kind))
    picture = open_image(made)
    assert (picture.format, picture.size, picture.mode) == (kind, (40, 30), "RGB")
    assert picture.getpixel((5, 5)) == (0, 0, 0)
    assert picture.getpixel((35, 5)) == (255, 255, 255)
    (tmp_path / "made").write_bytes(made)
    assert media_type_of(tmp_path / "made") == f"image/{kind.lower()}"


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "LA", "I;16", "RGB"])
def test_a_png_of_any_mode_is_taken(tmp_path: Path, mode: str) -> None:
    assert open_image(redraw(tmp_path, draw_image("PNG", mode=mode))).mode == ("RGBA" if "A" in mode else "RGB")


@pytest.mark.parametrize("mode", ["L", "CMYK", "RGB"])
def test_a_jpeg_of_any_mode_is_taken(tmp_path: Path, mode: str) -> None:
    assert open_image(redraw(tmp_path, draw_image("JPEG", mode=mode))).mode == "RGB"


def test_what_can_be_seen_through_stays_so(tmp_path: Path) -> None:
    clear = Image.new("RGBA", (10, 10), (255, 0, 0, 0))
    clear.save(tmp_path / "clear.png")
    picture = open_image(redraw_picture(tmp_path / "clear.png", 1000))
    assert picture.mode == "RGBA"
    assert picture.getchannel("A").getextrema() == (0, 0)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_no_side_is_longer_than_asked(tmp_path: Path, kind: str) -> None:
    assert open_image(redraw(tmp_path, draw_image(kind, (2400, 1200)))).size == (1000, 500)


def test_a_photograph_stands_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert open_image(redraw(tmp_path, draw_image("JPEG", exif=exif))).size == (30, 40)


def test_nothing_but_the_dots_is_left(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = SCRIPT.decode()
    for kind in ("JPEG", "PNG"):
        with_more = draw_image(kind, exif=exif, icc_profile=SCRIPT, comment=SCRIPT) + b"PK\x03\x04" + SCRIPT
        assert SCRIPT in with_more
        made = redraw(tmp_path, with_more)
        assert SCRIPT not in made
        assert b"PK" not in made
        assert open_image(made).info.keys() <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_the_same_picture_is_made_the_same_again(tmp_path: Path) -> None:
    assert redraw(tmp_path, draw_image("JPEG")) == redraw(tmp_path, draw_image("JPEG"))


@pytest.mark.parametrize("what", NOT_IMAGES)
def test_what_is_no_picture_is_refused(tmp_path: Path, what: str) -> None:
    with pytest.raises(UnacceptedPicture):
        redraw(tmp_path, NOT_IMAGES[what])


def test_a_picture_with_too_many_dots_is_not_even_begun(tmp_path: Path) -> None:
    with pytest.raises(UnacceptedPicture, match="million pixels"):
        redraw(tmp_path, NOT_IMAGES["PNG as large as a house"])


@given(some.binary(max_size=300), some.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\x00\x10JFIF"]))
def test_no_bytes_make_a_bug(tmp_path_factory: pytest.TempPathFactory, content: bytes, mark: bytes) -> None:
    with pytest.raises(UnacceptedPicture):
        redraw(tmp_path_factory.getbasetemp(), mark + content)


@given(some.data(), some.sampled_from(["PNG", "JPEG"]))
def test_a_picture_with_a_flaw_is_drawn_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: some.DataObject, kind: str
) -> None:
    content = bytearray(draw_image(kind))
    for _ in range(data.draw(some.integers(1, 4))):
        content[data.draw(some.integers(0, len(content) - 1))] = data.draw(some.integers(0, 255))
    try:
        made = redraw(tmp_path_factory.getbasetemp(), bytes(content))
    except UnacceptedPicture:
        return
    assert open_image(made).format in {"PNG", "JPEG"}


HOSTILE_IMAGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a scan that is there 500 times": (
        lambda: hostile.make_jpeg_with_repeated_scan(800, 600, 500),
        "takes too long to draw. Open it in another program",
    ),
    "many scans of many dots": (lambda: hostile.make_jpeg_with_repeated_scan(4000, 3000, 94, "RGB"), "takes too long"),
    "colours that are packed in a rare way": (
        lambda: draw_image("JPEG").replace(b"\xff\xc0", b"\xff\xc9"),
        "rare kind",
    ),
    "many comments": (lambda: hostile.make_jpeg_with_segments(20_000, 0xFE), "too many parts"),
    "many texts": (lambda: hostile.make_png_with_chunks(20_000, b"tEXt", b"a\0"), "too many parts"),
    "many parts of dots": (lambda: hostile.make_png_with_chunks(20_000, b"IDAT"), "too many parts"),
}


@pytest.mark.parametrize("what", HOSTILE_IMAGES)
def test_what_takes_long_to_draw_is_refused_before_it_is_drawn(tmp_path: Path, what: str) -> None:
    make, message = HOSTILE_IMAGES[what]
    with pytest.raises(UnacceptedPicture, match=message):
        redraw(tmp_path, make())


@pytest.mark.parametrize(
    "content",
    [
        *IMAGES_WITH_BOMBS,
        hostile.make_png_with_chunks(50, b"iCCP", b"a\0\0" + zlib.compress(bytes(5_000_000))),
        hostile.make_jpeg_with_segments(200, 0xE1, b"Exif\0\0" + bytes(60_000)),
        hostile.make_jpeg_with_fill(100_000),
        draw_image("JPEG", progressive=True) + SCRIPT,
    ],
    ids=["text", "profile", "profiles", "notes of a camera", "nothing", "something behind it"],
)
def test_what_is_beside_the_picture_is_never_read(tmp_path: Path, content: bytes) -> None:
    assert open_image(redraw(tmp_path, content)).format in {"PNG", "JPEG"}


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_a_photograph_in_layers_is_drawn(tmp_path: Path, mode: str) -> None:
    made = redraw(tmp_path, hostile.make_jpeg_with_repeated_scan(800, 600, 20, mode))
    assert open_image(made).size == (800, 600)


def test_a_photograph_with_a_second_picture_behind_it_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "both.jpg"
    first, second = (Image.new("RGB", (40, 30), colour) for colour in ("red", "blue"))
    first.save(path, "MPO", save_all=True, append_images=[second])
    picture = open_image(redraw_picture(path, 1000))
    assert (picture.format, picture.getpixel((20, 15))) == ("JPEG", (254, 0, 0))


@pytest.mark.parametrize("orientation", range(9))
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_is_turned_as_others_turn_it(tmp_path: Path, kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x010E], exif[0x0112] = "a description", orientation
    content = draw_image(kind, exif=exif)
    turned = ImageOps.exif_transpose(open_image(content))
    made = open_image(redraw(tmp_path, content))
    assert made.size == turned.size
    for place in ((2, 2), (made.width - 3, 2), (2, made.height - 3)):
        assert made.getpixel(place) == turned.getpixel(place)


def test_a_picture_that_packs_badly_is_packed_quickly(tmp_path: Path) -> None:
    path = tmp_path / "shades.png"
    path.write_bytes(hostile.make_png_of_two_shades(1600))
    run_with_cpu_limit(
        5, f"from mainstay.infrastructure.images import redraw_picture; redraw_picture(Path({str(path)!r}), 2400)"
    )
