"""Files and imports in a real browser: chosen, dropped, taken by a phone; and a file that becomes customers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from mainstay.business.customers.operations import list_customers
from mainstay.business.jobs.operations import update_job
from mainstay.business.records.attachments import list_documents
from mainstay.vocabulary.permissions import Role
from support.attachments import PDF, add_file, make_attachment_jobs
from support.browser import NARROW, check_page, enter_office, open_page, open_page_without_scripts, sign_in
from support.browser_session import add_new_person
from support.cast import Cast
from support.customers import make_customer, make_job
from support.images import draw_image
from support.oauth_app import begin_session
from support.servers import RunningServer

_DROP = """(form) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["%PDF-1.7\\n%%EOF\\n"], "Dropped.pdf", {type: "application/pdf"}));
    form.dispatchEvent(new DragEvent("dragover", {bubbles: true, cancelable: true, dataTransfer: transfer}));
    form.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: transfer}));
}"""

_IS_ASKED_BEFORE_LEAVING = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"


@pytest.fixture
def page(browser: Browser, server: RunningServer) -> Iterator[Page]:
    with open_page(browser, server.url) as page:
        yield page


def test_files_are_chosen_dropped_looked_at_and_removed(cast: Cast, page: Page) -> None:
    work = make_attachment_jobs(cast)
    enter_office(page, cast, Role.OFFICE)
    page.goto(f"/jobs/{work.job}")
    page.locator("summary", has_text="Photo or file").click()
    check_page(page)
    page.get_by_label("Add photos or files").set_input_files(
        [
            FilePayload(name="Meter.jpg", mimeType="image/jpeg", buffer=draw_image("JPEG", (1200, 900))),
            FilePayload(name="Plan.pdf", mimeType="application/pdf", buffer=PDF),
        ]
    )
    # As on a slow line: the first attempt is cancelled while it is on its way, and nothing is stored.
    page.route("**/documents?*", lambda _route: None, times=1)
    page.get_by_role("button", name="Add files").click()
    expect(page.get_by_role("progressbar", name="Meter.jpg")).to_be_visible()
    expect(page.get_by_role("progressbar", name="Plan.pdf")).to_be_visible()
    check_page(page)
    assert page.evaluate(_IS_ASKED_BEFORE_LEAVING)
    page.get_by_role("button", name="Cancel upload").click()
    expect(page.get_by_text("Upload cancelled. Nothing was saved.")).to_be_visible()
    assert not page.evaluate(_IS_ASKED_BEFORE_LEAVING)
    assert cast.perform(list_documents, recordId=work.job)["data"] == []
    page.get_by_role("button", name="Add files").click()
    expect(page.get_by_text("File added.")).to_be_visible()
    photo = page.get_by_role("img", name="Meter.jpg")
    photo.scroll_into_view_if_needed()
    expect(photo).to_have_js_property("naturalWidth", 320)
    page.locator("form[data-drop]").evaluate(_DROP)
    expect(page.get_by_role("link", name="Dropped.pdf")).to_be_visible()
    check_page(page)

    photo.click()
    viewer = page.get_by_role("dialog")
    expect(viewer.get_by_role("img", name="Meter.jpg")).to_have_js_property("naturalWidth", 1200)
    check_page(page)
    page.keyboard.press("ArrowRight")
    expect(viewer).to_contain_text("1 / 1")
    page.keyboard.press("Escape")
    expect(viewer).to_be_hidden()
    photo.click()
    viewer.get_by_role("link", name="Meter.jpg").click()
    expect(page.locator("img.photo")).to_have_js_property("naturalWidth", 1200)
    check_page(page)
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("File removed.")).to_be_visible()
    names = [one["name"] for one in cast.perform(list_documents, recordId=work.job)["data"]]
    assert names == ["Dropped.pdf", "Plan.pdf"]


@pytest.mark.parametrize("scripts", [True, False])
def test_photos_beyond_the_fifth_are_hidden_by_a_script_only(
    cast: Cast, browser: Browser, server: RunningServer, *, scripts: bool
) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    for number in range(7):
        add_file(cast, job, name=f"photo {number}.jpg", thumbnail="0" * 64)
    secret = begin_session(cast, add_new_person(cast).email)
    opening = open_page if scripts else open_page_without_scripts
    with opening(browser, server.url) as page:
        page.context.add_cookies([{"name": "mainstay", "value": secret, "domain": "127.0.0.1", "path": "/"}])
        page.goto(f"/jobs/{job}")
        expect(page.locator("[data-photo]:visible")).to_have_count(5 if scripts else 7)
        expect(page.get_by_text("+2", exact=True)).to_be_visible(visible=scripts)


def test_a_phone_takes_a_photo_and_it_is_there(browser: Browser, server: RunningServer, cast: Cast) -> None:
    work, mia = make_attachment_jobs(cast), add_new_person(cast, Role.MEMBER)
    cast.perform(update_job, jobId=work.job, assigned=[mia.id])
    with open_page(browser, server.url, NARROW) as page:
        sign_in(page, mia)
        page.goto(f"/jobs/{work.job}")
        page.locator("#take-photo").set_input_files(
            FilePayload(name="image.jpg", mimeType="image/jpeg", buffer=draw_image("JPEG", (900, 1200)))
        )
        expect(page.get_by_role("img", name="image.jpg")).to_be_visible()
        check_page(page)


def test_a_file_becomes_customers(cast: Cast, page: Page, tmp_path: Path) -> None:
    enter_office(page, cast, Role.OFFICE)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Import").click()
    check_page(page)
    path = tmp_path / "Kunden.csv"
    path.write_bytes("Firma;Town;Phone\nCalder;Halifax;1\nMüller;Köln;2\n".encode("cp1252"))
    page.get_by_label("Customers").check()
    # A refused file shows the form again, and the next one is sent like the first.
    page.get_by_label("File").set_input_files(FilePayload(name="a.csv", mimeType="text/csv", buffer=b"Name"))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("The file has headings but no rows.")).to_be_visible()
    check_page(page)
    page.get_by_label("File").set_input_files(path)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("read as Windows-1252")).to_be_visible()
    check_page(page)
    page.get_by_label("Name").select_option("Town")
    page.get_by_label("Company or individual").select_option("Firma")
    page.get_by_role("button", name="Check rows").click()
    expect(page.get_by_text("there are 2 problems.")).to_be_visible()
    check_page(page)
    page.get_by_label("Name").select_option("Firma")
    page.get_by_label("Company or individual").select_option("")
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_text("2 new, 0 changed")).to_be_visible()
    check_page(page)
    page.get_by_role("button", name="Import 2 rows").click()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    expect(page.get_by_text("2 new, 0 changed")).to_be_visible()
    check_page(page)
    assert [one["name"] for one in cast.perform(list_customers, order="name")["data"]] == ["Calder", "Müller"]


def test_everything_is_downloaded(cast: Cast, page: Page) -> None:
    make_attachment_jobs(cast)
    enter_office(page, cast)
    page.goto("/settings/export")
    check_page(page)
    page.get_by_role("button", name="Create archive").click()
    expect(page.get_by_role("heading", name="Your archive is ready")).to_be_visible()
    check_page(page)
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download everything").click()
    assert downloading.value.suggested_filename.endswith(".zip")
