"""Quotes in the office: the list, the page of each, the editor of lines, and what customers answered."""

import re
from html import unescape
from typing import Any

import pytest

from cast import Cast
from evidence import trail
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.quotes.operations import get_quote
from mainstay.terms.rights import Role
from quoting import BOILER, a_draft, accepted, sent, usual_tax
from running import RunningServer
from trade import a_customer, a_job
from visiting import Visit, visit, words


def now(cast: Cast, quote: dict[str, Any]) -> dict[str, Any]:
    return cast.perform(get_quote, quoteId=quote["id"])


def fields_of(page: str) -> dict[str, str]:
    """What a form would send as it stands."""
    found: dict[str, str] = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name, value = re.search(r' name="([^"]*)"', tag), re.search(r' value="([^"]*)"', tag)
        if name and 'type="checkbox"' in tag:
            found |= {name[1]: "on"} if " checked" in tag else {}
        elif name:
            found[name[1]] = unescape(value[1]) if value else ""
    for name, body in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', body)
        found[name] = chosen[1] if chosen else ""
    for name, text in re.findall(r'<textarea [^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', page, re.DOTALL):
        found[name] = unescape(text)
    return found


def edit(visiting: Visit, quote: dict[str, Any], do: str = "save", **typed: str) -> Any:
    """Type over the lines of a quote, as its page shows them, and press a button."""
    path = f"/quotes/{quote['id']}/lines"
    page = visiting.get(path).text.partition('class="line-editor"')[2]
    return visiting.post(path, fields_of(page) | {"new kind": "item", "do": do} | typed)


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit(server, cast, Role.OFFICE)


def test_a_quote_is_drafted_and_then_its_lines_are_typed(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    customer = a_customer(cast, email="ann@calder.example")
    made = visiting.submit("/quotes/new", customerId=customer, title="New heating", **{"deposit.percent": "25"})
    page = visiting.follow(made).text
    assert "Q-0001 New heating" in words(page)
    quote = cast.perform(get_quote, quoteId="Q-0001")
    assert quote["deposit"] == {"percent": "25.00", "amount": None}
    answer = edit(visiting, quote, "add", **{"new description": "Boiler", "new unitPrice": "1 000,50"})
    assert answer.headers["Location"] == f"/quotes/{quote['id']}/lines?done=update_quote&added=1"
    # Whoever types line after line goes on in the empty one.
    assert re.search(r'<input id="new-item"[^>]* autofocus>', visiting.follow(answer).text)
    [line] = now(cast, quote)["lines"]
    assert (line["description"], line["unitPrice"], line["quantity"]) == ("Boiler", "1000.50", "1.00")
    assert line["taxRateId"]
    shown = words(visiting.follow(answer).text)
    assert "Total GBP 1,200.60" in shown


def test_one_line_is_changed_and_the_others_are_not_touched(visiting: Visit, cast: Cast) -> None:
    quote = a_draft(cast, lines=[BOILER, {"kind": "text", "description": "Words\nand words"}, BOILER])
    first, text, last = (line["id"] for line in quote["lines"])
    answer = edit(visiting, quote, "done", **{f"{first} quantity": "2,5", f"{text} description": "Other"})
    assert answer.headers["Location"] == f"/quotes/{quote['id']}?done=update_quote"
    after = now(cast, quote)
    assert [line["quantity"] for line in after["lines"]] == ["2.50", "1.00", "1.00"]
    assert after["lines"][1]["description"] == "Other"
    assert after["lines"][2] == quote["lines"][2]
    assert after["version"] == 2
    assert last
    # Only what was typed is asked for, and written down: the rest may not be theirs to change.
    asked = [edit.keys() - {"edit", "lineId"} for edit in trail(cast)[-1]["given"]["edits"]]
    assert asked == [{"quantity"}, {"description"}]


def test_saving_what_was_not_changed_changes_nothing(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    quote = a_draft(
        cast, lines=[BOILER | {"discountPercent": "5.5", "unit": "h"}, {"kind": "heading", "description": "H"}]
    )
    assert edit(visiting, quote).status_code == 303
    assert now(cast, quote) == quote


def test_lines_are_moved_and_removed_by_buttons(visiting: Visit, cast: Cast) -> None:
    quote = a_draft(cast)
    boiler, warranty = (line["id"] for line in quote["lines"])
    edit(visiting, quote, f"down {boiler}")
    assert [line["id"] for line in now(cast, quote)["lines"]] == [warranty, boiler]
    edit(visiting, quote, f"up {boiler}")
    assert [line["id"] for line in now(cast, quote)["lines"]] == [boiler, warranty]
    edit(visiting, quote, f"remove {boiler}")
    assert [line["id"] for line in now(cast, quote)["lines"]] == [warranty]


def test_an_item_is_picked_by_typing(visiting: Visit, cast: Cast) -> None:
    quote = a_draft(cast, lines=[])
    cast.perform(save_price_item, code="BLR-24", name="Combi boiler", sellPrice="890")
    cast.perform(save_price_item, name="Combi pump", sellPrice="90")
    edit(visiting, quote, "add", **{"new item": "combi boi", "new quantity": "2"})
    [line] = now(cast, quote)["lines"]
    assert (line["description"], line["amount"]) == ("Combi boiler", "1780.00")
    answer = edit(visiting, quote, "add", **{"new item": "combi"})
    assert answer.status_code == 422
    assert "could be one of several: " in words(answer.text)
    # It is said where it was typed, and one goes on there.
    assert re.search(r'<input id="new-item"[^>]* aria-describedby="new-item-fault" autofocus>', answer.text)
    assert '<a href="#new-item">From the price list could be one of several' in answer.text


def test_what_is_wrong_is_told_beside_its_field_and_what_was_typed_stays(visiting: Visit, cast: Cast) -> None:
    quote = a_draft(cast)
    boiler = quote["lines"][0]["id"]
    answer = edit(visiting, quote, **{f"{boiler} unitPrice": "dear", "new description": "Half typed"})
    assert answer.status_code == 422
    assert f'id="{boiler}-unitPrice-fault"' in answer.text
    assert f'<a href="#{boiler}-unitPrice">Price ' in answer.text
    assert re.search(rf'<input [^>]*id="{boiler}-unitPrice"[^>]* autofocus>', answer.text)
    assert 'value="dear"' in answer.text
    assert ">Half typed</textarea>" in answer.text
    assert now(cast, quote) == quote


def test_every_field_of_a_line_has_a_label_that_is_seen_and_one_begins_at_the_first_that_is_wrong(
    visiting: Visit, cast: Cast
) -> None:
    quote = a_draft(cast, lines=[BOILER, {"kind": "heading", "description": "H"}, BOILER])
    first, heading, last = (line["id"] for line in quote["lines"])
    wrong = {f"{last} quantity": "many", f"{first} cost": "dear", f"{first} quantity": "few"}
    page = edit(visiting, quote, **wrong).text
    assert re.findall(r'<li><a href="#([^"]+)">', page) == [f"{first}-quantity", f"{first}-cost", f"{last}-quantity"]
    editor = page.partition('class="line-editor"')[2].partition("</form>")[0]
    assert re.findall(r'id="([^"]+)"[^>]* autofocus', editor) == [f"{first}-quantity"]
    assert f'<label for="{heading}-description">Heading</label>' in editor
    ids = re.findall(r'<(?:input|textarea|select)[^>]* id="([^"]+)"', editor)
    assert {*ids} == {*re.findall(r'<label for="([^"]+)"', editor)}


def test_totals_are_reckoned_while_one_types_and_nothing_is_saved(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    quote = a_draft(cast)
    boiler, path = quote["lines"][0]["id"], f"/quotes/{quote['id']}/lines"
    page = visiting.get(path).text.partition('class="line-editor"')[2]
    typed = fields_of(page) | {f"{boiler} quantity": "3"}
    answer = visiting.post(f"{path}/totals", typed)
    assert answer.status_code == 200
    assert "Total GBP 3,600.00" in words(answer.text)
    assert now(cast, quote) == quote


def test_a_change_of_someone_else_is_not_overwritten(visiting: Visit, cast: Cast) -> None:
    quote = a_draft(cast)
    boiler = quote["lines"][0]["id"]
    answer = edit(visiting, quote, version="7", **{f"{boiler} quantity": "2"})
    assert answer.status_code == 409
    assert "Someone has changed this since you opened it" in words(answer.text)


def test_what_was_sent_has_no_editor(visiting: Visit, cast: Cast) -> None:
    quote = sent(cast, deliver="none")
    answer = visiting.get(f"/quotes/{quote['id']}/lines")
    assert answer.status_code == 409
    assert "Revise it instead." in words(answer.text)
    assert "Edit lines" not in visiting.get(f"/quotes/{quote['id']}").text


def test_it_is_sent_after_a_preview_of_who_is_mailed(visiting: Visit, cast: Cast) -> None:
    quote = a_draft(cast)
    path = f"/quotes/{quote['id']}/send"
    preview = visiting.submit(path, deliver="email")
    assert "It is mailed to ann@calder.example" in words(preview.text)
    assert now(cast, quote)["status"] == "draft"
    done = visiting.answer(preview.text, path, confirmed="yes", deliver="email")
    page = words(visiting.follow(done).text)
    assert "Quote Q-0001 is sent." in page
    assert "ann@calder.example" in page
    assert "/q/quote_" in page


def test_a_record_page_shows_lines_totals_margin_and_the_answer(visiting: Visit, cast: Cast) -> None:
    usual_tax(cast)
    quote = sent(cast, deliver="none")
    agreed = accepted(cast, quote, chosen=[quote["lines"][1]["id"]], note="On the phone.")
    page = words(visiting.get(f"/quotes/{quote['id']}").text)
    for shown in ("Combi boiler", "Option, chosen", "Total GBP 1,440.00", "By Ann Boyle, by phone"):
        assert shown in page
    # Of the warranty nobody knows what it costs.
    assert "Margin of what has a cost 300.00 Margin not known, 1 line without a cost 200.00" in page
    assert agreed["jobNumber"] in page
    pdf = visiting.get(f"/quotes/{quote['id']}/pdf")
    assert (pdf.status_code, pdf.content[:5]) == (200, b"%PDF-")


def test_an_answer_is_recorded_with_options_after_a_preview(visiting: Visit, cast: Cast) -> None:
    quote = sent(cast, deliver="none")
    path, warranty = f"/quotes/{quote['id']}/record-decision", quote["lines"][1]["id"]
    given = {"decision": "accepted", "method": "phone", "name": "Ann", f"chosen {warranty}": "on"}
    assert "Warranty, 5 years" in visiting.get(path).text
    unnamed = visiting.submit(path, **given | {"name": ""})
    assert unnamed.status_code == 422
    preview = visiting.submit(path, **given)
    assert "is accepted by Ann: 1,200.00 GBP" in words(preview.text)
    done = visiting.answer(preview.text, path, confirmed="yes", **given)
    assert "The answer is recorded." in visiting.follow(done).text
    assert now(cast, quote)["total"] == "1200.00"


def test_the_list_has_tabs_and_finds(visiting: Visit, cast: Cast) -> None:
    a_draft(cast, title="Bathroom")
    sent(cast, a_draft(cast, title="Kitchen"), deliver="none")
    page = words(visiting.get("/quotes").text)
    assert "Waiting 1" in page
    assert "Drafts 1" in page
    waiting = words(visiting.get("/quotes?status=sent").text)
    assert "Kitchen" in waiting
    assert "Bathroom" not in waiting
    assert "Bathroom" in words(visiting.get("/quotes?text=bath").text)
    assert visiting.get("/quotes/export.csv").status_code == 200


def test_quotes_stand_on_the_pages_of_their_customer_and_job_and_on_home(visiting: Visit, cast: Cast) -> None:
    customer = a_customer(cast)
    job = a_job(cast, customer)
    quote = sent(cast, a_draft(cast, customerId=customer, jobId=job["id"], title="Kitchen"), deliver="none")
    for path in (f"/customers/{customer}", f"/jobs/{job['id']}"):
        page = visiting.get(path).text
        assert f"/quotes/{quote['id']}" in page
        assert "/quotes/new?" in page
    assert "Quotes waiting for an answer" in visiting.get("/").text
    assert f'value="{job["number"]} ' in visiting.get(f"/quotes/new?jobId={job['id']}").text


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_finds_no_quotes(server: RunningServer, cast: Cast, role: Role) -> None:
    quote = a_draft(cast)
    visiting = visit(server, cast, role)
    assert 'href="/quotes"' not in visiting.get("/").text
    for path in ("/quotes", f"/quotes/{quote['id']}", f"/quotes/{quote['id']}/lines", f"/quotes/{quote['id']}/pdf"):
        assert visiting.get(path).status_code == 403


def test_what_people_wrote_is_text_and_no_page(visiting: Visit, cast: Cast) -> None:
    nasty = "<script>alert(1)</script>"
    quote = a_draft(cast, title=nasty, terms=nasty, lines=[BOILER | {"description": nasty, "unit": nasty}])
    for path in ("", "/lines", "/edit", "/send"):
        assert nasty not in visiting.get(f"/quotes/{quote['id']}{path}").text


def test_settings_of_quotes_are_kept(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.ADMIN)
    page = visiting.get("/settings/documents/edit").text
    fields = fields_of(page.partition('<form method="post">')[2]) | {"quoteValidDays": "14", "quoteTerms": "Ours."}
    answer = visiting.post("/settings/documents/edit", fields)
    assert answer.status_code == 303, words(answer.text)
    assert a_draft(cast)["terms"] == "Ours."


def test_a_discount_on_the_whole_stands_where_the_sums_are(visiting: Visit, cast: Cast) -> None:
    page = visiting.get(f"/quotes/{a_draft(cast, discount={'percent': '5'})['id']}")
    assert "Net, less 5 % on the whole" in words(page.text)
