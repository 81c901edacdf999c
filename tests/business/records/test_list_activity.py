import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.drafting.operations import delete_draft_invoice
from mainstay.business.jobs.operations import update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.overview.operations import get_overview
from mainstay.business.people.operations import invite_person
from mainstay.business.quotes.public import accept_offered_quote
from mainstay.business.records.activity import DoneBy, list_activity
from mainstay.business.records.history import get_history
from mainstay.business.records.notes import add_note
from mainstay.changes.audit import ActedBy, find_break
from mainstay.identity.authenticate import actor_of_link
from mainstay.identity.keys import create_key
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor, system_actor
from mainstay.vocabulary.permissions import Access, Permission, Role, has_permission
from mainstay.vocabulary.refusal import Forbidden, Invalid
from support.cast import Cast
from support.customers import make_customer, make_job, run_all_tasks
from support.hours import cast_at
from support.invoices import make_invoice
from support.quotes import issue_quote, make_quote
from support.recorded_statements import count_reads
from support.stored_state import actor_through_app, actor_with_key, read_trail

HISTORY_ROLES = [role for role in Role if has_permission(role, Permission.ALL_HISTORY_READ)]


def list_operations(cast: Cast, **given: object) -> list[str]:
    return [entry["operation"] for entry in cast.perform(list_activity, **{"limit": 100, **given})["data"]]


def test_everything_comes_newest_first_with_who_and_what(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, Role.MEMBER)["id"]
    cast.perform(update_job, Role.ADMIN, jobId=job, priority="high", dueOn="2038-03-01")
    cast.perform(add_note, Role.MEMBER, recordId=job, text="x")
    found = cast.perform(list_activity, limit=4)
    result = [(entry["operation"], entry["by"]["person"]["name"]) for entry in found["data"]]
    assert result == [
        ("add_note", "Mia Member"),
        ("update_job", "Adam Admin"),
        ("create_job", "Orla Office"),
        ("create_customer", "Orla Office"),
    ]
    assert found["hasMore"]
    changed = found["data"][1]
    assert (changed["given"], changed["records"]) == ({"jobId": job, "priority": "high", "dueOn": "2038-03-01"}, [job])
    assert changed["changed"] == {job: ["priority", "dueOn"]}
    assert len(list_operations(cast)) == len(read_trail(cast))


def test_what_changes_nothing_is_no_act_and_is_answered_again_all_the_same(cast: Cast) -> None:
    customer = make_customer(cast, "Calder")
    before = list_operations(cast)
    request = RequestDetails(new_id("req"), idempotency_key="again")
    first, again = (cast.answer(update_customer, request=request, customerId=customer, name="Calder") for _ in range(2))
    assert list_operations(cast) == before
    assert first.body == again.body
    # A key stands for one request, also where that has changed nothing.
    with pytest.raises(Invalid, match="was already used"):
        cast.answer(update_customer, request=request, customerId=customer, name="Other")
    cast.perform(update_customer, customerId=customer, phone="1")
    assert list_operations(cast) == ["update_customer", *before]
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert find_break(db) is None


@pytest.mark.parametrize("role", list(Role))
def test_only_those_who_rule_over_the_organisation_read_it(cast: Cast, role: Role) -> None:
    make_customer(cast)
    if role in HISTORY_ROLES:
        assert cast.perform(list_activity, role, limit=1)["data"][0]["operation"] == "create_customer"
        assert cast.perform(list_activity, cast.actor(role, Access.READ), limit=1)["hasMore"]
    else:
        with pytest.raises(Forbidden):
            cast.perform(list_activity, role)


def test_by_a_person_it_is_what_they_did_through_whatever(cast: Cast) -> None:
    customer = make_customer(cast)
    till = actor_with_key(cast, cast.perform(create_key, cast.actor(Role.ADMIN), name="Till", access="write")["key"])
    cast.perform(update_customer, till, customerId=customer, phone="1")
    cast.perform(update_customer, actor_through_app(cast, Role.ADMIN), customerId=customer, phone="2")
    assert list_operations(cast, personId=cast.people[Role.ADMIN]) == [
        "update_customer",
        "approve_connection",
        "update_customer",
        "create_key",
    ]
    assert list_operations(cast, personId=cast.people[Role.OFFICE]) == ["create_customer"]
    assert list_operations(cast, personId=cast.people[Role.MEMBER]) == []


def test_by_a_key_or_an_app_it_is_what_came_through_that_one(cast: Cast) -> None:
    customer, app, another = (
        make_customer(cast),
        actor_through_app(cast, Role.OFFICE),
        actor_through_app(cast, Role.OFFICE),
    )
    till, other = (
        actor_with_key(cast, cast.perform(create_key, cast.actor(Role.ADMIN), name=name, access="write")["key"])
        for name in ("Till", "Other")
    )
    for actor, phone in ((till, "1"), (app, "2"), (other, "3"), (another, "4")):
        cast.perform(update_customer, actor, customerId=customer, phone=phone)
    for actor, phone in ((till, "1"), (app, "2")):
        [entry] = cast.perform(list_activity, clientId=actor.credential)["data"]
        assert (entry["given"]["phone"], entry["by"]["via"]["client"]["id"]) == (phone, actor.credential)
    assert list_operations(cast, clientId=new_id("key")) == []


def test_by_whose_hand_each_act_is_of_one_kind(cast: Cast) -> None:
    quote = issue_quote(cast, make_quote(cast), deliver="none")["id"]
    with cast.performer.database.read_transaction(cast.organisation) as db:
        customer = actor_of_link(db, quote)
    cast.perform(accept_offered_quote, customer, quoteId=quote, name="Ann")
    owner = actor_with_key(cast, cast.make_key())
    cast.perform(update_organisation, owner, phone="1")
    cast.perform(update_organisation, actor_through_app(cast, Role.OWNER), phone="2")
    cast.perform(update_organisation, operator_actor(cast.organisation), phone="3")
    cast.perform(update_organisation, system_actor(cast.organisation), phone="4")
    result = {
        kind: cast.perform(list_activity, actedBy=kind, limit=100)["data"]
        for kind in ("person", "app", "key", "customer", "operator", "house")
    }
    assert [entry["given"].get("phone") for kind in ("key", "app") for entry in result[kind]] == ["1", "2"]
    assert (result["operator"][0]["given"], result["house"][0]["given"]) == ({"phone": "3"}, {"phone": "4"})
    assert [entry["operation"] for entry in result["customer"]] == ["accept_offered_quote"]
    assert {entry["by"]["via"]["client"] for entry in result["person"]} == {None}
    assert {entry["by"]["kind"] for entry in result["person"]} == {"person"}
    assert sum(map(len, result.values())) == len(read_trail(cast))


def test_agents_are_apps_and_keys_alike(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(update_customer, actor_with_key(cast, cast.make_key()), customerId=customer, phone="1")
    cast.perform(update_customer, actor_through_app(cast, Role.OFFICE), customerId=customer, phone="2")
    cast.perform(update_customer, customerId=customer, phone="3")
    found = cast.perform(list_activity, actedBy="agent", limit=100)["data"]
    assert [entry["given"].get("phone") for entry in found if entry["operation"] == "update_customer"] == ["2", "1"]
    of_both = sum(len(list_operations(cast, actedBy=one)) for one in ("app", "key"))
    assert (len(found), {entry["by"]["via"]["client"] is None for entry in found}) == (of_both, {False})
    [behind] = cast.perform(list_activity, actedBy="agent", startingAfter=found[0]["id"], limit=1)["data"]
    assert behind["id"] == found[1]["id"]


def test_whatever_hand_there_is_can_be_asked_for() -> None:
    assert {*DoneBy} - {DoneBy.AGENT} == {*ActedBy}


def test_what_follows_by_itself_is_of_the_system_actor(cast: Cast) -> None:
    one, other = make_customer(cast), make_customer(cast)
    make_job(cast, one)
    cast.perform(merge_customers, customerId=one, intoCustomerId=other, confirmed=True)
    run_all_tasks(cast)
    assert "tell_of_moved_jobs" in list_operations(cast, actedBy="house")


def test_dates_are_those_of_the_organisation_s_clocks_and_both_ends_belong_to_it(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="America/New_York")
    customer = make_customer(cast)
    # In New York it is five hours earlier.
    for moment in ("2038-01-10T04:59:59Z", "2038-01-10T05:00:00Z", "2038-01-12T04:59:59Z", "2038-01-12T05:00:00Z"):
        cast_at(cast, moment).perform(update_customer, customerId=customer, phone=moment)

    def phones(**given: object) -> list[str]:
        found = cast.perform(list_activity, **given)["data"]
        return [entry["given"]["phone"][8:] for entry in found if "phone" in entry["given"]]

    assert phones(**{"from": "2038-01-10", "until": "2038-01-11"}) == ["12T04:59:59Z", "10T05:00:00Z"]
    assert phones(**{"from": "2038-01-12"}) == ["12T05:00:00Z"]
    assert phones(until="2038-01-09") == ["10T04:59:59Z"]
    assert phones(**{"from": "2038-01-10", "until": "2038-01-11", "actedBy": "key"}) == []
    # As far as there are dates at all.
    assert len(phones(**{"from": "0001-01-01", "until": "9999-12-31"})) == 4
    assert phones(**{"from": "9999-12-31"}) == phones(until="0001-01-01") == []


def test_what_was_brought_from_elsewhere_stands_where_it_happened(cast: Cast) -> None:
    customer = make_customer(cast)
    for moment in ("2038-01-03T12:00:00Z", "2038-01-01T12:00:00Z", "2038-01-02T12:00:00Z"):
        cast_at(cast, moment).perform(update_customer, customerId=customer, phone=moment)
    seen: list[str] = []
    page = cast.perform(list_activity, limit=1)
    while len(seen) < 3:
        seen.append(page["data"][0]["at"][:10])
        page = cast.perform(list_activity, limit=1, startingAfter=page["data"][-1]["id"])
    assert seen == ["2038-01-03", "2038-01-02", "2038-01-01"]


@pytest.mark.parametrize("narrowed", ["", "personId", "actedBy", "from"])
def test_page_by_page_every_act_comes_once(cast: Cast, narrowed: str) -> None:
    customer = make_customer(cast)
    # Many within the same moment.
    then = cast_at(cast, "2038-01-01T12:00:00Z")
    for number in range(7):
        then.perform(update_customer, Role.OFFICE, customerId=customer, phone=str(number))
    values = {"personId": cast.people[Role.OFFICE], "actedBy": "person", "from": "2038-01-01"}
    given = {narrowed: values[narrowed]} if narrowed else {}
    whole = [entry["id"] for entry in cast.perform(list_activity, **given, limit=100)["data"]]
    seen: list[str] = []
    page = cast.perform(list_activity, **given, limit=3)
    while True:
        seen += [entry["id"] for entry in page["data"]]
        if not page["hasMore"]:
            break
        page = cast.perform(list_activity, **given, limit=3, startingAfter=seen[-1])
    assert seen == whole
    assert len({*seen}) == len(seen) >= 7


def test_of_another_organisation_nothing_is_told(cast: Cast, other_cast: Cast) -> None:
    customer, app = make_customer(other_cast), actor_through_app(other_cast, Role.OFFICE)
    other_cast.perform(update_customer, app, customerId=customer, phone="1")
    assert list_operations(cast, personId=other_cast.people[Role.OFFICE]) == []
    assert list_operations(cast, clientId=app.credential) == []
    result = str(cast.perform(list_activity, limit=100))
    assert other_cast.organisation not in result
    assert customer not in result
    assert len(list_operations(cast)) == len(read_trail(cast))


def test_records_are_named_as_they_are_called_now_and_those_that_are_gone_are_not(cast: Cast) -> None:
    draft = make_invoice(cast)
    customer = draft["customerId"]
    cast.perform(update_customer, customerId=customer, name="Ryburn & Daughters")
    cast.perform(delete_draft_invoice, invoiceId=draft["id"], confirmed=True)
    deleted, renamed, drafted, *_ = cast.perform(list_activity)["data"]
    assert (deleted["operation"], drafted["operation"]) == ("delete_draft_invoice", "draft_invoice")
    assert draft["id"] in deleted["records"]
    assert draft["id"] not in deleted["called"] | drafted["called"]
    assert renamed["called"] == {customer: "Ryburn & Daughters"}


def test_however_many_acts_there_are_their_records_are_read_at_once(cast: Cast) -> None:
    customers = [make_customer(cast, name) for name in ("Calder", "Ryburn", "Colne")]
    assert count_reads(cast, "customer", lambda watched: watched.perform(list_activity)) == 1
    result = cast.perform(list_activity, limit=3)["data"]
    assert [*(one["called"] for one in result)] == [
        {record_id: name} for record_id, name in zip(customers[::-1], ("Colne", "Ryburn", "Calder"), strict=True)
    ]


def test_secrets_are_hidden(cast: Cast) -> None:
    key = cast.make_key()
    cast.perform(invite_person, name="N", email="n@new.example", role="member")
    result = str(cast.perform(list_activity, limit=100))
    assert "a password for the cast" not in result
    assert key not in result


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"startingAfter": "x"}, "startingAfter"),
        ({"startingAfter": "999999"}, "startingAfter"),
        ({"clientId": "person_01JCDZ8Q4X0V9M2T6W3B7K5N1R"}, "clientId"),
        ({"clientId": ""}, "clientId"),
        ({"personId": "x"}, "personId"),
        ({"actedBy": "owner"}, "actedBy"),
        ({"from": "2038-01-02", "until": "2038-01-01"}, "until"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(cast: Cast, wrong: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid, match=rf"^{field}: "):
        list_operations(cast, **wrong)


def test_one_s_own_acts_go_on_behind_one_s_own_alone(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(update_customer, Role.ADMIN, customerId=customer, phone="1")
    cast.perform(update_customer, Role.OFFICE, customerId=customer, phone="2")
    mine, others, first = (entry["id"] for entry in cast.perform(list_activity, limit=3)["data"])
    behind = cast.perform(get_history, Role.OFFICE, startingAfter=mine)["data"]
    assert [entry["id"] for entry in behind] == [first]
    with pytest.raises(Invalid, match=r"^startingAfter: was not found, start again without it"):
        cast.perform(get_history, Role.OFFICE, startingAfter=others)


def test_the_overview_counts_exactly_what_apps_are_listed_with_since_yesterday(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="America/New_York")
    customer, app, today = (
        make_customer(cast),
        actor_through_app(cast, Role.OFFICE),
        cast_at(cast, "2038-01-12T03:00:00Z"),
    )
    for moment in ("2038-01-10T04:59:59Z", "2038-01-10T05:00:00Z", "2038-01-12T02:00:00Z"):
        cast_at(cast, moment).perform(update_customer, app, customerId=customer, phone=moment)
    today.perform(update_customer, Role.OFFICE, customerId=customer, phone="x")
    # It is still the 11th there.
    assert today.perform(get_overview, Role.OFFICE)["changedByApps"] == 2
    assert len(list_operations(today, **{"actedBy": "app", "from": "2038-01-10"})) == 2
