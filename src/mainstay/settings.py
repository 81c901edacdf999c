"""Settings: read from the environment and checked once at the start."""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from mainstay.lazy_import import import_lazily

PREFIX = "MAINSTAY_"
MAX_PORT = 65_535
MIN_SECRET_LENGTH = 32
# A server process has six kinds of threads that use the database, and eighteen threads if nothing limits them
# (`doors/runner.py`).
MIN_POOL_SIZE, MAX_POOL_SIZE = 6, 18

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class SettingError(Exception):
    """A setting is wrong; the message names it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the operator. `DESCRIPTIONS` says what each one means."""

    data: Path
    database: str | None
    pool_size: int
    prepare_statements: str
    redis: str | None
    files: str | None
    files_access_key: str | None
    files_secret_key: str | None = field(repr=False)
    base_url: str
    secret: str | None = field(repr=False)
    host: str
    port: int
    workers: int
    smtp: str | None
    mail_from: str | None
    trusted_proxies: tuple[Network, ...]
    loopback_ports: str
    client_documents: str
    webhook_private_addresses: str
    metrics: str | None
    assistant_url: str | None
    assistant_dialect: str
    assistant_model: str | None
    assistant_key: str | None = field(repr=False)
    storage_per_organisation: int

    @property
    def sender(self) -> str:
        """The sender of emails."""
        host = urlsplit(self.base_url).hostname or ""
        return self.mail_from or f"Mainstay <no-reply@{f'[IPv6:{host}]' if ':' in host else host}>"


# Each setting is MAINSTAY_ and this name in capitals in the environment, and `--` and this name with dashes as a flag.
DESCRIPTIONS = {
    "data": "folder of the embedded database, files and emails (default: ./data)",
    "database": "postgresql://… (default: SQLite in the data folder)",
    "pool_size": "connections to PostgreSQL that each process may open (default: 18)",
    "prepare_statements": "`on` or `off`: PostgreSQL keeps the plans of statements (default: not behind a pooler)",
    "redis": "redis://…, for limits shared by several machines (default: none)",
    "files": "s3://BUCKET/PREFIX?endpoint=https://…&region=… (default: the folder files in the data folder)",
    "files_access_key": "the ID of the access key of that bucket",
    "files_secret_key": "the secret access key of that bucket",
    "base_url": "the address people and links use, without a path (default: http://HOST:PORT)",
    "secret": "at least 32 characters, from which links and webhook secrets are made (default: a file in data)",
    "host": "address to listen on (default: 127.0.0.1)",
    "port": "port to listen on (default: 8000)",
    "workers": "server processes (default: one per core)",
    "smtp": "smtp://user:password@host:port (default: emails are written to outbox/ in the data folder)",
    "mail_from": "the sender of every email: NAME <ADDRESS> (default: Mainstay <no-reply@HOST of the base address>)",
    "trusted_proxies": "whose X-Forwarded-For is believed: addresses or networks with commas between (default: none)",
    "loopback_ports": "`any` ignores the port of an app's loopback redirect (default: exact)",
    "client_documents": "`off` refuses apps whose ID is the address of a document that describes them (default: fetch)",
    "webhook_private_addresses": "`allow` lets webhooks go to private addresses, and over http (default: refuse)",
    "metrics": "HOST:PORT of a separate listener for Prometheus (default: none)",
    "assistant_url": "address of the model that the assistant uses, such as http://localhost:11434/v1 (default: none)",
    "assistant_dialect": "the protocol of that model: chat, messages or responses (default: chat)",
    "assistant_model": "the name of that model, as its server calls it",
    "assistant_key": "the key of that model's server (default: none)",
    "storage_per_organisation": "gigabytes of photos, files and logo that each organisation may store (default: 50)",
}


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from an environment; an empty value means the default."""
    _check_names(environment)
    values = {name: value for name in DESCRIPTIONS if (value := environment.get(PREFIX + name.upper(), "").strip())}

    def read_setting(name: str, read: Callable[[str], Any], default: Any) -> Any:
        if name not in values:
            return default
        try:
            return read(_check_readable(values[name]))
        except ValueError as error:
            raise SettingError(f"{PREFIX}{name.upper()} {error}.") from None

    host = read_setting("host", _read_address, "127.0.0.1")
    port = read_setting("port", _integer_reader(1, MAX_PORT), 8000)
    return _check_file_keys(
        Settings(
            data=read_setting("data", Path, Path("data")),
            database=read_setting("database", _url_reader("postgresql", "postgres"), None),
            pool_size=read_setting("pool_size", _integer_reader(MIN_POOL_SIZE, MAX_POOL_SIZE), MAX_POOL_SIZE),
            prepare_statements=read_setting("prepare_statements", _choice_reader("auto", "on", "off"), "auto"),
            redis=read_setting("redis", _server_reader("redis", "rediss"), None),
            files=read_setting("files", _read_file_store, None),
            files_access_key=read_setting("files_access_key", str, None),
            files_secret_key=read_setting("files_secret_key", str, None),
            base_url=read_setting("base_url", _read_base_url, f"http://{f'[{host}]' if ':' in host else host}:{port}"),
            secret=read_setting("secret", _read_secret, None),
            host=host,
            port=port,
            workers=read_setting("workers", _integer_reader(1, 512), os.cpu_count() or 1),
            smtp=read_setting("smtp", _server_reader("smtp", "smtps"), None),
            mail_from=read_setting("mail_from", _read_sender, None),
            trusted_proxies=read_setting("trusted_proxies", _read_networks, ()),
            loopback_ports=read_setting("loopback_ports", _choice_reader("exact", "any"), "exact"),
            client_documents=read_setting("client_documents", _choice_reader("fetch", "off"), "fetch"),
            webhook_private_addresses=read_setting(
                "webhook_private_addresses", _choice_reader("refuse", "allow"), "refuse"
            ),
            metrics=read_setting("metrics", _read_listener, None),
            assistant_url=read_setting("assistant_url", _url_reader("http", "https"), None),
            assistant_dialect=read_setting(
                "assistant_dialect", _choice_reader("chat", "messages", "responses"), "chat"
            ),
            assistant_model=read_setting("assistant_model", str, None),
            assistant_key=read_setting("assistant_key", str, None),
            storage_per_organisation=read_setting("storage_per_organisation", _integer_reader(1, 1_000_000), 50),
        )
    )


def with_file_store(settings: Settings, text: str) -> Settings:
    """Return these settings with another file store: what MAINSTAY_FILES would be."""
    try:
        return _check_file_keys(replace(settings, files=_read_file_store(text)))
    except ValueError as error:
        raise SettingError(f"--to {error}.") from None


def _check_file_keys(settings: Settings) -> Settings:
    if settings.files and not (settings.files_access_key and settings.files_secret_key):
        raise SettingError("A bucket needs MAINSTAY_FILES_ACCESS_KEY and MAINSTAY_FILES_SECRET_KEY.")
    return settings


# The examples of the API reference use this name for the API key.
_OTHER_NAMES = {f"{PREFIX}KEY"}
_HELP_HINT = "`mainstay serve --help` tells those there are: a flag --base-url is MAINSTAY_BASE_URL."


def _check_names(environment: Mapping[str, str]) -> None:
    """Refuse an unknown name that begins like a setting, even without a value: nobody would notice the mistake."""
    known = [PREFIX + name.upper() for name in DESCRIPTIONS]
    for name in environment:
        if name.startswith(PREFIX) and name not in {*known, *_OTHER_NAMES}:
            # All names share the prefix, so it is left out of the comparison.
            nearest = import_lazily("difflib").get_close_matches(name.removeprefix(PREFIX).lower(), DESCRIPTIONS, n=1)
            hint = f"The nearest one is {PREFIX}{nearest[0].upper()}." if nearest else _HELP_HINT
            raise SettingError(f"{name} is not a setting of Mainstay. {hint}")


class S3Address(NamedTuple):
    """Where files are: a bucket of an S3-compatible store, and perhaps a folder in it."""

    endpoint: str
    region: str
    bucket: str
    prefix: str


def parse_s3_address(text: str) -> S3Address:
    """Parse the address of a bucket; without an endpoint, it is at Amazon."""
    parts = urlsplit(_url_reader("s3")(text))
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    region = query.get("region", "us-east-1")
    endpoint = query.get("endpoint", f"https://s3.{region}.amazonaws.com").rstrip("/")
    if (
        not _BUCKET.fullmatch(parts.netloc)
        or not _PREFIX.fullmatch(parts.path)
        or not query.keys() <= {"endpoint", "region"}
        or not re.fullmatch(r"[a-z0-9-]+", region)
    ):
        raise ValueError("must be s3://BUCKET, perhaps with /PREFIX, ?endpoint=https://HOST and &region=REGION")
    try:
        _read_base_url(endpoint)
    except ValueError:
        raise ValueError("must be s3:// with an endpoint that is http:// or https:// and a host") from None
    return S3Address(endpoint, region, parts.netloc, parts.path.strip("/"))


_BUCKET = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,62}")
_PREFIX = re.compile(r"(?:/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*/?")


def to_environment(settings: Settings) -> dict[str, str]:
    """Return the environment from which another process reads the same settings."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    values["trusted_proxies"] = ",".join(map(str, settings.trusted_proxies))
    return {PREFIX + name.upper(): "" if value is None else str(value) for name, value in values.items()}


def is_readable(text: str) -> bool:
    """Return whether a text from outside is valid: Python replaces bytes that are not UTF-8 by surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _check_readable(text: str) -> str:
    if not is_readable(text):
        raise ValueError("must be text in UTF-8")
    return text


def _integer_reader(minimum: int, maximum: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not minimum <= int(text) <= maximum:
            raise ValueError(f"must be a whole number from {minimum} to {maximum}")
        return int(text)

    return read


def _url_reader(*schemes: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        try:
            parts = urlsplit(text)
        except ValueError:
            raise ValueError("must be an address, with brackets around a host that has colons in it") from None
        if parts.scheme not in schemes:
            raise ValueError(f"must begin with {schemes[0]}://")
        if not _has_valid_port(parts.netloc):
            raise ValueError(f"must be {schemes[0]}:// with a host and, if there is one, a port from 1 to {MAX_PORT}")
        return text

    return read


def _choice_reader(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be {' or '.join(choices)}")
        return text

    return read


def _server_reader(*schemes: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not urlsplit(_url_reader(*schemes)(text)).hostname:
            raise ValueError(f"must be {schemes[0]}:// with a host and, if there is one, a port")
        return text

    return read


def _has_valid_port(address: str) -> bool:
    """Return whether the port in HOST:PORT is valid, if there is one."""
    port = re.search(r":([^:\]@]*)$", address)
    return port is None or (port[1].isdecimal() and 1 <= int(port[1]) <= MAX_PORT)


def _read_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address("127.0.0.1" if text == "localhost" else text))
    except ValueError:
        raise ValueError("must be an address of this machine, such as 127.0.0.1 or 0.0.0.0") from None


def _read_file_store(text: str) -> str | None:
    if text == "folder":
        return None
    parse_s3_address(text)
    return text


def _read_base_url(text: str) -> str:
    address = text.rstrip("/").lower()
    match = re.fullmatch(rf"https?://(?:({_HOST})|\[([0-9a-f:.]+)\])(?::([0-9]{{1,5}}))?", address)
    if not match or not 1 <= int(match[3] or 1) <= MAX_PORT:
        raise ValueError("must be http:// or https:// and a host in ASCII, perhaps with a port, without a path")
    if match[2] and not _is_ipv6(match[2]):
        raise ValueError("must be http:// or https:// and a host: between the brackets is no IPv6 address")
    if len(match[1] or "") > _MAX_HOST_LENGTH:
        raise ValueError(f"must be http:// or https:// and a host of at most {_MAX_HOST_LENGTH} characters")
    return address


def _is_ipv6(text: str) -> bool:
    try:
        return bool(ipaddress.IPv6Address(text))
    except ValueError:
        return False


# A host name. Emails are sent from it, and mail servers refuse other forms.
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"
# With `no-reply@` before it, an address may have 254.
_MAX_HOST_LENGTH = 245


def _read_secret(text: str) -> str:
    if len(text) < MIN_SECRET_LENGTH:
        raise ValueError(f"must have at least {MIN_SECRET_LENGTH} characters")
    return text


def _read_sender(text: str) -> str:
    if not _SENDER.fullmatch(text):
        raise ValueError("must be an address in ASCII, perhaps with a name, such as Mainstay <office@example.com>")
    return text


# A name, in quotes if it has commas, and an address without superfluous dots.
_NAME = r"""(?:"[^"\\<>\x00-\x1f]+"|[^"\\<>@,;:()\[\]\x00-\x1f]+)"""
_MAILBOX = r"""(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@""" + _HOST
_SENDER = re.compile(rf"(?a:{_MAILBOX}|{_NAME} *<{_MAILBOX}>)")


def _read_networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(","))
    except ValueError:
        raise ValueError("must be addresses or networks with commas between, such as 10.0.0.0/8") from None


def _read_listener(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port or not _has_valid_port(text):
        raise ValueError("must be HOST:PORT, such as 127.0.0.1:9100")
    return text
