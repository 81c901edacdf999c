"""Build emails to people of an organisation for the outbox."""

from collections.abc import Sequence
from typing import NamedTuple

from mainstay.changes.outbox import Lane, OutboxTask, TaskMessage
from mainstay.identity.email_format import EmailFormat
from mainstay.values.message import Message

# The kind of the task that sends an email. Its payload has `to`, `subject` and `text`.
EMAIL_TASK = "mail"
# Marks the place of the one-time link in an email's text. No name can contain it. The link is made when the email is
# sent.
LINK_MARK = "\x02"

# A paragraph of an email: one message or several lines. A plain text is data, such as what someone wrote.
EmailParagraph = Message | str | Sequence[Message | str]


class PersonEmail(NamedTuple):
    """An email to a person of an organisation."""

    to: str
    subject: Message
    paragraphs: Sequence[EmailParagraph]
    # The kind and ID of the one-time link at the link mark.
    link: tuple[str, str] | None = None
    # The record that it is about.
    record_id: str | None = None


def build_email_task(email: PersonEmail, email_format: EmailFormat) -> OutboxTask:
    """Return a task that sends an email.

    A one-time link waits in the task as its kind and ID, which give no access. If the email is about a record, the page
    of that record shows whether it was sent.
    """
    subject = email_format.render(email.subject)
    payload = {"to": email.to, "subject": subject, "text": _render_text(email_format, email.paragraphs)}
    if email.link:
        payload["link_kind"], payload["link"] = email.link
    mention = TaskMessage(email.record_id, email.to, subject) if email.record_id else None
    return OutboxTask(
        EMAIL_TASK,
        payload,
        Message("Email to {address}: {subject}", address=email.to, subject=subject),
        mention,
        lane=Lane.EMAILS,
    )


def _render_text(email_format: EmailFormat, paragraphs: Sequence[EmailParagraph]) -> str:
    """Return the text of an email, with an empty line between its paragraphs."""
    texts = (
        email_format.render(paragraph)
        if isinstance(paragraph, (Message, str))
        else "\n".join(email_format.render(line) for line in paragraph)
        for paragraph in paragraphs
    )
    return "\n\n".join(texts) + "\n"
