"""The mail that a document goes with: in the customer's language or the organisation's own words, and from its name."""

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from mainstay.business.organisation.mail_texts import put_in
from mainstay.identity.mails import LINK, MAIL
from mainstay.ledger.outbox import Letter, Message
from mainstay.paper.messages import say
from mainstay.paper.snapshot import Snapshot


class Enclosed(NamedTuple):
    """What is mailed: a record that was issued, what its PDF is called, and the kind of the link to its page."""

    record: str
    file_name: str
    link_kind: str


# The words of each kind of document: its mail's subject, text, and what one presses there.
_WORDS = {"quote": ("mail.quoteSubject", "mail.quoteText", "mail.quoteButton")}


def letters(
    enclosed: Enclosed, snapshot: Snapshot, to: list[str], own: Mapping[str, str] | None, values: dict[str, str]
) -> list[Letter]:
    """A mail for each address: the organisation's own words or the usual ones, with these values in them."""
    language, (subject_key, text_key, button) = snapshot.language, _WORDS[snapshot.kind]
    values = values | {"link": LINK}
    if own:
        text = own["text"] if "{link}" in own["text"] else f"{own['text']}\n\n{{link}}"
        subject, text = put_in(own["subject"], values), put_in(text, values)
    else:
        subject, text = say(language, subject_key, **values), say(language, text_key, **values)
    # A name may have a line break where a subject has none.
    subject = " ".join(subject.split())
    payload = {
        "subject": subject,
        "text": text,
        "html": _html(text, say(language, button), language),
        "sender_name": snapshot.seller.name,
        "reply_to": snapshot.seller.email or "",
        "paper": enclosed.record,
        "paper_name": enclosed.file_name,
        "link_kind": enclosed.link_kind,
        "link": enclosed.record,
    }
    return [_letter(address, payload) for address in to]


def _letter(to: str, payload: dict[str, str]) -> Letter:
    subject = payload["subject"]
    message = Message(payload["paper"], to, subject)
    return Letter(MAIL, {"to": to, **payload}, f"Mail to {to}: {subject}", message)


def _html(text: str, button: str, language: str) -> str:
    """The same as a page: paragraphs, and the link as something to press."""
    paragraphs = [escape(part).replace("\n", "<br>") for part in text.split("\n\n")]
    link = f'<a href="{LINK}" style="{_BUTTON}">{escape(button)}</a>'
    # The name of the page is not read out: what one presses says what it does.
    body = "".join(f"<p>{part.replace(LINK, link)}</p>" for part in paragraphs)
    return f'<!doctype html><html lang="{language}"><body style="{_BODY}">{body}</body></html>'


_BODY = "font-family:sans-serif;font-size:16px;line-height:1.5;color:#1f2328;max-width:40em"
_BUTTON = (
    "display:inline-block;padding:10px 18px;background:#1f4d3a;color:#ffffff;border-radius:6px;text-decoration:none"
)
