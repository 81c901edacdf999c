"""A server that lets nobody in says why, and so does Mainstay."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from engines import PostgresServer
from mainstay.backing.database import Unreachable
from mainstay.backing.postgresql import PostgresDatabase


@pytest.fixture
def with_password(postgresql: PostgresServer) -> Iterator[str]:
    """The address of a database for whose role a password is asked, which is right in it."""
    with psycopg.connect(postgresql.superuser_url, autocommit=True) as server:
        server.execute("CREATE ROLE careful LOGIN PASSWORD 'right'")
        (told,) = server.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(told)
        before = rules.read_text()
        rules.write_text(f"local all careful scram-sha-256\nhost all careful all scram-sha-256\n{before}")
        server.execute("SELECT pg_reload_conf()")
        yield postgresql.new_database().replace("mainstay_app:", "careful:right", 1)
        rules.write_text(before)
        server.execute("SELECT pg_reload_conf()")


def test_why_the_server_lets_nobody_in_is_told_as_it_says_it(with_password: str) -> None:
    for wrong, why in (
        (with_password.replace(":right", ":wrong"), 'password authentication failed for user "careful"'),
        (with_password.replace("careful:right", "nobody:"), 'role "nobody" does not exist'),
        (with_password.replace("/mainstay_", "/no_mainstay_"), '" does not exist'),
    ):
        database = PostgresDatabase(wrong)
        with pytest.raises(Unreachable, match=why), database.migrating():
            pass
        with pytest.raises(Unreachable, match=why), database.surveying():
            pass
        database.close()
