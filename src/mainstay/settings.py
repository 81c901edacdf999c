"""Settings: the environment, checked once at start, as one frozen object."""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mainstay.late import late

PREFIX = "MAINSTAY_"
LARGEST_PORT = 65_535
SHORTEST_SECRET = 32

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class WrongSetting(Exception):
    """A setting cannot be what it is; the sentence names it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the operator decides. `MEANINGS` says what each one means."""

    data: Path
    database: str | None
    redis: str | None
    base_url: str
    secret: str | None = field(repr=False)
    host: str
    port: int
    workers: int
    smtp: str | None
    mail_from: str | None
    trusted_proxies: tuple[Network, ...]
    loopback_ports: str
    webhook_private_addresses: str
    metrics: str | None
    storage_per_organisation: int

    @property
    def sender(self) -> str:
        """From whom mails come."""
        host = urlsplit(self.base_url).hostname or ""
        return self.mail_from or f"Mainstay <no-reply@{f'[IPv6:{host}]' if ':' in host else host}>"


# Every setting: in the environment MAINSTAY_ and this in capitals; as a flag of `serve` -- and this with dashes.
MEANINGS = {
    "data": "folder of the embedded database, files and mails (default: ./data)",
    "database": "postgresql://… (default: SQLite in the data folder)",
    "redis": "redis://…, for limits shared by several machines (default: none)",
    "base_url": "the address people and links use, without a path (default: http://HOST:PORT)",
    "secret": "at least 32 characters, from which links and webhook secrets are made (default: a file in data)",
    "host": "address to listen on (default: 127.0.0.1)",
    "port": "port to listen on (default: 8000)",
    "workers": "server processes (default: one per core)",
    "smtp": "smtp://user:password@host:port (default: mails are put into outbox/ in the data folder)",
    "mail_from": "the sender of every mail: NAME <ADDRESS> (default: Mainstay <no-reply@HOST of the base address>)",
    "trusted_proxies": "whose X-Forwarded-For is believed: addresses or networks with commas between (default: none)",
    "loopback_ports": "`any` ignores the port of an app's loopback redirect (default: exact)",
    "webhook_private_addresses": "`allow` lets webhooks go to private addresses, and over http (default: refuse)",
    "metrics": "HOST:PORT of a separate listener for Prometheus (default: none)",
    "storage_per_organisation": "gigabytes of photos, files and logo that each organisation may store (default: 50)",
}


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of an environment; an empty value is no value."""
    _check_names(environment)
    given = {name: value for name in MEANINGS if (value := environment.get(PREFIX + name.upper(), "").strip())}

    def setting(name: str, read: Callable[[str], Any], default: Any) -> Any:
        if name not in given:
            return default
        try:
            return read(_readable(given[name]))
        except ValueError as fault:
            raise WrongSetting(f"{PREFIX}{name.upper()} {fault}.") from None

    host = setting("host", _address, "127.0.0.1")
    port = setting("port", _whole_number(1, LARGEST_PORT), 8000)
    return Settings(
        data=setting("data", Path, Path("data")),
        database=setting("database", _url("postgresql", "postgres"), None),
        redis=setting("redis", _server("redis", "rediss"), None),
        base_url=setting("base_url", _base_url, f"http://{f'[{host}]' if ':' in host else host}:{port}"),
        secret=setting("secret", _secret, None),
        host=host,
        port=port,
        workers=setting("workers", _whole_number(1, 512), os.cpu_count() or 1),
        smtp=setting("smtp", _server("smtp", "smtps"), None),
        mail_from=setting("mail_from", _sender, None),
        trusted_proxies=setting("trusted_proxies", _networks, ()),
        loopback_ports=setting("loopback_ports", _one_of("exact", "any"), "exact"),
        webhook_private_addresses=setting("webhook_private_addresses", _one_of("refuse", "allow"), "refuse"),
        metrics=setting("metrics", _listener, None),
        storage_per_organisation=setting("storage_per_organisation", _whole_number(1, 1_000_000), 50),
    )


# So the examples of the reference call the key of whoever asks.
_OF_OTHERS = {f"{PREFIX}KEY"}
_LISTED = "`mainstay serve --help` tells those there are: a flag --base-url is MAINSTAY_BASE_URL."


def _check_names(environment: Mapping[str, str]) -> None:
    """Refuse a name that would be a setting if it were written otherwise, even of nothing: nobody would miss it."""
    known = [PREFIX + name.upper() for name in MEANINGS]
    for name in environment:
        if name.startswith(PREFIX) and name not in {*known, *_OF_OTHERS}:
            # What all of them begin with says nothing of how near one is.
            near = late("difflib").get_close_matches(name.removeprefix(PREFIX).lower(), MEANINGS, n=1)
            told = f"The nearest one is {PREFIX}{near[0].upper()}." if near else _LISTED
            raise WrongSetting(f"{name} is not a setting of Mainstay. {told}")


def environment_of(settings: Settings) -> dict[str, str]:
    """The environment from which another process reads the same settings."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    values["trusted_proxies"] = ",".join(map(str, settings.trusted_proxies))
    return {PREFIX + name.upper(): "" if value is None else str(value) for name, value in values.items()}


def is_readable(text: str) -> bool:
    """Whether a word from outside is text: what is no UTF-8 comes in as letters that no text has."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _readable(text: str) -> str:
    if not is_readable(text):
        raise ValueError("must be text in UTF-8")
    return text


def _whole_number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(text)

    return read


def _url(*schemes: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        try:
            parts = urlsplit(text)
        except ValueError:
            raise ValueError("must be an address, with brackets around a host that has colons in it") from None
        if parts.scheme not in schemes:
            raise ValueError(f"must begin with {schemes[0]}://")
        if not _has_port(parts.netloc):
            raise ValueError(
                f"must be {schemes[0]}:// with a host and, if there is one, a port from 1 to {LARGEST_PORT}"
            )
        return text

    return read


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"must be {' or '.join(choices)}")
        return text

    return read


def _server(*schemes: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not urlsplit(_url(*schemes)(text)).hostname:
            raise ValueError(f"must be {schemes[0]}:// with a host and, if there is one, a port")
        return text

    return read


def _has_port(place: str) -> bool:
    """Whether the port of HOST:PORT is one, where there is one."""
    port = re.search(r":([^:\]@]*)$", place)
    return port is None or (port[1].isdecimal() and 1 <= int(port[1]) <= LARGEST_PORT)


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address("127.0.0.1" if text == "localhost" else text))
    except ValueError:
        raise ValueError("must be an address of this machine, such as 127.0.0.1 or 0.0.0.0") from None


def _base_url(text: str) -> str:
    address = text.rstrip("/").lower()
    found = re.fullmatch(rf"https?://(?:({_HOST})|\[([0-9a-f:.]+)\])(?::([0-9]{{1,5}}))?", address)
    if not found or not 1 <= int(found[3] or 1) <= LARGEST_PORT:
        raise ValueError("must be http:// or https:// and a host in ASCII, perhaps with a port, without a path")
    if found[2] and not _is_ipv6(found[2]):
        raise ValueError("must be http:// or https:// and a host: between the brackets is no IPv6 address")
    if len(found[1] or "") > _LONGEST_HOST:
        raise ValueError(f"must be http:// or https:// and a host of at most {_LONGEST_HOST} characters")
    return address


def _is_ipv6(text: str) -> bool:
    try:
        return bool(ipaddress.IPv6Address(text))
    except ValueError:
        return False


# A name of a machine; mails come from it, and no mail server takes one from another.
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"
# With `no-reply@` before it, an address may have 254.
_LONGEST_HOST = 245


def _secret(text: str) -> str:
    if len(text) < SHORTEST_SECRET:
        raise ValueError(f"must have at least {SHORTEST_SECRET} characters")
    return text


def _sender(text: str) -> str:
    if not _SENDER.fullmatch(text):
        raise ValueError("must be an address in ASCII, perhaps with a name, such as Mainstay <office@example.com>")
    return text


# A name, with quotes around it where there are commas in it, and an address without a dot too many.
_NAME = r"""(?:"[^"\\<>\x00-\x1f]+"|[^"\\<>@,;:()\[\]\x00-\x1f]+)"""
_MAILBOX = r"""(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@""" + _HOST
_SENDER = re.compile(rf"(?a:{_MAILBOX}|{_NAME} *<{_MAILBOX}>)")


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(","))
    except ValueError:
        raise ValueError("must be addresses or networks with commas between, such as 10.0.0.0/8") from None


def _listener(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port or not _has_port(text):
        raise ValueError("must be HOST:PORT, such as 127.0.0.1:9100")
    return text
