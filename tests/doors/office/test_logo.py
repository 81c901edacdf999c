"""Settings → Organisation → Logo: handed in, shown to the organisation's people and to nobody else, removed."""

import pytest

from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import FolderFileStore
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.images import NOT_IMAGES, draw_image, open_image
from support.servers import RunningServer
from support.uploads import SET_LOGO, list_temporary_files, read_form_tokens, read_logo_address, upload_logo
from support.waiting import wait_until


def test_a_logo_is_set_and_shown_in_the_sidebar_and_the_settings(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    assert "mark.svg" in olivia.get("/").text.partition('<header class="side">')[2]

    answer = upload_logo(olivia, draw_image("JPEG", (2000, 500)), "a photo of us.png")
    assert (answer.status_code, answer.headers["location"]) == (303, "/settings?done=set_logo")

    page = olivia.get("/settings?done=set_logo").text
    assert "Logo uploaded." in visible_text(page)
    address = read_logo_address(olivia)
    assert page.count(address) == 2
    assert f'src="{address}"' in olivia.get("/people").text
    shown = olivia.get(address)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/jpeg")
    assert (open_image(shown.content).format, open_image(shown.content).size) == ("JPEG", (1000, 250))
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in shown.headers["content-security-policy"]
    # Its address is the hash under which it is kept.
    path = FolderFileStore(DataFolder(server.settings.data).files).path(address.rpartition("/")[2])
    assert path.read_bytes() == shown.content
    wait_until(lambda: not list_temporary_files(server))


def test_everyone_of_the_organisation_sees_it_and_nobody_else(
    server: RunningServer, cast: Cast, other_cast: Cast
) -> None:
    olivia = sign_in_new_person(server, cast)
    upload_logo(olivia, draw_image(size=(11, 13)))
    address = read_logo_address(olivia)
    sam = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    assert address in sam.get("/").text
    assert sam.get(address).status_code == 200

    assert sign_in_new_person(server, other_cast).get(address).status_code == 404
    outside = BrowserSession(server).get(address)
    assert (outside.status_code, outside.headers["location"].partition("?")[0]) == (303, "/sign-in")
    for name in ("0" * 64, "%2e%2e%2fmainstay.db", "x"):
        assert olivia.get(f"/logo/{name}").status_code == 404


def test_a_logo_is_replaced_and_removed(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    assert "/settings/remove-logo" not in olivia.get("/settings").text
    upload_logo(olivia, draw_image(size=(11, 13)))
    first = read_logo_address(olivia)
    upload_logo(olivia, draw_image(size=(13, 11)))
    second = read_logo_address(olivia)
    assert first != second
    assert (olivia.get(first).status_code, olivia.get(second).status_code) == (404, 200)

    answer = olivia.submit_form("/settings", "/settings/remove-logo")
    assert answer.status_code == 303
    assert read_logo_address(olivia) == ""
    assert olivia.get(second).status_code == 404


@pytest.mark.parametrize("what", NOT_IMAGES)
def test_what_is_no_picture_is_told_beside_the_field(server: RunningServer, cast: Cast, what: str) -> None:
    olivia = sign_in_new_person(server, cast)
    if NOT_IMAGES[what]:
        answer = upload_logo(olivia, NOT_IMAGES[what])
        text = visible_text(answer.text)
        assert answer.status_code == 422
        assert "Logo is not a PNG or JPEG picture." in text or "Logo has more than 16 million pixels" in text
        assert 'enctype="multipart/form-data"' in answer.text
    assert read_logo_address(olivia) == ""
    wait_until(lambda: not list_temporary_files(server))


def test_a_form_that_is_sent_again_counts_once(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    fields = read_form_tokens(olivia)
    for _ in range(2):
        answer = olivia.upload(SET_LOGO, fields, logo=("logo.png", draw_image()))
        assert (answer.status_code, answer.headers["location"]) == (303, "/settings?done=set_logo")
    assert read_form_tokens(olivia)["version"] == "2"
    # With another picture in it, it is not the same form.
    assert olivia.upload(SET_LOGO, fields, logo=("logo.png", draw_image(size=(9, 9)))).status_code == 409


def test_a_form_of_an_older_page_is_refused(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    old = read_form_tokens(olivia)
    upload_logo(olivia, draw_image())
    assert olivia.upload(SET_LOGO, old, logo=("logo.png", draw_image(size=(9, 9)))).status_code == 409


def test_a_logo_whose_file_was_not_brought_along_is_not_found(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_new_person(server, cast)
    upload_logo(olivia, draw_image(size=(17, 5)))
    address = read_logo_address(olivia)
    FolderFileStore(DataFolder(server.settings.data).files).path(address.rpartition("/")[2]).unlink()
    assert olivia.get(address).status_code == 404
    assert olivia.get("/settings").status_code == 200
