import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cast import Cast
from mainstay.business.customers.operations import update_customer
from mainstay.business.quotes.operations import get_quote, revise_quote
from mainstay.business.quotes.sending import get_quote_pdf
from mainstay.terms.refusal import Conflict, Forbidden
from mainstay.terms.rights import Role
from quoting import a_draft, press, sent, usual_tax
from trade import a_customer


def test_it_is_named_like_the_quote_and_known_by_its_hash_once_it_is_made(cast: Cast, tmp_path: Path) -> None:
    usual_tax(cast)
    quote = sent(cast, a_draft(cast, customerId=a_customer(cast, email="a@b.example", language="de")))
    before = cast.perform(get_quote_pdf, Role.OFFICE, quoteId="Q-0001")
    told = {"object": "paper", "recordId": quote["id"], "form": "pdf", "name": "Angebot Q-0001.pdf", "sha256": None}
    assert before == told
    content = press(cast, tmp_path).print(cast.organisation, quote["id"])
    assert content.startswith(b"%PDF-")
    after = cast.perform(get_quote_pdf, Role.OFFICE, quoteId="Q-0001")
    assert after["sha256"] == hashlib.sha256(content).hexdigest()


def test_it_is_the_same_bytes_ever_after(cast: Cast, tmp_path: Path) -> None:
    customer = a_customer(cast, email="a@b.example")
    quote = sent(cast, a_draft(cast, customerId=customer))
    first = press(cast, tmp_path).print(cast.organisation, quote["id"])
    cast.perform(update_customer, customerId=customer, name="Renamed")
    assert press(cast, tmp_path).print(cast.organisation, quote["id"]) == first
    assert cast.perform(get_quote, quoteId=quote["id"])["version"] == quote["version"]


def test_whoever_prints_at_once_prints_the_same(cast: Cast, tmp_path: Path) -> None:
    quote, made = sent(cast), press(cast, tmp_path)
    with ThreadPoolExecutor(3) as racers:
        printed = set(racers.map(lambda _: made.print(cast.organisation, quote["id"]), range(3)))
    assert len(printed) == 1


def test_a_draft_has_none(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"^Q-0001 was never sent, and has no file until it is\.$"):
        cast.perform(get_quote_pdf, quoteId=a_draft(cast)["id"])


def test_each_revision_has_its_own(cast: Cast) -> None:
    first = sent(cast)
    sent(cast, cast.perform(revise_quote, quoteId=first["id"]))
    assert cast.perform(get_quote_pdf, quoteId="Q-0001")["name"] == "Quote Q-0001 revision 2.pdf"
    assert cast.perform(get_quote_pdf, quoteId="Q-0001/1")["name"] == "Quote Q-0001.pdf"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_gets_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(get_quote_pdf, role, quoteId=sent(cast)["id"])


def test_what_was_printed_is_read_and_not_printed_again(cast: Cast, tmp_path: Path) -> None:
    quote, made = sent(cast), press(cast, tmp_path)
    first = made.print(cast.organisation, quote["id"])
    with cast.stage.database.changing(cast.organisation) as rows:
        # As if another version of the house had printed it otherwise.
        rows.run("UPDATE quote SET title = 'x', snapshot = '{}' WHERE id = :id", id=quote["id"])
    assert made.print(cast.organisation, quote["id"]) == first
