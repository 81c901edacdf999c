"""How PDFs are made and emails are sent, as tasks of the outbox."""

from collections import Counter

from mainstay.backing.mail import Attachment, Mail, MailNotSent, Post, Undeliverable
from mainstay.business.issuing.press import Press
from mainstay.identity.links import LinkMaker
from mainstay.identity.mails import LINK
from mainstay.ledger.outbox import Lane
from mainstay.ledger.outbox_queue import Work
from mainstay.worker.tasks import Doing, Hopeless


def printing(press: Press) -> Doing:
    """What makes the PDFs of documents; one that is made already stays as it is."""

    def print_once(work: Work) -> None:
        press.print(work.organisation, work.payload["record"], work.payload.get("form", "pdf"))

    return print_once


def mailing(post: Post, links: LinkMaker, press: Press, counts: Counter[str]) -> Doing:
    """What sends emails. A link in one is made only now.

    If a document goes with it whose PDF is not made yet, that is done first, in the lane of the prints: the emails
    never wait for it. Counts how many were `sent`, and how often one `failed`.
    """

    def send(work: Work) -> Lane | None:
        payload = dict(work.payload)
        document, name = payload.pop("paper", ""), payload.pop("paper_name", "")
        if document and work.lane is Lane.PRINTS:
            press.print(work.organisation, document)
            return Lane.EMAILS
        if document and not press.is_printed(work.organisation, document):
            return Lane.PRINTS
        attached = (Attachment(name, press.print(work.organisation, document)),) if document else ()
        kind, link = payload.pop("link_kind", ""), payload.pop("link", "")
        if link:
            address = links.address(kind, link)
            payload |= {name: text.replace(LINK, address) for name, text in payload.items() if name in {"text", "html"}}
        try:
            post.send(Mail(id=work.id, attached=attached, **payload))
        except MailNotSent:
            counts["failed"] += 1
            raise
        except Undeliverable as fault:
            counts["failed"] += 1
            raise Hopeless(str(fault)) from fault
        counts["sent"] += 1
        return None

    return send
