import pytest

from billing import an_invoice
from cast import Cast
from evidence import holder, through_app, trail
from labour import at
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import update_customer
from mainstay.business.invoices.operations import delete_draft_invoice
from mainstay.business.jobs.operations import update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.overview.operations import get_overview
from mainstay.business.people.operations import invite_person
from mainstay.business.quotes.public import accept_offered_quote
from mainstay.business.records.activity import DoneBy, list_activity
from mainstay.business.records.history import get_history
from mainstay.business.records.notes import add_note
from mainstay.identity.authenticate import actor_of_link
from mainstay.identity.keys import create_key
from mainstay.kernel.context import Envelope
from mainstay.ledger.audit import ActedBy, first_break
from mainstay.terms.actor import house, operator
from mainstay.terms.refusal import Forbidden, Invalid
from mainstay.terms.rights import Access, Right, Role, holds
from mainstay.values.ids import new_id
from quoting import a_draft, sent
from recording import readings
from trade import a_customer, a_job, work_off

RULERS = [role for role in Role if holds(role, Right.ALL_HISTORY_READ)]


def acts(cast: Cast, **given: object) -> list[str]:
    return [entry["operation"] for entry in cast.perform(list_activity, **{"limit": 100, **given})["data"]]


def test_everything_comes_newest_first_with_who_and_what(cast: Cast) -> None:
    customer = a_customer(cast)
    job = a_job(cast, customer, Role.MEMBER)["id"]
    cast.perform(update_job, Role.ADMIN, jobId=job, priority="high", dueOn="2038-03-01")
    cast.perform(add_note, Role.MEMBER, recordId=job, text="x")
    found = cast.perform(list_activity, limit=4)
    told = [(entry["operation"], entry["by"]["person"]["name"]) for entry in found["data"]]
    assert told == [
        ("add_note", "Mia Member"),
        ("update_job", "Adam Admin"),
        ("create_job", "Orla Office"),
        ("create_customer", "Orla Office"),
    ]
    assert found["hasMore"]
    changed = found["data"][1]
    assert (changed["given"], changed["records"]) == ({"jobId": job, "priority": "high", "dueOn": "2038-03-01"}, [job])
    assert changed["changed"] == {job: ["priority", "dueOn"]}
    assert len(acts(cast)) == len(trail(cast))


def test_what_changes_nothing_is_no_act_and_is_answered_again_all_the_same(cast: Cast) -> None:
    customer = a_customer(cast, "Calder")
    before = acts(cast)
    request = Envelope(new_id("req"), replay_key="again")
    first, again = (cast.answer(update_customer, request=request, customerId=customer, name="Calder") for _ in range(2))
    assert acts(cast) == before
    assert first.body == again.body
    # A key stands for one request, also where that has changed nothing.
    with pytest.raises(Invalid, match="was used before"):
        cast.answer(update_customer, request=request, customerId=customer, name="Other")
    cast.perform(update_customer, customerId=customer, phone="1")
    assert acts(cast) == ["update_customer", *before]
    with cast.stage.database.reading(cast.organisation) as rows:
        assert first_break(rows) is None


@pytest.mark.parametrize("role", list(Role))
def test_only_those_who_rule_over_the_organisation_read_it(cast: Cast, role: Role) -> None:
    a_customer(cast)
    if role in RULERS:
        assert cast.perform(list_activity, role, limit=1)["data"][0]["operation"] == "create_customer"
        assert cast.perform(list_activity, cast.actor(role, Access.READ), limit=1)["hasMore"]
    else:
        with pytest.raises(Forbidden):
            cast.perform(list_activity, role)


def test_by_a_person_it_is_what_they_did_through_whatever(cast: Cast) -> None:
    customer = a_customer(cast)
    till = holder(cast, cast.perform(create_key, cast.actor(Role.ADMIN), name="Till", access="write")["key"])
    cast.perform(update_customer, till, customerId=customer, phone="1")
    cast.perform(update_customer, through_app(cast, Role.ADMIN), customerId=customer, phone="2")
    assert acts(cast, personId=cast.people[Role.ADMIN]) == [
        "update_customer",
        "approve_connection",
        "update_customer",
        "create_key",
    ]
    assert acts(cast, personId=cast.people[Role.OFFICE]) == ["create_customer"]
    assert acts(cast, personId=cast.people[Role.MEMBER]) == []


def test_by_a_key_or_an_app_it_is_what_came_through_that_one(cast: Cast) -> None:
    customer, app, another = a_customer(cast), through_app(cast, Role.OFFICE), through_app(cast, Role.OFFICE)
    till, other = (
        holder(cast, cast.perform(create_key, cast.actor(Role.ADMIN), name=name, access="write")["key"])
        for name in ("Till", "Other")
    )
    for actor, phone in ((till, "1"), (app, "2"), (other, "3"), (another, "4")):
        cast.perform(update_customer, actor, customerId=customer, phone=phone)
    for actor, phone in ((till, "1"), (app, "2")):
        [entry] = cast.perform(list_activity, clientId=actor.credential)["data"]
        assert (entry["given"]["phone"], entry["by"]["via"]["client"]["id"]) == (phone, actor.credential)
    assert acts(cast, clientId=new_id("key")) == []


def test_by_whose_hand_each_act_is_of_one_kind(cast: Cast) -> None:
    quote = sent(cast, a_draft(cast), deliver="none")["id"]
    with cast.stage.database.reading(cast.organisation) as rows:
        customer = actor_of_link(rows, quote)
    cast.perform(accept_offered_quote, customer, quoteId=quote, name="Ann")
    owner = holder(cast, cast.key())
    cast.perform(update_organisation, owner, phone="1")
    cast.perform(update_organisation, through_app(cast, Role.OWNER), phone="2")
    cast.perform(update_organisation, operator(cast.organisation), phone="3")
    cast.perform(update_organisation, house(cast.organisation), phone="4")
    told = {
        kind: cast.perform(list_activity, actedBy=kind, limit=100)["data"]
        for kind in ("person", "app", "key", "customer", "operator", "house")
    }
    assert [entry["given"].get("phone") for kind in ("key", "app") for entry in told[kind]] == ["1", "2"]
    assert (told["operator"][0]["given"], told["house"][0]["given"]) == ({"phone": "3"}, {"phone": "4"})
    assert [entry["operation"] for entry in told["customer"]] == ["accept_offered_quote"]
    assert {entry["by"]["via"]["client"] for entry in told["person"]} == {None}
    assert {entry["by"]["kind"] for entry in told["person"]} == {"person"}
    assert sum(map(len, told.values())) == len(trail(cast))


def test_agents_are_apps_and_keys_alike(cast: Cast) -> None:
    customer = a_customer(cast)
    cast.perform(update_customer, holder(cast, cast.key()), customerId=customer, phone="1")
    cast.perform(update_customer, through_app(cast, Role.OFFICE), customerId=customer, phone="2")
    cast.perform(update_customer, customerId=customer, phone="3")
    found = cast.perform(list_activity, actedBy="agent", limit=100)["data"]
    assert [entry["given"].get("phone") for entry in found if entry["operation"] == "update_customer"] == ["2", "1"]
    of_both = sum(len(acts(cast, actedBy=one)) for one in ("app", "key"))
    assert (len(found), {entry["by"]["via"]["client"] is None for entry in found}) == (of_both, {False})
    [behind] = cast.perform(list_activity, actedBy="agent", startingAfter=found[0]["id"], limit=1)["data"]
    assert behind["id"] == found[1]["id"]


def test_whatever_hand_there_is_can_be_asked_for() -> None:
    assert {*DoneBy} - {DoneBy.AGENT} == {*ActedBy}


def test_what_follows_by_itself_is_the_house_s(cast: Cast) -> None:
    one, other = a_customer(cast), a_customer(cast)
    a_job(cast, one)
    cast.perform(merge_customers, customerId=one, intoCustomerId=other, confirmed=True)
    work_off(cast)
    assert "tell_of_moved_jobs" in acts(cast, actedBy="house")


def test_dates_are_those_of_the_organisation_s_clocks_and_both_ends_belong_to_it(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="America/New_York")
    customer = a_customer(cast)
    # In New York it is five hours earlier.
    for moment in ("2038-01-10T04:59:59Z", "2038-01-10T05:00:00Z", "2038-01-12T04:59:59Z", "2038-01-12T05:00:00Z"):
        at(cast, moment).perform(update_customer, customerId=customer, phone=moment)

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
    customer = a_customer(cast)
    for moment in ("2038-01-03T12:00:00Z", "2038-01-01T12:00:00Z", "2038-01-02T12:00:00Z"):
        at(cast, moment).perform(update_customer, customerId=customer, phone=moment)
    seen: list[str] = []
    page = cast.perform(list_activity, limit=1)
    while len(seen) < 3:
        seen.append(page["data"][0]["at"][:10])
        page = cast.perform(list_activity, limit=1, startingAfter=page["data"][-1]["id"])
    assert seen == ["2038-01-03", "2038-01-02", "2038-01-01"]


@pytest.mark.parametrize("narrowed", ["", "personId", "actedBy", "from"])
def test_page_by_page_every_act_comes_once(cast: Cast, narrowed: str) -> None:
    customer = a_customer(cast)
    # Many within the same moment.
    then = at(cast, "2038-01-01T12:00:00Z")
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


def test_of_another_organisation_nothing_is_told(cast: Cast, stranger: Cast) -> None:
    customer, app = a_customer(stranger), through_app(stranger, Role.OFFICE)
    stranger.perform(update_customer, app, customerId=customer, phone="1")
    assert acts(cast, personId=stranger.people[Role.OFFICE]) == []
    assert acts(cast, clientId=app.credential) == []
    told = str(cast.perform(list_activity, limit=100))
    assert stranger.organisation not in told
    assert customer not in told
    assert len(acts(cast)) == len(trail(cast))


def test_records_are_named_as_they_are_called_now_and_those_that_are_gone_are_not(cast: Cast) -> None:
    draft = an_invoice(cast)
    customer = draft["customerId"]
    cast.perform(update_customer, customerId=customer, name="Ryburn & Daughters")
    cast.perform(delete_draft_invoice, invoiceId=draft["id"], confirmed=True)
    deleted, renamed, drafted, *_ = cast.perform(list_activity)["data"]
    assert (deleted["operation"], drafted["operation"]) == ("delete_draft_invoice", "draft_invoice")
    assert draft["id"] in deleted["records"]
    assert draft["id"] not in deleted["called"] | drafted["called"]
    assert renamed["called"] == {customer: "Ryburn & Daughters"}


def test_however_many_acts_there_are_their_records_are_read_at_once(cast: Cast) -> None:
    customers = [a_customer(cast, name) for name in ("Calder", "Ryburn", "Colne")]
    assert readings(cast, "customer", lambda watched: watched.perform(list_activity)) == 1
    told = cast.perform(list_activity, limit=3)["data"]
    assert [*(one["called"] for one in told)] == [
        {identity: name} for identity, name in zip(customers[::-1], ("Colne", "Ryburn", "Calder"), strict=True)
    ]


def test_secrets_are_hidden(cast: Cast) -> None:
    key = cast.key()
    cast.perform(invite_person, name="N", email="n@new.example", role="member")
    told = str(cast.perform(list_activity, limit=100))
    assert "a password for the cast" not in told
    assert key not in told


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
        acts(cast, **wrong)


def test_one_s_own_acts_go_on_behind_one_s_own_alone(cast: Cast) -> None:
    customer = a_customer(cast)
    cast.perform(update_customer, Role.ADMIN, customerId=customer, phone="1")
    cast.perform(update_customer, Role.OFFICE, customerId=customer, phone="2")
    mine, others, first = (entry["id"] for entry in cast.perform(list_activity, limit=3)["data"])
    behind = cast.perform(get_history, Role.OFFICE, startingAfter=mine)["data"]
    assert [entry["id"] for entry in behind] == [first]
    with pytest.raises(Invalid, match=r"^startingAfter: is of no act here"):
        cast.perform(get_history, Role.OFFICE, startingAfter=others)


def test_the_overview_counts_exactly_what_apps_are_listed_with_since_yesterday(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="America/New_York")
    customer, app, today = a_customer(cast), through_app(cast, Role.OFFICE), at(cast, "2038-01-12T03:00:00Z")
    for moment in ("2038-01-10T04:59:59Z", "2038-01-10T05:00:00Z", "2038-01-12T02:00:00Z"):
        at(cast, moment).perform(update_customer, app, customerId=customer, phone=moment)
    today.perform(update_customer, Role.OFFICE, customerId=customer, phone="x")
    # It is still the 11th there.
    assert today.perform(get_overview, Role.OFFICE)["changedByApps"] == 2
    assert len(acts(today, **{"actedBy": "app", "from": "2038-01-10"})) == 2
