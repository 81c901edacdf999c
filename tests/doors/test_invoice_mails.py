"""Invoices that leave: by a real mail server, once, with the PDF and the e-invoice inside, whatever dies meanwhile."""

import hashlib
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from io import BytesIO
from typing import Any

import pypdf
import pytest

from billing import an_invoice, credited, issued, notes_of
from cast import Cast
from doors.test_worker import Desk, Inbox, desk, mail_server, port, work_off
from evidence import mailed_about
from mainstay.backing.database import Unreachable
from mainstay.business.invoices.papers import get_invoice_pdf
from mainstay.business.issuing.press import Press
from mainstay.business.issuing.printed import PRINT
from mainstay.business.organisation.operations import update_organisation
from mainstay.identity.links import Kind
from mainstay.ledger.outbox_queue import LEASE, Work
from mainstay.staging import open_files, open_link_maker
from mainstay.worker.worker import Worker
from quoting import usual_tax
from trade import a_customer

__all__ = ["desk", "port"]
pytestmark = pytest.mark.engines("sqlite", "postgresql")

ADDRESS = {"line1": "Werkstraße 5", "city": "Köln", "postalCode": "50667", "country": "DE"}


def arrived(inbox: Inbox) -> EmailMessage:
    [mail] = inbox.mails
    read = message_from_bytes(mail.as_bytes(), policy=default)
    assert isinstance(read, EmailMessage)
    return read


def attached(mail: EmailMessage) -> tuple[str | None, bytes]:
    [part] = mail.iter_attachments()
    assert part.get_content_type() == "application/pdf"
    return part.get_filename(), part.get_content()


def a_sent_invoice(cast: Cast) -> dict[str, Any]:
    usual_tax(cast, "19")
    cast.perform(
        update_organisation, name="Rohr", email="office@rohr.example", taxNumber="DE136695976", address=ADDRESS
    )
    customer = a_customer(cast, "Müller", email="m@mueller.example", language="de", billingAddress=ADDRESS)
    return issued(cast, an_invoice(cast, customerId=customer), deliver="email")


def printed(desk: Desk, record: str) -> bytes:
    return Press(desk.stage.database, open_files(desk.settings)).print(desk.cast.organisation, record)


def test_one_mail_arrives_with_the_pdf_the_e_invoice_in_it_and_the_link(desk: Desk, port: int) -> None:
    invoice = a_sent_invoice(desk.cast)
    with mail_server(port) as inbox:
        work_off(desk.worker())
    mail = arrived(inbox)
    assert (mail["To"], mail["Reply-To"], mail["Subject"]) == (
        "m@mueller.example",
        "office@rohr.example",
        "Rechnung INV-0001 von Rohr",
    )
    link = open_link_maker(desk.settings).address(Kind.INVOICE, invoice["id"])
    plain = mail.get_body(("plain",))
    assert plain is not None
    assert link in plain.get_content()
    name, content = attached(mail)
    assert (name, content) == ("Rechnung INV-0001.pdf", printed(desk, invoice["id"]))
    [xml] = pypdf.PdfReader(BytesIO(content)).attachments["factur-x.xml"]
    assert b">INV-0001<" in xml
    assert mailed_about(desk.cast, invoice["id"]) == [("m@mueller.example", "Rechnung INV-0001 von Rohr", "sent")]
    assert desk.waiting() == []


def test_a_credit_note_arrives_with_its_own(desk: Desk, port: int) -> None:
    invoice = a_sent_invoice(desk.cast)
    with mail_server(port):
        work_off(desk.worker())
    credited(desk.cast, invoice, amount="100", deliver="email")
    (note,) = notes_of(desk.cast, invoice)
    with mail_server(port) as inbox:
        work_off(desk.worker())
    assert attached(arrived(inbox)) == ("Rechnungskorrektur CN-0001.pdf", printed(desk, note["id"]))


@pytest.mark.parametrize("made", [False, True])
def test_killed_between_the_commit_and_the_pdf_both_come_once(desk: Desk, port: int, *, made: bool) -> None:
    invoice = a_sent_invoice(desk.cast)
    worker = desk.worker()

    def die(work: Work) -> None:
        if made:
            worker.kinds[PRINT](work)
        raise Unreachable("killed")

    with pytest.raises(Unreachable):
        work_off(Worker(desk.stage, {**worker.kinds, PRINT: die}, ()))
    before = desk.cast.perform(get_invoice_pdf, invoiceId=invoice["id"])["sha256"]
    assert (before is not None) == made
    desk.clock.now += LEASE
    with mail_server(port) as inbox:
        work_off(desk.worker())
    name, content = attached(arrived(inbox))
    after = desk.cast.perform(get_invoice_pdf, invoiceId=invoice["id"])["sha256"]
    assert (name, hashlib.sha256(content).hexdigest()) == ("Rechnung INV-0001.pdf", after)
    assert before in {None, after}
    assert desk.waiting() == []
