"""Makes the PDFs of what was issued: once, after the commit, and kept for good.

A PDF is made of the snapshot alone. Whoever makes it first decides what it is: its name is the hash of its content.
"""

from dataclasses import dataclass
from typing import NamedTuple

from mainstay.backing.database import Database, Handle
from mainstay.backing.files import Files
from mainstay.business.issuing.printed import TABLES
from mainstay.paper.pdf import render
from mainstay.paper.snapshot import Snapshot


class _Issued(NamedTuple):
    snapshot: str
    # The name of the file, once there is one.
    pdf: str | None


@dataclass(frozen=True, slots=True)
class Press:
    """Prints, in one process, outside of every transaction."""

    database: Database
    files: Files

    def print(self, organisation: str, record: str) -> bytes:
        """The PDF of what was issued, made now if it was never made before."""
        issued = self._find(organisation, record)
        if issued.pdf:
            return self.files.path(issued.pdf).read_bytes()
        snapshot = Snapshot.model_validate_json(issued.snapshot)
        logo = snapshot.issuer.logo
        content = render(snapshot, self._logo(logo) if logo else None)
        name = self.files.keep(content)
        kept = self._keep(organisation, record, name)
        return content if kept == name else self.files.path(kept).read_bytes()

    def _logo(self, name: str) -> bytes | None:
        path = self.files.path(name)
        # The folder of files may not have been brought along with the database.
        return path.read_bytes() if path.exists() else None

    def _find(self, organisation: str, record: str) -> _Issued:
        with self.database.reading(organisation) as rows:
            return _read(rows, record)

    def _keep(self, organisation: str, record: str, name: str) -> str:
        table = TABLES[record.partition("_")[0]]
        with self.database.changing(organisation) as rows:
            rows.run(
                f"UPDATE {table} SET pdf_sha256 = :name"
                " WHERE organisation_id = :organisation AND id = :id AND pdf_sha256 IS NULL",
                id=record,
                name=name,
            )
            return _read(rows, record).pdf or name


def _read(rows: Handle, record: str) -> _Issued:
    table = TABLES[record.partition("_")[0]]
    row = rows.one(
        f"SELECT snapshot, pdf_sha256 FROM {table} WHERE organisation_id = :organisation AND id = :id", id=record
    )
    if row is None or row[0] is None:
        raise LookupError(f"{record} was not issued.")
    return _Issued(str(row[0]), None if row[1] is None else str(row[1]))
