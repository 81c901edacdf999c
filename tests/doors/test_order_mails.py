"""Orders that leave: by a real mail server, once, with the PDF and without a link."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from doors.test_worker import MailInstallation, installation, mail_server, port, run_all_tasks
from mainstay.business.issuing.pdf_files import DocumentFiles
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.purchasing.sending import send_purchase_order
from mainstay.composition import open_files
from support.prices import make_supplier
from support.purchases import make_order

__all__ = ["installation", "port"]
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_one_mail_arrives_with_the_pdf_and_no_link(installation: MailInstallation, port: int) -> None:
    cast = installation.cast
    cast.perform(update_organisation, name='Rohr "&" Söhne, GmbH', email="office@rohr.example")
    order = make_order(cast, supplierId=make_supplier(cast, "Müller", email="m@mueller.example", language="de"))
    cast.perform(send_purchase_order, purchaseOrderId=order["id"], confirmed=True)
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
    [mail] = inbox.mails
    read = message_from_bytes(mail.as_bytes(), policy=default)
    assert isinstance(read, EmailMessage)
    assert (read["To"], read["Reply-To"]) == ("m@mueller.example", "office@rohr.example")
    assert read["Subject"] == 'Bestellung PO-0001 von Rohr "&" Söhne, GmbH'
    plain, page = read.get_body(("plain",)), read.get_body(("html",))
    assert plain is not None
    assert page is not None
    assert "Guten Tag Müller" in plain.get_content()
    assert "http" not in plain.get_content()
    assert "<a " not in page.get_content()
    [attached] = read.iter_attachments()
    assert (attached.get_content_type(), attached.get_filename()) == ("application/pdf", "Bestellung PO-0001.pdf")
    printer = DocumentFiles(installation.performer.database, open_files(installation.settings))
    assert attached.get_content() == printer.fetch_file(cast.organisation, order["id"])
    assert installation.list_tasks() == []
