"""Whether mail leaves: one mail, handed over at once instead of by the worker."""

import secrets
from argparse import Namespace

from mainstay.backing.mail import Mail, MailNotSent, Undeliverable
from mainstay.doors.cli.telling import Outcome
from mainstay.settings import Settings
from mainstay.staging import open_post
from mainstay.terms.refusal import Conflict

_TEXT = """\
Hello,

this is a mail to try out whether Mainstay's mails arrive. It was sent by whoever runs the installation at
{base_url}. If it is in your spam folder, so will others be.
"""


def mail_test(settings: Settings, words: Namespace) -> Outcome:
    """One mail to an address."""
    message = Mail(
        id=f"test_{secrets.token_hex(8)}",
        to=words.address,
        subject="A mail from Mainstay",
        text=_TEXT.format(base_url=settings.base_url),
    )
    post = open_post(settings)
    try:
        post.send(message)
        post.close()
    except (MailNotSent, Undeliverable) as fault:
        raise Conflict(str(fault)) from fault
    return {"to": words.address, "from": settings.sender, "by": "folder" if settings.smtp is None else "smtp"}
