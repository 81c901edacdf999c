"""The operator's command that sends a test email, at once and without the worker."""

import secrets
from argparse import Namespace

from mainstay.composition import open_outgoing_email
from mainstay.infrastructure.email_sending import EmailNotSent, EmailUndeliverable, OutgoingEmail
from mainstay.settings import Settings
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.refusal import Conflict

_TEXT = """\
Hello,

This is a test email from Mainstay, sent by the operator of {base_url}.

If you found it in your spam folder, other emails from Mainstay will end up there too.
"""


def mail_test(settings: Settings, options: Namespace) -> JsonObject:
    """Send a test email to an address."""
    message = OutgoingEmail(
        id=f"test_{secrets.token_hex(8)}",
        to=options.address,
        subject="Test email from Mainstay",
        text=_TEXT.format(base_url=settings.base_url),
    )
    post = open_outgoing_email(settings)
    try:
        post.send(message)
        post.close()
    except (EmailNotSent, EmailUndeliverable) as error:
        raise Conflict(error.message) from error
    return {"to": options.address, "from": settings.sender, "by": "folder" if settings.smtp is None else "smtp"}
