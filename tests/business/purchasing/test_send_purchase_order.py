from pathlib import Path
from typing import Any

import orjson
import pytest
from pypdf import PdfReader

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.operations import update_purchase_order
from mainstay.business.purchasing.sending import get_purchase_order_pdf, send_purchase_order
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, NotFound, Reason
from support.cast import Cast
from support.customers import ADDRESS, make_customer, make_job, make_site
from support.prices import make_supplier
from support.purchases import PIPE, make_order, make_purchase_job, place_order
from support.quotes import make_default_tax_rate, open_document_files
from support.stored_state import emails_about, waiting_emails


def send_order(cast: Cast, order: dict[str, Any], **given: object) -> dict[str, Any]:
    values = {"purchaseOrderId": order["id"], "confirmed": True, **given}
    return cast.perform(send_purchase_order, Role.OFFICE, **values)


def read_snapshot(cast: Cast, order: dict[str, Any]) -> dict[str, Any]:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            "SELECT snapshot FROM purchase_order WHERE organisation_id = :organisation AND id = :id", id=order["id"]
        )
    assert row is not None
    found: dict[str, Any] = orjson.loads(str(row[0]))
    return found


def test_a_preview_tells_what_leaves_and_nothing_does(cast: Cast) -> None:
    order = make_order(cast)
    preview = send_order(cast, order, confirmed=False)
    name = orjson.loads(cast.answer(update_organisation, email="office@us.example").body)["name"]
    assert preview["summary"] == "PO-0001 will be sent to Pennine Supplies: 100.00 GBP."
    assert preview["effects"][0] == f"Email to sales@pennine.example: Order PO-0001 from {name}"
    assert preview["effects"][1].startswith("The email says:\nHello Pennine Supplies,")
    assert preview["warnings"] == ["Your organisation has no email address, so nobody can reply. Add one in Settings."]
    assert waiting_emails(cast) == []


def test_the_supplier_is_mailed_the_pdf_and_no_link(cast: Cast) -> None:
    cast.perform(update_organisation, name="Brook Heating", email="office@brook.example")
    order = send_order(cast, make_order(cast))
    assert (order["status"], order["language"]) == ("sent", "en")
    assert order["sentAt"]
    assert order["issuedOn"]
    (mail,) = waiting_emails(cast)
    assert (mail["to"], mail["sender_name"], mail["reply_to"]) == (
        "sales@pennine.example",
        "Brook Heating",
        "office@brook.example",
    )
    assert (mail["paper"], mail["paper_name"]) == (order["id"], "Purchase order PO-0001.pdf")
    assert "Hello Pennine Supplies" in mail["text"]
    assert "£100.00" in mail["text"]
    assert "link" not in mail
    assert "<a " not in mail["html"]
    assert "\x02" not in mail["text"]
    assert [one[0] for one in emails_about(cast, order["id"])] == ["sales@pennine.example"]
    assert order["availableActions"] == ["receive_goods", "close_purchase_order", "cancel_purchase_order"]


def test_in_the_supplier_s_language_and_to_whom_is_named_once(cast: Cast) -> None:
    order = make_order(cast, supplierId=make_supplier(cast, "Müller", language="de"))
    send_order(cast, order, to=["a@mueller.example", "A@Mueller.example"])
    (mail,) = waiting_emails(cast)
    assert mail["subject"].startswith("Bestellung PO-0001 von ")


def test_what_is_printed_is_what_was_ordered_by_us(cast: Cast, tmp_path: Path) -> None:
    make_default_tax_rate(cast)
    cast.perform(update_organisation, name="Brook Heating", address=ADDRESS | {"line1": "1 Brook Street"})
    supplier = make_supplier(cast, email="s@p.example", accountNumber="K-77", address=ADDRESS)
    customer = make_customer(cast)
    job = make_job(cast, customer, siteId=make_site(cast, customer, name="The mill"))
    order = send_order(
        cast, make_order(cast, supplierId=supplier, jobId=job["id"], neededOn="2031-01-31", notes="Noon.")
    )
    frozen = read_snapshot(cast, order)
    assert (frozen["buyer"]["name"], frozen["seller"]["name"]) == ("Brook Heating", "Pennine Supplies")
    assert (frozen["reference"], frozen["site"]["name"], frozen["job"]["number"]) == ("K-77", "The mill", job["number"])
    assert (frozen["neededOn"], frozen["notes"], frozen["totals"]["total"]) == ("2031-01-31", "Noon.", "120.00")
    printed = open_document_files(cast, tmp_path)
    content = printed.fetch_file(cast.organisation, order["id"])
    cast.perform(save_supplier, supplierId=supplier, name="Renamed")
    assert printed.fetch_file(cast.organisation, order["id"]) == content
    path = tmp_path / "order.pdf"
    path.write_bytes(content)
    text = "".join(page.extract_text() for page in PdfReader(path).pages)
    assert "PO-0001" in text
    assert "Copper pipe" in text
    assert "The mill" in text
    assert "Renamed" not in text
    paper = cast.perform(get_purchase_order_pdf, Role.OFFICE, purchaseOrderId=order["id"])
    assert (paper["name"], paper["recordId"]) == ("Purchase order PO-0001.pdf", order["id"])
    assert paper["sha256"]


@pytest.mark.parametrize(
    ("to", "printed"), [("office", {"site": "Brook Heating", "collected": False}), ("pickup", {"collected": True})]
)
def test_where_it_goes_is_told(cast: Cast, to: str, printed: dict[str, Any]) -> None:
    cast.perform(update_organisation, name="Brook Heating")
    frozen = read_snapshot(cast, send_order(cast, make_order(cast, deliverTo=to)))
    assert frozen["collected"] == printed["collected"]
    assert frozen.get("site", {}).get("name") == printed.get("site")


def test_without_a_mail_it_is_sent_all_the_same(cast: Cast) -> None:
    order = make_order(cast, supplierId=make_supplier(cast))
    preview = send_order(cast, order, deliver="none", confirmed=False)
    assert preview["effects"] == ["No email will be sent. Place the order yourself."]
    assert send_order(cast, order, deliver="none")["status"] == "sent"
    assert waiting_emails(cast) == []


def test_everything_that_stands_against_it_is_told_at_once(cast: Cast) -> None:
    order = make_order(cast, supplierId=make_supplier(cast), lines=[])
    with pytest.raises(Blocked) as refusal:
        send_order(cast, order)
    nothing, nowhere = refusal.value.reasons
    message = Message("{order} has nothing to buy on it. Add a line first.", order="PO-0001")
    assert nothing == Reason(message, "update_purchase_order")
    assert nowhere.text.startswith("Pennine Supplies has no email address. Add one, ")
    assert (nowhere.first, nowhere.unblocking_record_id) == ("save_supplier", order["supplierId"])
    cast.perform(save_supplier, supplierId=order["supplierId"], status="archived")
    with pytest.raises(Blocked) as refusal:
        send_order(cast, order)
    message = Message("{supplier} is archived. Restore them first.", supplier="Pennine Supplies")
    archived = Reason(message, "save_supplier", unblocking_record_id=order["supplierId"])
    assert refusal.value.reasons == (archived, nothing, nowhere)
    less = make_order(cast, lines=[PIPE | {"unitPrice": "-1"}])
    with pytest.raises(Blocked, match="The total of PO-0002 is below zero"):
        send_order(cast, less)
    cast.perform(update_purchase_order, purchaseOrderId=less["id"], edits=[{"edit": "add", **PIPE}])
    assert send_order(cast, less)["status"] == "sent"


def test_once_and_not_to_a_supplier_who_is_archived(cast: Cast) -> None:
    order = place_order(cast)
    with pytest.raises(Blocked, match=r"^PO-0001 was already sent\.$"):
        send_order(cast, order)
    supplier = make_supplier(cast)
    other = make_order(cast, supplierId=supplier)
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    with pytest.raises(Blocked, match="is archived"):
        send_order(cast, other)


def test_a_draft_has_no_pdf(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"^PO-0001 has not been sent, so it has no file yet\.$"):
        cast.perform(get_purchase_order_pdf, Role.OFFICE, purchaseOrderId=make_order(cast)["id"])


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sends_none_and_gets_no_pdf(cast: Cast, role: Role) -> None:
    order = place_order(cast, jobId=make_purchase_job(cast, role)["id"])
    with pytest.raises(Forbidden):
        cast.perform(send_purchase_order, role, purchaseOrderId=order["id"], confirmed=True)
    with pytest.raises(Forbidden):
        cast.perform(get_purchase_order_pdf, role, purchaseOrderId=order["id"])


def test_another_organisation_s_are_not_there(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(send_purchase_order, purchaseOrderId=make_order(other_cast)["id"], confirmed=True)
