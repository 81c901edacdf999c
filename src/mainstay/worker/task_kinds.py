"""The functions for tasks that make PDFs and send emails."""

from collections import Counter
from collections.abc import Callable

from mainstay.business.issuing.pdf_files import DocumentFiles
from mainstay.changes.outbox import Lane
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.identity.emails import LINK_MARK
from mainstay.identity.links import LinkMaker
from mainstay.infrastructure.email_sending import (
    Attachment,
    EmailNotSent,
    EmailTransport,
    EmailUndeliverable,
    OutgoingEmail,
)
from mainstay.worker.tasks import PermanentFailure, TaskFunction


def make_pdf_task(printer: DocumentFiles) -> TaskFunction:
    """Return the function that makes the PDF of a document, unless it exists."""

    def make_pdf(task: LeasedTask) -> None:
        printer.fetch_file(task.organisation, task.payload["record"], task.payload.get("form", "pdf"))

    return make_pdf


def make_email_task(
    transport: EmailTransport,
    links: LinkMaker,
    printer: DocumentFiles,
    counts: Counter[str],
    is_withheld: Callable[[str, str], bool],
) -> TaskFunction:
    """Return the function that sends an email, and makes the secret link in it.

    If the PDF of an attached document does not exist yet, the task first moves to the lane for PDFs, so that other
    emails do not wait for it. `counts` gets the numbers of emails that were `sent` and that `failed`. `is_withheld`
    says whether an organisation sends nothing to an address, because it is a sample firm.
    """

    def send(task: LeasedTask) -> Lane | None:
        payload = dict(task.payload)
        if task.organisation and is_withheld(task.organisation, payload["to"]):
            return None
        document, name = payload.pop("paper", ""), payload.pop("paper_name", "")
        if document and task.lane is Lane.PDFS:
            printer.fetch_file(task.organisation, document)
            return Lane.EMAILS
        if document and not printer.has_pdf(task.organisation, document):
            return Lane.PDFS
        attachments = (Attachment(name, printer.fetch_file(task.organisation, document)),) if document else ()
        kind, link = payload.pop("link_kind", ""), payload.pop("link", "")
        if link:
            address = links.build_url(kind, link)
            payload |= {
                name: text.replace(LINK_MARK, address) for name, text in payload.items() if name in {"text", "html"}
            }
        try:
            transport.send(OutgoingEmail(id=task.id, attachments=attachments, **payload))
        except EmailNotSent:
            counts["failed"] += 1
            raise
        except EmailUndeliverable as error:
            counts["failed"] += 1
            raise PermanentFailure(error.message) from error
        counts["sent"] += 1
        return None

    return send
