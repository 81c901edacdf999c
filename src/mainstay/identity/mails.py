"""Mails for the outbox."""

from mainstay.ledger.outbox import Lane, Letter, Mention

# The kind of a letter that is a mail: to, subject, text.
MAIL = "mail"
# Stands in a mail's text where its one-time link goes; no name can hold it. The link itself is made when it is sent.
LINK = "\x02"


def mail(to: str, subject: str, text: str, *, link: tuple[str, str] | None = None, record: str | None = None) -> Letter:
    """A mail for the outbox. A link in it waits there as its kind and id, which open nothing.

    The page of the record that it is about tells what became of it.
    """
    payload = {"to": to, "subject": subject, "text": text}
    if link:
        payload["link_kind"], payload["link"] = link
    mention = Mention(record, to, subject) if record else None
    return Letter(MAIL, payload, f"Mail to {to}: {subject}", mention, lane=Lane.EMAILS)
