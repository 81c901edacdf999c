"""A firm with a real mail server and complete details, so that its invoices are e-invoices."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.message import EmailMessage, Message
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pypdf

from mainstay.business.organisation.operations import update_organisation
from mainstay.vocabulary.permissions import Role
from support.cast import Cast, make_cast
from support.customers import ADDRESS, make_customer
from support.hours import set_rates
from support.installations import Installations
from support.mail_server import MailServer, run_mail_server
from support.prices import make_supplier
from support.quotes import make_default_tax_rate
from support.server_fixtures import serve_installation
from support.servers import RunningServer
from support.waiting import wait_until

CUSTOMER, SUPPLIER = "ann@calder.example", "sales@pennine.example"
_BANK = {"name": "Calder Bank", "account": "31926819", "sortCode": "20-00-00"}


@dataclass(frozen=True)
class InvoicingFirm:
    """The firm, its server, and the mail server of its customers and suppliers."""

    server: RunningServer
    cast: Cast
    mail_server: MailServer

    def wait_for_email(self, to: str, subject: str) -> EmailMessage:
        """Wait for the only email to someone whose subject begins like this."""

        def find_emails() -> list[Message]:
            return [
                mail
                for mail in self.mail_server.emails
                if to in str(mail["To"]) and str(mail["Subject"]).startswith(subject)
            ]

        [mail] = wait_until(find_emails)
        assert isinstance(mail, EmailMessage)
        return mail


@contextmanager
def open_invoicing_firm(installations: Installations, engine: str, folder: Path) -> Iterator[InvoicingFirm]:
    """Run the firm until the block ends."""
    with run_mail_server() as mail_server:
        settings = replace(
            installations.make_with_accounts(engine, folder), smtp=f"smtp://127.0.0.1:{mail_server.port}"
        )
        with serve_installation(settings) as installation:
            cast = make_cast(installation.performer)
            values = {"taxNumber": "GB417220953", "address": ADDRESS, "email": "office@firm.example", "bank": _BANK}
            cast.perform(update_organisation, **values)
            make_default_tax_rate(cast)
            set_rates(cast, Role.MEMBER, 25, 60)
            make_customer(cast, email=CUSTOMER, billingAddress=ADDRESS)
            make_supplier(cast, email=SUPPLIER)
            yield InvoicingFirm(installation.server, cast, mail_server)


def find_link(mail: EmailMessage, kind: str) -> str:
    """Return the path of the customer's page that an email links to."""
    plain = mail.get_body(("plain",))
    assert plain is not None
    found = re.search(rf"/{kind}/\S+", plain.get_content())
    assert found, plain.get_content()
    return found[0]


def read_attached_pdf(mail: EmailMessage) -> pypdf.PdfReader:
    """Read the PDF attached to an email."""
    [part] = mail.iter_attachments()
    assert part.get_content_type() == "application/pdf"
    return pypdf.PdfReader(BytesIO(part.get_content()), strict=True)


def read_e_invoice(pdf: pypdf.PdfReader) -> dict[str, str]:
    """Read the e-invoice inside a PDF: its number, its total, and the amount due."""
    [xml] = pdf.attachments["factur-x.xml"]
    root = fromstring(xml)
    return {name: _text_at(root, path) for name, path in _E_INVOICE_PATHS.items()}


_E_INVOICE_PATHS = {
    "number": ".//{*}ExchangedDocument/{*}ID",
    "total": ".//{*}GrandTotalAmount",
    "due": ".//{*}DuePayableAmount",
}


def _text_at(root: Element, path: str) -> str:
    found: Any = root.find(path)
    assert found is not None, path
    return str(found.text)
