"""Build emails for the outbox."""

from mainstay.changes.outbox import Lane, OutboxTask, TaskMessage

# The kind of the task that sends an email. Its payload has `to`, `subject` and `text`.
EMAIL_TASK = "mail"
# Marks the place of the one-time link in an email's text. No name can contain it. The link is made when the email is
# sent.
LINK_MARK = "\x02"


def build_email_task(
    to: str, subject: str, text: str, *, link: tuple[str, str] | None = None, record_id: str | None = None
) -> OutboxTask:
    """Return a task that sends an email.

    A one-time link waits in the task as its kind and ID, which give no access. If the email is about a record, the page
    of that record shows whether it was sent.
    """
    payload = {"to": to, "subject": subject, "text": text}
    if link:
        payload["link_kind"], payload["link"] = link
    mention = TaskMessage(record_id, to, subject) if record_id else None
    return OutboxTask(EMAIL_TASK, payload, f"Email to {to}: {subject}", mention, lane=Lane.EMAILS)
