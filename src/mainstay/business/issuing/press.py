"""Makes the files of what was issued: once, after the commit, and kept for good.

A file is made of the snapshot alone. Whoever makes it first decides what it is: its name is the hash of its content.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from mainstay.backing.database import Database, Handle
from mainstay.backing.files import Files
from mainstay.business.issuing.printed import COLUMNS, TABLES
from mainstay.business.issuing.printer import Printer
from mainstay.paper import ubl
from mainstay.paper.einvoice import terms_of
from mainstay.paper.snapshot import Snapshot


class _Issued(NamedTuple):
    snapshot: str
    # The name of the file, once there is one.
    file: str | None


@dataclass(frozen=True, slots=True)
class Press:
    """Prints outside of every transaction."""

    database: Database
    files: Files
    printer: Printer = field(default_factory=Printer)

    def print(self, organisation: str, record: str, form: str = "pdf") -> bytes:
        """A file of what was issued, made now if it was never made before."""
        issued = self._find(organisation, record, form)
        if issued.file:
            return self.files.path(issued.file).read_bytes()
        content = self._made(issued.snapshot, form)
        name = self.files.keep(content)
        kept = self._keep(organisation, record, form, name)
        return content if kept == name else self.files.path(kept).read_bytes()

    def is_printed(self, organisation: str, record: str) -> bool:
        """Whether the PDF of a document was made."""
        return self._find(organisation, record, "pdf").file is not None

    def _made(self, text: str, form: str) -> bytes:
        snapshot = Snapshot.model_validate_json(text)
        if form == "ubl":
            return ubl.written(terms_of(snapshot))
        logo = snapshot.issuer.logo
        return self.printer.print(text, self._logo(logo) if logo else None, "void" if form == "void" else None)

    def _logo(self, name: str) -> bytes | None:
        path = self.files.path(name)
        # The folder of files may not have been brought along with the database.
        return path.read_bytes() if path.exists() else None

    def _find(self, organisation: str, record: str, form: str) -> _Issued:
        with self.database.reading(organisation) as rows:
            return _read(rows, record, form)

    def _keep(self, organisation: str, record: str, form: str, name: str) -> str:
        table, column = TABLES[record.partition("_")[0]], COLUMNS[form]
        with self.database.changing(organisation) as rows:
            rows.run(
                f"UPDATE {table} SET {column} = :name"
                f" WHERE organisation_id = :organisation AND id = :id AND {column} IS NULL",
                id=record,
                name=name,
            )
            return _read(rows, record, form).file or name


def _read(rows: Handle, record: str, form: str) -> _Issued:
    table = TABLES[record.partition("_")[0]]
    row = rows.one(
        f"SELECT snapshot, {COLUMNS[form]} FROM {table} WHERE organisation_id = :organisation AND id = :id", id=record
    )
    if row is None or row[0] is None:
        raise LookupError(f"{record} was not issued.")
    return _Issued(str(row[0]), None if row[1] is None else str(row[1]))
