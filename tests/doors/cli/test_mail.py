"""`mail test`: one mail leaves at once, or it is said why not."""

from email import message_from_bytes
from email.policy import default

import pytest

from commanding import command
from mailroom import open_mailroom
from mainstay.backing.folder import DataFolder
from mainstay.settings import Settings

pytestmark = pytest.mark.engines("sqlite")
FROM = "Hartley & Söhne <office@hartley.example>"


def test_a_mail_is_put_into_the_folder_where_there_is_no_server(fresh_settings: Settings) -> None:
    ended = command(fresh_settings, "mail", "test", "ann@calder.example", "--json", MAINSTAY_MAIL_FROM=FROM)

    assert ended.output == f'{{"to":"ann@calder.example","from":"{FROM}","by":"folder"}}\n'
    (path,) = DataFolder(fresh_settings.data).mails.glob("*.eml")
    mail = message_from_bytes(path.read_bytes(), policy=default)
    assert (mail["To"], mail["From"]) == ("ann@calder.example", FROM)
    assert not DataFolder(fresh_settings.data).database.exists(), "no database is needed for a mail"


def test_a_mail_goes_to_the_server(fresh_settings: Settings) -> None:
    with open_mailroom("a password") as room:
        address = f"smtp://office:a%20password@127.0.0.1:{room.port}"
        told = command(fresh_settings, "mail", "test", "ann@calder.example", "--json", MAINSTAY_SMTP=address).outcome
        wrong = command(
            fresh_settings, "mail", "test", "ann@calder.example", MAINSTAY_SMTP=address.replace("%20", "%21")
        ).refusal

    assert told == {"to": "ann@calder.example", "from": fresh_settings.sender, "by": "smtp"}
    (mail,) = room.mails
    assert (mail["To"], mail["From"]) == ("ann@calder.example", "Mainstay <no-reply@127.0.0.1>")
    assert wrong.startswith(f"The mail server 127.0.0.1:{room.port} did not take the mail: (535, ")
    assert "a password" not in wrong


def test_why_not_is_told(fresh_settings: Settings) -> None:
    away = command(fresh_settings, "mail", "test", "ann@calder.example", MAINSTAY_SMTP="smtp://127.0.0.1:1").refusal
    assert "Connection refused" in away
    no_address = command(fresh_settings, "mail", "test", "ann..x@calder.example").refusal
    assert no_address == "This is not the address of a mail: it has a dot too many before the @."
