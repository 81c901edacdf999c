"""What happened to a record, and the notes beside it, stand on the page of every kind of record."""

import re
from collections.abc import Callable

import pytest

from apps import register, signed_in
from arranged import ARRANGED
from cast import Cast
from doors.office.test_customers import main
from hooking import quiet_webhook
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.operations import update_person
from mainstay.business.records.notes import list_notes
from mainstay.business.schedule.leave import request_time_off
from mainstay.catalogue import CATALOGUE
from mainstay.identity.connections import list_connections
from mainstay.identity.keys import list_keys
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import DAY
from visiting import visit_as, words
from wares import a_rate


def changed_person(cast: Cast) -> str:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    return cast.people[Role.MEMBER]


def a_key(cast: Cast) -> str:
    cast.key()
    return str(cast.perform(list_keys)["data"][0]["id"])


def time_off(cast: Cast) -> str:
    return str(cast.perform(request_time_off, Role.MEMBER, **{"from": DAY})["id"])


def renamed(cast: Cast) -> str:
    return str(cast.perform(update_organisation, phone="1")["id"])


def settled(cast: Cast) -> str:
    return str(cast.perform(update_settings, membersSeePrices=True)["id"])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (changed_person, "Details changed: phone"),
        (a_key, "Key made"),
        (quiet_webhook, "Webhook created"),
        (time_off, "Time off entered"),
        (a_rate, "Tax rate saved"),
        (renamed, "Details changed: phone"),
        (settled, "Settings changed"),
    ],
)
def test_what_happened_stands_apart_from_notes_which_are_added_there(
    server: RunningServer, cast: Cast, make: Callable[[Cast], str], told: str
) -> None:
    record = make(cast)
    visiting = visit_as(server, cast, Role.OWNER)
    prefix = record.partition("_")[0]
    path = str(CATALOGUE.gets[prefix].output.place).format(id=record)
    page = visiting.get(path).text
    timeline = re.search(r'<h2 id="timeline">What happened</h2>.*?</ol>', page, re.DOTALL)
    assert timeline
    assert told in words(timeline[0])
    visiting.follow(visiting.answer(page, f"{path}/notes", text="Ask before Friday", recordId=record))
    assert [note["body"] for note in cast.perform(list_notes, recordId=record)["data"]] == ["Ask before Friday"]
    noted = main(visiting.get(path).text)
    assert noted.index("Ask before Friday") < noted.index('id="timeline"')
    assert visiting.get(f"{path}/notes").status_code == visiting.get(f"{path}/history").status_code == 200


def test_an_app_is_revoked_where_one_reads_what_happened_to_it(server: RunningServer, cast: Cast) -> None:
    register(server).connect(signed_in(server, cast), cast.organisation)
    (app,) = cast.perform(list_connections)["data"]
    path = f"/settings/developer/mcp/{app['id']}"
    visiting = visit_as(server, cast, Role.OWNER)
    for page in (path, f"{path}/history"):
        shown = main(visiting.get(page).text)
        assert "App connected" in words(shown)
        assert f'href="{path}/revoke"' in shown


def test_every_kind_of_record_has_both_on_one_page_and_only_there() -> None:
    pages = [one.gets.on.prefix for one in ARRANGED if one.gets.on and {"notes", "history"} <= {*one.sides}]
    assert sorted(pages) == sorted(CATALOGUE.gets)
    assert [one.title for one in ARRANGED if not one.sides] == ["Money"]


def test_members_read_of_others_only_what_they_did_themselves(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_organisation, phone="1")
    page = visit_as(server, cast, Role.MEMBER).get("/settings").text
    assert "Details changed" not in words(page)
