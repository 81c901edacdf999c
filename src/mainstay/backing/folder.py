"""The data folder and what lies in it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where the files of an installation are."""

    path: Path

    @property
    def database(self) -> Path:
        """The embedded database."""
        return self.path / "mainstay.db"

    @property
    def limits(self) -> Path:
        """The windows of the rate limits, shared by the processes of this machine."""
        return self.path / "run" / "limits"

    @property
    def tallies(self) -> Path:
        """The counts of the meters, one row per process."""
        return self.path / "run" / "tallies"

    @property
    def rows(self) -> Path:
        """Which process has which row."""
        return self.path / "run" / "rows"

    @property
    def bell(self) -> Path:
        """Where the worker is woken."""
        return self.path / "run" / "bell"

    @property
    def mails(self) -> Path:
        """Where mails go when no mail server is set."""
        return self.path / "outbox"

    @property
    def files(self) -> Path:
        """What people have handed in."""
        return self.path / "files"

    @property
    def templates(self) -> Path:
        """What the templates of pages were translated to."""
        return self.path / "run" / "templates"

    @property
    def passing(self) -> Path:
        """What is there for the length of a request."""
        return self.path / "run" / "passing"

    @property
    def first_code(self) -> Path:
        """The hash of the code with which the first organisation is made from elsewhere."""
        return self.path / "run" / "first-code"

    @property
    def secret(self) -> Path:
        """The installation's secret, when no setting gives one."""
        return self.path / "secret"

    def make(self) -> None:
        """Make the folders, for the operator's eyes only."""
        for folder in (self.path, self.path / "run"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
