"""Documents whose lines have too much text to be printed at once."""

from typing import Any

import pytest

from mainstay.business.quotes.operations import get_quote, revise_quote, update_quote
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.invoices import make_invoice
from support.purchases import make_bill, make_order
from support.quotes import accept_quote, edit_quote, issue_quote, make_quote

LINE: dict[str, Any] = {"description": "x" * 2_000, "unitPrice": "1"}
TOO_LONG = "lines: would have 102000 characters in total"


def record_bill_of(cast: Cast, lines: list[dict[str, Any]]) -> dict[str, Any]:
    return make_bill(cast, lines=lines, total=str(len(lines)))


@pytest.mark.parametrize("makes", [make_quote, make_invoice, make_order, record_bill_of])
def test_no_document_is_made_with_more_text_than_can_be_printed(cast: Cast, makes: Any) -> None:
    with pytest.raises(Invalid, match=TOO_LONG):
        makes(cast, lines=[LINE] * 51)
    assert len(makes(cast, lines=[LINE] * 50)["lines"]) == 50


def make_long_draft(cast: Cast) -> dict[str, Any]:
    """Create a draft of an earlier version of the product, which had no limit."""
    draft = make_quote(cast, lines=[LINE] * 50)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE quote SET lines = replace(lines, :before, :after) WHERE organisation_id = :organisation"
            " AND id = :id",
            id=draft["id"],
            before="x" * 2_000,
            after="x" * 3_000,
        )
    return cast.perform(get_quote, Role.OFFICE, quoteId=draft["id"])


def test_a_longer_draft_of_before_is_changed_shortened_and_sent(cast: Cast) -> None:
    draft = make_long_draft(cast)
    assert cast.perform(update_quote, Role.OFFICE, quoteId=draft["id"], title="Other")["title"] == "Other"
    shorter: dict[str, object] = {"edit": "set", "lineId": draft["lines"][0]["id"], "description": "x"}
    assert edit_quote(cast, draft, shorter)["lines"][0]["description"] == "x"
    longer: dict[str, object] = {"edit": "add", "description": "xx", "unitPrice": "1"}
    with pytest.raises(Invalid, match="edits: would have 147003 characters in total"):
        edit_quote(cast, draft, longer)
    assert issue_quote(cast, draft)["status"] == "sent"


def test_a_longer_quote_of_before_is_revised_and_billed(cast: Cast) -> None:
    quote = issue_quote(cast, make_long_draft(cast))
    assert len(cast.perform(revise_quote, Role.OFFICE, quoteId=quote["id"])["lines"]) == 50
    sold = accept_quote(cast, issue_quote(cast, make_long_draft(cast)))
    assert len(make_invoice(cast, quoteId=sold["id"])["lines"]) == 50
