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

from mainstay.business.jobs.operations import update_job
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.kit.record_layout import verb_of
from mainstay.doors.office.kit.record_panels import PANELS
from mainstay.doors.pages.door import PagesDoor
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import FolderFileStore
from mainstay.kernel.perform import Performer
from mainstay.kernel.record_store import RecordStore
from mainstay.vocabulary.permissions import Role
from rules.examples_hours import make_hours_samples
from rules.examples_records import add_sample_files
from rules.examples_schedule import DAY, make_schedule_samples
from rules.examples_work import make_work_samples
from rules.hidden import add_hidden_records
from rules.hidden_words import WORD_PREFIX, HiddenData, RestrictedViewer
from support.attachments import PDF
from support.browser_session import BrowserSession, sign_in_cast
from support.cast import Cast, make_cast
from support.in_process import InProcessServer
from support.mcp_client import call_legacy, call_tool
from support.oauth_app import SignedInPerson, register_app, sign_in_cast_member
from support.oauth_app import hidden_value as in_form
from support.webhooks import set_columns

# The office shows a member whose team's schedule is closed to them no other pages than one to whom it is open.
VIEWER = pytest.mark.parametrize(
    "viewer", [RestrictedViewer.MEMBER, RestrictedViewer.SUBCONTRACTOR], ids=lambda viewer: viewer.name
)
NOT_THERE = {403, 404}
ALIKE = 8


@dataclass(frozen=True)
class OfficeUnderTest:
    """The office of an organisation in which there is much to hide, and what of its records the field sees."""

    server: InProcessServer
    cast: Cast
    hidden: HiddenData
    own_records: dict[RestrictedViewer, list[str]]

    def list_paths(self, method: str) -> list[str]:
        """Where its pages are."""
        door = self.server.app.default_door
        assert isinstance(door, PagesDoor)
        return sorted({route.path for route in door.routes if route.method == method})


@pytest.fixture(scope="module")
def office(server: InProcessServer, performer: Performer) -> OfficeUnderTest:
    cast = make_cast(performer)
    work = make_work_samples(cast)
    schedule, hours = make_schedule_samples(cast, work.job), make_hours_samples(cast, work.job)
    add_sample_files(cast, work.job)
    hidden = add_hidden_records(cast, work, schedule, hours)
    cast.perform(update_job, jobId=work.job, leadPersonId=cast.people[Role.OFFICE])
    files = FolderFileStore(DataFolder(server.settings.data).files)
    hidden_content, open_content = files.store(PDF + hidden.add_word("content").encode()), files.store(PDF)
    with performer.database.read_transaction(cast.organisation) as db:
        documents = db.all("SELECT id FROM document WHERE organisation_id = :organisation")
    for (document,) in documents:
        content = hidden_content if document in hidden.records else open_content
        set_columns(cast, "document", str(document), content=content, thumbnail=content)
    shared = [work.job, work.site, work.contact]
    own = {
        viewer: [*shared, *(of[viewer.role] for of in (schedule.visits, hours.drafts, cast.people))]
        for viewer in RestrictedViewer
    }
    return OfficeUnderTest(server, cast, hidden, own)


STORES_BY_PATH = {one.output.office_path: one for one, _ in CATALOGUE.record_stores.values() if one.output.office_path}


def find_store(path: str) -> RecordStore[Any] | None:
    """The records that have their pages at a path, where it is known."""
    places = [place for place in STORES_BY_PATH if path == place or path.startswith(f"{place}/")]
    return STORES_BY_PATH[max(places, key=len)] if places else None


def fill_path(path: str, ids: list[str]) -> Iterator[str]:
    """The addresses of a page for these records: for those that it is about, or for each where that is not known."""
    if "{id}" not in path:
        return
    kind = find_store(path)
    about = [one for one in ids if kind is None or one.startswith(f"{kind.prefix}_")]
    verbs = [*map(verb_of, CATALOGUE.operations_on(kind.output)), *PANELS] if kind and "{verb}" in path else [""]
    for one, verb in product(about, dict.fromkeys(verbs)):
        yield path.replace("{id}", one).replace("{verb}", verb)


def make_queries(office: OfficeUnderTest, viewer: RestrictedViewer) -> list[str]:
    """What could be asked of a page in its address, so as to see more than one should."""
    hidden = office.hidden
    names = {field.alias or name for one in CATALOGUE.operations for name, field in one.input.model_fields.items()}
    queries: list[dict[str, str]] = [{"text": WORD_PREFIX}, {"text": hidden.number}, {"text": hidden.add_phone(21)}]
    for name in sorted(name for name in names if name.endswith("Id") and name != "clientId"):
        kind = re.sub(r"^(lead|into)?(\w+)Id$", r"\2", name).lower().replace("record", "job")
        queries += [{name: one} for one in hidden.hidden_ids(viewer, kind)[:1]]
    queries += [{"from": DAY, "until": DAY, "on": DAY, "week": DAY, "view": view} for view in ("day", "week", "list")]
    queries += [{"onLeave": "yes"}, {"unassigned": "yes"}, {"dueBefore": DAY}, {"order": "due"}]
    return [urlencode(one) for one in queries]


def open_page(office: OfficeUnderTest, viewer: RestrictedViewer, session: BrowserSession, address: str) -> int:
    """Open a page, or the one that it leads to, which tells nothing that it must not; its status."""
    answer = session.get(address)
    assert (address, office.hidden.find_leaks(viewer, answer.text, unquote_plus(address))) == (address, [])
    assert (address, answer.status_code < 500) == (address, True)
    if answer.status_code == 303:
        return open_page(office, viewer, session, answer.headers["Location"])
    return answer.status_code


@VIEWER
def test_no_page_shows_what_is_not_theirs(office: OfficeUnderTest, viewer: RestrictedViewer) -> None:
    session = sign_in_cast(office.server, office.cast, viewer.role)
    pages = [path for path in office.list_paths("GET") if "{" not in path]
    shown = [path for path in pages if open_page(office, viewer, session, path) == 200]
    assert len(shown) >= 15
    # What is packed could not be read here: it is not for them at all.
    assert not [path for path in shown if path.endswith(".zip")]
    for path, question in product(shown, make_queries(office, viewer)):
        open_page(office, viewer, session, f"{path}?{question}")


@VIEWER
def test_their_own_records_have_pages_that_tell_no_more(office: OfficeUnderTest, viewer: RestrictedViewer) -> None:
    session = sign_in_cast(office.server, office.cast, viewer.role)
    addresses = [one for path in office.list_paths("GET") for one in fill_path(path, office.own_records[viewer])]
    assert sum(open_page(office, viewer, session, one) == 200 for one in addresses) >= 10


@VIEWER
def test_the_page_of_a_record_that_is_not_theirs_is_not_there(
    office: OfficeUnderTest, viewer: RestrictedViewer
) -> None:
    session = sign_in_cast(office.server, office.cast, viewer.role)
    addresses = [one for path in office.list_paths("GET") for one in fill_path(path, office.hidden.hidden_ids(viewer))]
    assert len(addresses) >= 80
    for address in addresses:
        assert (address, open_page(office, viewer, session, address) in NOT_THERE) == (address, True)


@VIEWER
def test_no_page_links_to_one_that_is_closed_to_them(office: OfficeUnderTest, viewer: RestrictedViewer) -> None:
    session = sign_in_cast(office.server, office.cast, viewer.role)
    from_where, followed = {"/": ""}, Counter[str]()
    addresses = deque(from_where)
    while addresses:
        address = addresses.popleft()
        # Some go on for ever, as the days of a schedule do: what is alike is followed so often.
        kind = re.sub(r"=[^&]*|(?<=_)[0-9A-Z]{26}", "", address)
        followed[kind] += 1
        if followed[kind] > ALIKE:
            continue
        answer = session.get(address)
        assert (from_where[address], address, answer.status_code in NOT_THERE) == (from_where[address], address, False)
        links = re.findall(r'<a [^>]*href="(/[^"#]*)', answer.text)
        for link in map(unescape, [*links, *answer.headers.get_list("Location")]):
            if link not in from_where:
                from_where[link] = address
                addresses.append(link)
    assert len(followed) >= 30


@VIEWER
def test_no_form_is_answered_with_what_is_not_theirs(office: OfficeUnderTest, viewer: RestrictedViewer) -> None:
    session = sign_in_cast(office.server, office.cast, viewer.role)
    known = {"csrf": in_form(session.get("/").text, "csrf"), "on": "2026-11-02", "minutes": "5", "text": "x"}
    hidden, statuses = office.hidden, set()
    for path in office.list_paths("POST"):
        if re.search("sign|password|session", path):
            continue
        ids = [*hidden.hidden_ids(viewer), *office.own_records[viewer]]
        for address in [path] if "{" not in path else fill_path(path, ids):
            for named in (hidden.hidden_ids(viewer, "job")[0], hidden.number, WORD_PREFIX):
                sent = {
                    **known,
                    "jobId": named,
                    "recordId": named,
                    "timeEntryId": hidden.hidden_ids(viewer, "entry")[0],
                }
                answer = session.post(address, sent)
                assert (address, hidden.find_leaks(viewer, answer.text, f"{address} {sent}")) == (address, [])
                statuses.add(answer.status_code)
    # Each was read, and refused for what it named or left out.
    assert {404, 422} <= statuses
    assert max(statuses) < 500


@VIEWER
def test_the_calendar_is_their_own(office: OfficeUnderTest, viewer: RestrictedViewer) -> None:
    session = sign_in_cast(office.server, office.cast, viewer.role)
    page = session.follow_redirect(session.submit_form("/schedule/calendar", "/schedule/calendar/new"))
    link = re.search(r"/calendar/svc_cl_[\w-]{43}\.ics", page.text)
    assert link
    feed = office.server.request("GET", link[0])
    # A long line of a calendar goes on in the next one.
    lines = feed.text.replace("\r\n ", "")
    assert "Replace the boiler" in lines
    assert office.hidden.find_leaks(viewer, lines) == []


def connect_app(session: SignedInPerson, office: OfficeUnderTest) -> str:
    """The token of a new app of the person who is signed in."""
    return str(register_app(office.server).connect(session, office.cast.organisation)["access_token"])


def test_an_app_of_a_member_is_told_of_their_own(office: OfficeUnderTest) -> None:
    server, hidden, viewer = office.server, office.hidden, RestrictedViewer.MEMBER
    session = sign_in_cast_member(server, office.cast, viewer.role)
    tools = call_legacy(server, connect_app(session, office), "tools/list")["tools"]
    assert len(tools) >= 15
    for tool in tools:
        # Another app for each: one may ask so often in a minute, and no more.
        token = connect_app(session, office)
        names = tool["inputSchema"]["properties"]
        given: list[dict[str, str]] = [{}, {"text": WORD_PREFIX}] if "text" in names else [{}]
        given += [{name: one} for name in names if name.endswith("Id") for one in hidden.hidden_ids(viewer)]
        for arguments in given:
            content = call_tool(server, token, tool["name"], **arguments)["content"]
            assert (tool["name"], hidden.find_leaks(viewer, str(content), str(arguments))) == (tool["name"], [])
