"""Whatever a document may hold can be sent by its form; who sends more is told in the office what to do."""

from typing import Any

import pytest

from cast import Cast
from doors.office.test_quotes import fields_of
from mainstay.business.lines.model import MOST_CHARACTERS, MOST_LINES
from mainstay.business.quotes.operations import get_quote
from mainstay.doors.pages.forms import LIMIT, LONG_LIMIT
from mainstay.terms.rights import Role
from quoting import a_draft
from running import RunningServer
from visiting import Visit, visit, words

# A letter of four bytes, of which a browser sends twelve. All lines together are as long as they may be.
WIDE = "\N{CJK UNIFIED IDEOGRAPH-20BB7}"
UNIT = 100
TEXT = MOST_CHARACTERS // MOST_LINES - UNIT
FORM = {"Content_Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def test_a_document_as_long_as_any_may_be_is_saved(visiting: Visit, cast: Cast) -> None:
    line: dict[str, Any] = {
        "description": WIDE * TEXT,
        "unit": WIDE * UNIT,
        "unitPrice": "-99999.9999",
        "cost": "1.2345",
    }
    quote = a_draft(cast, lines=[line] * MOST_LINES)
    path, last = f"/quotes/{quote['id']}/lines", quote["lines"][-1]["id"]
    begun = fields_of(visiting.get(path).text.partition('class="line-editor"')[2])
    answer = visiting.post(path, begun | {f"{last} description": "\N{ARABIC LETTER BEH}" * TEXT, "do": "save"})
    assert answer.status_code == 303, words(answer.text)[:1000]
    kept = cast.perform(get_quote, quoteId=quote["id"])["lines"]
    assert kept[0]["description"] == WIDE * TEXT
    assert kept[-1]["description"] == "\N{ARABIC LETTER BEH}" * TEXT


@pytest.mark.parametrize(
    "body",
    [b"name=" + b"a" * LONG_LIMIT, b"&".join(b"f%d=" % number for number in range(10_001))],
    ids=["too long", "too many fields"],
)
def test_who_sends_more_than_a_form_holds_is_told_in_the_office_what_to_do(visiting: Visit, body: bytes) -> None:
    answer = visiting.send("/customers/new", body, **FORM)
    assert answer.status_code == 413
    assert "This form holds more than can be sent at once, so nothing was saved." in words(answer.text)
    assert '<nav class="tabbar"' in answer.text


def test_who_is_not_signed_in_sends_little(server: RunningServer, visiting: Visit) -> None:
    body = b"csrf=&name=" + b"a" * LIMIT
    assert Visit(server).send("/sign-in", body, **FORM).status_code == 413
    # What has no lines to send is bounded alike for those who are.
    assert visiting.send("/sign-out", body, **FORM).status_code == 413
