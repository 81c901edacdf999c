"""Members and subcontractors see their own alone, through every door that opens to them.

Every page is opened from the office's own table of routes, and every tool called from its own list. The HTTP API knows
them not: a key acts for an owner or admin.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import product
from typing import Any
from urllib.parse import unquote_plus, urlencode

import pytest

from agents import ask, call_tool
from apps import Person, register, signed_in
from apps import hidden as in_form
from cast import Cast, assemble
from filing import PDF
from house.examples_hours import furnish_hours
from house.examples_records import furnish_documents
from house.examples_schedule import DAY, furnish_schedule
from house.examples_work import furnish_work
from house.hidden import hide
from house.hidden_words import BEGINNING, Hidden, Viewer
from inside import Inside
from mainstay.backing.files import Files
from mainstay.backing.folder import DataFolder
from mainstay.business.jobs.operations import update_job
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.arrangement import verb_of
from mainstay.doors.office.beside import SIDES
from mainstay.doors.pages.door import PagesDoor
from mainstay.kernel.listing import Listing
from mainstay.kernel.perform import Stage
from mainstay.terms.rights import Role
from telling import set_columns
from visiting import Visit, visit_as

# The office shows a member whose team's schedule is closed to them no other pages than one to whom it is open.
VIEWER = pytest.mark.parametrize("viewer", [Viewer.MEMBER, Viewer.SUBCONTRACTOR], ids=lambda viewer: viewer.name)
NOT_THERE = {403, 404}
ALIKE = 8


@dataclass(frozen=True)
class Office:
    """The office of an organisation in which there is much to hide, and what of its records the field sees."""

    server: Inside
    cast: Cast
    hidden: Hidden
    own: dict[Viewer, list[str]]

    def paths(self, method: str) -> list[str]:
        """Where its pages are."""
        door = self.server.front.nowhere
        assert isinstance(door, PagesDoor)
        return sorted({route.path for route in door.routes if route.method == method})


@pytest.fixture(scope="module")
def office(server: Inside, stage: Stage) -> Office:
    cast = assemble(stage)
    work = furnish_work(cast)
    schedule, hours = furnish_schedule(cast, work.job), furnish_hours(cast, work.job)
    furnish_documents(cast, work.job)
    hidden = hide(cast, work, schedule, hours)
    cast.perform(update_job, jobId=work.job, leadPersonId=cast.people[Role.OFFICE])
    files = Files(DataFolder(server.settings.data).files)
    kept, told = files.keep(PDF + hidden.word("content").encode()), files.keep(PDF)
    with stage.database.reading(cast.organisation) as rows:
        documents = rows.all("SELECT id FROM document WHERE organisation_id = :organisation")
    for (document,) in documents:
        content = kept if document in hidden.records else told
        set_columns(cast, "document", str(document), content=content, thumbnail=content)
    shared = [work.job, work.site, work.contact]
    own = {
        viewer: [*shared, *(of[viewer.role] for of in (schedule.visits, hours.drafts, cast.people))]
        for viewer in Viewer
    }
    return Office(server, cast, hidden, own)


PLACES = {one.shown.place: one for one, _ in CATALOGUE.listings.values() if one.shown.place}


def kind_at(path: str) -> Listing[Any] | None:
    """The records that have their pages at a path, where it is known."""
    places = [place for place in PLACES if path == place or path.startswith(f"{place}/")]
    return PLACES[max(places, key=len)] if places else None


def filled(path: str, ids: list[str]) -> Iterator[str]:
    """The addresses of a page for these records: for those that it is about, or for each where that is not known."""
    if "{id}" not in path:
        return
    kind = kind_at(path)
    about = [one for one in ids if kind is None or one.startswith(f"{kind.prefix}_")]
    verbs = [*map(verb_of, CATALOGUE.on(kind.shown)), *SIDES] if kind and "{verb}" in path else [""]
    for one, verb in product(about, dict.fromkeys(verbs)):
        yield path.replace("{id}", one).replace("{verb}", verb)


def questions(office: Office, viewer: Viewer) -> list[str]:
    """What could be asked of a page in its address, so as to see more than one should."""
    hidden = office.hidden
    names = {field.alias or name for one in CATALOGUE.operations for name, field in one.input.model_fields.items()}
    asked: list[dict[str, str]] = [{"text": BEGINNING}, {"text": hidden.number}, {"text": hidden.phone(21)}]
    for name in sorted(name for name in names if name.endswith("Id") and name != "clientId"):
        kind = re.sub(r"^(lead|into)?(\w+)Id$", r"\2", name).lower().replace("record", "job")
        asked += [{name: one} for one in hidden.ids(viewer, kind)[:1]]
    asked += [{"from": DAY, "until": DAY, "on": DAY, "week": DAY, "view": view} for view in ("day", "week", "list")]
    asked += [{"onLeave": "yes"}, {"unassigned": "yes"}, {"dueBefore": DAY}, {"order": "due"}]
    return [urlencode(one) for one in asked]


def opened(office: Office, viewer: Viewer, visiting: Visit, address: str) -> int:
    """Open a page, or the one that it leads to, which tells nothing that it must not; its status."""
    answer = visiting.get(address)
    assert (address, office.hidden.told(viewer, answer.text, unquote_plus(address))) == (address, [])
    assert (address, answer.status_code < 500) == (address, True)
    if answer.status_code == 303:
        return opened(office, viewer, visiting, answer.headers["Location"])
    return answer.status_code


@VIEWER
def test_no_page_shows_what_is_not_theirs(office: Office, viewer: Viewer) -> None:
    visiting = visit_as(office.server, office.cast, viewer.role)
    pages = [path for path in office.paths("GET") if "{" not in path]
    shown = [path for path in pages if opened(office, viewer, visiting, path) == 200]
    assert len(shown) >= 15
    # What is packed could not be read here: it is not for them at all.
    assert not [path for path in shown if path.endswith(".zip")]
    for path, question in product(shown, questions(office, viewer)):
        opened(office, viewer, visiting, f"{path}?{question}")


@VIEWER
def test_their_own_records_have_pages_that_tell_no_more(office: Office, viewer: Viewer) -> None:
    visiting = visit_as(office.server, office.cast, viewer.role)
    addresses = [one for path in office.paths("GET") for one in filled(path, office.own[viewer])]
    assert sum(opened(office, viewer, visiting, one) == 200 for one in addresses) >= 10


@VIEWER
def test_the_page_of_a_record_that_is_not_theirs_is_not_there(office: Office, viewer: Viewer) -> None:
    visiting = visit_as(office.server, office.cast, viewer.role)
    addresses = [one for path in office.paths("GET") for one in filled(path, office.hidden.ids(viewer))]
    assert len(addresses) >= 80
    for address in addresses:
        assert (address, opened(office, viewer, visiting, address) in NOT_THERE) == (address, True)


@VIEWER
def test_no_page_links_to_one_that_is_closed_to_them(office: Office, viewer: Viewer) -> None:
    visiting = visit_as(office.server, office.cast, viewer.role)
    from_where, followed = {"/": ""}, Counter[str]()
    addresses = deque(from_where)
    while addresses:
        address = addresses.popleft()
        # Some go on for ever, as the days of a schedule do: what is alike is followed so often.
        kind = re.sub(r"=[^&]*|(?<=_)[0-9A-Z]{26}", "", address)
        followed[kind] += 1
        if followed[kind] > ALIKE:
            continue
        answer = visiting.get(address)
        assert (from_where[address], address, answer.status_code in NOT_THERE) == (from_where[address], address, False)
        links = re.findall(r'<a [^>]*href="(/[^"#]*)', answer.text)
        for link in map(unescape, [*links, *answer.headers.get_list("Location")]):
            if link not in from_where:
                from_where[link] = address
                addresses.append(link)
    assert len(followed) >= 30


@VIEWER
def test_no_form_is_answered_with_what_is_not_theirs(office: Office, viewer: Viewer) -> None:
    visiting = visit_as(office.server, office.cast, viewer.role)
    known = {"csrf": in_form(visiting.get("/").text, "csrf"), "on": "2026-11-02", "minutes": "5", "text": "x"}
    hidden, statuses = office.hidden, set()
    for path in office.paths("POST"):
        if re.search("sign|password|session", path):
            continue
        ids = [*hidden.ids(viewer), *office.own[viewer]]
        for address in [path] if "{" not in path else filled(path, ids):
            for named in (hidden.ids(viewer, "job")[0], hidden.number, BEGINNING):
                sent = {**known, "jobId": named, "recordId": named, "timeEntryId": hidden.ids(viewer, "entry")[0]}
                answer = visiting.post(address, sent)
                assert (address, hidden.told(viewer, answer.text, f"{address} {sent}")) == (address, [])
                statuses.add(answer.status_code)
    # Each was read, and refused for what it named or left out.
    assert {404, 422} <= statuses
    assert max(statuses) < 500


@VIEWER
def test_the_calendar_is_their_own(office: Office, viewer: Viewer) -> None:
    visiting = visit_as(office.server, office.cast, viewer.role)
    page = visiting.follow(visiting.submit("/schedule/calendar", "/schedule/calendar/new"))
    link = re.search(r"/calendar/svc_cl_[\w-]{43}\.ics", page.text)
    assert link
    feed = office.server.request("GET", link[0])
    # A long line of a calendar goes on in the next one.
    lines = feed.text.replace("\r\n ", "")
    assert "Replace the boiler" in lines
    assert office.hidden.told(viewer, lines) == []


def connected(visiting: Person, office: Office) -> str:
    """The token of a new app of whoever is signed in."""
    return str(register(office.server).connect(visiting, office.cast.organisation)["access_token"])


def test_an_app_of_a_member_is_told_of_their_own(office: Office) -> None:
    server, hidden, viewer = office.server, office.hidden, Viewer.MEMBER
    visiting = signed_in(server, office.cast, viewer.role)
    tools = ask(server, connected(visiting, office), "tools/list")["tools"]
    assert len(tools) >= 15
    for tool in tools:
        # Another app for each: one may ask so often in a minute, and no more.
        token = connected(visiting, office)
        names = tool["inputSchema"]["properties"]
        given: list[dict[str, str]] = [{}, {"text": BEGINNING}] if "text" in names else [{}]
        given += [{name: one} for name in names if name.endswith("Id") for one in hidden.ids(viewer)]
        for arguments in given:
            told = call_tool(server, token, tool["name"], **arguments)["content"]
            assert (tool["name"], hidden.told(viewer, str(told), str(arguments))) == (tool["name"], [])
