"""Customers who may be there twice: listed for the office, with the way to merge them."""

from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.servers import RunningServer

PATH = "/customers/duplicates"


def test_likely_duplicates_are_a_link_away_and_lead_to_the_merger(server: RunningServer, cast: Cast) -> None:
    first = make_customer(cast, "Calder <Ltd>", email="kim@calder.example")
    again = make_customer(cast, "Calder", email="Kim@calder.example")
    make_customer(cast, "Ryburn")
    admin = sign_in_new_person(server, cast, Role.ADMIN)
    assert f'<a href="{PATH}">Likely duplicates</a>' in admin.get("/customers").text
    page = admin.get(PATH).text
    assert f'<a href="/customers/{again}" dir="auto">Calder</a>' in page
    assert f'<a href="/customers/{first}" dir="auto">Calder &lt;Ltd&gt;</a>' in page
    assert "Same email, name" in visible_text(page)
    way = f"/customers/{again}/merge-customers?intoCustomerId={first}"
    assert f'href="{way}"' in page
    form = admin.get(way)
    assert (form.status_code, "Calder &lt;Ltd&gt;" in form.text) == (200, True)
    # Who may not merge sees them all the same.
    assert "merge-customers" not in sign_in_new_person(server, cast, Role.OFFICE).get(PATH).text


def test_where_there_are_none_that_is_said(server: RunningServer, cast: Cast) -> None:
    make_customer(cast, "Ryburn")
    assert "No likely duplicates." in visible_text(sign_in_new_person(server, cast, Role.OFFICE).get(PATH).text)


def test_a_member_is_not_led_there_nor_let_in(server: RunningServer, cast: Cast) -> None:
    member = sign_in_cast(server, cast, Role.MEMBER)
    assert PATH not in member.get("/customers").text
    assert member.get(PATH).status_code == 403
