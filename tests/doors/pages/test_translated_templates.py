"""What templates are translated to is kept, so that the next start need not do it again."""

import subprocess
import sys
from pathlib import Path

_START = (
    "import sys; from pathlib import Path; from mainstay.doors.pages.rendering import compile_templates as read;"
    " read(Path(sys.argv[1]))"
)
# Whatever would be translated now could not be read.
_WITHOUT_READING = "import jinja2; jinja2.Environment._parse = None;"


def read_in_new_process(folder: Path, before: str = "") -> dict[str, tuple[int, int]]:
    """Read all templates as a fresh process does; when each that is kept was written, and how long it is."""
    subprocess.run([sys.executable, "-c", before + _START, str(folder)], check=True)
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.iterdir()}


def test_a_second_start_translates_nothing(tmp_path: Path) -> None:
    first = read_in_new_process(tmp_path)
    assert len(first) > 30
    assert read_in_new_process(tmp_path, _WITHOUT_READING) == first


def test_what_was_half_written_is_written_anew(tmp_path: Path) -> None:
    whole = {name: size for name, (_, size) in read_in_new_process(tmp_path).items()}
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:20])
    assert {name: size for name, (_, size) in read_in_new_process(tmp_path).items()} == whole
