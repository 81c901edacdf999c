"""A firm whose mails leave through a real mail server, and which has said who it is: its invoices are e-invoices."""

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

from cast import Cast, assemble
from installations import Installations
from labour import price
from mailroom import Mailroom, open_mailroom
from mainstay.business.organisation.operations import update_organisation
from mainstay.terms.rights import Role
from quoting import usual_tax
from running import RunningServer
from served import serve
from trade import ADDRESS, a_customer
from waiting import wait_until
from wares import a_supplier

CUSTOMER, SUPPLIER = "ann@calder.example", "sales@pennine.example"
_BANK = {"name": "Calder Bank", "account": "31926819", "sortCode": "20-00-00"}


@dataclass(frozen=True)
class Firm:
    """The firm, its server, and what its customers and suppliers are mailed."""

    server: RunningServer
    cast: Cast
    mailroom: Mailroom

    def mail(self, to: str, subject: str) -> EmailMessage:
        """The one mail to someone whose subject begins like this, once it has arrived."""

        def look() -> list[Message]:
            return [
                mail
                for mail in self.mailroom.mails
                if to in str(mail["To"]) and str(mail["Subject"]).startswith(subject)
            ]

        [mail] = wait_until(look)
        assert isinstance(mail, EmailMessage)
        return mail


@contextmanager
def open_firm(installations: Installations, engine: str, folder: Path) -> Iterator[Firm]:
    """The firm, for as long as the block lasts."""
    with open_mailroom() as mailroom:
        settings = replace(installations.furnished(engine, folder), smtp=f"smtp://127.0.0.1:{mailroom.port}")
        with serve(settings) as served:
            cast = assemble(served.stage)
            told = {"taxNumber": "GB417220953", "address": ADDRESS, "email": "office@firm.example", "bank": _BANK}
            cast.perform(update_organisation, **told)
            usual_tax(cast)
            price(cast, Role.MEMBER, 25, 60)
            a_customer(cast, email=CUSTOMER, billingAddress=ADDRESS)
            a_supplier(cast, email=SUPPLIER)
            yield Firm(served.server, cast, mailroom)


def link_in(mail: EmailMessage, kind: str) -> str:
    """The path of the customer's page that a mail leads to."""
    plain = mail.get_body(("plain",))
    assert plain is not None
    found = re.search(rf"/{kind}/\S+", plain.get_content())
    assert found, plain.get_content()
    return found[0]


def attached(mail: EmailMessage) -> pypdf.PdfReader:
    """The PDF that came with a mail."""
    [part] = mail.iter_attachments()
    assert part.get_content_type() == "application/pdf"
    return pypdf.PdfReader(BytesIO(part.get_content()), strict=True)


def e_invoice(pdf: pypdf.PdfReader) -> dict[str, str]:
    """What the e-invoice inside a PDF says: its number, its total, and what is to be paid."""
    [xml] = pdf.attachments["factur-x.xml"]
    read = fromstring(xml)
    return {name: _told(read, path) for name, path in _TOLD.items()}


_TOLD = {
    "number": ".//{*}ExchangedDocument/{*}ID",
    "total": ".//{*}GrandTotalAmount",
    "due": ".//{*}DuePayableAmount",
}


def _told(read: Element, path: str) -> str:
    found: Any = read.find(path)
    assert found is not None, path
    return str(found.text)
