"""The public pages of quotes and invoices in a pseudo-language: no text of theirs escapes the translations."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from mainstay.business.quotes.operations import revise_quote
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.composition import open_link_maker, open_performer
from mainstay.identity.links import LinkKind
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession
from support.cast import Cast
from support.in_process import run_in_process
from support.installations import Installations
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, void_issued
from support.pseudo_language import (
    CODE,
    TextCheck,
    collect_data,
    make_translated_cast,
    use_pseudo_documents,
    visible_texts,
)
from support.quotes import BOILER, WARRANTY, accept_quote, issue_quote, make_quote
from support.servers import RunningServer
from support.webhooks import set_columns

EXPIRED = "2020-01-01T00:00:00.000Z"
_TABLES = {"quote", "invoice", "customer", "organisation"}


@dataclass(frozen=True)
class TranslatedDocuments:
    """A server whose public pages are in the pseudo-language, and an organisation."""

    server: RunningServer
    cast: Cast

    def path_of(self, kind: LinkKind, record: dict[str, Any]) -> str:
        """Return the public address of a record."""
        url = open_link_maker(self.server.settings).build_url(kind, record["id"])
        return url.removeprefix(self.server.settings.base_url)

    def find_untranslated(self, page: str) -> list[str]:
        """Return the texts of a page that escaped the translations."""
        assert f'<html lang="{CODE}">' in page
        texts = visible_texts(page)
        assert len(texts) > 5
        with self.cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            check = TextCheck(collect_data(db, _TABLES), {"GB", "VAT", "DE"})
        return [part for text in texts for part in check.find_untranslated(text)]


@pytest.fixture(scope="module")
def translated(installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TranslatedDocuments]:
    settings = installations.make_with_accounts("sqlite", tmp_path_factory.mktemp("translated"))
    performer = open_performer(settings)
    with (
        use_pseudo_documents(tmp_path_factory.mktemp("languages")),
        run_in_process(settings, with_worker=False) as server,
    ):
        yield TranslatedDocuments(server, make_translated_cast(performer))
    performer.database.close()


def offer_quote(cast: Cast) -> dict[str, Any]:
    """Send a quote with everything that its page can show."""
    lines = [BOILER, {**WARRANTY, "discountPercent": "5"}]
    values = {"terms": "Half before.", "deposit": {"percent": "25"}, "discount": {"percent": "10"}}
    return issue_quote(cast, make_quote(cast, lines=lines, **values), deliver="none")


def accept_offer(cast: Cast, quote: dict[str, Any]) -> None:
    accept_quote(cast, quote)


def decline_offer(cast: Cast, quote: dict[str, Any]) -> None:
    accept_quote(cast, quote, decision="declined", name=None)


def withdraw_offer(cast: Cast, quote: dict[str, Any]) -> None:
    cast.perform(withdraw_quote, Role.OFFICE, quoteId=quote["id"], confirmed=True)


def replace_offer(cast: Cast, quote: dict[str, Any]) -> None:
    issue_quote(cast, cast.perform(revise_quote, Role.OFFICE, quoteId=quote["id"]), deliver="none")


def let_offer_expire(cast: Cast, quote: dict[str, Any]) -> None:
    set_columns(cast, "quote", quote["id"], expires_at=EXPIRED)


ANSWERS: tuple[Callable[[Cast, dict[str, Any]], None], ...] = (
    accept_offer,
    decline_offer,
    withdraw_offer,
    replace_offer,
    let_offer_expire,
)


def test_no_text_of_an_offered_quote_escapes(translated: TranslatedDocuments) -> None:
    path = translated.path_of(LinkKind.QUOTE, offer_quote(translated.cast))
    session = BrowserSession(translated.server)
    page = session.get(path).text
    unnamed = session.submit_page(page, f"{path}/accept", name="")
    chosen = {f"chosen {option}": "on" for option in re.findall(r'name="chosen (\w+)"', page)}
    other_total = session.submit_page(page, f"{path}/accept", name="Ann Boyle", **chosen)
    assert (unnamed.status_code, other_total.status_code, len(chosen)) == (422, 409, 1)
    for text in (page, unnamed.text, other_total.text):
        assert translated.find_untranslated(text) == []


@pytest.mark.parametrize("answer", ANSWERS)
def test_no_text_of_an_answered_quote_escapes(
    translated: TranslatedDocuments, answer: Callable[[Cast, dict[str, Any]], None]
) -> None:
    quote = offer_quote(translated.cast)
    answer(translated.cast, quote)
    page = BrowserSession(translated.server).get(translated.path_of(LinkKind.QUOTE, quote)).text
    assert translated.find_untranslated(page) == []


def test_no_text_of_a_public_invoice_escapes(translated: TranslatedDocuments) -> None:
    cast = translated.cast
    unpaid, part_paid, paid, voided, credited = (issue_invoice(cast, make_invoice(cast)) for _ in range(5))
    pay_invoice(cast, part_paid, "100")
    pay_invoice(cast, paid)
    void_issued(cast, voided)
    credit_issued(cast, credited)
    overdue = issue_invoice(cast, make_invoice(cast, notes="Half before.", discount={"percent": "10"}))
    set_columns(cast, "invoice", overdue["id"], status="overdue", due_on="2020-01-01")
    for invoice in (unpaid, part_paid, paid, voided, credited, overdue):
        page = BrowserSession(translated.server).get(translated.path_of(LinkKind.INVOICE, invoice)).text
        assert translated.find_untranslated(page) == []
