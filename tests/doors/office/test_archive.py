"""Everything in one archive: every list and every file, for those who may, as they see it; also when lapsed."""

import csv
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from typing import Any
from zipfile import ZipFile

import orjson
import pytest

from cast import Cast
from filing import PDF, add, work_of
from house.examples import furnish
from mainstay.backing.files import Files, PassingFiles
from mainstay.backing.folder import DataFolder
from mainstay.backing.guard import Guard
from mainstay.business.customers.operations import archive_customer, create_customer
from mainstay.business.people.standing import remove_person
from mainstay.business.records.notes import add_note
from mainstay.business.schedule.leave import list_time_off
from mainstay.business.schedule.operations import list_visits
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.archive import EXPORTS_AN_HOUR, LEFT_OUT, Archive, askings, exported, name_of
from mainstay.kernel.context import Envelope
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.terms.actor import Door
from mainstay.terms.rights import Role
from running import RunningServer
from scheduling import plan
from telling import set_columns
from uploading import left_behind
from visiting import visit, words

LONG_AGO = "2020-01-01T00:00:00.000Z"
PATH = "/settings/export/everything.zip"


@dataclass(frozen=True)
class Opened:
    """What is in an archive."""

    parts: dict[str, bytes]

    def table(self, name: str) -> list[dict[str, str]]:
        text = self.parts[f"csv/{name}.csv"].decode("utf-8-sig")
        return list(csv.DictReader(StringIO(text, newline=""), strict=True))

    def records(self, name: str) -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in self.parts[f"json/{name}.jsonl"].splitlines()]


def opened(content: bytes) -> Opened:
    with ZipFile(BytesIO(content)) as archive:
        assert archive.testzip() is None
        return Opened({name: archive.read(name) for name in archive.namelist()})


def made(cast: Cast, settings: Settings, role: Role = Role.OWNER) -> Opened:
    folder = DataFolder(settings.data)
    passing = PassingFiles(folder.passing)
    folder.make()
    passing.folder.mkdir(exist_ok=True)
    content = BytesIO()
    Archive(cast.stage, cast.actor(role, door=Door.OFFICE), "UTC", "req_1", Files(folder.files), passing).write(content)
    return opened(content.getvalue())


def test_every_list_of_the_catalogue_is_in_it_or_left_out_for_a_reason() -> None:
    lists = {
        operation.name for operation in CATALOGUE.operations if operation.lists and Door.OFFICE in operation.offered
    }
    assert LEFT_OUT.keys() <= lists
    needed = {
        operation.name
        for operation in CATALOGUE.operations
        if operation.lists and any(field.is_required() for field in operation.input.model_fields.values())
    }
    assert needed <= LEFT_OUT.keys(), "a list that cannot be asked for as a whole needs a reason"


def test_a_list_is_asked_for_all_there_is(cast: Cast) -> None:
    assert askings(CATALOGUE, list_visits)[0] == {"order": "latest", "status": "planned"}
    assert {"order": "latest", "status": "declined"} in askings(CATALOGUE, list_time_off)
    for lists in exported(CATALOGUE, cast.actor(Role.OWNER, door=Door.OFFICE)):
        for asked in askings(CATALOGUE, lists):
            cast.answer(lists, Role.OWNER, Envelope("req_1"), **asked)


@pytest.mark.engines("sqlite", "postgresql")
def test_every_record_is_in_it_once_in_whatever_state(stage: Stage, settings: Settings) -> None:
    # Nothing is looked up: the webhooks here lead to loopback, where nobody sends anything.
    cast = furnish(replace(stage, guard=Guard(allow_private=True))).cast
    cancelled, past, _planned = (plan(cast, None, title="Fair", kind="other")["id"] for _ in range(3))
    set_columns(cast, "visit", cancelled, status="cancelled")
    set_columns(cast, "visit", past, starts_at=LONG_AGO, ends_at="2020-01-01T01:00:00.000Z", begins_at=LONG_AGO)
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    found = made(cast, settings)
    counted = {}
    for lists in exported(CATALOGUE, cast.actor(Role.OWNER, door=Door.OFFICE)):
        listing = next((operation.on for operation in CATALOGUE.on(lists.output) if operation.on), None)
        records = found.records(name_of(lists))
        assert len(found.table(name_of(lists))) == len(records)
        ids = [record["id"] for record in records if "id" in record]
        assert len(ids) == len(set(ids))
        if listing is None or listing.listed:
            # What is over is not listed at all, such as the access of someone who left.
            continue
        with stage.database.reading(cast.organisation) as rows:
            row = rows.one(f"SELECT count(*) FROM {listing.table} WHERE organisation_id = :organisation")
        assert row is not None
        counted[lists.name] = (len(records), int(row[0] or 0))
    assert {name: count for name, count in counted.items() if count[0] != count[1]} == {}
    assert counted["list_people"] == (6, 6)
    assert counted["list_customers"][0] >= 3
    assert counted["list_visits"][0] >= 3
    assert len(found.records("notes")) == 1


def test_it_holds_tables_programs_lines_files_and_what_they_are(
    server: RunningServer, cast: Cast, stranger: Cast
) -> None:
    work, content = work_of(cast), Files(DataFolder(server.settings.data).files).keep(PDF)
    added = add(cast, work.job, content=content, name="Größe.pdf")
    lost = add(cast, work.job, content="4" * 64, name="Lost.pdf")
    cast.perform(add_note, recordId=work.job, text="=1+1", visibility="office")
    gone = cast.perform(create_customer, name="=cmd|calc")["id"]
    cast.perform(archive_customer, customerId=gone)
    work_of(stranger)
    olivia = visit(server, cast)
    answer = olivia.get(PATH)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"].startswith("attachment; ")
    found = opened(answer.content)

    assert [line["Name"] for line in found.table("customers")] == ["Calder Property Services", "'=cmd|calc"]
    assert [(one["name"], one["status"]) for one in found.records("customers")][1] == ("=cmd|calc", "archived")
    assert [line["Note"] for line in found.table("notes")] == ["'=1+1"]
    assert len(found.records("jobs")) == 2
    assert orjson.loads(found.parts["json/organisation.json"])["id"] == cast.organisation
    assert found.parts[f"files/{work.job}/{added['id']} Größe.pdf"] == PDF
    told = found.parts["README.txt"].decode()
    assert "jobs: 2" in told
    assert f"files/{work.job}/{lost['id']} Lost.pdf" in told
    assert stranger.organisation.encode() not in b"".join(found.parts.values())


@pytest.mark.parametrize("role", list(Role))
def test_it_is_for_owners_and_admins(server: RunningServer, cast: Cast, role: Role) -> None:
    someone = visit(server, cast, role)
    may = role in {Role.OWNER, Role.ADMIN}
    for path in ("/settings/export", PATH):
        assert someone.get(path).status_code == (200 if may else 403)
    assert ('href="/settings/export"' in someone.get("/settings").text) == may


def test_it_is_there_while_lapsed(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    work_of(cast)
    cast.lapse()
    assert "Jobs" in words(olivia.get("/settings/export").text)
    assert len(opened(olivia.get(PATH).content).records("jobs")) == 2


def test_it_leaves_nothing_but_what_is_sent_and_is_not_made_over_and_over(server: RunningServer, cast: Cast) -> None:
    olivia = visit(server, cast)
    before = set(left_behind(server))
    assert olivia.get(PATH).status_code == 200
    assert len(set(left_behind(server)) - before) == 1
    answers = [olivia.get(PATH).status_code for _ in range(EXPORTS_AN_HOUR)]
    assert answers == [200] * (EXPORTS_AN_HOUR - 1) + [429]
