"""The step after which documents that were there before still come to what they came to, with their discounts."""

from typing import cast as known_as

from billing import an_invoice, credited, issued, notes_of, now
from cast import Cast
from mainstay.backing.database import EVERY, WholeDatabase
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.invoices.crediting import get_credit_note
from wares import a_rate

OLD = {"net": 4500, "tax": 1933, "total": 6433}


def test_a_draft_from_before_is_issued_and_credited_at_what_it_came_to(alone: Cast) -> None:
    none = a_rate(alone, "Zero", category="zero", components=[{"name": "VAT", "percent": "0"}])
    draft = an_invoice(
        alone,
        lines=[
            {"description": "Boiler", "unitPrice": "100", "taxRateId": a_rate(alone)},
            {"description": "Trade-in", "unitPrice": "-50", "taxRateId": none},
        ],
        discount={"percent": "10"},
    )
    assert (draft["tax"], draft["total"]) == ("18.00", "63.00")
    database = known_as("WholeDatabase", alone.stage.database)
    (step,) = [step for step in steps_for(database.engine) if step.name.endswith("discount_shares")]
    with database.migrating() as handle:
        handle.script("\n".join(f"ALTER TABLE {table} DROP COLUMN discount_shares;" for table in TABLES))
        step.run(handle)
    with database.changing(EVERY) as rows:
        rows.run("UPDATE invoice SET net = :net, tax = :tax, total = :total, due = :total", **OLD)
    invoice = issued(alone, now(alone, draft))
    sums = [(tax["net"], tax["amount"]) for tax in invoice["taxes"]]
    assert (invoice["total"], sums) == ("64.33", [("96.67", "19.33"), ("-51.67", "0.00")])
    credited(alone, invoice)
    (note,) = notes_of(alone, invoice)
    assert alone.perform(get_credit_note, creditNoteId=note["id"])["taxes"] == invoice["taxes"]


TABLES = ("quote", "invoice", "credit_note")
