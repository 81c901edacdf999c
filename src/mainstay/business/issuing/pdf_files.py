"""Makes the files of issued documents: each once, after the commit, and stores it for good.

A file is made from the snapshot alone, and its name is the hash of its content. If two processes make the same file,
the first one to store its name wins.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from mainstay.business.issuing.document_files import DOCUMENT_TABLES, FILE_COLUMNS
from mainstay.business.issuing.pdf_printer import Printer
from mainstay.documents import ubl
from mainstay.documents.einvoice import einvoice_terms_of
from mainstay.documents.snapshot import Snapshot
from mainstay.infrastructure.database import Database, DatabaseHandle
from mainstay.infrastructure.files import FileStore, read_if_stored


class _IssuedDocument(NamedTuple):
    snapshot: str
    # The name of the file; None until it is made.
    file: str | None


@dataclass(frozen=True, slots=True)
class DocumentFiles:
    """Makes files of issued documents, outside of every transaction."""

    database: Database
    files: FileStore
    printer: Printer = field(default_factory=Printer)

    def fetch_file(self, organisation: str, record_id: str, form: str = "pdf") -> bytes:
        """Return a file of an issued document; make it if it was never made before."""
        issued = self._find_issued(organisation, record_id, form)
        if issued.file:
            return self.files.read(issued.file)
        content = self._make_file(issued.snapshot, form)
        name = self.files.store(content)
        stored_name = self._store_name(organisation, record_id, form, name)
        return content if stored_name == name else self.files.read(stored_name)

    def has_pdf(self, organisation: str, record_id: str) -> bool:
        """Return whether the PDF of a document was made."""
        return self._find_issued(organisation, record_id, "pdf").file is not None

    def _make_file(self, text: str, form: str) -> bytes:
        snapshot = Snapshot.model_validate_json(text)
        if form == "ubl":
            return ubl.write_ubl(einvoice_terms_of(snapshot))
        logo = snapshot.issuer.logo
        return self.printer.print(
            text, read_if_stored(self.files, logo) if logo else None, "void" if form == "void" else None
        )

    def _find_issued(self, organisation: str, record_id: str, form: str) -> _IssuedDocument:
        with self.database.read_transaction(organisation) as db:
            return _read_issued(db, record_id, form)

    def _store_name(self, organisation: str, record_id: str, form: str, name: str) -> str:
        table, column = DOCUMENT_TABLES[record_id.partition("_")[0]], FILE_COLUMNS[form]
        with self.database.write_transaction(organisation) as db:
            db.run(
                f"UPDATE {table} SET {column} = :name"
                f" WHERE organisation_id = :organisation AND id = :id AND {column} IS NULL",
                id=record_id,
                name=name,
            )
            return _read_issued(db, record_id, form).file or name


def _read_issued(db: DatabaseHandle, record_id: str, form: str) -> _IssuedDocument:
    table = DOCUMENT_TABLES[record_id.partition("_")[0]]
    row = db.one(
        f"SELECT snapshot, {FILE_COLUMNS[form]} FROM {table} WHERE organisation_id = :organisation AND id = :id",
        id=record_id,
    )
    if row is None or row[0] is None:
        raise LookupError(f"{record_id} was not issued.")
    return _IssuedDocument(str(row[0]), None if row[1] is None else str(row[1]))
