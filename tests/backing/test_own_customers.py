"""The step that says whose customers are, for jobs that were there already, and lets both engines order them alike."""

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY, Handle
from mainstay.backing.migrations.apply import migrate
from mainstay.settings import Settings

STEP = 25
HERE, THERE = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"
STAMP = "created_at, created_by, updated_at, updated_by, version"
STAMPED = "'', '{}', '', '{}', 1"


def furnish(rows: Handle, place: str) -> None:
    """A person who sees two jobs of one customer, and another customer of whom nobody does."""
    rows.run(
        f"INSERT INTO person (organisation_id, id, name, email, email_folded, role, status, skills, {STAMP})"
        f" VALUES (:place, 'tom', 'Tom', 't@x', 't@x', 'member', 'active', '[]', {STAMPED})",
        place=place,
    )
    for customer in ("calder", "ryburn"):
        rows.run(
            f"INSERT INTO customer (organisation_id, id, name, name_folded, kind, status, {STAMP})"
            f" VALUES (:place, :id, :id, :id, 'company', 'active', {STAMPED})",
            place=place,
            id=customer,
        )
    for job, customer in (("one", "calder"), ("two", "calder"), ("three", "ryburn")):
        rows.run(
            "INSERT INTO job (organisation_id, id, number, customer_id, title, status, stage, priority, billing, tags,"
            f" assigned, {STAMP}) VALUES (:place, :id, :id, :customer, '', 'open', '', '', '', '[]', '[]', {STAMPED})",
            place=place,
            id=job,
            customer=customer,
        )
    for job in ("one", "two"):
        rows.run(
            "INSERT INTO own_job (organisation_id, person_id, id, assigned, status, stage, priority, customer_id)"
            " VALUES (:place, 'tom', :id, 1, 'open', '', '', 'calder')",
            place=place,
            id=job,
        )


def test_whoever_saw_a_job_before_sees_its_customer(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_before(STEP, fresh_settings, monkeypatch, HERE, THERE) as database:
        with database.changing(EVERY) as rows:
            for place in (HERE, THERE):
                furnish(rows, place)
        assert "0025_own_customers" in migrate(database)
        with database.reading(EVERY) as rows:
            kept = rows.all("SELECT organisation_id, person_id, id, status, name_folded FROM own_customer ORDER BY 1")
    assert kept == [(place, "tom", "calder", "active", "calder") for place in (HERE, THERE)]
