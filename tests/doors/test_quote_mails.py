"""Quotes that leave: by a real mail server, once, with the PDF that the customer's page gives as well."""

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from doors.test_worker import Inbox, MailInstallation, installation, mail_server, port, run_all_tasks
from mainstay.business.customers.operations import update_customer
from mainstay.business.issuing.pdf_files import DocumentFiles
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.sent_emails import list_messages
from mainstay.business.quotes.operations import get_quote
from mainstay.composition import open_files, open_link_maker
from mainstay.identity.links import LinkKind
from support.cast import Cast
from support.customers import make_customer
from support.quotes import issue_quote, make_quote
from support.stored_state import to_event_record

__all__ = ["installation", "port"]
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def read_only_mail(inbox: Inbox) -> EmailMessage:
    [mail] = inbox.mails
    read = message_from_bytes(mail.as_bytes(), policy=default)
    assert isinstance(read, EmailMessage)
    return read


def make_sent_quote(cast: Cast) -> dict[str, object]:
    cast.perform(update_organisation, name='Rohr "&" Söhne, GmbH', email="office@rohr.example")
    customer = make_customer(cast, "Müller", email="m@mueller.example", language="de")
    return issue_quote(cast, make_quote(cast, customerId=customer))


def test_one_mail_arrives_with_the_pdf_and_the_link(installation: MailInstallation, port: int) -> None:
    quote = make_sent_quote(installation.cast)
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
    mail = read_only_mail(inbox)
    assert (mail["To"], mail["Reply-To"]) == ("m@mueller.example", "office@rohr.example")
    [sender] = mail["From"].addresses
    assert (sender.display_name, sender.username) == ('Rohr "&" Söhne, GmbH', "no-reply")
    assert mail["Subject"] == 'Angebot Q-0001 von Rohr "&" Söhne, GmbH'
    link = open_link_maker(installation.settings).build_url(LinkKind.QUOTE, str(quote["id"]))
    plain, page = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None
    assert page is not None
    assert link in plain.get_content()
    assert f'href="{link}"' in page.get_content()
    [attached] = mail.iter_attachments()
    assert (attached.get_content_type(), attached.get_filename()) == ("application/pdf", "Angebot Q-0001.pdf")
    printer = DocumentFiles(installation.performer.database, open_files(installation.settings))
    assert attached.get_content() == printer.fetch_file(installation.cast.organisation, str(quote["id"]))
    [message] = installation.cast.perform(list_messages, about=quote["id"])["data"]
    assert (message["recipient"], message["status"]) == ("m@mueller.example", "sent")
    assert installation.list_tasks() == []


def test_a_copy_arrives_with_all_addresses_named(installation: MailInstallation, port: int) -> None:
    quote = make_quote(installation.cast)
    words = {"subject": "Prüfung", "message": "Siehe {link}."}
    issue_quote(
        installation.cast, quote, to=["ann@calder.example"], cc=["bücher@calder.example", "z@x.example"], **words
    )
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
    link = open_link_maker(installation.settings).build_url(LinkKind.QUOTE, str(quote["id"]))
    messages = installation.cast.perform(list_messages, about=quote["id"])["data"]
    assert sorted((one["recipient"], one["isCopy"], one["status"]) for one in messages) == [
        ("ann@calder.example", False, "sent"),
        ("bücher@calder.example", True, "sent"),
        ("z@x.example", True, "sent"),
    ]
    assert len(inbox.mails) == len(messages)
    for arrived in inbox.mails:
        mail = message_from_bytes(arrived.as_bytes(), policy=default)
        assert isinstance(mail, EmailMessage)
        assert (mail["Subject"], mail["To"]) == ("Prüfung", "ann@calder.example")
        assert mail["Cc"].split(", ") in (
            ["bücher@calder.example", "z@x.example"],
            ["=?utf-8?q?b=C3=BCcher?=@calder.example", "z@x.example"],
        )
        body = mail.get_body(("plain",))
        assert body is not None
        assert body.get_content().strip() == f"Siehe {link}."


def test_what_was_sent_is_what_arrives_though_the_mail_server_was_away(
    installation: MailInstallation, port: int
) -> None:
    quote = make_sent_quote(installation.cast)
    run_all_tasks(installation.make_worker())
    assert installation.list_tasks() == ["mail"]
    installation.cast.perform(
        update_customer, customerId=quote["customerId"], name="Renamed", email="other@new.example"
    )
    installation.clock.advance(seconds=60)
    with mail_server(port) as inbox:
        run_all_tasks(installation.make_worker())
    mail = read_only_mail(inbox)
    assert mail["To"] == "m@mueller.example"
    body = mail.get_body(("plain",))
    assert body is not None
    assert re.search(r"Guten Tag Müller,", body.get_content())
    before, after = quote, installation.cast.perform(get_quote, quoteId=quote["id"])
    assert to_event_record(after) | {"customerName": "Müller"} == to_event_record(before)
