"""`files move`: copies the files of an installation to another store, while others go on working."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mainstay.infrastructure.files import FileStore, content_name_of, read_if_stored
from mainstay.infrastructure.schema import read_tables
from mainstay.maintenance.archive import OperatorRefusal
from mainstay.maintenance.backup import ReportProgress, find_file_names
from mainstay.maintenance.installation import Installation

_REPORT_EVERY = 500


@dataclass(slots=True)
class FilesMoved:
    """The result of a move."""

    total: int
    copied: int = 0
    # The files that are missing in the source, or have other content there than their name says.
    missing: list[str] = field(default_factory=list)


def copy_files(
    source: Installation, target: FileStore, file_columns: Sequence[str], report: ReportProgress
) -> FilesMoved:
    """Copy the files that rows refer to, except those that the target has; then it is the same store, by its ID.

    Each copy is read back, so a target that stores something else is noticed before anyone relies on it.
    """
    store_id, target_id = source.files.read_id(), target.read_id()
    if target_id is not None and target_id != store_id:
        raise OperatorRefusal("There are files of another installation. Name an empty place.")
    with source.database.scan_transaction() as db:
        names = list(find_file_names(db, read_tables(db, source.database.engine), file_columns))
    result = FilesMoved(len(names))
    for number, name in enumerate(names, 1):
        if not target.has(name):
            content = read_if_stored(source.files, name)
            if content is None or content_name_of(content) != name:
                result.missing.append(name)
            else:
                _copy_file(target, name, content)
                result.copied += 1
        if number % _REPORT_EVERY == 0 or number == len(names):
            report(f"{number} of {len(names)} files")
    if store_id is not None and not result.missing:
        target.create_id(store_id)
    return result


def _copy_file(target: FileStore, name: str, content: bytes) -> None:
    target.store(content)
    if content_name_of(target.read(name)) != name:
        raise OperatorRefusal(f"The file {name} was changed on its way. Nothing relies on the copy; try again.")
