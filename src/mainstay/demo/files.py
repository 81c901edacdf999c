"""The photos and documents of the demo, examined and stored as uploads are."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from mainstay.business.records.attachments import parts_to_store, to_document_input
from mainstay.demo import texts as words
from mainstay.demo.pictures import build_pdf, draw_photo
from mainstay.infrastructure.file_types import examine_file
from mainstay.infrastructure.files import FileStore


@dataclass
class DemoFiles:
    """Creates and stores the files of the demo; each photo is stored once, however many jobs it is added to."""

    files: FileStore
    _photos: dict[str, Future[dict[str, object]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A thread draws and stores the photos, because another core is free and nothing else then waits for the disk.
        executor = ThreadPoolExecutor(1)
        self._photos = {title: executor.submit(self._store_photo, title) for title in words.JOB_TITLES}
        executor.shutdown(wait=False)

    def get_photo(self, title: str) -> dict[str, object]:
        """Return a photo of work with this title."""
        return self._photos[title].result()

    def make_parts_list(self, title: str) -> dict[str, object] | None:
        """Store a list of the parts for work with this title; None if it needs none."""
        if title not in words.PARTS_NEEDED:
            return None
        return self._store_file("Parts to order.txt", "\n".join(words.PARTS_NEEDED[title]).encode())

    def make_certificate(self, number: str, title: str, on: str) -> dict[str, object] | None:
        """Store the certificate of work with this title; None if it gets none."""
        if title not in words.CERTIFICATES:
            return None
        lines = (words.CERTIFICATES[title], f"Job {number}: {title}", f"Checked on {on}", *words.CHECKS)
        return self._store_file(f"{words.CERTIFICATES[title]} {number}.pdf", build_pdf(lines))

    def _store_photo(self, title: str) -> dict[str, object]:
        return self._store_file(*draw_photo(title))

    def _store_file(self, file_name: str, content: bytes) -> dict[str, object]:
        return store_file(self.files, file_name, content)


def store_file(files: FileStore, file_name: str, content: bytes) -> dict[str, object]:
    """Store a file as an upload is stored, and return it as input of `add_document`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "received"
        path.write_bytes(content)
        found = examine_file(path, file_name)
        for part in parts_to_store(found):
            files.store(part)
        return to_document_input(found, file_name)
