"""Whatever a document may hold can be sent by its form; who sends more is told in the office what to do."""

from typing import Any

import pytest

from doors.office.test_quotes import fields_of
from mainstay.business.lines.model import MAX_LINE_CHARACTERS, MAX_LINES
from mainstay.business.quotes.operations import get_quote
from mainstay.doors.pages.forms import FORM_LIMIT, LONG_FORM_LIMIT
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.quotes import make_quote
from support.servers import RunningServer

# A letter of four bytes, of which a browser sends twelve. All lines together are as long as they may be.
WIDE_CHARACTER = "\N{CJK UNIFIED IDEOGRAPH-20BB7}"
UNIT_LENGTH = 100
TEXT_LENGTH = MAX_LINE_CHARACTERS // MAX_LINES - UNIT_LENGTH
FORM_HEADERS = {"Content_Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast, Role.OFFICE)


def test_a_document_as_long_as_any_may_be_is_saved(session: BrowserSession, cast: Cast) -> None:
    line: dict[str, Any] = {
        "description": WIDE_CHARACTER * TEXT_LENGTH,
        "unit": WIDE_CHARACTER * UNIT_LENGTH,
        "unitPrice": "-99999.9999",
        "cost": "1.2345",
    }
    quote = make_quote(cast, lines=[line] * MAX_LINES)
    path, last = f"/quotes/{quote['id']}/lines", quote["lines"][-1]["id"]
    begun = fields_of(session.get(path).text.partition('class="line-editor"')[2])
    answer = session.post(path, begun | {f"{last} description": "\N{ARABIC LETTER BEH}" * TEXT_LENGTH, "do": "save"})
    assert answer.status_code == 303, visible_text(answer.text)[:1000]
    kept = cast.perform(get_quote, quoteId=quote["id"])["lines"]
    assert kept[0]["description"] == WIDE_CHARACTER * TEXT_LENGTH
    assert kept[-1]["description"] == "\N{ARABIC LETTER BEH}" * TEXT_LENGTH


@pytest.mark.parametrize(
    "body",
    [b"name=" + b"a" * LONG_FORM_LIMIT, b"&".join(b"f%d=" % number for number in range(10_001))],
    ids=["too long", "too many fields"],
)
def test_who_sends_more_than_a_form_holds_is_told_in_the_office_what_to_do(
    session: BrowserSession, body: bytes
) -> None:
    answer = session.send_body("/customers/new", body, **FORM_HEADERS)
    assert answer.status_code == 413
    assert "This form is too long, so nothing was saved." in visible_text(answer.text)
    assert '<nav class="tabbar"' in answer.text


def test_who_is_not_signed_in_sends_little(server: RunningServer, session: BrowserSession) -> None:
    body = b"csrf=&name=" + b"a" * FORM_LIMIT
    assert BrowserSession(server).send_body("/sign-in", body, **FORM_HEADERS).status_code == 413
    # What has no lines to send is bounded alike for those who are.
    assert session.send_body("/sign-out", body, **FORM_HEADERS).status_code == 413
