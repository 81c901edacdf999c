"""The step that puts jobs that were closed without an invoice at a stage of their own."""

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY, Handle
from mainstay.backing.migrations.apply import migrate, steps_for
from mainstay.settings import Settings

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("_closed_jobs_and_returns")]
HERE = "org_01M7000000000000000000000A"
STAMP = "created_at, created_by, updated_at, updated_by, version"
STAMPED = "'', '{}', '', '{}', 1"
# Status, stage, whether it is invoiced and what is owed; and the stage afterwards.
JOBS = {
    "unbilled": ("closed", "paid", 0, 0, "closed"),
    "owed": ("closed", "paid", 1, 5, "closed"),
    "paid": ("closed", "paid", 1, 0, "paid"),
    "done": ("done", "paid", 0, 0, "paid"),
    "open": ("open", "toSchedule", 0, 0, "toSchedule"),
}


def furnish(rows: Handle) -> None:
    """Jobs in each state, each seen by someone."""
    rows.run(
        f"INSERT INTO customer (organisation_id, id, name, name_folded, kind, status, {STAMP})"
        f" VALUES (:here, 'calder', 'C', 'c', 'company', 'active', {STAMPED})",
        here=HERE,
    )
    rows.run(
        "INSERT INTO person (organisation_id, id, name, name_folded, email, email_folded, role, status, skills,"
        f" {STAMP}) VALUES (:here, 'mia', 'M', 'm', 'm@a.example', 'm@a.example', 'member', 'active', '[]', {STAMPED})",
        here=HERE,
    )
    for name, (status, stage, invoiced, owed, _) in JOBS.items():
        rows.run(
            "INSERT INTO job (organisation_id, id, number, customer_id, title, status, stage, priority, billing, tags,"
            f" assigned, invoiced, owed, {STAMP}) VALUES (:here, :id, :id, 'calder', '', :status, :stage, '',"
            f" 'fixed', '[]', '[]', :invoiced, :owed, {STAMPED})",
            here=HERE,
            id=name,
            status=status,
            stage=stage,
            invoiced=invoiced,
            owed=owed,
        )
        rows.run(
            "INSERT INTO own_job (organisation_id, person_id, id, assigned, status, stage, priority, customer_id)"
            " VALUES (:here, 'mia', :id, 1, :status, :stage, '', 'calder')",
            here=HERE,
            id=name,
            status=status,
            stage=stage,
        )


def test_only_what_was_closed_without_an_invoice_changes(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE) as database:
        with database.changing(EVERY) as rows:
            furnish(rows)
        assert STEP.name in migrate(database)
        with database.reading(EVERY) as rows:
            for table in ("job", "own_job"):
                kept = {str(name): stage for name, stage in rows.all(f"SELECT id, stage FROM {table}")}
                assert kept == {name: job[-1] for name, job in JOBS.items()}
