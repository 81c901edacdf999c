"""Invoices and credit notes that the operations issue pass the official rules of e-invoices, in both forms."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from mainstay.business.invoices.issuing.document_files import get_invoice_ubl
from mainstay.documents import cii, ubl
from mainstay.documents.einvoice import check_einvoice, einvoice_terms_of
from mainstay.documents.snapshot import Snapshot
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict
from support.cast import Cast, make_cast
from support.einvoice_rules import find_faults
from support.hours import set_organisation_columns
from support.invoices import issue_invoice, make_accepted_quote, make_invoice
from support.random_billing import BillingFirm, bill_at_random, make_billing_firm

# The files do not depend on the engine, so one engine is enough.
pytestmark = pytest.mark.engines("sqlite")

LONG_PARTS, LONG_DOCUMENTS = 10, 50
# There is nothing to say of the delivery where nobody said when the work was done; the schema wants the element anyway.
EMPTY_DELIVERY = "PEPPOL-EN16931-R008"


@pytest.fixture(scope="session")
def firm(performer: Performer) -> BillingFirm:
    """A firm that bills only what e-invoices can express."""
    return make_billing_firm(make_cast(performer))


def read_snapshots(cast: Cast, *records: dict[str, Any]) -> Iterator[Snapshot]:
    """Read the snapshots of invoices and credit notes."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        for record in records:
            table = "invoice" if record["object"] == "invoice" else "credit_note"
            sql = f"SELECT snapshot FROM {table} WHERE organisation_id = :organisation AND id = :id"
            row = db.one(sql, id=record["id"])
            assert row is not None
            yield Snapshot.model_validate_json(str(row[0]))


def check_e_invoices(firm: BillingFirm, wanted: int, seeds: Iterator[int]) -> set[str]:
    """Check that so many documents are valid e-invoices; return the kinds there were."""
    kinds: list[str] = []
    while len(kinds) < wanted:
        seed = next(seeds)
        result = bill_at_random(firm, seed, e_invoices=True)
        notes = [note for notes in result.credit_notes.values() for note in notes]
        for record, snapshot in zip(
            [*result.invoices, *notes], read_snapshots(firm.cast, *result.invoices, *notes), strict=True
        ):
            assert check_einvoice(snapshot).e_invoice.status == "included", (seed, record["number"])
            for written in (cii.write_cii(einvoice_terms_of(snapshot)), ubl.write_ubl(einvoice_terms_of(snapshot))):
                wrong = [fault for fault in find_faults(written) if EMPTY_DELIVERY not in fault]
                assert wrong == [], (seed, record["number"])
            kinds.append(record.get("kind", "creditNote"))
    return {*kinds}


def test_what_is_issued_passes(firm: BillingFirm) -> None:
    assert check_e_invoices(firm, 36, count()) == {"deposit", "progress", "final", "standard", "creditNote"}


@pytest.mark.parametrize(
    ("total", "part", "told", "wrong"),
    [("400", "103", ("162", "32"), {"BR-CO-17", "BR-S-09"}), ("410", "118", ("147", "27"), set[str]())],
)
def test_where_a_tax_is_too_far_from_its_percentage_it_is_none(
    cast: Cast, total: str, part: str, told: tuple[str, str], wrong: set[str]
) -> None:
    firm = make_billing_firm(cast, "JPY")
    set_organisation_columns(cast, prices_include_tax=1)
    work = {"description": "Work", "unitPrice": total, "taxRateId": firm.e_invoice_rates[0]}
    quote = make_accepted_quote(cast, work, customerId=firm.customer)
    for kind in ("deposit", "progress"):
        issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"amount": part}, kind=kind))
    final = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    assert (final["net"], final["tax"]) == told
    assert final["eInvoice"]["status"] == ("notApplicable" if wrong else "included")
    (snapshot,) = read_snapshots(cast, final)
    for written in (cii.write_cii(einvoice_terms_of(snapshot)), ubl.write_ubl(einvoice_terms_of(snapshot))):
        found = {rule for fault in find_faults(written) for rule in ("BR-CO-17", "BR-S-09") if rule in fault}
        assert found == wrong
    if wrong:
        words = "can't be an e-invoice: its tax differs from the percentages of its rates by more than the standard"
        words += r" allows\.$"
        with pytest.raises(Conflict, match=words):
            cast.perform(get_invoice_ubl, Role.OFFICE, invoiceId=final["id"])


@pytest.mark.long
@pytest.mark.parametrize("part", range(LONG_PARTS))
def test_five_hundred_that_are_issued_pass(firm: BillingFirm, part: int) -> None:
    check_e_invoices(firm, LONG_DOCUMENTS, count(1000 * (part + 1)))
