"""Through pgbouncer in transaction mode: each transaction may have another connection to PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
import pytest

from mainstay.composition import connect, open_performer
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.maintenance.doctor import examine_installation
from mainstay.settings import Settings
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Role
from support.bouncer import run_pgbouncer
from support.cast import Cast, make_cast
from support.command_line import run_command
from support.installations import Installations
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE
from support.servers import ServerProcess, make_tls_context, start_server
from support.waiting import wait_until

# The connections to PostgreSQL, of which each process uses one or the other.
CONNECTIONS = 2
ROUNDS = 8


@dataclass(frozen=True)
class PooledInstallation:
    """An installation that reaches its database through pgbouncer, and directly."""

    settings: Settings
    direct: Settings


@pytest.fixture(scope="module")
def pooled(installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PooledInstallation]:
    folder = tmp_path_factory.mktemp("pooled")
    direct = installations.make_with_accounts("postgresql", folder)
    assert direct.database
    with run_pgbouncer(direct.database, folder, pool_size=CONNECTIONS) as url:
        yield PooledInstallation(replace(direct, database=url), direct)


def test_every_request_of_two_organisations_gets_its_own_answer(pooled: PooledInstallation) -> None:
    performer = open_performer(pooled.direct)
    casts = [make_cast(performer), make_cast(performer)]
    with start_server(pooled.settings) as server, ThreadPoolExecutor(4) as clients:
        # Several clients for each organisation, whose statements become frequent on every connection.
        found = [clients.submit(send_mixed_requests, server, cast, number) for number in (1, 2) for cast in casts]
        assert [wrong_answer for future in found for wrong_answer in future.result()] == []

        # The worker has done what followed from these changes.
        def is_outbox_empty() -> bool:
            with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
                return db.one("SELECT 1 FROM outbox WHERE due_at IS NOT NULL") is None

        wait_until(is_outbox_empty)
        assert '"level":"error"' not in server.log.read_text()
    performer.database.close()


def send_mixed_requests(server: ServerProcess, cast: Cast, client: int) -> list[str]:
    """Read and change one organisation, and return every answer that is wrong."""
    wrong = []
    headers = {"Authorization": f"Bearer {cast.make_key()}"}
    with httpx2.Client(base_url=server.url, headers=headers, timeout=60, verify=make_tls_context()) as connection:
        for number in range(ROUNDS):
            email = f"{cast.organisation}-{client}-{number}@new.example".lower()
            answers = (
                (connection.get(ORGANISATION), 200, cast.organisation),
                (connection.post(PEOPLE, json=NEW_PERSON | {"email": email}), 201, email),
                (connection.get(PEOPLE, params={"limit": 1}), 200, '"data":[{'),
                (connection.get(f"{PEOPLE}/{cast.people[Role.OWNER]}"), 200, cast.people[Role.OWNER]),
            )
            wrong += [
                f"{answer.request.url}: {answer.status_code} {answer.text}"
                for answer, status, content in answers
                if answer.status_code != status or content not in answer.text
            ]
    return wrong


def test_two_processes_never_use_each_other_s_statements(pooled: PooledInstallation) -> None:
    databases = [connect(pooled.settings), connect(pooled.settings)]
    try:
        for _ in range(20):
            for number, database in enumerate(databases):
                # The same shape, so that the statement of the other would be accepted and answer wrongly.
                with database.read_transaction(ALL_ORGANISATIONS) as db:
                    assert db.one(f"SELECT {number}, CAST(:given AS int)", given=number) == (number, number)
    finally:
        for database in databases:
            database.close()


def test_check_and_backup_read_everything_in_one_transaction(pooled: PooledInstallation, tmp_path: Path) -> None:
    performer = open_performer(pooled.settings)
    make_cast(performer)
    performer.database.close()
    assert run_command(pooled.settings, "check").code == 0
    assert run_command(pooled.settings, "backup", str(tmp_path / "all.backup")).code == 0


def test_doctor_names_the_pooler_and_what_to_set(pooled: PooledInstallation) -> None:
    def find_remedies(settings: Settings) -> list[str | None]:
        findings = examine_installation(replace(settings, port=1), system_clock())
        return [finding.remedy for finding in findings if finding.about == "connections"]

    assert find_remedies(pooled.settings) == [None, None]
    [remedy, _] = find_remedies(replace(pooled.settings, prepare_statements="on"))
    assert str(remedy).startswith("Remove MAINSTAY_PREPARE_STATEMENTS=on")
    assert find_remedies(replace(pooled.direct, prepare_statements="on")) == [None]
