"""Builds where operations are performed, and what the house makes with its secret: all that a command needs."""

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from mainstay.backing.database import Handle, WholeDatabase
from mainstay.backing.files import Files
from mainstay.backing.folder import DataFolder
from mainstay.backing.guard import Guard
from mainstay.backing.migrations.apply import migrate
from mainstay.backing.secret import installation_secret
from mainstay.backing.sqlite import SqliteDatabase
from mainstay.backing.wakeups import Bell
from mainstay.identity.founding import Founding
from mainstay.identity.links import LinkMaker
from mainstay.identity.sealing import Sealer
from mainstay.kernel.catalogue import Catalogue
from mainstay.kernel.perform import Stage
from mainstay.late import Late, late
from mainstay.settings import Settings, WrongSetting
from mainstay.terms.actor import Actor
from mainstay.values.moments import Clock, system_clock
from mainstay.webhooks.signature import Signer

if TYPE_CHECKING:
    from mainstay.backing.mail import Post
    from mainstay.identity.keys import KeyMaker


_GIGABYTE = 1_000_000_000


def connect(settings: Settings) -> WholeDatabase:
    """The database of these settings, as it is."""
    folder = DataFolder(settings.data)
    try:
        folder.make()
    except OSError as fault:
        raise WrongSetting(f"MAINSTAY_DATA is not a folder that can be used: {fault.strerror}.") from None
    if settings.database is None:
        return SqliteDatabase(folder.database)
    database: WholeDatabase = late("mainstay.backing.postgresql").PostgresDatabase(settings.database)
    return database


def open_stage(settings: Settings, clock: Clock = system_clock) -> Stage:
    """Where operations are performed, on a database brought to the newest schema."""
    database = connect(settings)
    migrate(database)
    ring = Bell(DataFolder(settings.data).bell).ring
    # A command does one thing, most servers much; neither needs all that the house can do before it is asked.
    catalogue = cast("Catalogue", Late("mainstay.catalogue", "CATALOGUE"))
    return Stage(
        database,
        clock,
        _standing,
        ring,
        catalogue,
        open_guard(settings),
        settings.base_url,
        storage_limit(settings),
    )


def storage_limit(settings: Settings) -> int:
    """How many bytes of files each organisation may store."""
    return settings.storage_per_organisation * _GIGABYTE


def open_signer(settings: Settings) -> Signer:
    """What makes the secrets of webhooks."""
    return Signer(_secret(settings))


def open_link_maker(settings: Settings) -> LinkMaker:
    """What makes one-time links."""
    return LinkMaker(_secret(settings), settings.base_url)


def open_sealer(settings: Settings) -> Sealer:
    """What seals what only this installation may read."""
    return Sealer(_secret(settings))


def open_founding(settings: Settings) -> Founding:
    """What knows of the first organisation."""
    return Founding(_secret(settings), DataFolder(settings.data).first_code)


def open_key_maker(settings: Settings) -> "KeyMaker":
    """What derives the keys that forms make."""
    maker: KeyMaker = late("mainstay.identity.keys").KeyMaker(_secret(settings))
    return maker


def open_post(settings: Settings) -> "Post":
    """What takes mails away."""
    post: Post = late("mainstay.backing.mail").open_post(
        settings.smtp, DataFolder(settings.data).mails, settings.sender
    )
    return post


def open_files(settings: Settings) -> Files:
    """Where what people hand in is kept."""
    return Files(DataFolder(settings.data).files)


def open_guard(settings: Settings) -> Guard:
    """What says which addresses of the world outside may be spoken to."""
    return Guard(allow_private=settings.webhook_private_addresses == "allow")


def _standing(rows: Handle, actor: Actor) -> Actor:
    current: Actor = _credentials().standing(rows, actor)
    return current


@cache
def _credentials() -> Any:
    return late("mainstay.identity.authenticate")


def _secret(settings: Settings) -> bytes:
    return installation_secret(settings.secret, DataFolder(settings.data).secret)
