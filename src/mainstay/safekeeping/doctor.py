"""`doctor`: what is wrong with an installation, and how to mend it; nothing of it is changed."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from mainstay.backing.database import Survey, Unreachable
from mainstay.backing.folder import DataFolder
from mainstay.backing.mail import MailNotSent, SmtpPost
from mainstay.backing.proof import Books
from mainstay.backing.reaching import NotReached, answer_of, listens, redis_time
from mainstay.backing.secret import installation_secret
from mainstay.backing.soundness import is_bare, unknown_steps
from mainstay.settings import Settings, WrongSetting
from mainstay.staging import connect, open_files, storage_limit
from mainstay.values.moments import moment_text
from mainstay.values.sizes import size_text

# Clocks differ a little; what comes later than so much was written by another time.
_APART = timedelta(seconds=10)
_LEAST_FREE = 1 << 30
# Of what an organisation may store.
_ALMOST = 0.9


class Diagnosis(NamedTuple):
    """What was looked at, what was found, and what is to be done where it is not well."""

    about: str
    found: str
    mend: str | None = None


def examine(settings: Settings, now: datetime) -> Iterator[Diagnosis]:
    """Look at everything in turn."""
    yield from _folder(settings)
    yield from _database(settings, now)
    yield from _redis(settings, now)
    yield _mail(settings)
    yield from _base_address(settings)


def _folder(settings: Settings) -> Iterator[Diagnosis]:
    path = settings.data.absolute()
    if not path.is_dir():
        yield Diagnosis("data folder", f"{path} is not there yet; the first start makes it")
        return
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        yield Diagnosis("data folder", f"{path} cannot be written to", f"Let the user that runs Mainstay own {path}.")
    private = (path, DataFolder(path).secret)
    open_to_others = [str(one) for one in private if one.exists() and stat.S_IMODE(one.stat().st_mode) & 0o077]
    if open_to_others:
        told = " ".join(open_to_others)
        yield Diagnosis("data folder", f"other users of this machine can look into {told}", f"chmod go-rwx {told}")
    else:
        yield Diagnosis("data folder", f"{path} is there, for its owner only")
    yield from _secret(settings, DataFolder(path).secret)
    free = shutil.disk_usage(path).free
    full = f"Make room on the disk of {path}." if free < _LEAST_FREE else None
    yield Diagnosis("disk", f"{free // (1 << 20):,} MB are free", full)


def _secret(settings: Settings, path: Path) -> Iterator[Diagnosis]:
    if settings.secret is None and os.access(path, os.R_OK):
        try:
            installation_secret(None, path)
        except WrongSetting as wrong:
            found, _, mend = str(wrong).partition(". ")
            yield Diagnosis("secret", found, mend)


def _database(settings: Settings, now: datetime) -> Iterator[Diagnosis]:
    if settings.database is None and not DataFolder(settings.data).database.exists():
        yield Diagnosis("database", "there is none yet; the first start makes it")
        return
    try:
        with closing(connect(settings)) as database, database.surveying() as rows:
            books = Books(rows, database.engine, open_files(settings), now, database.trying)
            schema = _schema(books)
            yield schema
            if database.engine == "postgresql":
                yield from _server(rows, now)
            if schema.mend is None and not is_bare(books):
                yield from _clock(rows, now)
                yield from _storage(rows, storage_limit(settings))
    except Unreachable as away:
        yield Diagnosis("database", str(away), _REACH_SERVER if settings.database else _RESTORE)


def _schema(books: Books) -> Diagnosis:
    found = f"{books.engine} can be reached"
    if is_bare(books):
        return Diagnosis("database", f"{found}; there is nothing in it yet; the first start makes it")
    if steps := [flaw.where for flaw in unknown_steps(books)]:
        told = f"{found}; its schema is not that of this version: {', '.join(steps)}"
        return Diagnosis("database", told, "mainstay migrate")
    return Diagnosis("database", found)


_REACH_SERVER = "Start the server, or set MAINSTAY_DATABASE to where it is and who may come in."
_RESTORE = "Let the user that runs Mainstay own it; if it is damaged, restore a backup into an empty folder."


def _server(rows: Survey, now: datetime) -> Iterator[Diagnosis]:
    if rows.one("SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"):
        told = "its role is a superuser or has BYPASSRLS, for which the fences between organisations do not hold"
        yield Diagnosis("database", told, "Let MAINSTAY_DATABASE name a role that is neither.")
    row = rows.one("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)")
    if row:
        yield _compared("the clock of the database server", int(row[0] or 0) / 1000, now)


def _clock(rows: Survey, now: datetime) -> Iterator[Diagnosis]:
    """The clock of this machine was never further than now."""
    row = rows.one("SELECT max(at) FROM audit")
    latest = str(row[0] or "") if row else ""
    if latest > moment_text(now + _APART):
        yield Diagnosis("clock", f"it is {moment_text(now)} here, and something was done at {latest}", _SET_THE_CLOCK)
    else:
        yield Diagnosis("clock", f"it is {moment_text(now)}")


def _storage(rows: Survey, limit: int) -> Iterator[Diagnosis]:
    """Which organisations have almost used up what they may store."""
    full = rows.all(
        "SELECT name, storage_bytes FROM organisation WHERE storage_bytes > :most ORDER BY storage_bytes DESC, name",
        most=int(limit * _ALMOST),
    )
    for name, used in full:
        found = f"{name} uses {size_text(int(used or 0))} of {size_text(limit)}"
        yield Diagnosis("storage", found, "Set MAINSTAY_STORAGE_PER_ORGANISATION higher, or ask them to remove files.")


def _compared(what: str, seconds: float, now: datetime) -> Diagnosis:
    apart = abs(seconds - now.timestamp())
    mend = _SET_THE_CLOCK if apart > _APART.total_seconds() else None
    return Diagnosis("clock", f"{what} is {apart:.0f} seconds apart from this one's", mend)


_SET_THE_CLOCK = "Let a time service set the clock: timedatectl set-ntp true"


def _redis(settings: Settings, now: datetime) -> Iterator[Diagnosis]:
    if settings.redis is None:
        yield Diagnosis("redis", "is not used: each machine holds to its own limits")
        return
    try:
        seconds = redis_time(settings.redis)
    except NotReached as away:
        yield Diagnosis("redis", f"cannot be reached: {away}", "Start it, or set MAINSTAY_REDIS to where it is.")
        return
    yield Diagnosis("redis", "can be reached")
    yield _compared("the clock of Redis", seconds, now)


def _mail(settings: Settings) -> Diagnosis:
    if settings.smtp is None:
        told = f"mails are put into {DataFolder(settings.data).mails} and reach nobody"
        return Diagnosis("mail", told, None if _is_local(settings) else "Set MAINSTAY_SMTP to a mail server.")
    try:
        SmtpPost(settings.smtp, settings.sender).greet()
    except MailNotSent as refused:
        return Diagnosis("mail", str(refused), "Set MAINSTAY_SMTP to a server that takes this user and password.")
    return Diagnosis("mail", f"the server takes mails from {settings.sender}; `mainstay mail test` sends one")


def _base_address(settings: Settings) -> Iterator[Diagnosis]:
    base = settings.base_url
    if base.startswith("http://") and not _is_local(settings):
        told = f"{base} is not encrypted: anyone on the way reads passwords"
        yield Diagnosis("base address", told, "Put a proxy with TLS in front, and set MAINSTAY_BASE_URL to https://…")
    if not listens(settings.host, settings.port):
        yield Diagnosis("server", f"nobody listens on {settings.host}, port {settings.port}; `mainstay serve` does")
        return
    try:
        status, said = answer_of(f"{base}/readyz")
    except NotReached as away:
        mend = f"Let {base} lead to {settings.host}, port {settings.port}, or set MAINSTAY_BASE_URL to what does."
        yield Diagnosis("base address", f"{base} does not answer: {away}", mend)
        return
    if b'"ready"' in said:
        yield Diagnosis("base address", f"Mainstay answers at {base}")
    else:
        mend = f"Let the proxy pass everything on to {settings.host}, port {settings.port}, with its Host header."
        yield Diagnosis("base address", f"{base} does not answer as Mainstay does, but with status {status}", mend)


def _is_local(settings: Settings) -> bool:
    return urlsplit(settings.base_url).hostname in {"127.0.0.1", "::1", "localhost"}
