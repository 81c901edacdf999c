"""Settings → Organisation → Logo: handed in, shown to the organisation's people and to nobody else, removed."""

import pytest

from cast import Cast
from mainstay.backing.files import Files
from mainstay.backing.folder import DataFolder
from mainstay.terms.rights import Role
from pictures import NOT_PICTURES, drawn, opened
from running import RunningServer
from uploading import SET_LOGO, left_behind, set_logo, shown_logo, tokens
from visiting import Visit, visit, words
from waiting import wait_until


def test_a_logo_is_set_and_shown_in_the_sidebar_and_the_settings(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    assert "mark.svg" in olivia.get("/").text.partition('<header class="side">')[2]

    answer = set_logo(olivia, drawn("JPEG", (2000, 500)), "a photo of us.png")
    assert (answer.status_code, answer.headers["location"]) == (303, "/settings?done=set_logo")

    page = olivia.get("/settings?done=set_logo").text
    assert "The logo is set." in words(page)
    address = shown_logo(olivia)
    assert page.count(address) == 2
    assert f'src="{address}"' in olivia.get("/people").text
    shown = olivia.get(address)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/jpeg")
    assert (opened(shown.content).format, opened(shown.content).size) == ("JPEG", (1000, 250))
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in shown.headers["content-security-policy"]
    # Its address is the hash under which it is kept.
    path = Files(DataFolder(server.settings.data).files).path(address.rpartition("/")[2])
    assert path.read_bytes() == shown.content
    wait_until(lambda: not left_behind(server))


def test_everyone_of_the_organisation_sees_it_and_nobody_else(
    server: RunningServer, cast: Cast, stranger: Cast
) -> None:
    olivia = visit(server, cast)
    set_logo(olivia, drawn(size=(11, 13)))
    address = shown_logo(olivia)
    sam = visit(server, cast, Role.SUBCONTRACTOR)
    assert address in sam.get("/").text
    assert sam.get(address).status_code == 200

    assert visit(server, stranger).get(address).status_code == 404
    outside = Visit(server).get(address)
    assert (outside.status_code, outside.headers["location"].partition("?")[0]) == (303, "/sign-in")
    for name in ("0" * 64, "%2e%2e%2fmainstay.db", "x"):
        assert olivia.get(f"/logo/{name}").status_code == 404


def test_a_logo_is_replaced_and_removed(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    assert "/settings/remove-logo" not in olivia.get("/settings").text
    set_logo(olivia, drawn(size=(11, 13)))
    first = shown_logo(olivia)
    set_logo(olivia, drawn(size=(13, 11)))
    second = shown_logo(olivia)
    assert first != second
    assert (olivia.get(first).status_code, olivia.get(second).status_code) == (404, 200)

    answer = olivia.submit("/settings", "/settings/remove-logo")
    assert answer.status_code == 303
    assert shown_logo(olivia) == ""
    assert olivia.get(second).status_code == 404


@pytest.mark.parametrize("what", NOT_PICTURES)
def test_what_is_no_picture_is_told_beside_the_field(server: RunningServer, cast: Cast, what: str) -> None:
    olivia = visit(server, cast)
    if NOT_PICTURES[what]:
        answer = set_logo(olivia, NOT_PICTURES[what])
        told = words(answer.text)
        assert answer.status_code == 422
        assert "Logo is not a PNG or JPEG picture." in told or "Logo has more than 16 million dots" in told
        assert 'enctype="multipart/form-data"' in answer.text
    assert shown_logo(olivia) == ""
    wait_until(lambda: not left_behind(server))


def test_a_form_that_is_sent_again_counts_once(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    fields = tokens(olivia)
    for _ in range(2):
        answer = olivia.upload(SET_LOGO, fields, logo=("logo.png", drawn()))
        assert (answer.status_code, answer.headers["location"]) == (303, "/settings?done=set_logo")
    assert tokens(olivia)["version"] == "2"
    # With another picture in it, it is not the same form.
    assert olivia.upload(SET_LOGO, fields, logo=("logo.png", drawn(size=(9, 9)))).status_code == 409


def test_a_form_of_an_older_page_is_refused(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    old = tokens(olivia)
    set_logo(olivia, drawn())
    assert olivia.upload(SET_LOGO, old, logo=("logo.png", drawn(size=(9, 9)))).status_code == 409


def test_a_logo_whose_file_was_not_brought_along_is_not_found(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    set_logo(olivia, drawn(size=(17, 5)))
    address = shown_logo(olivia)
    Files(DataFolder(server.settings.data).files).path(address.rpartition("/")[2]).unlink()
    assert olivia.get(address).status_code == 404
    assert olivia.get("/settings").status_code == 200
