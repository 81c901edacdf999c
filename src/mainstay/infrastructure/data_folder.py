"""The data folder and the paths in it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The paths of an installation's files."""

    path: Path

    @property
    def database(self) -> Path:
        """The file of the embedded database."""
        return self.path / "mainstay.db"

    @property
    def rate_limits(self) -> Path:
        """The rate limits, shared by the processes of this machine."""
        return self.path / "run" / "limits"

    @property
    def counters(self) -> Path:
        """The metric counters, with one row for each process."""
        return self.path / "run" / "tallies"

    @property
    def process_slots(self) -> Path:
        """The locks that assign a row to each process."""
        return self.path / "run" / "rows"

    @property
    def working_children(self) -> Path:
        """The lock that a process holds while a child works for it."""
        return self.path / "run" / "children"

    @property
    def worker_socket(self) -> Path:
        """The socket that wakes the worker."""
        return self.path / "run" / "bell"

    @property
    def emails(self) -> Path:
        """The folder for emails if no mail server is set."""
        return self.path / "outbox"

    @property
    def files(self) -> Path:
        """The files that people uploaded."""
        return self.path / "files"

    @property
    def file_cache(self) -> Path:
        """Copies of files from a remote store."""
        return self.path / "run" / "files"

    @property
    def templates(self) -> Path:
        """The compiled page templates."""
        return self.path / "run" / "templates"

    @property
    def translations(self) -> Path:
        """The catalogues of translations, such as `fr.po`."""
        return self.path / "translations"

    @property
    def temporary_files(self) -> Path:
        """The files that exist only during a request, or until they are fetched."""
        return self.path / "run" / "passing"

    @property
    def secret(self) -> Path:
        """The file of the installation's secret, if no setting contains it."""
        return self.path / "secret"

    def create(self) -> None:
        """Create the folders, accessible only to the operator."""
        for folder in (self.path, self.path / "run"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
