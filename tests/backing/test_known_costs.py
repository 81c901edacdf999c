"""The step that tells documents apart by what of them has a known cost: for those there are as for new ones."""

from collections.abc import Sequence
from typing import cast as known_as

from billing import BOILER, FLUE, an_invoice, issued
from cast import Cast
from mainstay.backing.database import Row, WholeDatabase
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.organisation.settings import update_settings
from ordering import PIPE, bought_for, ordered, received
from quoting import a_draft, accepted, sent, usual_tax

COLUMNS = ("costed_net", "uncosted_net", "uncosted_lines")
DOCUMENTS = {"invoice": (*COLUMNS, "other_cost"), "quote": COLUMNS}


def kept(cast: Cast) -> dict[str, Sequence[Row]]:
    with cast.stage.database.reading(cast.organisation) as rows:
        return {
            table: rows.all(
                f"SELECT id, {', '.join(columns)} FROM {table} WHERE organisation_id = :organisation ORDER BY id"
            )
            for table, columns in DOCUMENTS.items()
        }


def test_documents_that_were_there_before_say_what_new_ones_say(alone: Cast) -> None:
    usual_tax(alone)
    an_invoice(alone, lines=[BOILER, FLUE], discount={"percent": "10"})
    alone.perform(update_settings, pricesIncludeTax=True)
    an_invoice(alone, lines=[BOILER, FLUE, {"description": "Voucher", "unitPrice": "-20"}])
    job = bought_for(alone)
    received(alone, ordered(alone, jobId=job["id"], lines=[PIPE]), "5")
    an_invoice(alone, jobId=job["id"], unbilled=True, lines=[BOILER])
    quote = accepted(alone, sent(alone, a_draft(alone, lines=[BOILER, FLUE]), deliver="none"))
    issued(alone, an_invoice(alone, quoteId=quote["id"], part={"percent": "30"}))
    an_invoice(alone, quoteId=quote["id"])
    before = kept(alone)
    assert [row[1] for row in before["invoice"]].count(0) == 1, "what only asks for a part has no cost"
    database = known_as("WholeDatabase", alone.stage.database)
    (step,) = [step for step in steps_for(database.engine) if step.name.endswith("_known_costs")]
    with database.migrating() as handle:
        for table, columns in DOCUMENTS.items():
            for column in columns:
                handle.run(f"ALTER TABLE {table} DROP COLUMN {column}")
        step.run(handle)
    assert kept(alone) == before
