"""Documents whose lines have more text than can be printed at once."""

from typing import Any

import pytest

from billing import an_invoice
from cast import Cast
from mainstay.business.quotes.operations import get_quote, revise_quote, update_quote
from mainstay.terms.refusal import Invalid
from mainstay.terms.rights import Role
from ordering import a_bill, an_order
from quoting import a_draft, accepted, edited, sent

LINE: dict[str, Any] = {"description": "x" * 2_000, "unitPrice": "1"}
TOO_LONG = "lines: would have 102,000 characters in all lines together"


def a_bill_of(cast: Cast, lines: list[dict[str, Any]]) -> dict[str, Any]:
    return a_bill(cast, lines=lines, total=str(len(lines)))


@pytest.mark.parametrize("makes", [a_draft, an_invoice, an_order, a_bill_of])
def test_no_document_is_made_with_more_text_than_can_be_printed(cast: Cast, makes: Any) -> None:
    with pytest.raises(Invalid, match=TOO_LONG):
        makes(cast, lines=[LINE] * 51)
    assert len(makes(cast, lines=[LINE] * 50)["lines"]) == 50


def a_longer_draft(cast: Cast) -> dict[str, Any]:
    """A draft of an earlier version of the product, which had no bound."""
    draft = a_draft(cast, lines=[LINE] * 50)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run(
            "UPDATE quote SET lines = replace(lines, :before, :after) WHERE organisation_id = :organisation"
            " AND id = :id",
            id=draft["id"],
            before="x" * 2_000,
            after="x" * 3_000,
        )
    return cast.perform(get_quote, Role.OFFICE, quoteId=draft["id"])


def test_a_longer_draft_of_before_is_changed_shortened_and_sent(cast: Cast) -> None:
    draft = a_longer_draft(cast)
    assert cast.perform(update_quote, Role.OFFICE, quoteId=draft["id"], title="Other")["title"] == "Other"
    shorter: dict[str, object] = {"edit": "set", "lineId": draft["lines"][0]["id"], "description": "x"}
    assert edited(cast, draft, shorter)["lines"][0]["description"] == "x"
    longer: dict[str, object] = {"edit": "add", "description": "xx", "unitPrice": "1"}
    with pytest.raises(Invalid, match="edits: would have 147,003 characters"):
        edited(cast, draft, longer)
    assert sent(cast, draft)["status"] == "sent"


def test_a_longer_quote_of_before_is_revised_and_billed(cast: Cast) -> None:
    quote = sent(cast, a_longer_draft(cast))
    assert len(cast.perform(revise_quote, Role.OFFICE, quoteId=quote["id"])["lines"]) == 50
    sold = accepted(cast, sent(cast, a_longer_draft(cast)))
    assert len(an_invoice(cast, quoteId=sold["id"])["lines"]) == 50
