"""Build a `Performer` and its parts from the settings."""

from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

from mainstay.identity.encryption import Encryptor
from mainstay.identity.first_organisation import FirstOrganisation
from mainstay.identity.links import LinkMaker
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import Database, DatabaseHandle, MigratableDatabase
from mainstay.infrastructure.file_cache import FileCache
from mainstay.infrastructure.files import FileStore, FolderFileStore
from mainstay.infrastructure.installation_parts import adopt_parts, check_parts
from mainstay.infrastructure.installation_secret import load_installation_secret
from mainstay.infrastructure.migrations.apply import make_schema_guard, migrate
from mainstay.infrastructure.sqlite import SqliteDatabase
from mainstay.infrastructure.worker_wakeups import WakeupSender
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.perform import Performer
from mainstay.kernel.preview import PreviewMaker
from mainstay.kernel.program_links import ProgramLinks
from mainstay.lazy_import import LazyObject, import_lazily
from mainstay.settings import SettingError, Settings, parse_s3_address
from mainstay.values.moments import Clock, system_clock
from mainstay.values.reader_language import Languages
from mainstay.vocabulary.actor import Actor
from mainstay.webhooks.signature import Signer

if TYPE_CHECKING:
    from mainstay.identity.keys import SecretDeriver
    from mainstay.infrastructure.email_sending import EmailTransport
    from mainstay.infrastructure.webhook_client import WebhookClient


_GIGABYTE = 1_000_000_000
# How long the description of an app may take to arrive, while a person waits for a page.
_FETCH_SECONDS = 5.0


def connect(settings: Settings) -> MigratableDatabase:
    """Open the database of these settings, without migrating it."""
    folder = DataFolder(settings.data)
    try:
        folder.create()
    except OSError as error:
        raise SettingError(f"MAINSTAY_DATA is not a folder that can be used: {error.strerror}.") from None
    if settings.database is None:
        return SqliteDatabase(folder.database)
    database: MigratableDatabase = import_lazily("mainstay.infrastructure.postgresql").PostgresDatabase(
        settings.database, settings.pool_size, settings.prepare_statements
    )
    return database


def open_performer(settings: Settings, clock: Clock = system_clock) -> Performer:
    """Open the performer of operations, on a database that is migrated to the newest schema."""
    database = connect(settings)
    try:
        migrate(database)
        database.check_schema = make_schema_guard(database.engine).check
    except BaseException:
        database.close()
        raise
    wake_worker = WakeupSender(DataFolder(settings.data).worker_socket).wake
    # The catalogue is slow to import, and neither commands nor servers need it before their first operation.
    catalogue = cast("Catalogue", LazyObject("mainstay.catalogue", "CATALOGUE"))
    return Performer(
        database,
        clock,
        _reread_actor,
        wake_worker,
        catalogue,
        open_address_guard(settings),
        settings.base_url,
        storage_limit(settings),
        PreviewMaker(partial(_load_secret, settings)),
        ProgramLinks(partial(_load_secret, settings), settings.base_url),
        Languages.load(DataFolder(settings.data).translations),
    )


def storage_limit(settings: Settings) -> int:
    """Return how many bytes of files each organisation may store."""
    return settings.storage_per_organisation * _GIGABYTE


def open_signer(settings: Settings) -> Signer:
    """Return the signer, which makes the secrets of webhooks and signs deliveries."""
    return Signer(_load_secret(settings))


def open_link_maker(settings: Settings) -> LinkMaker:
    """Return the maker of secret links."""
    return LinkMaker(_load_secret(settings), settings.base_url)


def open_sealer(settings: Settings) -> Encryptor:
    """Return the sealer, which encrypts what only this installation may read."""
    return Encryptor(_load_secret(settings))


def check_installation(settings: Settings, database: Database) -> None:
    """Refuse to serve a database with the secret or the files of another installation."""
    check_parts(database, _load_secret(settings), open_files(settings))


def adopt_installation(settings: Settings, database: Database) -> None:
    """Let a database take the secret and the files of these settings as its own."""
    adopt_parts(database, _load_secret(settings), open_files(settings))


def open_first_organisation(settings: Settings) -> FirstOrganisation:
    """Return the set-up of the first organisation."""
    return FirstOrganisation(_load_secret(settings))


def open_key_maker(settings: Settings) -> "SecretDeriver":
    """Return the maker of API keys that are created in forms."""
    maker: SecretDeriver = import_lazily("mainstay.identity.keys").SecretDeriver(_load_secret(settings))
    return maker


def open_outgoing_email(settings: Settings) -> "EmailTransport":
    """Return the transport that sends emails."""
    transport: EmailTransport = import_lazily("mainstay.infrastructure.email_sending").create_email_transport(
        settings.smtp, DataFolder(settings.data).emails, settings.sender
    )
    return transport


def open_files(settings: Settings) -> FileStore:
    """Return the store of uploaded files and issued documents."""
    folder = DataFolder(settings.data)
    if settings.files is None:
        return FolderFileStore(folder.files)
    client = import_lazily("mainstay.infrastructure.s3_client").S3Client(
        parse_s3_address(settings.files), settings.files_access_key, settings.files_secret_key
    )
    files: FileStore = import_lazily("mainstay.infrastructure.s3_files").S3FileStore(
        client, FileCache(folder.file_cache)
    )
    return files


def open_address_guard(settings: Settings) -> AddressGuard:
    """Return the guard that decides which outside addresses may be called."""
    return AddressGuard(allow_private=settings.webhook_private_addresses == "allow")


def open_document_client() -> "WebhookClient":
    """Return the client that fetches descriptions of apps, but never from private addresses."""
    client: WebhookClient = import_lazily("mainstay.infrastructure.webhook_client").WebhookClient(
        AddressGuard(allow_private=False), deadline=_FETCH_SECONDS, user_agent="Mainstay/1"
    )
    return client


def _reread_actor(db: DatabaseHandle, actor: Actor, now: datetime) -> Actor:
    current: Actor = _import_authenticate().reread_actor(db, actor, now)
    return current


@cache
def _import_authenticate() -> Any:
    return import_lazily("mainstay.identity.authenticate")


def _load_secret(settings: Settings) -> bytes:
    return load_installation_secret(settings.secret, DataFolder(settings.data).secret)
