"""A mail that an organisation sends: in its name, as text and as a page, with a file."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

from mainstay.infrastructure.email_sending import Attachment, FolderTransport, OutgoingEmail

SENDER = "Mainstay <office@example.org>"


def test_a_mail_in_someone_s_name_with_a_page_and_a_file(tmp_path: Path) -> None:
    names = {"sender_name": 'Maier\r\nBcc: x@y.example "&" Söhne', "reply_to": "büro@bücher.example"}
    message = OutgoingEmail(
        "msg_7",
        "anna@example.com",
        "Angebot",
        "Text",
        html="<p>Grüße</p>",
        attachments=(Attachment("Angebot\r\nQ-1 für Sie.pdf", b"%PDF-1.7 \x00\xff"),),
        **names,
    )
    FolderTransport(tmp_path, SENDER).send(message)
    mail = message_from_bytes((tmp_path / "msg_7.eml").read_bytes(), policy=default)
    assert isinstance(mail, EmailMessage)
    assert mail["Bcc"] is None
    [sender] = mail["From"].addresses
    assert sender.display_name == 'Maier Bcc: x@y.example "&" Söhne'
    assert sender.addr_spec == "office@example.org"
    assert mail["Reply-To"].endswith("@xn--bcher-kva.example")
    plain, page = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None
    assert page is not None
    assert (plain.get_content(), page.get_content()) == ("Text\r\n", "<p>Grüße</p>\r\n")
    [attached] = mail.iter_attachments()
    assert attached.get_filename() == "Angebot Q-1 für Sie.pdf"
    assert attached.get_content() == b"%PDF-1.7 \x00\xff"
