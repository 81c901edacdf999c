"""Draws the files of the demo: sketches instead of photos, and PDFs. They are the same each time."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

# The size of a photo, and how much larger it is drawn, so that edges are smooth.
_WIDTH, _HEIGHT, _OVERSAMPLING = 640, 480, 2
_COPPER, _BRASS, _STEEL, _DARK, _WHITE = "#b87333", "#c9a227", "#8d99a6", "#2f3640", "#f4f4f0"
_WATER = "#5aa9d6"
_QUALITY = 85


class Sketch:
    """A drawing; coordinates are thousandths of its width and height."""

    def __init__(self, top: str, floor: str, horizon: int) -> None:
        self._picture = Image.new("RGB", (_WIDTH * _OVERSAMPLING, _HEIGHT * _OVERSAMPLING), top)
        self._canvas: Any = ImageDraw.Draw(self._picture)
        self.draw_box((0, horizon), (1000, 1000), floor)

    def draw_box(self, begin: tuple[int, int], end: tuple[int, int], colour: str, round_by: int = 0) -> None:
        """Draw a rectangle from one corner to the other, with rounded corners and an outline if `round_by` is given."""
        self._canvas.rounded_rectangle(
            [*self._to_pixels(*begin), *self._to_pixels(*end)],
            round_by * _OVERSAMPLING,
            fill=colour,
            outline=_DARK if round_by else None,
        )

    def draw_disc(self, across: int, down: int, radius: int, colour: str) -> None:
        """Draw a filled circle around a point."""
        (x, y), reach = self._to_pixels(across, down), radius * _WIDTH * _OVERSAMPLING // 1000
        self._canvas.ellipse(
            [x - reach, y - reach, x + reach, y + reach], fill=colour, outline=_DARK, width=_OVERSAMPLING
        )

    def draw_line(self, colour: str, *points: tuple[int, int], width: int = 9) -> None:
        """Draw a line through these points."""
        self._canvas.line(
            [self._to_pixels(*point) for point in points], fill=colour, width=width * _OVERSAMPLING, joint="curve"
        )

    def to_jpeg(self) -> bytes:
        """Return the drawing as a JPEG file."""
        buffer = BytesIO()
        self._picture.reduce(_OVERSAMPLING).save(buffer, "JPEG", quality=_QUALITY)
        return buffer.getvalue()

    def _to_pixels(self, across: int, down: int) -> tuple[int, int]:
        return across * _WIDTH * _OVERSAMPLING // 1000, down * _HEIGHT * _OVERSAMPLING // 1000


def draw_photo(title: str) -> tuple[str, bytes]:
    """Draw the photo for work with this title, and return its file name and content."""
    name, draw = _PHOTOS.get(title, ("Under the sink.jpg", _draw_sink))
    return name, draw().to_jpeg()


def build_pdf(lines: Sequence[str]) -> bytes:
    """Return a PDF of one page with these lines; the first is its title."""
    operators = [f"/F1 22 Tf 60 770 Td ({_escape(lines[0])}) Tj /F1 11 Tf 0 -18 Td"]
    operators += [f"0 -20 Td ({_escape(line)}) Tj" for line in lines[1:]]
    text = f"BT {' '.join(operators)} ET"
    parts = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Font << /F1 5 0 R >> >>",
    ]
    document, offsets = "%PDF-1.7\n", []
    for number, part in enumerate(parts, start=1):
        offsets.append(f"{len(document):010} 00000 n \n")
        document += f"{number} 0 obj\n{part}\nendobj\n"
    table = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{''.join(offsets)}"
    end = f"trailer\n<< /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{len(document)}\n%%EOF\n"
    return (document + table + end).encode("ascii")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _draw_boiler() -> Sketch:
    sketch = Sketch("#e9e2d0", "#a98e6b", 880)
    for across, down in ((430, 1000), (500, 1000), (570, 1000)):
        sketch.draw_line(_COPPER, (across, 640), (across, down))
    sketch.draw_line(_STEEL, (500, 150), (500, 0), width=46)
    sketch.draw_box((330, 130), (670, 660), _WHITE, 14)
    sketch.draw_box((360, 520), (640, 620), "#d7dadd", 6)
    sketch.draw_disc(410, 570, 26, _DARK)
    sketch.draw_box((470, 545), (600, 595), "#7fd48a", 3)
    sketch.draw_disc(430, 760, 20, _BRASS)
    return sketch


def _draw_radiator() -> Sketch:
    sketch = Sketch("#cfd9cf", "#8a6d4b", 820)
    sketch.draw_box((0, 790), (1000, 830), _WHITE)
    sketch.draw_line(_COPPER, (200, 700), (170, 700), (170, 830))
    sketch.draw_line(_COPPER, (800, 700), (830, 700), (830, 830))
    for number in range(12):
        sketch.draw_box((205 + number * 50, 380), (247 + number * 50, 740), _WHITE, 10)
    sketch.draw_disc(170, 700, 22, "#c0392b")
    sketch.draw_box((80, 40), (420, 300), "#a9cce3", 4)
    sketch.draw_line(_WHITE, (250, 40), (250, 300))
    return sketch


def _draw_sink() -> Sketch:
    sketch = Sketch("#6b5844", "#4c3d2e", 780)
    sketch.draw_box((0, 0), (1000, 130), "#bfc5ca")
    sketch.draw_box((330, 130), (670, 260), _STEEL, 18)
    sketch.draw_line(_WHITE, (500, 260), (500, 520), (430, 600), (360, 520), (360, 430), (0, 430), width=26)
    sketch.draw_disc(500, 640, 11, _WATER)
    sketch.draw_disc(500, 700, 9, _WATER)
    sketch.draw_box((400, 750), (600, 930), "#d35400", 12)
    sketch.draw_box((415, 770), (585, 800), _WATER)
    return sketch


def _draw_tiles() -> Sketch:
    sketch = Sketch("#f2f5f5", "#f2f5f5", 900)
    for row in range(7):
        for column in range(10):
            colour = "#dbe9ee" if (row + column) % 2 else "#cfe0e6"
            sketch.draw_box((column * 100 + 4, row * 128 + 5), (column * 100 + 96, row * 128 + 123), colour)
    sketch.draw_box((0, 384), (1000, 512), "#2e86ab")
    sketch.draw_box((0, 900), (1000, 1000), "#7f8c8d")
    sketch.draw_line(_STEEL, (760, 800), (760, 140), (640, 140))
    sketch.draw_disc(620, 160, 46, "#bdc3c7")
    sketch.draw_box((715, 560), (805, 600), _STEEL, 8)
    return sketch


def _draw_meter() -> Sketch:
    sketch = Sketch("#9aa5a0", "#5d6964", 860)
    sketch.draw_line(_BRASS, (380, 330), (380, 120), (0, 120), width=20)
    sketch.draw_line(_BRASS, (620, 330), (620, 120), (1000, 120), width=20)
    sketch.draw_box((290, 300), (710, 800), "#e0e0d8", 20)
    sketch.draw_box((360, 420), (640, 520), _DARK, 6)
    for number, colour in enumerate([_WHITE] * 4 + ["#c0392b"] * 2):
        sketch.draw_box((375 + number * 44, 437), (410 + number * 44, 503), colour)
    sketch.draw_disc(500, 660, 60, _WHITE)
    sketch.draw_line("#c0392b", (500, 660), (545, 620), width=4)
    return sketch


def _draw_drain() -> Sketch:
    sketch = Sketch("#8e5b46", "#b5aea4", 260)
    for row in range(6):
        for column in range(6):
            colour = "#a8a196" if (row + column) % 2 else "#bcb5aa"
            sketch.draw_box((column * 170, 260 + row * 125), (column * 170 + 164, 380 + row * 125), colour)
    sketch.draw_disc(500, 640, 190, "#7d8f99")
    sketch.draw_disc(500, 640, 110, _DARK)
    for number in range(5):
        sketch.draw_line(_STEEL, (410 + number * 45, 550), (410 + number * 45, 730), width=7)
    return sketch


def _draw_heat_pump() -> Sketch:
    sketch = Sketch("#a35d43", "#6a994e", 760)
    for row in range(8):
        for column in range(11):
            begin = column * 100 - 50 * (row % 2)
            sketch.draw_box(
                (begin + 3, row * 95 + 4), (begin + 97, row * 95 + 91), "#b5694c" if column % 3 else "#9c5740"
            )
    sketch.draw_box((230, 780), (770, 830), "#9e9e96")
    sketch.draw_box((250, 330), (750, 785), _WHITE, 14)
    sketch.draw_disc(430, 555, 135, "#cfd4d8")
    for across, down in ((430, 400), (585, 555), (430, 710), (275, 555)):
        sketch.draw_line(_STEEL, (430, 555), (across, down), width=12)
    sketch.draw_disc(430, 555, 30, _DARK)
    sketch.draw_line(_DARK, (750, 700), (870, 700), (870, 0), width=16)
    return sketch


def _draw_cylinder() -> Sketch:
    sketch = Sketch("#ded6c8", "#7a6048", 900)
    sketch.draw_box((80, 0), (130, 1000), "#c7bca9")
    sketch.draw_line(_COPPER, (500, 150), (500, 60), (1000, 60))
    sketch.draw_line(_COPPER, (690, 760), (1000, 760))
    sketch.draw_box((310, 130), (690, 900), "#5b8c5a", 70)
    for down in (300, 600):
        sketch.draw_box((310, down), (690, down + 24), _DARK)
    sketch.draw_box((420, 660), (580, 740), "#e8e8e2", 6)
    sketch.draw_disc(500, 460, 46, _WHITE)
    sketch.draw_line("#c0392b", (500, 460), (470, 425), width=4)
    return sketch


_PHOTOS: dict[str, tuple[str, Callable[[], Sketch]]] = {
    "Replace the boiler": ("The old boiler.jpg", _draw_boiler),
    "Annual boiler service": ("Boiler.jpg", _draw_boiler),
    "Leak under the kitchen sink": ("Under the sink.jpg", _draw_sink),
    "Fit a new bathroom": ("Shower wall.jpg", _draw_tiles),
    "Radiators stay cold upstairs": ("Radiator, back bedroom.jpg", _draw_radiator),
    "Landlord gas safety check": ("Meter.jpg", _draw_meter),
    "Move the stopcock": ("Under the sink.jpg", _draw_sink),
    "Blocked drain in the yard": ("Drain.jpg", _draw_drain),
    "Power flush the heating": ("Radiator, hall.jpg", _draw_radiator),
    "Install a heat pump": ("Heat pump.jpg", _draw_heat_pump),
    "Tile the shower": ("Shower wall.jpg", _draw_tiles),
    "Hot water cylinder makes noises": ("Cylinder.jpg", _draw_cylinder),
    "Unvented cylinder service": ("Cylinder.jpg", _draw_cylinder),
}
