"""The files of invoices and credit notes: made of what was frozen, once, and the same bytes ever after."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from billing import BOILER, a_sold_quote, an_invoice, credited, issued, notes_of, now, paid, voided
from cast import Cast
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.papers import (
    get_credit_note_pdf,
    get_credit_note_ubl,
    get_invoice_pdf,
    get_invoice_ubl,
)
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Conflict, Forbidden, NotFound
from mainstay.terms.rights import Role
from papers import NASTY
from quoting import press, usual_tax
from trade import ADDRESS, a_customer

FILES = (get_invoice_pdf, get_invoice_ubl)


@pytest.fixture
def known(cast: Cast) -> Cast:
    """The cast, of whom is known what an e-invoice has to say."""
    usual_tax(cast)
    cast.perform(update_organisation, taxNumber="GB123456789", address=ADDRESS)
    return cast


def an_e_invoice(cast: Cast, **given: object) -> dict[str, Any]:
    customer = a_customer(cast, email="ann@calder.example", billingAddress=ADDRESS)
    return issued(cast, an_invoice(cast, customerId=customer, **given))


def paper(cast: Cast, operation: Operation, **given: object) -> dict[str, Any]:
    return cast.perform(operation, Role.OFFICE, **given)


def test_each_is_named_like_the_invoice_and_known_by_its_hash_once_it_is_made(known: Cast, tmp_path: Path) -> None:
    sent = an_e_invoice(known)
    made = press(known, tmp_path)
    for operation, form, name in zip(
        FILES, ("pdf", "ubl"), ("Invoice INV-0001.pdf", "Invoice INV-0001.xml"), strict=True
    ):
        before = paper(known, operation, invoiceId="INV-0001")
        assert (before["recordId"], before["form"], before["name"], before["sha256"]) == (sent["id"], form, name, None)
        content = made.print(known.organisation, sent["id"], form)
        assert content.startswith(b"%PDF-" if form == "pdf" else b"<?xml")
        after = paper(known, operation, invoiceId=sent["id"])
        assert after["sha256"] == hashlib.sha256(content).hexdigest()


def test_what_has_changed_since_changes_no_byte(known: Cast, tmp_path: Path) -> None:
    sent = an_e_invoice(known)
    # Before the first is made as well: nobody may have asked for it yet.
    elsewhere = {**ADDRESS, "line1": "9 Mill Street", "city": "Hebden Bridge"}
    known.perform(update_customer, customerId=sent["customerId"], name="Renamed", billingAddress=elsewhere)
    known.perform(update_organisation, name="Renamed as well", address=elsewhere)
    first = {form: press(known, tmp_path).print(known.organisation, sent["id"], form) for form in ("pdf", "ubl")}
    assert b"Weir Lane" in first["ubl"]
    assert b"Mill Street" not in first["ubl"]
    paid(known, sent, "100")
    for form, content in first.items():
        assert press(known, tmp_path).print(known.organisation, sent["id"], form) == content
    assert now(known, sent)["version"] == sent["version"] + 1


def test_whoever_prints_at_once_prints_the_same(known: Cast, tmp_path: Path) -> None:
    sent, made = an_e_invoice(known), press(known, tmp_path)
    with ThreadPoolExecutor(3) as racers:
        printed = {*racers.map(lambda _: made.print(known.organisation, sent["id"]), range(3))}
    assert len(printed) == 1


def test_of_one_that_is_void_there_is_a_stamped_copy_beside_it(known: Cast, tmp_path: Path) -> None:
    sent, made = an_e_invoice(known), press(known, tmp_path)
    with pytest.raises(Conflict, match=r"^INV-0001 is not void, so there is no stamped copy of it\.$"):
        paper(known, get_invoice_pdf, invoiceId=sent["id"], copy="void")
    before = made.print(known.organisation, sent["id"])
    voided(known, sent)
    stamped = made.print(known.organisation, sent["id"], "void")
    assert stamped != before
    assert made.print(known.organisation, sent["id"]) == before
    found = {copy: paper(known, get_invoice_pdf, invoiceId=sent["id"], copy=copy) for copy in (None, "void")}
    assert found["void"]["name"] == "Invoice INV-0001 void.pdf"
    assert [found[copy]["sha256"] for copy in (None, "void")] == [
        hashlib.sha256(content).hexdigest() for content in (before, stamped)
    ]


def test_whatever_is_written_in_it_is_printed_as_words(known: Cast, tmp_path: Path) -> None:
    texts = [text for text in NASTY if text.isprintable()]
    assert texts
    lines = [BOILER | {"description": text} for text in texts]
    sent = an_e_invoice(known, lines=lines, title=texts[0], notes=texts[1])
    credited(known, sent, amount="1", reason=texts[0])
    (note,) = notes_of(known, sent)
    for record in (sent, note):
        assert press(known, tmp_path).print(known.organisation, record["id"]).startswith(b"%PDF-")
        assert b"<script>" not in press(known, tmp_path).print(known.organisation, record["id"], "ubl")


def test_a_credit_note_has_its_own(known: Cast, tmp_path: Path) -> None:
    sent = an_e_invoice(known)
    credited(known, sent, amount="100")
    (note,) = notes_of(known, sent)
    names = {"pdf": "Credit note CN-0001.pdf", "ubl": "Credit note CN-0001.xml"}
    for operation, form in ((get_credit_note_pdf, "pdf"), (get_credit_note_ubl, "ubl")):
        content = press(known, tmp_path).print(known.organisation, note["id"], form)
        found = paper(known, operation, creditNoteId="cn-0001")
        assert (found["name"], found["sha256"]) == (names[form], hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(("kind", "named"), [("deposit", "Deposit invoice"), ("progress", "Progress invoice")])
def test_a_part_says_that_it_is_one(known: Cast, kind: str, named: str) -> None:
    quote = a_sold_quote(known)
    issued(known, an_invoice(known, quoteId=quote["id"], part={"percent": "10"}, kind=kind))
    assert paper(known, get_invoice_pdf, invoiceId="INV-0001")["name"] == f"{named} INV-0001.pdf"
    issued(known, an_invoice(known, quoteId=quote["id"]))
    assert paper(known, get_invoice_pdf, invoiceId="INV-0002")["name"] == "Final invoice INV-0002.pdf"


def test_a_draft_has_none(known: Cast) -> None:
    draft = an_invoice(known)
    for operation in FILES:
        with pytest.raises(Conflict, match=r"^This draft was never sent, and has no file until it is\.$"):
            paper(known, operation, invoiceId=draft["id"])


def test_what_is_no_e_invoice_says_what_was_missing(known: Cast) -> None:
    sent = issued(known)
    told = r"^INV-0001 New heating is no e-invoice, because this was missing .*: the customer's address country\.$"
    with pytest.raises(Conflict, match=told):
        paper(known, get_invoice_ubl, invoiceId=sent["id"])
    parts = [{"name": "GST", "percent": "5"}, {"name": "QST", "percent": "9.975"}]
    rate = known.perform(save_tax_rate, name="Quebec", components=parts)["id"]
    an_e_invoice(known, lines=[BOILER | {"taxRateId": rate}])
    with pytest.raises(Conflict, match=r"^INV-0002 New heating cannot be an e-invoice: the norm has no words for"):
        paper(known, get_invoice_ubl, invoiceId="INV-0002")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_get_none_nor_does_another_organisation(known: Cast, stranger: Cast, role: Role) -> None:
    sent = an_e_invoice(known)
    credited(known, sent, amount="1")
    (note,) = notes_of(known, sent)
    named = {"invoiceId": sent["id"]}, {"creditNoteId": note["id"]}
    for operation, given in zip(
        (get_invoice_pdf, get_invoice_ubl, get_credit_note_pdf), (*named[:1] * 2, named[1]), strict=True
    ):
        with pytest.raises(Forbidden):
            known.perform(operation, role, **given)
        with pytest.raises(NotFound):
            stranger.perform(operation, Role.OFFICE, **given)
