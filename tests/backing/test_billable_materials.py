"""The step that lets what was bought be billed on as its job is, where that was billed in another way before."""

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY, Handle
from mainstay.backing.migrations.apply import migrate, steps_for
from mainstay.settings import Settings

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("_billable_materials")]
HERE = "org_01M7000000000000000000000A"
STAMP = "created_at, created_by, updated_at, updated_by, version"
STAMPED = "'', '{}', '', '{}', 1"


def furnish(rows: Handle) -> None:
    """Two jobs, each with things that were bought: two to bill, one for nothing, and one that is on an invoice."""
    rows.run(
        f"INSERT INTO customer (organisation_id, id, name, name_folded, kind, status, {STAMP})"
        f" VALUES (:here, 'calder', 'C', 'c', 'company', 'active', {STAMPED})",
        here=HERE,
    )
    for billing in ("fixed", "timeAndMaterials"):
        rows.run(
            "INSERT INTO job (organisation_id, id, number, customer_id, title, status, stage, priority, billing, tags,"
            f" assigned, {STAMP}) VALUES (:here, :id, :id, 'calder', '', 'open', '', '', :id, '[]', '[]', {STAMPED})",
            here=HERE,
            id=billing,
        )
        for number, (value, billable, billed) in enumerate([(5, 0, 0), (5, 1, 0), (0, 0, 0), (5, 1, 1)]):
            rows.run(
                "INSERT INTO material (organisation_id, id, kind, document_id, line_id, job_id, on_date, description,"
                " quantity, cost, price, value, billable, billed) VALUES (:here, :id, '', '', '', :job, '', '', 1, 1,"
                " 1, :value, :billable, :billed)",
                here=HERE,
                id=f"{billing} {number}",
                job=billing,
                value=value,
                billable=billable,
                billed=billed,
            )


def test_what_was_bought_follows_its_job(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE) as database:
        with database.changing(EVERY) as rows:
            furnish(rows)
        assert STEP.name in migrate(database)
        with database.reading(EVERY) as rows:
            kept = rows.all("SELECT job_id, billable FROM material ORDER BY id")
    assert [billable for job, billable in kept if job == "fixed"] == [0, 0, 0, 1]
    assert [billable for job, billable in kept if job == "timeAndMaterials"] == [1, 1, 0, 1]
