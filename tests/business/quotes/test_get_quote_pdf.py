import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.quotes.operations import get_quote, revise_quote
from mainstay.business.quotes.sending import get_quote_pdf
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden
from support.cast import Cast
from support.customers import make_customer
from support.quotes import issue_quote, make_default_tax_rate, make_quote, open_document_files


def test_it_is_named_like_the_quote_and_known_by_its_hash_once_it_is_made(cast: Cast, tmp_path: Path) -> None:
    make_default_tax_rate(cast)
    quote = issue_quote(cast, make_quote(cast, customerId=make_customer(cast, email="a@b.example", language="de")))
    before = cast.perform(get_quote_pdf, Role.OFFICE, quoteId="Q-0001")
    values = {"object": "paper", "recordId": quote["id"], "form": "pdf", "name": "Angebot Q-0001.pdf", "sha256": None}
    assert before == values
    content = open_document_files(cast, tmp_path).fetch_file(cast.organisation, quote["id"])
    assert content.startswith(b"%PDF-")
    after = cast.perform(get_quote_pdf, Role.OFFICE, quoteId="Q-0001")
    assert after["sha256"] == hashlib.sha256(content).hexdigest()


def test_it_is_the_same_bytes_ever_after(cast: Cast, tmp_path: Path) -> None:
    customer = make_customer(cast, email="a@b.example")
    quote = issue_quote(cast, make_quote(cast, customerId=customer))
    first = open_document_files(cast, tmp_path).fetch_file(cast.organisation, quote["id"])
    cast.perform(update_customer, customerId=customer, name="Renamed")
    assert open_document_files(cast, tmp_path).fetch_file(cast.organisation, quote["id"]) == first
    assert cast.perform(get_quote, quoteId=quote["id"])["version"] == quote["version"]


def test_whoever_prints_at_once_prints_the_same(cast: Cast, tmp_path: Path) -> None:
    quote, made = issue_quote(cast), open_document_files(cast, tmp_path)
    with ThreadPoolExecutor(3) as racers:
        printed = set(racers.map(lambda _: made.fetch_file(cast.organisation, quote["id"]), range(3)))
    assert len(printed) == 1


def test_a_draft_has_none(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"^Q-0001 has not been sent, so it has no file yet\.$"):
        cast.perform(get_quote_pdf, quoteId=make_quote(cast)["id"])


def test_each_revision_has_its_own(cast: Cast) -> None:
    first = issue_quote(cast)
    issue_quote(cast, cast.perform(revise_quote, quoteId=first["id"]))
    assert cast.perform(get_quote_pdf, quoteId="Q-0001")["name"] == "Quote Q-0001 revision 2.pdf"
    assert cast.perform(get_quote_pdf, quoteId="Q-0001/1")["name"] == "Quote Q-0001.pdf"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_gets_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(get_quote_pdf, role, quoteId=issue_quote(cast)["id"])


def test_what_was_printed_is_read_and_not_printed_again(cast: Cast, tmp_path: Path) -> None:
    quote, made = issue_quote(cast), open_document_files(cast, tmp_path)
    first = made.fetch_file(cast.organisation, quote["id"])
    with cast.performer.database.write_transaction(cast.organisation) as db:
        # As if another version of the product had printed it differently.
        db.run("UPDATE quote SET title = 'x', snapshot = '{}' WHERE id = :id", id=quote["id"])
    assert made.fetch_file(cast.organisation, quote["id"]) == first
