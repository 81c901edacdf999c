"""The files of invoices and credit notes: made once from the snapshot, with the same bytes ever after."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.issuing.document_files import (
    get_credit_note_pdf,
    get_credit_note_ubl,
    get_invoice_pdf,
    get_invoice_ubl,
)
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound
from support.cast import Cast
from support.customers import ADDRESS, make_customer
from support.invoices import (
    BOILER,
    credit_issued,
    credit_notes_of,
    issue_invoice,
    make_accepted_quote,
    make_invoice,
    pay_invoice,
    reread_invoice,
    void_issued,
)
from support.quotes import make_default_tax_rate, open_document_files
from support.snapshots import NASTY_TEXTS

FILES = (get_invoice_pdf, get_invoice_ubl)


@pytest.fixture
def e_invoice_cast(cast: Cast) -> Cast:
    """A cast whose organisation has everything that an e-invoice needs."""
    make_default_tax_rate(cast)
    cast.perform(update_organisation, taxNumber="GB123456789", address=ADDRESS)
    return cast


def issue_e_invoice(cast: Cast, **given: object) -> dict[str, Any]:
    customer = make_customer(cast, email="ann@calder.example", billingAddress=ADDRESS)
    return issue_invoice(cast, make_invoice(cast, customerId=customer, **given))


def fetch_file(cast: Cast, operation: Operation, **given: object) -> dict[str, Any]:
    return cast.perform(operation, Role.OFFICE, **given)


def test_each_is_named_like_the_invoice_and_known_by_its_hash_once_it_is_made(
    e_invoice_cast: Cast, tmp_path: Path
) -> None:
    sent = issue_e_invoice(e_invoice_cast)
    made = open_document_files(e_invoice_cast, tmp_path)
    for operation, form, name in zip(
        FILES, ("pdf", "ubl"), ("Invoice INV-0001.pdf", "Invoice INV-0001.xml"), strict=True
    ):
        before = fetch_file(e_invoice_cast, operation, invoiceId="INV-0001")
        assert (before["recordId"], before["form"], before["name"], before["sha256"]) == (sent["id"], form, name, None)
        content = made.fetch_file(e_invoice_cast.organisation, sent["id"], form)
        assert content.startswith(b"%PDF-" if form == "pdf" else b"<?xml")
        after = fetch_file(e_invoice_cast, operation, invoiceId=sent["id"])
        assert after["sha256"] == hashlib.sha256(content).hexdigest()


def test_what_has_changed_since_changes_no_byte(e_invoice_cast: Cast, tmp_path: Path) -> None:
    sent = issue_e_invoice(e_invoice_cast)
    # Before the first is made as well: nobody may have asked for it yet.
    elsewhere = {**ADDRESS, "line1": "9 Mill Street", "city": "Hebden Bridge"}
    e_invoice_cast.perform(update_customer, customerId=sent["customerId"], name="Renamed", billingAddress=elsewhere)
    e_invoice_cast.perform(update_organisation, name="Renamed as well", address=elsewhere)
    first = {
        form: open_document_files(e_invoice_cast, tmp_path).fetch_file(e_invoice_cast.organisation, sent["id"], form)
        for form in ("pdf", "ubl")
    }
    assert b"Weir Lane" in first["ubl"]
    assert b"Mill Street" not in first["ubl"]
    pay_invoice(e_invoice_cast, sent, "100")
    for form, content in first.items():
        assert (
            open_document_files(e_invoice_cast, tmp_path).fetch_file(e_invoice_cast.organisation, sent["id"], form)
            == content
        )
    assert reread_invoice(e_invoice_cast, sent)["version"] == sent["version"] + 1


def test_whoever_prints_at_once_prints_the_same(e_invoice_cast: Cast, tmp_path: Path) -> None:
    sent, made = issue_e_invoice(e_invoice_cast), open_document_files(e_invoice_cast, tmp_path)
    with ThreadPoolExecutor(3) as racers:
        printed = {*racers.map(lambda _: made.fetch_file(e_invoice_cast.organisation, sent["id"]), range(3))}
    assert len(printed) == 1


def test_of_one_that_is_void_there_is_a_stamped_copy_beside_it(e_invoice_cast: Cast, tmp_path: Path) -> None:
    sent, made = issue_e_invoice(e_invoice_cast), open_document_files(e_invoice_cast, tmp_path)
    with pytest.raises(Conflict, match=r"^This invoice is not void, so there's no copy stamped as void\.$"):
        fetch_file(e_invoice_cast, get_invoice_pdf, invoiceId=sent["id"], copy="void")
    before = made.fetch_file(e_invoice_cast.organisation, sent["id"])
    void_issued(e_invoice_cast, sent)
    stamped = made.fetch_file(e_invoice_cast.organisation, sent["id"], "void")
    assert stamped != before
    assert made.fetch_file(e_invoice_cast.organisation, sent["id"]) == before
    found = {
        copy: fetch_file(e_invoice_cast, get_invoice_pdf, invoiceId=sent["id"], copy=copy) for copy in (None, "void")
    }
    assert found["void"]["name"] == "Invoice INV-0001 void.pdf"
    assert [found[copy]["sha256"] for copy in (None, "void")] == [
        hashlib.sha256(content).hexdigest() for content in (before, stamped)
    ]


def test_whatever_is_written_in_it_is_printed_as_words(e_invoice_cast: Cast, tmp_path: Path) -> None:
    texts = [text for text in NASTY_TEXTS if text.isprintable()]
    assert texts
    lines = [BOILER | {"description": text} for text in texts]
    sent = issue_e_invoice(e_invoice_cast, lines=lines, title=texts[0], notes=texts[1])
    credit_issued(e_invoice_cast, sent, amount="1", reason=texts[0])
    (note,) = credit_notes_of(e_invoice_cast, sent)
    for record in (sent, note):
        assert (
            open_document_files(e_invoice_cast, tmp_path)
            .fetch_file(e_invoice_cast.organisation, record["id"])
            .startswith(b"%PDF-")
        )
        assert b"<script>" not in open_document_files(e_invoice_cast, tmp_path).fetch_file(
            e_invoice_cast.organisation, record["id"], "ubl"
        )


def test_a_credit_note_has_its_own(e_invoice_cast: Cast, tmp_path: Path) -> None:
    sent = issue_e_invoice(e_invoice_cast)
    credit_issued(e_invoice_cast, sent, amount="100")
    (note,) = credit_notes_of(e_invoice_cast, sent)
    names = {"pdf": "Credit note CN-0001.pdf", "ubl": "Credit note CN-0001.xml"}
    for operation, form in ((get_credit_note_pdf, "pdf"), (get_credit_note_ubl, "ubl")):
        content = open_document_files(e_invoice_cast, tmp_path).fetch_file(
            e_invoice_cast.organisation, note["id"], form
        )
        found = fetch_file(e_invoice_cast, operation, creditNoteId="cn-0001")
        assert (found["name"], found["sha256"]) == (names[form], hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(("kind", "named"), [("deposit", "Deposit invoice"), ("progress", "Progress invoice")])
def test_a_part_says_that_it_is_one(e_invoice_cast: Cast, kind: str, named: str) -> None:
    quote = make_accepted_quote(e_invoice_cast)
    issue_invoice(e_invoice_cast, make_invoice(e_invoice_cast, quoteId=quote["id"], part={"percent": "10"}, kind=kind))
    assert fetch_file(e_invoice_cast, get_invoice_pdf, invoiceId="INV-0001")["name"] == f"{named} INV-0001.pdf"
    issue_invoice(e_invoice_cast, make_invoice(e_invoice_cast, quoteId=quote["id"]))
    assert fetch_file(e_invoice_cast, get_invoice_pdf, invoiceId="INV-0002")["name"] == "Final invoice INV-0002.pdf"


def test_a_draft_has_none(e_invoice_cast: Cast) -> None:
    draft = make_invoice(e_invoice_cast)
    for operation in FILES:
        with pytest.raises(Conflict, match=r"^This draft has not been sent, so it has no file yet\.$"):
            fetch_file(e_invoice_cast, operation, invoiceId=draft["id"])


def test_what_is_no_e_invoice_says_what_was_missing(e_invoice_cast: Cast) -> None:
    sent = issue_invoice(e_invoice_cast)
    message = r"^INV-0001 New heating is not an e-invoice\. Missing .*: the country in the customer's address\.$"
    with pytest.raises(Conflict, match=message):
        fetch_file(e_invoice_cast, get_invoice_ubl, invoiceId=sent["id"])
    parts = [{"name": "GST", "percent": "5"}, {"name": "QST", "percent": "9.975"}]
    rate = e_invoice_cast.perform(save_tax_rate, name="Quebec", components=parts)["id"]
    issue_e_invoice(e_invoice_cast, lines=[BOILER | {"taxRateId": rate}])
    with pytest.raises(Conflict, match=r"^INV-0002 New heating can't be an e-invoice: the standard does not support"):
        fetch_file(e_invoice_cast, get_invoice_ubl, invoiceId="INV-0002")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_get_none_nor_does_another_organisation(e_invoice_cast: Cast, other_cast: Cast, role: Role) -> None:
    sent = issue_e_invoice(e_invoice_cast)
    credit_issued(e_invoice_cast, sent, amount="1")
    (note,) = credit_notes_of(e_invoice_cast, sent)
    named = {"invoiceId": sent["id"]}, {"creditNoteId": note["id"]}
    for operation, given in zip(
        (get_invoice_pdf, get_invoice_ubl, get_credit_note_pdf), (*named[:1] * 2, named[1]), strict=True
    ):
        with pytest.raises(Forbidden):
            e_invoice_cast.perform(operation, role, **given)
        with pytest.raises(NotFound):
            other_cast.perform(operation, Role.OFFICE, **given)
