"""The page of every kind of record shows its history and its notes."""

import re
from collections.abc import Callable

import pytest

from doors.office.test_customers import extract_main
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.operations import update_person
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.leave import request_time_off
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.identity.connections import list_connections
from mainstay.identity.keys import list_keys
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.oauth_app import register_app, sign_in_cast_member
from support.prices import make_tax_rate
from support.servers import RunningServer
from support.visits import DAY
from support.webhook_installation import make_quiet_webhook


def change_person(cast: Cast) -> str:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    return cast.people[Role.MEMBER]


def make_key(cast: Cast) -> str:
    cast.make_key()
    return str(cast.perform(list_keys)["data"][0]["id"])


def request_leave(cast: Cast) -> str:
    return str(cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})["id"])


def change_organisation(cast: Cast) -> str:
    return str(cast.perform(update_organisation, phone="1")["id"])


def change_settings(cast: Cast) -> str:
    return str(cast.perform(update_settings, membersSeePrices=True)["id"])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (change_person, "Details edited: phone"),
        (make_key, "API key created"),
        (make_quiet_webhook, "Webhook created"),
        (request_leave, "Time off entered"),
        (make_tax_rate, "Tax rate saved"),
        (change_organisation, "Details edited: phone"),
        (change_settings, "Settings changed"),
    ],
)
def test_what_happened_stands_apart_from_notes_which_are_added_there(
    server: RunningServer, cast: Cast, make: Callable[[Cast], str], told: str
) -> None:
    record = make(cast)
    session = sign_in_cast(server, cast, Role.OWNER)
    prefix = record.partition("_")[0]
    path = str(CATALOGUE.get_operations[prefix].output.office_path).format(id=record)
    page = session.get(path).text
    timeline = re.search(r'<h2 id="timeline">History</h2>.*?</ol>', page, re.DOTALL)
    assert timeline
    assert told in visible_text(timeline[0])
    session.follow_redirect(session.submit_page(page, f"{path}/notes", text="Ask before Friday", recordId=record))
    assert [note["body"] for note in cast.perform(list_notes, recordId=record)["data"]] == ["Ask before Friday"]
    noted = extract_main(session.get(path).text)
    assert noted.index("Ask before Friday") < noted.index('id="timeline"')
    assert session.get(f"{path}/notes").status_code == session.get(f"{path}/history").status_code == 200


def test_an_app_is_revoked_where_one_reads_what_happened_to_it(server: RunningServer, cast: Cast) -> None:
    register_app(server).connect(sign_in_cast_member(server, cast), cast.organisation)
    (app,) = cast.perform(list_connections)["data"]
    path = f"/settings/developer/mcp/{app['id']}"
    session = sign_in_cast(server, cast, Role.OWNER)
    for page in (path, f"{path}/history"):
        shown = extract_main(session.get(page).text)
        assert "App connected" in visible_text(shown)
        assert f'href="{path}/revoke"' in shown


def test_every_kind_of_record_has_both_on_one_page_and_only_there() -> None:
    pages = [
        one.get_operation.on.prefix for one in LAYOUTS if one.get_operation.on and {"notes", "history"} <= {*one.panels}
    ]
    assert sorted(pages) == sorted(CATALOGUE.get_operations)
    assert [one.title for one in LAYOUTS if not one.panels] == ["Money"]


def test_members_read_of_others_only_what_they_did_themselves(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_organisation, phone="1")
    page = sign_in_cast(server, cast, Role.MEMBER).get("/settings").text
    assert "Details edited" not in visible_text(page)
