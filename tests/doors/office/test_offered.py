"""The page of a quote for its customer: what they read, what they can answer, and what nobody else can."""

import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any

import pytest

from mainstay.business.jobs.operations import list_jobs
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.quotes.operations import get_quote, revise_quote
from mainstay.business.quotes.sending import withdraw_quote
from mainstay.composition import open_link_maker
from mainstay.doors.office.public.public_links import VIEWS_PER_MINUTE
from mainstay.identity.links import LinkKind, LinkMaker
from support.browser_session import BrowserSession, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.quotes import BOILER, WARRANTY, accept_quote, issue_quote, make_default_tax_rate, make_quote
from support.servers import RunningServer
from support.stored_state import list_events_of, read_last_event
from support.webhooks import set_columns

# What many do at once must come out the same on each engine.
BOTH_ENGINES = pytest.mark.engines("sqlite", "postgresql")
EXPIRED = "2020-01-01T00:00:00.000Z"


def link_to(server: RunningServer, quote: dict[str, Any]) -> str:
    maker: LinkMaker = open_link_maker(server.settings)
    return maker.build_url(LinkKind.QUOTE, quote["id"]).removeprefix(server.settings.base_url)


def fetch_quote(cast: Cast, quote: dict[str, Any]) -> dict[str, Any]:
    return cast.perform(get_quote, quoteId=quote["id"])


@pytest.fixture
def quote(cast: Cast) -> dict[str, Any]:
    make_default_tax_rate(cast)
    return issue_quote(
        cast, make_quote(cast, terms="Half before.\nHalf after.", deposit={"percent": "25"}), deliver="none"
    )


def test_the_customer_reads_what_was_sent_and_nothing_that_is_not_theirs(
    server: RunningServer, cast: Cast, quote: dict[str, Any]
) -> None:
    cast.perform(update_organisation, phone="01422 555 0142")
    page = BrowserSession(server).get(link_to(server, quote))
    text = visible_text(page.text)
    assert page.status_code == 200
    for shown in ("New heating", "Q-0001", "Calder Property", "Combi boiler", "Option: Warranty, 5 years"):
        assert shown in text
    assert "£1,000.00" in text
    assert "Total £1,200.00" in text
    assert "Deposit on acceptance £300.00" in text
    assert "Accept for £1,200.00" in text
    # What it costs the organisation is nobody's business.
    assert "700.00" not in page.text
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "form-action 'self'" in page.headers["content-security-policy"]


def test_reading_changes_nothing_whoever_follows_the_link(
    server: RunningServer, cast: Cast, quote: dict[str, Any]
) -> None:
    link, before = link_to(server, quote), fetch_quote(cast, quote)
    for _ in range(3):
        assert BrowserSession(server).get(link).status_code == 200
    assert BrowserSession(server).get(f"{link}/seen").status_code == 405
    for path in ("accept", "decline", "choose"):
        assert BrowserSession(server).follow_redirect(BrowserSession(server).get(f"{link}/{path}")).status_code == 200
    assert fetch_quote(cast, quote) == before


@pytest.mark.parametrize("form", ["accept", "decline", "choose"])
def test_whoever_opens_the_address_of_a_form_again_finds_the_quote(
    server: RunningServer, quote: dict[str, Any], form: str
) -> None:
    link = link_to(server, quote)
    for method in ("GET", "HEAD"):
        answer = server.request(method, f"{link}/{form}")
        assert (answer.status_code, answer.headers["Location"]) == (303, link)
    for method in ("PUT", "DELETE", "PATCH"):
        assert server.request(method, f"{link}/{form}").status_code == 405
    # Also where there is none behind it, nobody is led to the office.
    assert server.request("GET", f"/q/none/{form}").headers["Location"] == "/q/none"


def test_that_it_was_seen_is_told_once_by_the_page_that_shows_it(
    server: RunningServer, cast: Cast, quote: dict[str, Any]
) -> None:
    link, session = link_to(server, quote), BrowserSession(server)
    for _ in range(2):
        assert session.submit_form(link, f"{link}/seen").status_code == 204
    assert fetch_quote(cast, quote)["viewedAt"]
    assert [event["type"] for event in list_events_of(cast)].count("quote.viewed") == 1
    values = read_last_event(cast)
    assert (values["actor"]["kind"], values["actor"]["person"]) == ("customer", None)
    assert values["actor"]["via"] == {"door": "link", "client": None}


def test_it_is_accepted_with_a_name_and_the_options_that_were_ticked(
    server: RunningServer, cast: Cast, quote: dict[str, Any]
) -> None:
    link, session, warranty = link_to(server, quote), BrowserSession(server), quote["lines"][1]["id"]
    chosen = {f"chosen {warranty}": "on"}
    shown = session.submit_form(link, f"{link}/choose", **chosen)
    assert "Accept for £1,440.00" in visible_text(shown.text)
    assert fetch_quote(cast, quote)["status"] == "sent"
    answer = session.submit_page(shown.text, f"{link}/accept", name="Ann <b>Boyle</b>", **chosen)
    assert (answer.status_code, answer.headers["Location"]) == (303, link)
    page = session.follow_redirect(answer)
    assert "Accepted by Ann <b>Boyle</b> on" in unescape(re.sub(r"<(?!/?b>)[^>]*>", "", page.text))
    assert "<b>Boyle" not in page.text
    after = fetch_quote(cast, quote)
    assert (after["status"], after["total"]) == ("accepted", "1440.00")
    assert after["acceptance"]["method"] == "online"
    assert after["acceptance"]["recordedBy"] is None
    assert after["viewedAt"]
    [job] = cast.perform(list_jobs)["data"]
    assert (job["id"], job["budget"], job["billing"]) == (after["jobId"], "1200.00", "fixed")
    assert job["createdBy"]["kind"] == "customer"


def test_nobody_orders_at_another_price_than_the_one_they_read(
    server: RunningServer, cast: Cast, quote: dict[str, Any]
) -> None:
    link, session, warranty = link_to(server, quote), BrowserSession(server), quote["lines"][1]["id"]
    ticked = {"name": "Ann", f"chosen {warranty}": "on"}
    answer = session.submit_form(link, f"{link}/accept", **ticked)
    assert answer.status_code == 409
    assert "With these options the total is £1,440.00. Accept again to order." in visible_text(answer.text)
    assert fetch_quote(cast, quote)["status"] == "sent"
    assert session.submit_page(answer.text, f"{link}/accept", **ticked).status_code == 303
    assert fetch_quote(cast, quote)["total"] == "1440.00"


def test_what_takes_off_too_much_is_not_ordered_and_the_page_says_what_to_do(server: RunningServer, cast: Cast) -> None:
    rebate = {"description": "Rebate", "unitPrice": "-1100", "optional": True}
    quote = issue_quote(cast, make_quote(cast, lines=[BOILER, rebate]), deliver="none")
    link, session = link_to(server, quote), BrowserSession(server)
    ticked = {"name": "Ann", f"chosen {quote['lines'][1]['id']}": "on"}
    message = "This selection cannot be ordered, because its total is below zero. Please choose differently, or ask"
    shown = {"shown": "-100.00"}
    for answer in (
        session.submit_form(link, f"{link}/choose", **ticked),
        session.submit_form(link, f"{link}/accept", **ticked),
        session.submit_form(link, f"{link}/accept", **ticked, **shown),
    ):
        assert message in visible_text(answer.text)
        assert "Accept again to order" not in answer.text
    assert (answer.status_code, fetch_quote(cast, quote)["status"]) == (409, "sent")
    assert session.submit_form(link, f"{link}/accept", name="Ann").status_code == 303


def test_what_is_taken_off_the_whole_stands_between_the_lines_and_the_total(server: RunningServer, cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = issue_quote(cast, make_quote(cast, discount={"percent": "5"}), deliver="none")
    link, session = link_to(server, quote), BrowserSession(server)
    assert "Subtotal £1,000.00 Discount 5% \N{MINUS SIGN}£50.00" in visible_text(session.get(link).text)
    chosen = session.submit_form(link, f"{link}/choose", **{f"chosen {quote['lines'][1]['id']}": "on"})
    assert "Subtotal £1,200.00 Discount 5% \N{MINUS SIGN}£60.00" in visible_text(chosen.text)


def test_without_a_name_it_is_not_accepted_and_what_was_ticked_stays(
    server: RunningServer, cast: Cast, quote: dict[str, Any]
) -> None:
    link, warranty = link_to(server, quote), quote["lines"][1]["id"]
    answer = BrowserSession(server).submit_form(link, f"{link}/accept", name="  ", **{f"chosen {warranty}": "on"})
    assert answer.status_code == 422
    assert "Enter your name." in answer.text
    assert "Accept for £1,440.00" in visible_text(answer.text)
    assert fetch_quote(cast, quote)["status"] == "sent"


def test_accepted_twice_it_is_accepted_once(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link = link_to(server, quote)
    first, second = BrowserSession(server), BrowserSession(server)
    pages = [one.get(link).text for one in (first, second)]
    assert first.submit_page(pages[0], f"{link}/accept", name="Ann").status_code == 303
    assert second.submit_page(pages[1], f"{link}/accept", name="Bob").status_code == 303
    assert fetch_quote(cast, quote)["acceptance"]["name"] == "Ann"
    assert len(cast.perform(list_jobs)["data"]) == 1
    late = second.submit_page(pages[1], f"{link}/decline", reason="No")
    assert late.status_code == 409
    assert "Accepted by Ann on" in visible_text(late.text)


@BOTH_ENGINES
def test_however_many_accept_at_once_there_is_one_job(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link = link_to(server, quote)
    visits = [BrowserSession(server) for _ in range(6)]
    pages = [one.get(link).text for one in visits]
    with ThreadPoolExecutor(6) as racers:
        answers = list(
            racers.map(
                lambda n: visits[n].submit_page(pages[n], f"{link}/accept", name=f"Ann {n}").status_code, range(6)
            )
        )
    assert answers == [303] * 6
    assert len(cast.perform(list_jobs)["data"]) == 1
    assert [event["type"] for event in list_events_of(cast)].count("quote.accepted") == 1


def test_it_is_declined_with_a_reason(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link, session = link_to(server, quote), BrowserSession(server)
    page = session.follow_redirect(session.submit_form(link, f"{link}/decline", reason="Too dear."))
    assert "This quote was declined." in visible_text(page.text)
    after = fetch_quote(cast, quote)
    assert (after["status"], after["declineReason"]) == ("declined", "Too dear.")
    assert 'name="name"' not in page.text


def test_after_it_has_expired_it_cannot_be_accepted(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link, session = link_to(server, quote), BrowserSession(server)
    page = session.get(link).text
    set_columns(cast, "quote", quote["id"], expires_at=EXPIRED)
    answer = session.submit_page(page, f"{link}/accept", name="Ann")
    assert answer.status_code == 409
    assert "This quote was valid until" in visible_text(answer.text)
    assert cast.perform(list_jobs)["data"] == []
    # The office can still agree to it.
    assert accept_quote(cast, quote, note="We agreed.")["status"] == "accepted"


def test_what_was_replaced_or_withdrawn_says_so_and_whom_to_ask(
    server: RunningServer, cast: Cast, quote: dict[str, Any]
) -> None:
    cast.perform(update_organisation, name="Calder Heating", email="office@calder-heating.example")
    link, session = link_to(server, quote), BrowserSession(server)
    page = session.get(link).text
    newer = issue_quote(cast, cast.perform(revise_quote, quoteId=quote["id"]), deliver="none")
    answer = session.submit_page(page, f"{link}/accept", name="Ann")
    assert answer.status_code == 409
    assert "This quote was replaced by a newer one." in visible_text(answer.text)
    assert "Combi boiler" not in answer.text
    assert cast.perform(list_jobs)["data"] == []
    cast.perform(withdraw_quote, quoteId=newer["id"], confirmed=True)
    text = session.get(link_to(server, newer)).text
    assert "This quote was withdrawn. Ask Calder Heating" in visible_text(text)
    assert "mailto:office@calder-heating.example" in text


def test_it_is_in_the_language_of_the_customer(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, "Müller", language="de")
    quote = issue_quote(cast, make_quote(cast, customerId=customer, validUntil="2031-01-31"), deliver="none")
    page = BrowserSession(server).get(link_to(server, quote))
    assert '<html lang="de">' in page.text
    assert "Gültig bis 31. Januar 2031" in visible_text(page.text)
    assert "Dieses Angebot annehmen" in visible_text(page.text) or "annehmen" in visible_text(page.text)


def test_its_pdf_is_the_one_that_was_sent(server: RunningServer, quote: dict[str, Any]) -> None:
    link = link_to(server, quote)
    first, second = (BrowserSession(server).get(f"{link}/pdf") for _ in range(2))
    assert first.headers["content-type"] == "application/pdf"
    assert first.content.startswith(b"%PDF-")
    assert first.content == second.content
    assert "Q-0001.pdf" in first.headers["content-disposition"]


@pytest.mark.parametrize("how", ["withdrawn", "replaced"])
def test_what_was_taken_back_has_no_pdf_any_more(
    server: RunningServer, cast: Cast, quote: dict[str, Any], how: str
) -> None:
    link = link_to(server, quote)
    assert BrowserSession(server).get(f"{link}/pdf").status_code == 200
    if how == "withdrawn":
        cast.perform(withdraw_quote, quoteId=quote["id"], confirmed=True)
    else:
        issue_quote(cast, cast.perform(revise_quote, quoteId=quote["id"]), deliver="none")
    page, pdf = BrowserSession(server).get(link), BrowserSession(server).get(f"{link}/pdf")
    assert (page.status_code, pdf.status_code) == (410, 410)
    for answer in (page, pdf):
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert f"This quote was {how}" in visible_text(answer.text)
        assert "Combi boiler" not in answer.text


def test_nobody_comes_in_without_the_very_link(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link = link_to(server, quote)
    draft = make_quote(cast)
    other = link_to(server, draft).rpartition(".")[2]
    wrong = (
        link[:-1] + ("A" if link[-1] != "A" else "B"),
        f"{link.rpartition('.')[0]}.{other}",
        "/q/quote_x",
        "/q/x.y",
    )
    for path in (*wrong, link_to(server, draft)):
        assert BrowserSession(server).get(path).status_code == 404
        assert BrowserSession(server).get(f"{path}/pdf").status_code == 404


def test_a_form_of_another_site_changes_nothing(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link, session = link_to(server, quote), BrowserSession(server)
    session.get(link)
    assert session.post(f"{link}/accept", {"name": "Ann"}).status_code == 403
    page = session.get(link).text
    forged = session.post(
        f"{link}/accept",
        {"csrf": page.partition('name="csrf" value="')[2].partition('"')[0]},
        Origin="https://evil.example",
    )
    assert forged.status_code == 403
    assert fetch_quote(cast, quote)["status"] == "sent"


def test_what_no_page_offers_is_refused_in_words(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link, boiler = link_to(server, quote), quote["lines"][0]["id"]
    answer = BrowserSession(server).submit_form(link, f"{link}/accept", name="Ann", **{f"chosen {boiler}": "on"})
    assert answer.status_code == 422
    answer = BrowserSession(server).submit_form(link, f"{link}/accept", name="x" * 300)
    assert answer.status_code == 422
    assert fetch_quote(cast, quote)["status"] == "sent"


def test_a_lapsed_organisation_takes_no_answer(server: RunningServer, cast: Cast, quote: dict[str, Any]) -> None:
    link, session = link_to(server, quote), BrowserSession(server)
    page = session.get(link).text
    cast.lapse()
    answer = session.submit_page(page, f"{link}/accept", name="Ann")
    assert answer.status_code == 409
    assert "cannot be answered online at the moment" in visible_text(answer.text)
    cast.renew()
    assert fetch_quote(cast, quote)["status"] == "sent"


def test_whoever_tries_links_is_held_up(server: RunningServer) -> None:
    session = BrowserSession(server)
    answers = [session.get("/q/x").status_code for _ in range(VIEWS_PER_MINUTE + 1)]
    assert answers == [404] * VIEWS_PER_MINUTE + [429]


def test_what_people_wrote_is_text_and_no_page(server: RunningServer, cast: Cast) -> None:
    nasty = "<script>alert(1)</script>"
    customer = make_customer(cast, nasty)
    lines = [BOILER | {"description": nasty, "unit": nasty}, WARRANTY | {"description": nasty}]
    quote = issue_quote(
        cast, make_quote(cast, customerId=customer, title=nasty, terms=nasty, lines=lines), deliver="none"
    )
    assert nasty not in BrowserSession(server).get(link_to(server, quote)).text
