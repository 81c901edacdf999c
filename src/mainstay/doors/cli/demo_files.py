"""Photos and papers of the demo, handed in as people hand them in: looked at, and kept."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from mainstay.backing.contents import examined
from mainstay.backing.files import Files
from mainstay.business.records.documents import keep, told_of
from mainstay.doors.cli import demo_words as words
from mainstay.doors.cli.demo_pictures import paper, photo


@dataclass
class Album:
    """What is kept of them, each once, whatever it is added to."""

    files: Files
    _photos: dict[str, Future[dict[str, object]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Drawn and kept beside everything else: another processor has the time, and the disk is waited for there.
        beside = ThreadPoolExecutor(1)
        self._photos = {title: beside.submit(self._taken, title) for title in words.TITLES}
        beside.shutdown(wait=False)

    def photo(self, title: str) -> dict[str, object]:
        """A photo of work with this title."""
        return self._photos[title].result()

    def parts(self, title: str) -> dict[str, object] | None:
        """A list of the parts that such work takes, if it takes any worth a list."""
        if title not in words.PARTS:
            return None
        return self._handed_in("Parts to order.txt", "\n".join(words.PARTS[title]).encode())

    def certificate(self, number: str, title: str, on: str) -> dict[str, object] | None:
        """The paper that is left behind after such work, if one is."""
        if title not in words.CERTIFIED:
            return None
        lines = (words.CERTIFIED[title], f"Job {number}: {title}", f"Checked on {on}", *words.CHECKS)
        return self._handed_in(f"{words.CERTIFIED[title]} {number}.pdf", paper(lines))

    def _taken(self, title: str) -> dict[str, object]:
        return self._handed_in(*photo(title))

    def _handed_in(self, called: str, content: bytes) -> dict[str, object]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "received"
            path.write_bytes(content)
            found = examined(path, called)
            keep(self.files, found)
            return told_of(found, called)
