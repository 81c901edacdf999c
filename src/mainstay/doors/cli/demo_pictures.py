"""The files of the demo: sketches in place of photos, and papers. The same each time, and no two alike."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

# What is drawn, and how much larger than it is kept: edges are smooth then.
_WIDE, _HIGH, _FINE = 640, 480, 2
_COPPER, _BRASS, _STEEL, _DARK, _WHITE = "#b87333", "#c9a227", "#8d99a6", "#2f3640", "#f4f4f0"
_WATER = "#5aa9d6"
_QUALITY = 85


class Sketch:
    """A drawing in thousandths of its width and of its height."""

    def __init__(self, top: str, floor: str, horizon: int) -> None:
        self._picture = Image.new("RGB", (_WIDE * _FINE, _HIGH * _FINE), top)
        self._pen: Any = ImageDraw.Draw(self._picture)
        self.box((0, horizon), (1000, 1000), floor)

    def box(self, begin: tuple[int, int], end: tuple[int, int], colour: str, round_by: int = 0) -> None:
        """A rectangle from one corner to the other, round where that is asked for."""
        self._pen.rounded_rectangle(
            [*self._at(*begin), *self._at(*end)], round_by * _FINE, fill=colour, outline=_DARK if round_by else None
        )

    def disc(self, across: int, down: int, radius: int, colour: str) -> None:
        """A circle around a point."""
        (x, y), reach = self._at(across, down), radius * _WIDE * _FINE // 1000
        self._pen.ellipse([x - reach, y - reach, x + reach, y + reach], fill=colour, outline=_DARK, width=_FINE)

    def pipe(self, colour: str, *points: tuple[int, int], thick: int = 9) -> None:
        """A line through these points."""
        self._pen.line([self._at(*point) for point in points], fill=colour, width=thick * _FINE, joint="curve")

    def jpeg(self) -> bytes:
        """The drawing as a photo of it would be kept."""
        kept = BytesIO()
        self._picture.reduce(_FINE).save(kept, "JPEG", quality=_QUALITY)
        return kept.getvalue()

    def _at(self, across: int, down: int) -> tuple[int, int]:
        return across * _WIDE * _FINE // 1000, down * _HIGH * _FINE // 1000


def photo(of: str) -> tuple[str, bytes]:
    """The photo that is taken of work with this title: its name, and what is in it."""
    name, draw = _PHOTOS.get(of, ("Under the sink.jpg", _sink))
    return name, draw().jpeg()


def paper(lines: Sequence[str]) -> bytes:
    """A PDF of one page with these lines on it; the first is its title."""
    shown = [f"/F1 22 Tf 60 770 Td ({_quoted(lines[0])}) Tj /F1 11 Tf 0 -18 Td"]
    shown += [f"0 -20 Td ({_quoted(line)}) Tj" for line in lines[1:]]
    text = f"BT {' '.join(shown)} ET"
    parts = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Font << /F1 5 0 R >> >>",
    ]
    written, begins = "%PDF-1.7\n", []
    for number, part in enumerate(parts, start=1):
        begins.append(f"{len(written):010} 00000 n \n")
        written += f"{number} 0 obj\n{part}\nendobj\n"
    table = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{''.join(begins)}"
    end = f"trailer\n<< /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
    return (written + table + end).encode("ascii")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _boiler() -> Sketch:
    sketch = Sketch("#e9e2d0", "#a98e6b", 880)
    for across, down in ((430, 1000), (500, 1000), (570, 1000)):
        sketch.pipe(_COPPER, (across, 640), (across, down))
    sketch.pipe(_STEEL, (500, 150), (500, 0), thick=46)
    sketch.box((330, 130), (670, 660), _WHITE, 14)
    sketch.box((360, 520), (640, 620), "#d7dadd", 6)
    sketch.disc(410, 570, 26, _DARK)
    sketch.box((470, 545), (600, 595), "#7fd48a", 3)
    sketch.disc(430, 760, 20, _BRASS)
    return sketch


def _radiator() -> Sketch:
    sketch = Sketch("#cfd9cf", "#8a6d4b", 820)
    sketch.box((0, 790), (1000, 830), _WHITE)
    sketch.pipe(_COPPER, (200, 700), (170, 700), (170, 830))
    sketch.pipe(_COPPER, (800, 700), (830, 700), (830, 830))
    for number in range(12):
        sketch.box((205 + number * 50, 380), (247 + number * 50, 740), _WHITE, 10)
    sketch.disc(170, 700, 22, "#c0392b")
    sketch.box((80, 40), (420, 300), "#a9cce3", 4)
    sketch.pipe(_WHITE, (250, 40), (250, 300))
    return sketch


def _sink() -> Sketch:
    sketch = Sketch("#6b5844", "#4c3d2e", 780)
    sketch.box((0, 0), (1000, 130), "#bfc5ca")
    sketch.box((330, 130), (670, 260), _STEEL, 18)
    sketch.pipe(_WHITE, (500, 260), (500, 520), (430, 600), (360, 520), (360, 430), (0, 430), thick=26)
    sketch.disc(500, 640, 11, _WATER)
    sketch.disc(500, 700, 9, _WATER)
    sketch.box((400, 750), (600, 930), "#d35400", 12)
    sketch.box((415, 770), (585, 800), _WATER)
    return sketch


def _tiles() -> Sketch:
    sketch = Sketch("#f2f5f5", "#f2f5f5", 900)
    for row in range(7):
        for column in range(10):
            colour = "#dbe9ee" if (row + column) % 2 else "#cfe0e6"
            sketch.box((column * 100 + 4, row * 128 + 5), (column * 100 + 96, row * 128 + 123), colour)
    sketch.box((0, 384), (1000, 512), "#2e86ab")
    sketch.box((0, 900), (1000, 1000), "#7f8c8d")
    sketch.pipe(_STEEL, (760, 800), (760, 140), (640, 140))
    sketch.disc(620, 160, 46, "#bdc3c7")
    sketch.box((715, 560), (805, 600), _STEEL, 8)
    return sketch


def _meter() -> Sketch:
    sketch = Sketch("#9aa5a0", "#5d6964", 860)
    sketch.pipe(_BRASS, (380, 330), (380, 120), (0, 120), thick=20)
    sketch.pipe(_BRASS, (620, 330), (620, 120), (1000, 120), thick=20)
    sketch.box((290, 300), (710, 800), "#e0e0d8", 20)
    sketch.box((360, 420), (640, 520), _DARK, 6)
    for number, colour in enumerate([_WHITE] * 4 + ["#c0392b"] * 2):
        sketch.box((375 + number * 44, 437), (410 + number * 44, 503), colour)
    sketch.disc(500, 660, 60, _WHITE)
    sketch.pipe("#c0392b", (500, 660), (545, 620), thick=4)
    return sketch


def _drain() -> Sketch:
    sketch = Sketch("#8e5b46", "#b5aea4", 260)
    for row in range(6):
        for column in range(6):
            colour = "#a8a196" if (row + column) % 2 else "#bcb5aa"
            sketch.box((column * 170, 260 + row * 125), (column * 170 + 164, 380 + row * 125), colour)
    sketch.disc(500, 640, 190, "#7d8f99")
    sketch.disc(500, 640, 110, _DARK)
    for number in range(5):
        sketch.pipe(_STEEL, (410 + number * 45, 550), (410 + number * 45, 730), thick=7)
    return sketch


def _heat_pump() -> Sketch:
    sketch = Sketch("#a35d43", "#6a994e", 760)
    for row in range(8):
        for column in range(11):
            begin = column * 100 - 50 * (row % 2)
            sketch.box((begin + 3, row * 95 + 4), (begin + 97, row * 95 + 91), "#b5694c" if column % 3 else "#9c5740")
    sketch.box((230, 780), (770, 830), "#9e9e96")
    sketch.box((250, 330), (750, 785), _WHITE, 14)
    sketch.disc(430, 555, 135, "#cfd4d8")
    for across, down in ((430, 400), (585, 555), (430, 710), (275, 555)):
        sketch.pipe(_STEEL, (430, 555), (across, down), thick=12)
    sketch.disc(430, 555, 30, _DARK)
    sketch.pipe(_DARK, (750, 700), (870, 700), (870, 0), thick=16)
    return sketch


def _cylinder() -> Sketch:
    sketch = Sketch("#ded6c8", "#7a6048", 900)
    sketch.box((80, 0), (130, 1000), "#c7bca9")
    sketch.pipe(_COPPER, (500, 150), (500, 60), (1000, 60))
    sketch.pipe(_COPPER, (690, 760), (1000, 760))
    sketch.box((310, 130), (690, 900), "#5b8c5a", 70)
    for down in (300, 600):
        sketch.box((310, down), (690, down + 24), _DARK)
    sketch.box((420, 660), (580, 740), "#e8e8e2", 6)
    sketch.disc(500, 460, 46, _WHITE)
    sketch.pipe("#c0392b", (500, 460), (470, 425), thick=4)
    return sketch


_PHOTOS: dict[str, tuple[str, Callable[[], Sketch]]] = {
    "Replace the boiler": ("The old boiler.jpg", _boiler),
    "Annual boiler service": ("Boiler.jpg", _boiler),
    "Leak under the kitchen sink": ("Under the sink.jpg", _sink),
    "Fit a new bathroom": ("Shower wall.jpg", _tiles),
    "Radiators stay cold upstairs": ("Radiator, back bedroom.jpg", _radiator),
    "Landlord gas safety check": ("Meter.jpg", _meter),
    "Move the stopcock": ("Under the sink.jpg", _sink),
    "Blocked drain in the yard": ("Drain.jpg", _drain),
    "Power flush the heating": ("Radiator, hall.jpg", _radiator),
    "Install a heat pump": ("Heat pump.jpg", _heat_pump),
    "Tile the shower": ("Shower wall.jpg", _tiles),
    "Hot water cylinder makes noises": ("Cylinder.jpg", _cylinder),
    "Unvented cylinder service": ("Cylinder.jpg", _cylinder),
}
