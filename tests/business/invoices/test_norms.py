"""Invoices and credit notes that the operations issue pass the official rules of e-invoices, in both forms."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from billing import a_sold_quote, an_invoice, issued
from cast import Cast, assemble
from chances import Firm, open_firm, story
from labour import decide
from mainstay.business.invoices.papers import get_invoice_ubl
from mainstay.kernel.perform import Stage
from mainstay.paper import cii, ubl
from mainstay.paper.einvoice import standing, terms_of
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Role
from norms import faults

# What is written does not depend on where it is kept.
pytestmark = pytest.mark.engines("sqlite")

LONG_PARTS, LONG_DOCUMENTS = 10, 50
# There is nothing to say of the delivery where nobody said when the work was done; the schema wants the element anyway.
EMPTY_DELIVERY = "PEPPOL-EN16931-R008"


@pytest.fixture(scope="session")
def firm(stage: Stage) -> Firm:
    """A firm that bills what e-invoices have words for."""
    return open_firm(assemble(stage))


def snapshots(cast: Cast, *records: dict[str, Any]) -> Iterator[Snapshot]:
    """What was frozen of invoices and credit notes."""
    with cast.stage.database.reading(cast.organisation) as rows:
        for record in records:
            table = "invoice" if record["object"] == "invoice" else "credit_note"
            sql = f"SELECT snapshot FROM {table} WHERE organisation_id = :organisation AND id = :id"
            row = rows.one(sql, id=record["id"])
            assert row is not None
            yield Snapshot.model_validate_json(str(row[0]))


def check(firm: Firm, wanted: int, seeds: Iterator[int]) -> set[str]:
    """So many documents are e-invoices and pass; which kinds there were."""
    kinds: list[str] = []
    while len(kinds) < wanted:
        seed = next(seeds)
        told = story(firm, seed, e_invoices=True)
        notes = [note for notes in told.notes.values() for note in notes]
        for record, snapshot in zip(
            [*told.invoices, *notes], snapshots(firm.cast, *told.invoices, *notes), strict=True
        ):
            assert standing(snapshot).e_invoice.status == "included", (seed, record["number"])
            for written in (cii.written(terms_of(snapshot)), ubl.written(terms_of(snapshot))):
                wrong = [fault for fault in faults(written) if EMPTY_DELIVERY not in fault]
                assert wrong == [], (seed, record["number"])
            kinds.append(record.get("kind", "creditNote"))
    return {*kinds}


def test_what_is_issued_passes(firm: Firm) -> None:
    assert check(firm, 36, count()) == {"deposit", "progress", "final", "standard", "creditNote"}


@pytest.mark.parametrize(
    ("total", "part", "told", "wrong"),
    [("400", "103", ("162", "32"), {"BR-CO-17", "BR-S-09"}), ("410", "118", ("147", "27"), set[str]())],
)
def test_where_a_tax_is_too_far_from_its_percentage_it_is_none(
    cast: Cast, total: str, part: str, told: tuple[str, str], wrong: set[str]
) -> None:
    firm = open_firm(cast, "JPY")
    decide(cast, prices_include_tax=1)
    work = {"description": "Work", "unitPrice": total, "taxRateId": firm.told[0]}
    quote = a_sold_quote(cast, work, customerId=firm.customer)
    for kind in ("deposit", "progress"):
        issued(cast, an_invoice(cast, quoteId=quote["id"], part={"amount": part}, kind=kind))
    final = issued(cast, an_invoice(cast, quoteId=quote["id"]))
    assert (final["net"], final["tax"]) == told
    assert final["eInvoice"]["status"] == ("notApplicable" if wrong else "included")
    (snapshot,) = snapshots(cast, final)
    for written in (cii.written(terms_of(snapshot)), ubl.written(terms_of(snapshot))):
        found = {rule for fault in faults(written) for rule in ("BR-CO-17", "BR-S-09") if rule in fault}
        assert found == wrong
    if wrong:
        words = r"cannot be an e-invoice: its tax is further from the percentages of its rates than the norm allows\.$"
        with pytest.raises(Conflict, match=words):
            cast.perform(get_invoice_ubl, Role.OFFICE, invoiceId=final["id"])


@pytest.mark.long
@pytest.mark.parametrize("part", range(LONG_PARTS))
def test_five_hundred_that_are_issued_pass(firm: Firm, part: int) -> None:
    check(firm, LONG_DOCUMENTS, count(1000 * (part + 1)))
