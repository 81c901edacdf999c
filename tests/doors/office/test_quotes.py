"""Quotes in the office: the list, the page of each, the editor of lines, and what customers answered."""

import re
from html import unescape
from typing import Any

import pytest

from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.quotes.operations import get_quote
from mainstay.business.schedule.operations import plan_visit
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job
from support.quotes import BOILER, accept_quote, issue_quote, make_default_tax_rate, make_quote
from support.servers import RunningServer
from support.stored_state import read_trail


def fetch_quote(cast: Cast, quote: dict[str, Any]) -> dict[str, Any]:
    return cast.perform(get_quote, quoteId=quote["id"])


def fields_of(page: str) -> dict[str, str]:
    """What a form would send as it stands."""
    found: dict[str, str] = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name, value = re.search(r' name="([^"]*)"', tag), re.search(r' value="([^"]*)"', tag)
        if name and 'type="checkbox"' in tag:
            found |= {name[1]: "on"} if " checked" in tag else {}
        elif name and value and 'type="radio"' in tag:
            found |= {name[1]: value[1]} if " checked" in tag else {}
        elif name:
            found[name[1]] = unescape(value[1]) if value else ""
    for name, body in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', body)
        found[name] = chosen[1] if chosen else ""
    for name, text in re.findall(r'<textarea [^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', page, re.DOTALL):
        found[name] = unescape(text)
    return found


def edit_lines(session: BrowserSession, quote: dict[str, Any], do: str = "save", **typed: str) -> Any:
    """Type over the lines of a quote, as its page shows them, and press a button."""
    path = f"/quotes/{quote['id']}/lines"
    page = session.get(path).text.partition('class="line-editor"')[2]
    return session.post(path, fields_of(page) | {"new kind": "item", "do": do} | typed)


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast, Role.OFFICE)


def test_a_quote_is_drafted_and_then_its_lines_are_typed(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    customer = make_customer(cast, email="ann@calder.example")
    made = session.submit_form("/quotes/new", customerId=customer, title="New heating", **{"deposit.percent": "25"})
    page = session.follow_redirect(made).text
    assert "Q-0001 New heating" in visible_text(page)
    quote = cast.perform(get_quote, quoteId="Q-0001")
    assert quote["deposit"] == {"percent": "25.00", "amount": None}
    answer = edit_lines(session, quote, "add", **{"new description": "Boiler", "new unitPrice": "1 000,50"})
    assert answer.headers["Location"] == f"/quotes/{quote['id']}/lines?done=update_quote&next=item"
    # The empty line is for the next one.
    assert re.search(r'<input id="new-description"[^>]* autofocus>', session.follow_redirect(answer).text)
    [line] = fetch_quote(cast, quote)["lines"]
    assert (line["description"], line["unitPrice"], line["quantity"]) == ("Boiler", "1000.50", "1.00")
    assert line["taxRateId"]
    shown = visible_text(session.follow_redirect(answer).text)
    assert "Total £1,200.60" in shown


def test_one_line_is_changed_and_the_others_are_not_touched(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast, lines=[BOILER, {"kind": "text", "description": "Words\nand words"}, BOILER])
    first, text, last = (line["id"] for line in quote["lines"])
    answer = edit_lines(session, quote, "done", **{f"{first} quantity": "2,5", f"{text} description": "Other"})
    assert answer.headers["Location"] == f"/quotes/{quote['id']}?done=update_quote"
    after = fetch_quote(cast, quote)
    assert [line["quantity"] for line in after["lines"]] == ["2.50", "1.00", "1.00"]
    assert after["lines"][1]["description"] == "Other"
    assert after["lines"][2] == quote["lines"][2]
    assert after["version"] == 2
    assert last
    # Only what was typed is asked for, and written down: the rest may not be theirs to change.
    edited_fields = [edit.keys() - {"edit", "lineId"} for edit in read_trail(cast)[-1]["given"]["edits"]]
    assert edited_fields == [{"quantity"}, {"description"}]


def test_lines_are_saved_on_the_way_to_sending(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast, lines=[BOILER])
    answer = edit_lines(session, quote, "send", **{"new description": "Flue", "new unitPrice": "100"})
    assert answer.headers["Location"] == f"/quotes/{quote['id']}/send?done=update_quote"
    assert [line["description"] for line in fetch_quote(cast, quote)["lines"]] == ["Combi boiler", "Flue"]
    assert "Send quote" in visible_text(session.follow_redirect(answer).text)


def test_an_accepted_quote_leads_to_the_visit_of_its_job(session: BrowserSession, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    quote = issue_quote(cast, make_quote(cast, jobId=job), deliver="none")
    page = f"/quotes/{quote['id']}"
    assert "/schedule/new" not in session.get(page).text
    accept_quote(cast, quote)
    path = f"/schedule/new?jobId={job}&amp;back=%2Fjobs%2F{job}"
    assert f'<a class="button primary" href="{path}" data-dialog>Plan visit</a>' in session.get(page).text
    cast.perform(plan_visit, jobId=job, on="2038-01-11")
    assert "/schedule/new" not in session.get(page).text


def test_saving_what_was_not_changed_changes_nothing(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = make_quote(
        cast, lines=[BOILER | {"discountPercent": "5.5", "unit": "h"}, {"kind": "heading", "description": "H"}]
    )
    assert edit_lines(session, quote).status_code == 303
    assert fetch_quote(cast, quote) == quote


def test_lines_are_moved_and_removed_by_buttons(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    boiler, warranty = (line["id"] for line in quote["lines"])
    edit_lines(session, quote, f"down {boiler}")
    assert [line["id"] for line in fetch_quote(cast, quote)["lines"]] == [warranty, boiler]
    edit_lines(session, quote, f"up {boiler}")
    assert [line["id"] for line in fetch_quote(cast, quote)["lines"]] == [boiler, warranty]
    edit_lines(session, quote, f"remove {boiler}")
    assert [line["id"] for line in fetch_quote(cast, quote)["lines"]] == [warranty]


def test_an_item_is_picked_by_its_name_or_code(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast, lines=[])
    cast.perform(save_price_item, code="BLR-24", name="Combi boiler", description="Wall-hung", sellPrice="890")
    for typed in ("combi BOILER", "blr-24", "BLR-24 Combi boiler"):
        edit_lines(session, quote, "add", **{"new description": typed, "new quantity": "2"})
    lines = fetch_quote(cast, quote)["lines"]
    assert {(line["description"], line["amount"]) for line in lines} == {("Combi boiler\nWall-hung", "1780.00")}
    # What only begins so is a line of its own.
    edit_lines(session, quote, "add", **{"new description": "combi", "new unitPrice": "5"})
    assert fetch_quote(cast, quote)["lines"][-1]["description"] == "combi"


def test_an_item_that_was_picked_counts_while_its_title_stays(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast, lines=[])
    items = [cast.perform(save_price_item, name="Boiler", sellPrice=price)["id"] for price in ("890", "990")]
    answer = edit_lines(session, quote, "add", **{"new description": "Boiler"})
    assert answer.status_code == 422
    assert "could be one of several: " in visible_text(answer.text)
    # It is said where it was typed, and one goes on there.
    assert re.search(
        r'<input id="new-description"[^>]* aria-describedby="new-description-fault" autofocus>', answer.text
    )
    assert '<a href="#new-description">Description could be one of several' in answer.text
    for item, typed, price in ((items[1], "Boiler", ""), ("free", "Boiler", "1"), (items[1], "Flue", "2")):
        fields = {"new description": typed, "new item": f"{item} Boiler", "new unitPrice": price}
        edit_lines(session, quote, "add", **fields)
    lines = fetch_quote(cast, quote)["lines"]
    assert [(line["description"], line["unitPrice"]) for line in lines] == [
        ("Boiler", "990.00"),
        ("Boiler", "1.00"),
        ("Flue", "2.00"),
    ]


def test_a_heading_is_added_after_what_was_typed(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast, lines=[])
    answer = edit_lines(session, quote, "heading", **{"new description": "Boiler", "new unitPrice": "5"})
    assert answer.headers["Location"].endswith("/lines?done=update_quote&next=heading")
    page = session.follow_redirect(answer).text
    assert re.search(r'<textarea name="new description"[^>]* autofocus>', page)
    assert [f'value="{kind}">+' in page for kind in ("item", "heading", "text")] == [True, False, True]
    edit_lines(session, quote, "add", **{"new kind": "heading", "new description": "Boiler"})
    lines = fetch_quote(cast, quote)["lines"]
    assert [(line["kind"], line["description"]) for line in lines] == [("item", "Boiler"), ("heading", "Boiler")]


def test_what_is_wrong_is_told_beside_its_field_and_what_was_typed_stays(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    boiler = quote["lines"][0]["id"]
    answer = edit_lines(session, quote, **{f"{boiler} unitPrice": "dear", "new description": "Half typed"})
    assert answer.status_code == 422
    assert f'id="{boiler}-unitPrice-fault"' in answer.text
    assert f'<a href="#{boiler}-unitPrice">Price ' in answer.text
    assert re.search(rf'<input [^>]*id="{boiler}-unitPrice"[^>]* autofocus>', answer.text)
    assert 'value="dear"' in answer.text
    assert 'value="Half typed"' in answer.text
    assert fetch_quote(cast, quote) == quote


def test_every_field_of_a_line_has_a_label_that_is_seen_and_one_begins_at_the_first_that_is_wrong(
    session: BrowserSession, cast: Cast
) -> None:
    quote = make_quote(cast, lines=[BOILER, {"kind": "heading", "description": "H"}, BOILER])
    first, heading, last = (line["id"] for line in quote["lines"])
    wrong = {f"{last} quantity": "many", f"{first} cost": "dear", f"{first} quantity": "few"}
    page = edit_lines(session, quote, **wrong).text
    assert re.findall(r'<li><a href="#([^"]+)">', page) == [f"{first}-quantity", f"{first}-cost", f"{last}-quantity"]
    editor = page.partition('class="line-editor"')[2].partition("</form>")[0]
    assert re.findall(r'id="([^"]+)"[^>]* autofocus', editor) == [f"{first}-quantity"]
    assert f'<label for="{heading}-description">Heading</label>' in editor
    ids = re.findall(r'<(?:input|textarea|select)[^>]* id="([^"]+)"', editor)
    assert {*ids} == {*re.findall(r'<label for="([^"]+)"', editor)}


def test_totals_are_reckoned_while_one_types_and_nothing_is_saved(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = make_quote(cast)
    boiler, path = quote["lines"][0]["id"], f"/quotes/{quote['id']}/lines"
    page = session.get(path).text.partition('class="line-editor"')[2]
    typed = fields_of(page) | {f"{boiler} quantity": "3"}
    answer = session.post(f"{path}/totals", typed)
    assert answer.status_code == 200
    assert "Total £3,600.00" in visible_text(answer.text)
    assert fetch_quote(cast, quote) == quote


def test_a_change_of_someone_else_is_not_overwritten(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    boiler = quote["lines"][0]["id"]
    answer = edit_lines(session, quote, version="7", **{f"{boiler} quantity": "2"})
    assert answer.status_code == 409
    assert "Someone else changed this after you opened it" in visible_text(answer.text)


def test_what_was_sent_has_no_editor(session: BrowserSession, cast: Cast) -> None:
    quote = issue_quote(cast, deliver="none")
    answer = session.get(f"/quotes/{quote['id']}/lines")
    assert answer.status_code == 409
    assert "Revise it instead." in visible_text(answer.text)
    assert "Edit lines" not in session.get(f"/quotes/{quote['id']}").text


def test_it_is_sent_after_a_preview_of_who_is_mailed(session: BrowserSession, cast: Cast) -> None:
    quote = make_quote(cast)
    path = f"/quotes/{quote['id']}/send"
    preview = session.get(path)
    assert fields_of(preview.text)["to"] == "ann@calder.example"
    assert fetch_quote(cast, quote)["status"] == "draft"
    done = session.post(path, fields_of(preview.text))
    page = visible_text(session.follow_redirect(done).text)
    assert "Quote Q-0001 sent." in page
    assert "ann@calder.example" in page
    assert "/q/quote_" in page


def test_a_record_page_shows_lines_totals_margin_and_the_answer(session: BrowserSession, cast: Cast) -> None:
    make_default_tax_rate(cast)
    quote = issue_quote(cast, deliver="none")
    agreed = accept_quote(cast, quote, chosen=[quote["lines"][1]["id"]], note="On the phone.")
    page = visible_text(session.get(f"/quotes/{quote['id']}").text)
    for shown in ("Combi boiler", "Optional, chosen", "Total £1,440.00", "Accepted by phone by Ann Boyle"):
        assert shown in page
    # Of the warranty nobody knows what it costs.
    assert "Margin on lines with a cost £300.00 1 line without a cost (net) £200.00" in page
    assert agreed["jobNumber"] in page
    pdf = session.get(f"/quotes/{quote['id']}/pdf")
    assert (pdf.status_code, pdf.content[:5]) == (200, b"%PDF-")


def test_an_answer_is_recorded_with_options_after_a_preview(session: BrowserSession, cast: Cast) -> None:
    quote = issue_quote(cast, deliver="none")
    path, warranty = f"/quotes/{quote['id']}/record-decision", quote["lines"][1]["id"]
    given = {"decision": "accepted", "method": "phone", "name": "Ann", f"chosen {warranty}": "on"}
    assert "Warranty, 5 years" in session.get(path).text
    unnamed = session.submit_form(path, **given | {"name": ""})
    assert unnamed.status_code == 422
    preview = session.submit_form(path, **given)
    assert "Q-0001 New heating will be recorded as accepted by Ann: £1,200.00." in visible_text(preview.text)
    done = session.submit_page(preview.text, path, confirmed="yes", **given)
    assert "Answer recorded." in session.follow_redirect(done).text
    assert fetch_quote(cast, quote)["total"] == "1200.00"


def test_the_list_has_tabs_and_finds(session: BrowserSession, cast: Cast) -> None:
    make_quote(cast, title="Bathroom")
    issue_quote(cast, make_quote(cast, title="Kitchen"), deliver="none")
    page = visible_text(session.get("/quotes").text)
    assert "Sent 1" in page
    assert "Drafts 1" in page
    waiting = visible_text(session.get("/quotes?status=sent").text)
    assert "Kitchen" in waiting
    assert "Bathroom" not in waiting
    assert "Bathroom" in visible_text(session.get("/quotes?text=bath").text)
    assert session.get("/quotes/export.csv").status_code == 200


def test_quotes_stand_on_the_pages_of_their_customer_and_job_and_on_home(session: BrowserSession, cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)
    quote = issue_quote(cast, make_quote(cast, customerId=customer, jobId=job["id"], title="Kitchen"), deliver="none")
    for path in (f"/customers/{customer}", f"/jobs/{job['id']}"):
        page = session.get(path).text
        assert f"/quotes/{quote['id']}" in page
        assert "/quotes/new" in page
    assert "Quotes waiting for an answer" in session.get("/").text
    assert f'value="{job["number"]} ' in session.get(f"/quotes/new?jobId={job['id']}").text


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_finds_no_quotes(server: RunningServer, cast: Cast, role: Role) -> None:
    quote = make_quote(cast)
    session = sign_in_new_person(server, cast, role)
    assert 'href="/quotes"' not in session.get("/").text
    for path in ("/quotes", f"/quotes/{quote['id']}", f"/quotes/{quote['id']}/lines", f"/quotes/{quote['id']}/pdf"):
        assert session.get(path).status_code == 403


def test_what_people_wrote_is_text_and_no_page(session: BrowserSession, cast: Cast) -> None:
    nasty = "<script>alert(1)</script>"
    quote = make_quote(cast, title=nasty, terms=nasty, lines=[BOILER | {"description": nasty, "unit": nasty}])
    for path in ("", "/lines", "/edit", "/send"):
        assert nasty not in session.get(f"/quotes/{quote['id']}{path}").text


def test_settings_of_quotes_are_kept(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.ADMIN)
    page = session.get("/settings/documents/edit").text
    fields = fields_of(page.partition('<form method="post">')[2]) | {"quoteValidDays": "14", "quoteTerms": "Ours."}
    answer = session.post("/settings/documents/edit", fields)
    assert answer.status_code == 303, visible_text(answer.text)
    assert make_quote(cast)["terms"] == "Ours."


def test_a_discount_on_the_whole_stands_where_the_sums_are(session: BrowserSession, cast: Cast) -> None:
    page = session.get(f"/quotes/{make_quote(cast, discount={'percent': '5'})['id']}")
    assert "Net after 5% discount" in visible_text(page.text)
