"""Invoices that leave: by a real mail server, once, with the PDF and the e-invoice inside, whatever dies meanwhile."""

import hashlib
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from io import BytesIO
from typing import Any

import pypdf
import pytest

from doors.test_worker import Inbox, MailInstallation, installation, mail_server, port, run_all_tasks
from mainstay.business.invoices.issuing.document_files import get_invoice_pdf
from mainstay.business.issuing.document_files import PRINT
from mainstay.business.issuing.pdf_files import DocumentFiles
from mainstay.business.organisation.operations import update_organisation
from mainstay.changes.outbox_queue import LEASE, LeasedTask
from mainstay.composition import open_files, open_link_maker
from mainstay.identity.links import LinkKind
from mainstay.infrastructure.database import DatabaseUnavailable
from mainstay.worker.worker import Worker
from support.cast import Cast
from support.customers import make_customer
from support.invoices import credit_issued, credit_notes_of, issue_invoice, make_invoice
from support.quotes import make_default_tax_rate
from support.stored_state import emails_about

__all__ = ["installation", "port"]
pytestmark = pytest.mark.engines("sqlite", "postgresql")

ADDRESS = {"line1": "Werkstraße 5", "city": "Köln", "postalCode": "50667", "country": "DE"}


def read_only_mail(inbox: Inbox) -> EmailMessage:
    [mail] = inbox.mails
    read = message_from_bytes(mail.as_bytes(), policy=default)
    assert isinstance(read, EmailMessage)
    return read


def read_attachment(mail: EmailMessage) -> tuple[str | None, bytes]:
    [part] = mail.iter_attachments()
    assert part.get_content_type() == "application/pdf"
    return part.get_filename(), part.get_content()


def make_sent_invoice(cast: Cast) -> dict[str, Any]:
    make_default_tax_rate(cast, "19")
    cast.perform(
        update_organisation, name="Rohr", email="office@rohr.example", taxNumber="DE136695976", address=ADDRESS
    )
    customer = make_customer(cast, "Müller", email="m@mueller.example", language="de", billingAddress=ADDRESS)
    return issue_invoice(cast, make_invoice(cast, customerId=customer), deliver="email")


def print_document(installation: MailInstallation, record: str) -> bytes:
    return DocumentFiles(installation.performer.database, open_files(installation.settings)).fetch_file(
        installation.cast.organisation, record
    )


def test_one_mail_arrives_with_the_pdf_the_e_invoice_in_it_and_the_link(
    installation: MailInstallation, port: int
) -> None:
    invoice = make_sent_invoice(installation.cast)
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
    mail = read_only_mail(inbox)
    assert (mail["To"], mail["Reply-To"], mail["Subject"]) == (
        "m@mueller.example",
        "office@rohr.example",
        "Rechnung INV-0001 von Rohr",
    )
    link = open_link_maker(installation.settings).build_url(LinkKind.INVOICE, invoice["id"])
    plain = mail.get_body(("plain",))
    assert plain is not None
    assert link in plain.get_content()
    name, content = read_attachment(mail)
    assert (name, content) == ("Rechnung INV-0001.pdf", print_document(installation, invoice["id"]))
    [xml] = pypdf.PdfReader(BytesIO(content)).attachments["factur-x.xml"]
    assert b">INV-0001<" in xml
    assert emails_about(installation.cast, invoice["id"]) == [
        ("m@mueller.example", "Rechnung INV-0001 von Rohr", "sent")
    ]
    assert installation.list_tasks() == []


def test_a_credit_note_arrives_with_its_own(installation: MailInstallation, port: int) -> None:
    invoice = make_sent_invoice(installation.cast)
    with mail_server(port):
        run_all_tasks(installation.make_worker())
    credit_issued(installation.cast, invoice, amount="100", deliver="email")
    (note,) = credit_notes_of(installation.cast, invoice)
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
    assert read_attachment(read_only_mail(inbox)) == (
        "Rechnungskorrektur CN-0001.pdf",
        print_document(installation, note["id"]),
    )


@pytest.mark.parametrize("made", [False, True])
def test_killed_between_the_commit_and_the_pdf_both_come_once(
    installation: MailInstallation, port: int, *, made: bool
) -> None:
    invoice = make_sent_invoice(installation.cast)
    worker = installation.make_worker()

    def die(work: LeasedTask) -> None:
        if made:
            worker.task_functions[PRINT](work)
        raise DatabaseUnavailable("killed")

    with pytest.raises(DatabaseUnavailable):
        run_all_tasks(Worker(installation.performer, {**worker.task_functions, PRINT: die}, ()))
    before = installation.cast.perform(get_invoice_pdf, invoiceId=invoice["id"])["sha256"]
    assert (before is not None) == made
    installation.clock.now += LEASE
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
    name, content = read_attachment(read_only_mail(inbox))
    after = installation.cast.perform(get_invoice_pdf, invoiceId=invoice["id"])["sha256"]
    assert (name, hashlib.sha256(content).hexdigest()) == ("Rechnung INV-0001.pdf", after)
    assert before in {None, after}
    assert installation.list_tasks() == []
