"""Quotes that leave: by a real mail server, once, with the PDF that the customer's page gives as well."""

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from cast import Cast
from doors.test_worker import Desk, Inbox, desk, mail_server, port, work_off
from evidence import as_told
from mainstay.business.customers.operations import update_customer
from mainstay.business.issuing.press import Press
from mainstay.business.organisation.messages import list_messages
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.operations import get_quote
from mainstay.identity.links import Kind
from mainstay.staging import open_files, open_link_maker
from quoting import a_draft, sent
from trade import a_customer

__all__ = ["desk", "port"]
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def arrived(inbox: Inbox) -> EmailMessage:
    [mail] = inbox.mails
    read = message_from_bytes(mail.as_bytes(), policy=default)
    assert isinstance(read, EmailMessage)
    return read


def a_sent_quote(cast: Cast) -> dict[str, object]:
    cast.perform(update_organisation, name='Rohr "&" Söhne, GmbH', email="office@rohr.example")
    customer = a_customer(cast, "Müller", email="m@mueller.example", language="de")
    return sent(cast, a_draft(cast, customerId=customer))


def test_one_mail_arrives_with_the_pdf_and_the_link(desk: Desk, port: int) -> None:
    quote = a_sent_quote(desk.cast)
    with mail_server(port) as inbox:
        work_off(desk.worker())
    mail = arrived(inbox)
    assert (mail["To"], mail["Reply-To"]) == ("m@mueller.example", "office@rohr.example")
    [sender] = mail["From"].addresses
    assert (sender.display_name, sender.username) == ('Rohr "&" Söhne, GmbH', "no-reply")
    assert mail["Subject"] == 'Angebot Q-0001 von Rohr "&" Söhne, GmbH'
    link = open_link_maker(desk.settings).address(Kind.QUOTE, str(quote["id"]))
    plain, page = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None
    assert page is not None
    assert link in plain.get_content()
    assert f'href="{link}"' in page.get_content()
    [attached] = mail.iter_attachments()
    assert (attached.get_content_type(), attached.get_filename()) == ("application/pdf", "Angebot Q-0001.pdf")
    press = Press(desk.stage.database, open_files(desk.settings))
    assert attached.get_content() == press.print(desk.cast.organisation, str(quote["id"]))
    [message] = desk.cast.perform(list_messages, about=quote["id"])["data"]
    assert (message["recipient"], message["status"]) == ("m@mueller.example", "sent")
    assert desk.waiting() == []


def test_what_was_sent_is_what_arrives_though_the_mail_server_was_away(desk: Desk, port: int) -> None:
    quote = a_sent_quote(desk.cast)
    work_off(desk.worker())
    assert desk.waiting() == ["mail"]
    desk.cast.perform(update_customer, customerId=quote["customerId"], name="Renamed", email="other@new.example")
    desk.clock.forward(seconds=60)
    with mail_server(port) as inbox:
        work_off(desk.worker())
    mail = arrived(inbox)
    assert mail["To"] == "m@mueller.example"
    body = mail.get_body(("plain",))
    assert body is not None
    assert re.search(r"Guten Tag Müller,", body.get_content())
    before, after = quote, desk.cast.perform(get_quote, quoteId=quote["id"])
    assert as_told(after) | {"customerName": "Müller"} == as_told(before)
