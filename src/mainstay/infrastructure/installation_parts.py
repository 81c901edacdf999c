"""Checks that the secret and the file store of a server are those of its database.

The database remembers a fingerprint of the secret and the ID of the file store, which it takes from the first server
that serves it. A server with others would send links that other servers refuse, or miss the files of its records.
"""

from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database, DatabaseHandle
from mainstay.infrastructure.files import FileStore
from mainstay.infrastructure.installation_secret import fingerprint_of
from mainstay.settings import SettingError

_SECRET, _FILE_STORE = "secret", "file_store"

_WRONG_KEY = (
    "The secret of this server is not that of its database. Set MAINSTAY_SECRET to the one of the other servers, or"
    " bring back the file `secret` of the data folder."
)
_WRONG_FILES = (
    "The files of this server are not those of its database. Mount or name the file store of the other servers, or"
    " bring it back from a backup."
)
HOW_TO_ADOPT = "If it is lost for good, run `mainstay adopt`: the database then accepts what this server has."


def check_parts(database: Database, secret: bytes, files: FileStore) -> None:
    """Refuse to go on with the secret or the file store of another installation; a new database takes both."""
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        stored_parts = read_parts(db)
    if not stored_parts.keys() >= {_SECRET, _FILE_STORE}:
        own_parts = {_SECRET: fingerprint_of(secret), _FILE_STORE: files.create_id()}
        with database.write_transaction(ALL_ORGANISATIONS) as db:
            for name, value in own_parts.items():
                db.run(_ADD_PART, name=name, value=value)
            stored_parts = read_parts(db)
    if problems := find_foreign_parts(stored_parts, secret, files):
        raise SettingError(f"{problems[0]} {HOW_TO_ADOPT}")


def adopt_parts(database: Database, secret: bytes, files: FileStore) -> None:
    """Let the database take this secret and this file store as its own."""
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("DELETE FROM installation WHERE name IN (:secret, :files)", secret=_SECRET, files=_FILE_STORE)
    check_parts(database, secret, files)


def find_foreign_parts(stored_parts: dict[str, str], secret: bytes | None, files: FileStore) -> list[str]:
    """Return what is wrong with the secret and the file store of a server, as sentences."""
    problems = []
    if secret is not None and stored_parts.get(_SECRET, own := fingerprint_of(secret)) != own:
        problems.append(_WRONG_KEY)
    if _FILE_STORE in stored_parts and files.read_id() != stored_parts[_FILE_STORE]:
        problems.append(_WRONG_FILES)
    return problems


def read_parts(db: DatabaseHandle) -> dict[str, str]:
    """Return what a database remembers of its secret and its file store."""
    return {str(name): str(value) for name, value in db.all("SELECT name, value FROM installation")}


def forget_file_store(database: Database) -> None:
    """Let a database that was restored take the file store that its files were restored into."""
    with database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("DELETE FROM installation WHERE name = :name", name=_FILE_STORE)


_ADD_PART = "INSERT INTO installation (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING"
