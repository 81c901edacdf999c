"""A sample firm: made for people who begin, apart from their own, silent to outsiders, and deleted without a trace."""

from datetime import timedelta

import pytest

from mainstay.business.customers.operations import list_customers
from mainstay.business.invoices.drafting.operations import list_invoices
from mainstay.business.people.operations import invite_person, list_people
from mainstay.business.quotes.operations import list_quotes
from mainstay.changes.outbox import EMAIL_LANES
from mainstay.demo import sample
from mainstay.demo.year import DemoSize
from mainstay.identity.authenticate import actor_of_person
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.schema import read_tables
from mainstay.kernel.json_performer import JsonPerformer
from mainstay.maintenance.sample_deletion import delete_sample_firm
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound, Refusal
from mainstay.webhooks.endpoints import create_webhook
from support.browser_session import BrowserSession, emails_to, sign_in_cast, visible_text
from support.cast import Cast
from support.servers import RunningServer
from support.waiting import wait_until

PATH = "/sample-firm"
SMALLER = DemoSize(4, 24, 18, timedelta(days=80), timedelta(weeks=2), (1, 2), 1)


def test_the_account_menu_leads_there_for_good(server: RunningServer, cast: Cast) -> None:
    link = '<a href="/sample-firm">Sample firm</a>'
    for role, is_offered in ((Role.OWNER, True), (Role.MEMBER, False)):
        assert (link in sign_in_cast(server, cast, role).get("/jobs").text) is is_offered


def open_sample(session: BrowserSession) -> str:
    """Make a sample firm, wait for it and open it; return its first page."""
    answer = session.submit_page(session.get("/").text, f"{PATH}/open")
    assert (answer.status_code, answer.headers["location"]) == (303, PATH)
    wait_until(lambda: "Open the sample firm" in visible_text(session.get(PATH).text))
    answer = session.submit_page(session.get(PATH).text, f"{PATH}/open")
    return session.follow_redirect(answer).text


def act_in_sample(cast: Cast) -> Actor:
    """Return the actor for the owner of the newest sample firm."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        row = db.one(
            "SELECT person.organisation_id, person.id FROM person JOIN organisation o ON o.id = person.organisation_id"
            " WHERE o.is_sample = 1 AND person.role = 'owner' ORDER BY o.id DESC LIMIT 1"
        )
    assert row
    with cast.performer.database.read_transaction(str(row[0])) as db:
        return actor_of_person(db, str(row[1]), Door.OFFICE)


def count_rows(cast: Cast, organisation: str) -> dict[str, int]:
    """Return the number of rows of an organisation by table, without empty ones."""
    with cast.performer.database.read_transaction(organisation) as db:
        tables = [
            one.name
            for one in read_tables(db, cast.performer.database.engine)
            if "organisation_id" in one.columns and one.name != "session"
        ]
        counted = {
            table: db.one(f"SELECT count(*) FROM {table} WHERE organisation_id = :organisation") for table in tables
        }
    return {table: int(row[0] or 0) for table, row in counted.items() if row and row[0]}


# What the worker adds and removes by itself meanwhile.
WORKERS_TABLES = {"outbox", "replay", "search_fresh", "search_record", "search_word", "delivery", "message"}


def count_records(cast: Cast, organisation: str) -> dict[str, int]:
    """Return the number of rows of an organisation by table, without what the worker does by itself."""
    return {table: count for table, count in count_rows(cast, organisation).items() if table not in WORKERS_TABLES}


def count_hartleys(cast: Cast) -> object:
    """Return how many accounts the people of sample firms have; other tests may have made some."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return db.one("SELECT count(*) FROM account WHERE email_folded LIKE '%hartley%'")


@pytest.mark.engines("sqlite", "postgresql")
def test_it_is_opened_left_and_deleted_and_nothing_of_it_stays(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "SAMPLE_SIZE", SMALLER)
    olivia = sign_in_cast(server, cast, Role.OWNER)
    own_rows, own_accounts = count_records(cast, cast.organisation), count_hartleys(cast)
    page = open_sample(olivia)
    assert "Sample firm" in visible_text(page)
    assert "Hartley &amp; Daughters (sample)" in page
    owner, json_performer = act_in_sample(cast), JsonPerformer(cast.performer)
    assert len(json_performer.perform(list_customers, owner, limit=100)["data"]) == SMALLER.customers - 1
    assert json_performer.perform(list_invoices, owner)["data"]
    assert json_performer.perform(list_quotes, owner)["data"]
    people = json_performer.perform(list_people, owner, limit=100)["data"]
    assert len(people) == 7
    # Their own firm is as before.
    assert cast.perform(list_customers)["data"] == []
    assert count_records(cast, cast.organisation) == own_rows

    # Nobody but the owner gets an email, and nothing is sent to other systems.
    json_performer.perform(invite_person, owner, name="Kim", email="kim@outside.example", role="office")
    with pytest.raises(Refusal, match="sample firm"):
        json_performer.perform(create_webhook, owner, url="https://receiver.example/hook")

    def has_sent_all() -> bool:
        with cast.performer.database.read_transaction(owner.organisation) as db:
            lanes = {str(lane) for (lane,) in db.all("SELECT lane FROM outbox WHERE organisation_id = :organisation")}
        return not lanes & EMAIL_LANES

    wait_until(has_sent_all)
    assert emails_to(server, "kim@outside.example") == []

    # It is left, found again, and deleted; the session goes on in one's own firm.
    answer = olivia.submit_page(olivia.get("/").text, f"{PATH}/leave")
    assert "Hartley &amp; Daughters (sample)</span>" not in olivia.follow_redirect(answer).text.partition("<form")[0]
    answer = olivia.submit_page(olivia.get(PATH).text, f"{PATH}/open")
    page = olivia.follow_redirect(answer).text
    assert olivia.submit_page(page, f"{PATH}/delete").status_code == 303
    home = olivia.get("/").text
    assert "(sample)" not in home
    assert count_rows(cast, owner.organisation) == {}
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.one("SELECT 1 FROM organisation WHERE id = :id", id=owner.organisation) is None
    assert count_hartleys(cast) == own_accounts


@pytest.mark.engines("sqlite", "postgresql")
def test_no_other_firm_can_be_deleted_or_become_a_sample(server: RunningServer, cast: Cast) -> None:
    olivia = sign_in_cast(server, cast, Role.OWNER)
    assert olivia.submit_page(olivia.get("/").text, f"{PATH}/delete").status_code == 404
    with pytest.raises(NotFound):
        delete_sample_firm(cast.performer.database, cast.organisation)
    for statement in (
        "UPDATE organisation SET is_sample = 1 WHERE id = :organisation",
        "DELETE FROM audit WHERE organisation_id = :organisation",
    ):
        with (
            pytest.raises(Exception, match=r"append-only|becomes a sample"),
            cast.performer.database.write_transaction(cast.organisation) as db,
        ):
            db.run(statement)


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_it_is_for_those_who_set_up_a_firm(server: RunningServer, cast: Cast, role: Role) -> None:
    someone = sign_in_cast(server, cast, role)
    assert someone.submit_page(someone.get("/").text, f"{PATH}/open").status_code == 403
