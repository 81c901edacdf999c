"""In a real browser: the lines of a document are edited by keyboard, without loading the page again."""

from playwright.sync_api import Browser, Page, Route, expect

from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.quotes.operations import get_quote
from mainstay.vocabulary.permissions import Role
from support.browser import check_page, enter_office, open_page
from support.cast import Cast
from support.quotes import make_default_tax_rate, make_quote
from support.servers import RunningServer

WIDE = (1440, 900)
# In pixels, with its border.
_ROW_HEIGHT = 48


def read_descriptions(page: Page) -> list[str]:
    return [box.input_value() for box in page.locator(".line-row:not(.new) textarea").all()]


def test_lines_are_added_moved_and_removed_in_place(server: RunningServer, cast: Cast, browser: Browser) -> None:
    make_default_tax_rate(cast)
    cast.perform(save_price_item, name="Magnetic filter", sellPrice="132.25", unit="pcs")
    quote = make_quote(cast, lines=[{"description": "Boiler", "unitPrice": "1000"}])
    with open_page(browser, server.url, WIDE) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/lines")
        check_page(page)
        # It would be gone if the page were loaded again.
        page.evaluate("document.body.dataset.same = 'yes'")
        page.locator("#new-description").fill("mag")
        suggestion = page.locator(".found").get_by_role("option").first
        expect(suggestion).to_contain_text("£132.25 per pcs")
        suggestion.click()
        # Its price is known, so one goes on with how much of it. The total follows.
        expect(page.locator("#new-quantity")).to_be_focused()
        expect(page.locator("#sums")).to_contain_text("1,132.25")
        page.get_by_role("button", name="Add line").click()
        expect(page.locator(".line-row:not(.new)")).to_have_count(2)
        expect(page.locator("#new-description")).to_be_focused()
        expect(page.locator(".save-state")).to_have_text("Saved")
        new = page.locator(".line-row.new")
        # What is typed as an item can be a line of its own: the last suggestion, and then its price.
        page.locator("#new-description").fill("Waste disposal")
        page.get_by_role("option", name="Add “Waste disposal” as a one-off item").click()
        expect(new.get_by_label("Price", exact=True)).to_be_focused()
        page.keyboard.type("20")
        expect(page.locator(".save-state")).to_have_text("Not saved yet")
        page.keyboard.press("Enter")
        expect(page.locator(".line-row:not(.new)")).to_have_count(3)
        expect(page.locator("#new-description")).to_be_focused()
        quantity = page.locator(".line-row").first.get_by_label("Quantity")
        quantity.fill("2")
        page.keyboard.press("Alt+ArrowDown")
        expect(page.locator(".line-row").nth(1).get_by_label("Quantity")).to_be_focused()
        expect(page.locator(".line-row").nth(1).get_by_label("Quantity")).to_have_value("2")
        assert read_descriptions(page) == ["Magnetic filter", "Boiler", "Waste disposal"]
        page.get_by_role("button", name="Remove Waste disposal").click()
        expect(page.locator(".line-row:not(.new)")).to_have_count(2)
        # Refused words stay, and the fault has the focus.
        page.locator(".line-row").first.get_by_label("Price", exact=True).fill("a lot")
        page.get_by_role("button", name="Save", exact=True).last.click()
        expect(page.locator("[aria-invalid=true]")).to_be_focused()
        expect(page.locator("[aria-invalid=true]")).to_have_value("a lot")
        check_page(page)
        assert page.evaluate("document.body.dataset.same") == "yes"
    lines = cast.perform(get_quote, quoteId=quote["id"])["lines"]
    assert [(line["description"], line["quantity"]) for line in lines] == [
        ("Magnetic filter", "1.00"),
        ("Boiler", "2.00"),
    ]


def test_an_item_shows_its_price_and_ends_the_fault_of_a_missing_one(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    cast.perform(save_price_item, name="Heat pump", sellPrice="11760", unit="pcs")
    quote = make_quote(cast, lines=[{"description": "Boiler", "unitPrice": "1000"}])
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/lines")
        new = page.locator(".line-row.new")
        description, price = page.locator("#new-description"), new.get_by_label("Price", exact=True)
        description.fill("heat")
        description.press("Enter")
        fault = "Enter a price, or choose an item from the price list."
        expect(new).to_contain_text(fault)
        expect(price).to_be_focused()
        description.fill("heat p")
        page.get_by_role("option", name="Heat pump").first.click()
        expect(page.get_by_text(fault)).to_have_count(0)
        expect(price).to_have_attribute("placeholder", "11760.00")
        expect(new.get_by_label("Unit")).to_have_attribute("placeholder", "pcs")
        description.fill("Heat pumps, two of them")
        expect(price).to_have_attribute("placeholder", "")
        description.fill("heat p")
        page.get_by_role("option", name="Heat pump").first.click()
        page.get_by_role("button", name="Add line").click()
        # The amount is in one line, as all else of the row.
        amount = page.locator(".line-row:not(.new)").last.locator(".num").last
        expect(amount).to_have_text("£11,760.00")
        assert amount.evaluate("amount => amount.getClientRects().length") == 1
        assert page.locator(".line-row:not(.new)").last.evaluate("row => row.offsetHeight") <= _ROW_HEIGHT


def test_what_is_typed_while_a_line_is_saved_is_in_the_total(
    server: RunningServer, cast: Cast, browser: Browser
) -> None:
    quote = make_quote(cast, lines=[{"description": "Boiler", "unitPrice": "1000"}])
    with open_page(browser, server.url) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/lines")
        page.locator("#new-description").fill("Filter")
        page.locator(".line-row.new").get_by_label("Price", exact=True).fill("50")
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/lines", hold)
        with page.expect_request("**/lines"):
            page.get_by_role("button", name="Add line").click()
        with page.expect_response("**/lines/totals"):
            page.get_by_label("Quantity").first.fill("3")
        held[0].continue_()
        expect(page.locator(".line-row:not(.new)")).to_have_count(2)
        expect(page.locator("#sums")).to_contain_text("3,050.00")
        expect(page.locator(".save-state")).to_have_text("Not saved yet")


def test_a_new_line_is_a_row_like_the_others_or_a_heading(server: RunningServer, cast: Cast, browser: Browser) -> None:
    quote = make_quote(cast)
    with open_page(browser, server.url, WIDE) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/lines")
        lines, new = page.locator(".line-row:not(.new)"), page.locator(".line-row.new")
        for name in ("Description", "Quantity", "Unit", "Price", "Tax"):
            above, below = (row.get_by_label(name, exact=True).bounding_box() for row in (lines.first, new))
            assert above
            assert below
            assert (above["x"], above["width"]) == (below["x"], below["width"]), name
        assert new.evaluate("row => row.getBoundingClientRect().height") <= _ROW_HEIGHT
        page.get_by_role("button", name="+ Heading").click()
        expect(new.get_by_label("Heading")).to_be_focused()
        check_page(page)
        page.keyboard.type("Extras")
        page.keyboard.press("Enter")
        expect(page.locator(".line-row.heading:not(.new)")).to_have_count(1)
        expect(page.locator("#new-description")).to_be_focused()
    assert cast.perform(get_quote, quoteId=quote["id"])["lines"][-1]["kind"] == "heading"


def test_the_document_is_shown_beside_or_below_its_lines(server: RunningServer, cast: Cast, browser: Browser) -> None:
    quote = make_quote(cast)
    with open_page(browser, server.url, WIDE) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/lines")
        picture, form = page.locator(".editing aside"), page.locator(".line-editor")
        for width, costs, is_beside in (
            (1600, True, True),
            (1440, True, False),
            (1440, False, True),
            (1110, False, False),
        ):
            page.set_viewport_size({"width": width, "height": 900})
            page.get_by_label("Cost and discount").set_checked(costs)
            expect(picture).to_be_visible()
            own, other = picture.bounding_box(), form.bounding_box()
            assert own
            assert other
            assert (own["x"] >= other["x"] + other["width"]) is is_beside, (width, costs)


def test_cost_and_discount_are_shown_if_one_wants_them(server: RunningServer, cast: Cast, browser: Browser) -> None:
    quote = make_quote(cast)
    with open_page(browser, server.url, WIDE) as page:
        enter_office(page, cast, Role.OFFICE)
        page.goto(f"/quotes/{quote['id']}/lines")
        cost = page.locator(".line-row").first.get_by_label("Cost", exact=True)
        expect(cost).to_be_hidden()
        page.get_by_label("Cost and discount").check()
        expect(cost).to_be_visible()
        page.reload()
        expect(cost).to_be_visible()
        check_page(page)
