"""`mail test`: one mail leaves at once, or it is said why not."""

from email import message_from_bytes
from email.policy import default

import pytest

from mainstay.infrastructure.data_folder import DataFolder
from mainstay.settings import Settings
from support.command_line import run_command
from support.mail_server import run_mail_server

pytestmark = pytest.mark.engines("sqlite")
FROM = "Hartley & Söhne <office@hartley.example>"


def test_a_mail_is_put_into_the_folder_where_there_is_no_server(fresh_settings: Settings) -> None:
    ended = run_command(fresh_settings, "mail", "test", "ann@calder.example", "--json", MAINSTAY_MAIL_FROM=FROM)

    assert ended.output == f'{{"to":"ann@calder.example","from":"{FROM}","by":"folder"}}\n'
    (path,) = DataFolder(fresh_settings.data).emails.glob("*.eml")
    mail = message_from_bytes(path.read_bytes(), policy=default)
    assert (mail["To"], mail["From"]) == ("ann@calder.example", FROM)
    assert not DataFolder(fresh_settings.data).database.exists(), "no database is needed for a mail"


def test_a_mail_goes_to_the_server(fresh_settings: Settings) -> None:
    with run_mail_server("a password") as mail_server:
        address = f"smtp://office:a%20password@127.0.0.1:{mail_server.port}"
        outcome = run_command(
            fresh_settings, "mail", "test", "ann@calder.example", "--json", MAINSTAY_SMTP=address
        ).json
        wrong = run_command(
            fresh_settings, "mail", "test", "ann@calder.example", MAINSTAY_SMTP=address.replace("%20", "%21")
        ).error

    assert outcome == {"to": "ann@calder.example", "from": fresh_settings.sender, "by": "smtp"}
    (mail,) = mail_server.emails
    assert (mail["To"], mail["From"]) == ("ann@calder.example", "Mainstay <no-reply@127.0.0.1>")
    assert wrong.startswith(f"The mail server 127.0.0.1:{mail_server.port} did not accept the email: (535, ")
    assert "a password" not in wrong


def test_why_not_is_told(fresh_settings: Settings) -> None:
    away = run_command(fresh_settings, "mail", "test", "ann@calder.example", MAINSTAY_SMTP="smtp://127.0.0.1:1").error
    assert "Connection refused" in away
    no_address = run_command(fresh_settings, "mail", "test", "ann..x@calder.example").error
    assert no_address == "This is not an email address: it has a misplaced dot before the @."
