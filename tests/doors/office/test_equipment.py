"""Equipment in the office: its pages, and the panels on the pages of its site and of jobs there."""

from mainstay.business.equipment.operations import archive_equipment, list_equipment
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_equipment, make_job, make_site
from support.servers import RunningServer


def test_it_is_added_on_the_page_of_its_site_and_shown_there(server: RunningServer, cast: Cast) -> None:
    site = make_site(cast, make_customer(cast), name="The mill")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get(f"/sites/{site}").text
    assert f'href="/equipment/new?siteId={site}"' in page
    made = session.submit_form(
        f"/equipment/new?siteId={site}", "/equipment/new", siteId=site, name="Boiler", make="Worcester", status="active"
    )
    (equipment,) = cast.perform(list_equipment)["data"]
    assert made.headers["Location"].startswith(f"/equipment/{equipment['id']}")
    shown = visible_text(session.get(f"/equipment/{equipment['id']}").text)
    assert "The mill" in shown
    assert "Worcester" in shown
    panel = session.get(f"/sites/{site}").text
    assert f'href="/equipment/{equipment["id"]}"' in panel
    assert "Worcester" in panel


def test_the_page_of_a_job_lists_what_is_at_its_site(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    site = make_site(cast, customer)
    equipment, elsewhere = make_equipment(cast, site), make_equipment(cast, make_site(cast, customer))
    old = make_equipment(cast, site, name="Pump")
    cast.perform(archive_equipment, equipmentId=old)
    job = make_job(cast, customer, Role.SUBCONTRACTOR, siteId=site)["id"]
    for role in (Role.OFFICE, Role.SUBCONTRACTOR):
        page = sign_in_cast(server, cast, role).get(f"/jobs/{job}").text
        assert f"/equipment/{equipment}" in page
        assert f"/equipment/{elsewhere}" not in page
        assert f"/equipment/{old}" not in page
    without = make_job(cast, make_customer(cast, "Ryburn"))["id"]
    assert "Equipment" not in visible_text(sign_in_cast(server, cast, Role.OFFICE).get(f"/jobs/{without}").text)


def test_the_list_can_be_searched_and_exported(server: RunningServer, cast: Cast) -> None:
    site = make_site(cast, make_customer(cast), name="The mill")
    equipment = make_equipment(cast, site, serialNumber="7733-600", warrantyUntil="2029-05-13")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    assert f"/equipment/{equipment}" in session.get("/equipment?text=7733").text
    assert f"/equipment/{equipment}" in session.get("/search?text=7733-600").text
    exported = session.get("/equipment/export.csv").text
    assert "7733-600" in exported
    assert "The mill" in exported


def test_a_button_archives_it(server: RunningServer, cast: Cast) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)))
    session = sign_in_new_person(server, cast, Role.OFFICE)
    session.submit_form(f"/equipment/{equipment}", f"/equipment/{equipment}/archive")
    assert cast.perform(list_equipment)["data"] == []
    assert "Restore" in visible_text(session.get(f"/equipment/{equipment}").text)
