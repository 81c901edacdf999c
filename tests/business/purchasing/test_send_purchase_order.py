from pathlib import Path
from typing import Any

import orjson
import pytest
from pypdf import PdfReader

from cast import Cast
from evidence import mailed_about, mails
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.operations import update_purchase_order
from mainstay.business.purchasing.sending import get_purchase_order_pdf, send_purchase_order
from mainstay.terms.refusal import Blocked, Conflict, Forbidden, NotFound, Reason
from mainstay.terms.rights import Role
from ordering import PIPE, an_order, bought_for, ordered
from quoting import press, usual_tax
from trade import ADDRESS, a_customer, a_job, a_site
from wares import a_supplier


def sent(cast: Cast, order: dict[str, Any], **given: object) -> dict[str, Any]:
    told = {"purchaseOrderId": order["id"], "confirmed": True, **given}
    return cast.perform(send_purchase_order, Role.OFFICE, **told)


def snapshot(cast: Cast, order: dict[str, Any]) -> dict[str, Any]:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one(
            "SELECT snapshot FROM purchase_order WHERE organisation_id = :organisation AND id = :id", id=order["id"]
        )
    assert row is not None
    found: dict[str, Any] = orjson.loads(str(row[0]))
    return found


def test_a_preview_tells_what_leaves_and_nothing_does(cast: Cast) -> None:
    order = an_order(cast)
    preview = sent(cast, order, confirmed=False)
    name = orjson.loads(cast.answer(update_organisation, email="office@us.example").body)["name"]
    assert preview["summary"] == "PO-0001 goes to Pennine Supplies: 100.00 GBP."
    assert preview["effects"][0] == f"It is mailed to sales@pennine.example: Order PO-0001 from {name}"
    assert preview["effects"][1].startswith("The mail says:\nHello Pennine Supplies,")
    assert preview["warnings"] == [
        "The organisation has no e-mail address, so nobody can answer the mail. Add one in settings."
    ]
    assert mails(cast) == []


def test_the_supplier_is_mailed_the_pdf_and_no_link(cast: Cast) -> None:
    cast.perform(update_organisation, name="Brook Heating", email="office@brook.example")
    order = sent(cast, an_order(cast))
    assert (order["status"], order["language"]) == ("sent", "en")
    assert order["sentAt"]
    assert order["issuedOn"]
    (mail,) = mails(cast)
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
    assert [one[0] for one in mailed_about(cast, order["id"])] == ["sales@pennine.example"]
    assert order["availableActions"] == ["receive_goods", "close_purchase_order", "cancel_purchase_order"]


def test_in_the_supplier_s_language_and_to_whom_is_named_once(cast: Cast) -> None:
    order = an_order(cast, supplierId=a_supplier(cast, "Müller", language="de"))
    sent(cast, order, to=["a@mueller.example", "A@Mueller.example"])
    (mail,) = mails(cast)
    assert mail["subject"].startswith("Bestellung PO-0001 von ")


def test_what_is_printed_is_what_was_ordered_by_us(cast: Cast, tmp_path: Path) -> None:
    usual_tax(cast)
    cast.perform(update_organisation, name="Brook Heating", address=ADDRESS | {"line1": "1 Brook Street"})
    supplier = a_supplier(cast, email="s@p.example", accountNumber="K-77", address=ADDRESS)
    customer = a_customer(cast)
    job = a_job(cast, customer, siteId=a_site(cast, customer, name="The mill"))
    order = sent(cast, an_order(cast, supplierId=supplier, jobId=job["id"], neededOn="2031-01-31", notes="Noon."))
    told = snapshot(cast, order)
    assert (told["buyer"]["name"], told["seller"]["name"]) == ("Brook Heating", "Pennine Supplies")
    assert (told["reference"], told["site"]["name"], told["job"]["number"]) == ("K-77", "The mill", job["number"])
    assert (told["neededOn"], told["notes"], told["totals"]["total"]) == ("2031-01-31", "Noon.", "120.00")
    printed = press(cast, tmp_path)
    content = printed.print(cast.organisation, order["id"])
    cast.perform(save_supplier, supplierId=supplier, name="Renamed")
    assert printed.print(cast.organisation, order["id"]) == content
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
    told = snapshot(cast, sent(cast, an_order(cast, deliverTo=to)))
    assert told["collected"] == printed["collected"]
    assert told.get("site", {}).get("name") == printed.get("site")


def test_without_a_mail_it_is_sent_all_the_same(cast: Cast) -> None:
    order = an_order(cast, supplierId=a_supplier(cast))
    preview = sent(cast, order, deliver="none", confirmed=False)
    assert preview["effects"] == ["Nobody is mailed: order it yourself."]
    assert sent(cast, order, deliver="none")["status"] == "sent"
    assert mails(cast) == []


def test_everything_that_stands_against_it_is_told_at_once(cast: Cast) -> None:
    order = an_order(cast, supplierId=a_supplier(cast), lines=[])
    with pytest.raises(Blocked) as refusal:
        sent(cast, order)
    nothing, nowhere = refusal.value.reasons
    assert nothing == Reason("PO-0001 has no line of something to buy. Add one first.", "update_purchase_order")
    assert nowhere.text.startswith("There is no address to mail it to. Give Pennine Supplies one")
    assert (nowhere.unblock, nowhere.at) == ("save_supplier", order["supplierId"])
    cast.perform(save_supplier, supplierId=order["supplierId"], status="archived")
    with pytest.raises(Blocked) as refusal:
        sent(cast, order)
    archived = Reason("Pennine Supplies is archived. Restore them first.", "save_supplier", at=order["supplierId"])
    assert refusal.value.reasons == (archived, nothing, nowhere)
    less = an_order(cast, lines=[PIPE | {"unitPrice": "-1"}])
    with pytest.raises(Blocked, match="PO-0002 comes to less than nothing"):
        sent(cast, less)
    cast.perform(update_purchase_order, purchaseOrderId=less["id"], edits=[{"edit": "add", **PIPE}])
    assert sent(cast, less)["status"] == "sent"


def test_once_and_not_to_a_supplier_who_is_archived(cast: Cast) -> None:
    order = ordered(cast)
    with pytest.raises(Blocked, match=r"^PO-0001 was sent already\.$"):
        sent(cast, order)
    supplier = a_supplier(cast)
    other = an_order(cast, supplierId=supplier)
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    with pytest.raises(Blocked, match="is archived"):
        sent(cast, other)


def test_a_draft_has_no_pdf(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"^PO-0001 was never sent, and has no file until it is\.$"):
        cast.perform(get_purchase_order_pdf, Role.OFFICE, purchaseOrderId=an_order(cast)["id"])


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sends_none_and_gets_no_pdf(cast: Cast, role: Role) -> None:
    order = ordered(cast, jobId=bought_for(cast, role)["id"])
    with pytest.raises(Forbidden):
        cast.perform(send_purchase_order, role, purchaseOrderId=order["id"], confirmed=True)
    with pytest.raises(Forbidden):
        cast.perform(get_purchase_order_pdf, role, purchaseOrderId=order["id"])


def test_another_organisation_s_are_not_there(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(send_purchase_order, purchaseOrderId=an_order(stranger)["id"], confirmed=True)
