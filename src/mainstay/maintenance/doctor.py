"""`doctor`: reports what is wrong with an installation and how to repair it. It changes nothing."""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from mainstay.composition import connect, open_files, storage_limit
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import DatabaseUnavailable, ScanHandle
from mainstay.infrastructure.database_checks import find_unknown_steps, has_no_tables
from mainstay.infrastructure.email_sending import EmailNotSent, SmtpTransport
from mainstay.infrastructure.files import FileStoreUnavailable
from mainstay.infrastructure.installation_parts import HOW_TO_ADOPT, find_foreign_parts, read_parts
from mainstay.infrastructure.installation_secret import find_installation_secret, load_installation_secret
from mainstay.infrastructure.invariants import MAX_CLOCK_DIFFERENCE, CheckContext
from mainstay.infrastructure.migrations.apply import HOW_TO_UPDATE, is_too_old, newest_step
from mainstay.infrastructure.reachability import ServerUnreachable, fetch_redis_time, fetch_response, is_listening
from mainstay.settings import SettingError, Settings
from mainstay.values.moments import moment_text
from mainstay.values.sizes import size_text

_MIN_FREE_BYTES = 1 << 30
# The share of an organisation's storage limit from which it is reported.
_STORAGE_WARNING_SHARE = 0.9

_START_DATABASE_SERVER = "Start the server, or set MAINSTAY_DATABASE to its address, with a user and password."
_RESTORE_DATABASE = (
    "Make the user that runs Mainstay its owner; if it is damaged, restore a backup into an empty folder."
)
_ALLOW_CONNECTIONS = (
    "Raise max_connections of the server, lower MAINSTAY_POOL_SIZE, or put pgbouncer in between: see docs/running.md."
)
_KEEP_STATEMENTS_APART = (
    "Remove MAINSTAY_PREPARE_STATEMENTS=on, unless the pooler keeps the statements of its clients apart, as pgbouncer"
    " does from 1.22 on with max_prepared_statements."
)
# How PostgreSQL and pgbouncer refuse a connection because there are too many.
_TOO_MANY_CONNECTIONS = re.compile("too many|remaining connection slots|no more connections")
# The share of the connections of the server from which it is reported as full.
_CONNECTIONS_WARNING_SHARE = 0.9
# What the server allows is without the connections that are reserved for superusers and other roles.
_CONNECTIONS = (
    "SELECT (SELECT sum(numbackends) FROM pg_stat_database), CAST(current_setting('max_connections') AS int)"
    " - CAST(current_setting('superuser_reserved_connections') AS int)"
    " - CAST(coalesce(current_setting('reserved_connections', true), '0') AS int)"
)
_SET_CLOCK = "Let a time service set the clock: timedatectl set-ntp true"


class Diagnosis(NamedTuple):
    """What was examined, what was found, and what to do about it if something is wrong."""

    about: str
    found: str
    remedy: str | None = None


def examine_installation(settings: Settings, now: datetime) -> Iterator[Diagnosis]:
    """Examine everything, part by part."""
    yield from _examine_folder(settings)
    yield from _examine_database(settings, now)
    yield from _examine_files(settings)
    yield from _examine_redis(settings, now)
    yield _examine_email(settings)
    yield from _examine_web_server(settings)


def _examine_folder(settings: Settings) -> Iterator[Diagnosis]:
    path = settings.data.absolute()
    if not path.is_dir():
        yield Diagnosis("data folder", f"{path} does not exist yet; the first start creates it")
        return
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        yield Diagnosis(
            "data folder", f"{path} cannot be written to", f"Make the user that runs Mainstay the owner of {path}."
        )
    private = (path, DataFolder(path).secret)
    open_to_others = [str(item) for item in private if item.exists() and stat.S_IMODE(item.stat().st_mode) & 0o077]
    if open_to_others:
        paths = " ".join(open_to_others)
        yield Diagnosis("data folder", f"other users of this machine can read {paths}", f"chmod go-rwx {paths}")
    else:
        yield Diagnosis("data folder", f"only its owner can read {path}")
    yield from _examine_secret(settings, DataFolder(path).secret)
    free = shutil.disk_usage(path).free
    remedy = f"Free space on the disk of {path}." if free < _MIN_FREE_BYTES else None
    yield Diagnosis("disk", f"{free // (1 << 20):,} MB are free", remedy)


def _examine_secret(settings: Settings, path: Path) -> Iterator[Diagnosis]:
    if settings.secret is None and os.access(path, os.R_OK):
        try:
            load_installation_secret(None, path)
        except SettingError as error:
            # The first sentence says what is wrong, the rest what to do.
            found, _, remedy = str(error).partition(". ")
            yield Diagnosis("secret", found, remedy)


def _examine_database(settings: Settings, now: datetime) -> Iterator[Diagnosis]:
    if settings.database is None and not DataFolder(settings.data).database.exists():
        yield Diagnosis("database", "does not exist yet; the first start creates it")
        return
    try:
        with closing(connect(settings)) as database, database.scan_transaction() as db:
            context = CheckContext(db, database.engine, open_files(settings), now, database.temporary_schema)
            schema = _examine_schema(context)
            yield schema
            if database.engine == "postgresql":
                yield from _examine_connections(db, settings)
                yield from _examine_database_server(db, now)
            if schema.remedy is None and not has_no_tables(context):
                yield from _examine_parts(db, settings)
                yield from _examine_clock(db, now)
                yield from _examine_storage(db, storage_limit(settings))
    except DatabaseUnavailable as error:
        yield Diagnosis("database", str(error), _find_database_remedy(settings, str(error)))


def _find_database_remedy(settings: Settings, problem: str) -> str:
    if settings.database is None:
        return _RESTORE_DATABASE
    return _ALLOW_CONNECTIONS if _TOO_MANY_CONNECTIONS.search(problem) else _START_DATABASE_SERVER


def _examine_schema(context: CheckContext) -> Diagnosis:
    found = f"{context.engine} can be reached"
    if has_no_tables(context):
        return Diagnosis("database", f"{found}, but has no tables yet; the first start creates them")
    if is_too_old(newest := newest_step(context.db), context.engine):
        return Diagnosis("database", f"{found}; its schema is of an older version: step {newest}", HOW_TO_UPDATE)
    if steps := [violation.where for violation in find_unknown_steps(context)]:
        message = f"{found}; its schema is not the one of this version: {', '.join(steps)}"
        return Diagnosis("database", message, "mainstay migrate")
    return Diagnosis("database", found)


def _examine_connections(db: ScanHandle, settings: Settings) -> Iterator[Diagnosis]:
    """Report a connection pooler, and a server that has no connections left or may run out of them."""
    pooled = db.has_pooler()
    if pooled and settings.prepare_statements == "on":
        found = "statements are prepared behind a connection pooler, which can let requests fail"
        yield Diagnosis("connections", found, _KEEP_STATEMENTS_APART)
    elif pooled:
        yield Diagnosis("connections", "go through a connection pooler, so statements are not prepared")
    used, allowed = (int(number or 0) for number in db.one(_CONNECTIONS) or (0, 0))
    found = f"{used} of the {allowed} that the database server allows are open"
    needed = (settings.workers + 1) * settings.pool_size
    if used >= allowed * _CONNECTIONS_WARNING_SHARE:
        yield Diagnosis("connections", found, _ALLOW_CONNECTIONS)
    elif needed > allowed and not pooled:
        yield Diagnosis("connections", f"{found}, and the processes here may open {needed}", _ALLOW_CONNECTIONS)
    else:
        yield Diagnosis("connections", found)


def _examine_database_server(db: ScanHandle, now: datetime) -> Iterator[Diagnosis]:
    if db.one("SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"):
        message = "its role is a superuser or has BYPASSRLS, so row-level security does not apply to it"
        yield Diagnosis("database", message, "Set MAINSTAY_DATABASE to a role without these rights.")
    row = db.one("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)")
    if row:
        yield _compare_clocks("the clock of the database server", int(row[0] or 0) / 1000, now)


def _examine_clock(db: ScanHandle, now: datetime) -> Iterator[Diagnosis]:
    """Compare the clock of this machine with the latest entry in the audit trail."""
    row = db.one("SELECT max(at) FROM audit")
    latest = str(row[0] or "") if row else ""
    if latest > moment_text(now + MAX_CLOCK_DIFFERENCE):
        yield Diagnosis(
            "clock", f"it is {moment_text(now)} here, but the audit trail has an entry from {latest}", _SET_CLOCK
        )
    else:
        yield Diagnosis("clock", f"it is {moment_text(now)}")


def _examine_storage(db: ScanHandle, limit: int) -> Iterator[Diagnosis]:
    """Report the organisations that have almost reached their storage limit."""
    rows = db.all(
        "SELECT name, storage_bytes FROM organisation WHERE storage_bytes > :limit ORDER BY storage_bytes DESC, name",
        limit=int(limit * _STORAGE_WARNING_SHARE),
    )
    for name, used in rows:
        found = f"{name} uses {size_text(int(used or 0))} of {size_text(limit)}"
        yield Diagnosis("storage", found, "Set MAINSTAY_STORAGE_PER_ORGANISATION higher, or ask them to remove files.")


def _examine_parts(db: ScanHandle, settings: Settings) -> Iterator[Diagnosis]:
    """Report a secret or files of another installation. The first start of a server stores what belongs to it."""
    secret = find_installation_secret(settings.secret, DataFolder(settings.data).secret)
    try:
        problems = find_foreign_parts(read_parts(db), secret, open_files(settings))
    except FileStoreUnavailable:
        # The examination of the files says so.
        return
    for wrong in problems:
        found, _, remedy = wrong.partition(". ")
        yield Diagnosis("installation", found, f"{remedy} {HOW_TO_ADOPT}")


def _examine_files(settings: Settings) -> Iterator[Diagnosis]:
    if settings.files is None:
        return
    try:
        open_files(settings).read_id()
    except FileStoreUnavailable as error:
        yield Diagnosis("files", str(error), "Start it, or correct MAINSTAY_FILES and the keys.")
    else:
        yield Diagnosis("files", "the bucket can be read")


def _compare_clocks(clock: str, seconds: float, now: datetime) -> Diagnosis:
    difference = abs(seconds - now.timestamp())
    remedy = _SET_CLOCK if difference > MAX_CLOCK_DIFFERENCE.total_seconds() else None
    return Diagnosis("clock", f"{clock} differs by {difference:.0f} seconds from that of this machine", remedy)


def _examine_redis(settings: Settings, now: datetime) -> Iterator[Diagnosis]:
    if settings.redis is None:
        yield Diagnosis("redis", "is not used: each machine applies the rate limits by itself")
        return
    try:
        seconds = fetch_redis_time(settings.redis)
    except ServerUnreachable as error:
        yield Diagnosis("redis", f"cannot be reached: {error}", "Start it, or set MAINSTAY_REDIS to its address.")
        return
    yield Diagnosis("redis", "can be reached")
    yield _compare_clocks("the clock of Redis", seconds, now)


def _examine_email(settings: Settings) -> Diagnosis:
    if settings.smtp is None:
        message = f"emails are written to {DataFolder(settings.data).emails} and not sent"
        return Diagnosis("mail", message, None if _is_local(settings) else "Set MAINSTAY_SMTP to a mail server.")
    try:
        SmtpTransport(settings.smtp, settings.sender).check_sign_in()
    except EmailNotSent as error:
        return Diagnosis("mail", str(error), "Set MAINSTAY_SMTP to a server that accepts this user and password.")
    return Diagnosis("mail", f"the server accepts emails from {settings.sender}; `mainstay mail test` sends one")


def _examine_web_server(settings: Settings) -> Iterator[Diagnosis]:
    base = settings.base_url
    if base.startswith("http://") and not _is_local(settings):
        message = f"{base} is not encrypted: passwords can be read on the network"
        yield Diagnosis(
            "base address", message, "Put a proxy with TLS in front, and set MAINSTAY_BASE_URL to https://…"
        )
    if not is_listening(settings.host, settings.port):
        yield Diagnosis(
            "server", f"no server listens on {settings.host}, port {settings.port}; `mainstay serve` starts it"
        )
        return
    try:
        status, body = fetch_response(f"{base}/readyz")
    except ServerUnreachable as error:
        remedy = f"Make {base} lead to {settings.host}, port {settings.port}, or correct MAINSTAY_BASE_URL."
        yield Diagnosis("base address", f"{base} does not answer: {error}", remedy)
        return
    if b'"ready"' in body:
        yield Diagnosis("base address", f"Mainstay answers at {base}")
    else:
        remedy = (
            f"Make the proxy pass all requests on to {settings.host}, port {settings.port}, with their Host header."
        )
        yield Diagnosis("base address", f"what answers at {base} is not Mainstay: status {status}", remedy)


def _is_local(settings: Settings) -> bool:
    return urlsplit(settings.base_url).hostname in {"127.0.0.1", "::1", "localhost"}
