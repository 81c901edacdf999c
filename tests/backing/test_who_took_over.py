"""The step by which whoever was merged names the customer that has all now, however many were merged in between."""

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY
from mainstay.backing.migrations.apply import migrate, steps_for
from mainstay.settings import Settings

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("who_took_over")]
HERE, ELSEWHERE = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"
# Of each customer, by whom they were taken over.
BEFORE = {"calder": "ryburn", "ryburn": "colne", "colne": "irwell", "irwell": None, "alone": None, "once": "irwell"}
AFTER = {"calder": "irwell", "ryburn": "irwell", "colne": "irwell", "irwell": None, "alone": None, "once": "irwell"}


def test_a_chain_of_mergers_leads_to_its_end(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE, ELSEWHERE) as database:
        with database.changing(EVERY) as rows:
            for organisation in (HERE, ELSEWHERE):
                for customer, taken_over in BEFORE.items():
                    rows.run(
                        "INSERT INTO customer (organisation_id, id, name, name_folded, kind, status, merged_into_id,"
                        " created_at, created_by, updated_at, updated_by, version) VALUES (:here, :id, 'C', 'c',"
                        " 'company', 'archived', :taken_over, '', '{}', '', '{}', 1)",
                        here=organisation,
                        id=f"{customer} {organisation}",
                        taken_over=f"{taken_over} {organisation}" if taken_over else None,
                    )
        assert STEP.name in migrate(database)
        with database.reading(EVERY) as rows:
            kept = {row[0]: row[1] for row in rows.all("SELECT id, merged_into_id FROM customer")}
    for organisation in (HERE, ELSEWHERE):
        for customer, taken_over in AFTER.items():
            assert kept[f"{customer} {organisation}"] == (f"{taken_over} {organisation}" if taken_over else None)
