"""A server that lets nobody in says why, and so does Mainstay."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.infrastructure.postgresql import PostgresDatabase
from support.engines import PostgresServer


@pytest.fixture
def password_url(postgresql: PostgresServer) -> Iterator[str]:
    """The address of a database for whose role a password is asked, which is right in it."""
    with psycopg.connect(postgresql.superuser_url, autocommit=True) as server:
        server.execute("CREATE ROLE careful LOGIN PASSWORD 'right'")
        (rules_path,) = server.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(rules_path)
        before = rules.read_text()
        rules.write_text(f"local all careful scram-sha-256\nhost all careful all scram-sha-256\n{before}")
        server.execute("SELECT pg_reload_conf()")
        yield postgresql.new_database().replace("mainstay_app:", "careful:right", 1)
        rules.write_text(before)
        server.execute("SELECT pg_reload_conf()")


def test_why_the_server_lets_nobody_in_is_told_as_it_says_it(password_url: str) -> None:
    for wrong, why in (
        (password_url.replace(":right", ":wrong"), 'password authentication failed for user "careful"'),
        (password_url.replace("careful:right", "nobody:"), 'role "nobody" does not exist'),
        (password_url.replace("/mainstay_", "/no_mainstay_"), '" does not exist'),
    ):
        database = PostgresDatabase(wrong)
        with pytest.raises(DatabaseUnavailable, match=why), database.migration_transaction():
            pass
        with pytest.raises(DatabaseUnavailable, match=why), database.scan_transaction():
            pass
        database.close()
