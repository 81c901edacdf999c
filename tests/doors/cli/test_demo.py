"""`demo`: the same each time, with fresh keys, and only where no stranger can reach it."""

from hashlib import sha256
from typing import Any, get_args

from mainstay.business.invoices import model as invoices
from mainstay.business.invoices.payments import payment as payments
from mainstay.business.purchasing.model import BillStatus, OrderStatus
from mainstay.business.quotes import model as quotes
from mainstay.identity.passwords import is_password
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession
from support.command_line import run_command
from support.images import open_image
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer


def test_the_demo_is_the_same_each_time_with_new_keys(server: RunningServer, performer: Performer) -> None:
    first = run_command(server.settings, "demo", "--json").json
    assert list(first) == ["organisation", "people", "keys"]
    assert list(first["organisation"]) == ["id", "name"]
    assert [person["role"] for person in first["people"]] == [*(role.value for role in Role), "member", "member"]
    for person in first["people"]:
        assert set(person) == {"id", "name", "email", "password", "role"}
        with performer.database.read_transaction("*") as db:
            row = db.one("SELECT password_hash FROM account WHERE email = :email", email=person["email"])
        assert row is not None
        assert is_password(person["password"], str(row[0]))
    assert list(first["keys"]) == ["readOnly", "readWrite"]
    reading, writing = first["keys"].values()
    assert server.request("GET", ORGANISATION, reading).json()["id"] == first["organisation"]["id"]
    check_refusal(server.request("POST", PEOPLE, reading, json=NEW_PERSON), 403)
    for key in (reading, writing):
        assert server.request("GET", "/api/v1/me", key).json()["person"]["id"] == first["people"][0]["id"]

    # Someone tries things out: many are invited, and one of the cast is removed.
    for number in range(30):
        invited = {**NEW_PERSON, "email": f"invited{number}@demo.example"}
        assert server.request("POST", PEOPLE, writing, json=invited).status_code == 201
    path = f"{PEOPLE}/{first['people'][3]['id']}"
    assert server.request("POST", f"{path}/remove", writing, json={"confirmed": True}).json()["status"] == "left"

    second = run_command(server.settings, "demo", "--json").json
    assert second["organisation"] == first["organisation"]
    assert second["people"] == first["people"]
    assert not set(second["keys"].values()) & set(first["keys"].values())
    for key in first["keys"].values():
        check_refusal(server.request("GET", ORGANISATION, key), 401)
    assert server.request("GET", path, second["keys"]["readWrite"]).json()["status"] == "active"


def test_the_demo_tells_people_how_to_begin_where_no_stranger_can_come(server: RunningServer) -> None:
    result = run_command(server.settings, "demo")
    assert (result.code, result.errors) == (0, "")
    assert f"{server.url}/api/v1/organisation" in result.output
    assert result.output.count("ruth@hartley.example") == 1
    [_, key, _] = [word for word in result.output.split() if word.startswith("svc_sk_")]
    assert server.request("POST", PEOPLE, key, json={**NEW_PERSON, "email": "told@demo.example"}).status_code == 201

    for address in ("https://office.example", "http://localhost.office.example"):
        refusal = run_command(server.settings, "demo", "--json", MAINSTAY_BASE_URL=address).error
        assert refusal.endswith("it can only be created with a base address on loopback.")
        if server.settings.database:
            # The address is looked at before the database: one engine is enough for the others.
            break
    assert server.request("GET", ORGANISATION, key).status_code == 200


def test_the_demo_has_photos_and_papers_that_are_opened_as_if_they_had_been_handed_in(server: RunningServer) -> None:
    made = run_command(server.settings, "demo", "--json").json
    office, key = made["people"][2], made["keys"]["readOnly"]
    listed = server.request("GET", "/api/v1/documents?limit=100", key).json()["data"]
    kinds = {document["mediaType"]: document for document in listed}
    assert set(kinds) == {"image/jpeg", "application/pdf", "text/plain"}
    assert len({document["sha256"] for document in listed if document["kind"] == "photo"}) > 4

    session = BrowserSession(server)
    session.submit_form("/sign-in", email=office["email"], password=office["password"])
    session.submit_form("/", "/organisation", organisation=made["organisation"]["id"])
    for document in kinds.values():
        content = session.get(f"/documents/{document['id']}/file").content
        assert (len(content), sha256(content).hexdigest()) == (document["bytes"], document["sha256"])
    photo = kinds["image/jpeg"]
    assert open_image(session.get(f"/documents/{photo['id']}/thumbnail").content).size == (320, 240)
    page = session.get(f"/jobs/{photo['recordId']}").text
    assert f'src="/documents/{photo["id"]}/thumbnail"' in page


def test_the_demo_has_a_price_list_with_kits_taxes_and_suppliers(server: RunningServer) -> None:
    key = run_command(server.settings, "demo", "--json").json["keys"]["readOnly"]

    def listed(path: str) -> list[dict[str, Any]]:
        return list(server.request("GET", f"/api/v1/{path}?limit=100", key).json()["data"])

    items, rates, suppliers = listed("price-items"), listed("tax-rates"), listed("suppliers")
    assert {item["kind"] for item in items} == {"labour", "material", "service", "fee"}
    assert (len(items), len(rates), len(suppliers)) == (43, 3, 8)
    kits = [item for item in items if item["components"]]
    assert len(kits) == 5
    assert {tuple(kit["fromParts"]) for kit in kits} == {("costPrice",), ("sellPrice", "costPrice")}
    # It earns something on everything but what it only passes on.
    assert [item["code"] for item in items if not float(item["costPrice"] or 0) < float(item["sellPrice"])] == [
        "FEE-PARK"
    ]
    assert [rate["name"] for rate in rates if rate["isDefault"]] == ["VAT 20%"]


def test_the_demo_has_quotes_invoices_and_payments_in_every_state(server: RunningServer) -> None:
    key = run_command(server.settings, "demo", "--json").json["keys"]["readOnly"]
    states = {
        "quotes": get_args(quotes.QuoteStatus),
        "invoices": get_args(invoices.InvoiceStatusFilter),
        "payments": get_args(payments.PaymentStatusFilter),
    }
    without = [
        (path, state)
        for path, known in states.items()
        for state in known
        if not server.request("GET", f"/api/v1/{path}?status={state}&limit=1", key).json()["data"]
    ]
    assert without == []


def test_the_statement_of_everyone_in_the_demo_ends_with_what_they_owe(server: RunningServer) -> None:
    key = run_command(server.settings, "demo", "--json").json["keys"]["readOnly"]

    def fetch_report(report: str) -> dict[str, Any]:
        return dict(server.request("GET", f"/api/v1/reports/{report}", key).json())

    owed = fetch_report("receivables")["rows"]
    assert len(owed) > 20
    balances = {row[0]: fetch_report(f"statement?customerId={row[0]}&from=2020-01-01")["totals"][-1] for row in owed}
    assert balances == {row[0]: row[-1] for row in owed}


def test_the_demo_has_orders_and_bills_in_every_state(server: RunningServer) -> None:
    key = run_command(server.settings, "demo", "--json").json["keys"]["readOnly"]

    def fetch_list(path: str) -> list[dict[str, Any]]:
        return list(server.request("GET", f"/api/v1/{path}?limit=100", key).json()["data"])

    orders, bills = fetch_list("purchase-orders"), fetch_list("bills")
    assert {order["status"] for order in orders} == {*get_args(OrderStatus)}
    assert {bill["status"] for bill in bills} == {*get_args(BillStatus)}
    assert (len(orders), orders[-1]["number"]) == (30, "PO-0001")
    assert orders[-1]["issuedOn"] < orders[5]["issuedOn"]
    assert any(job["materials"] for job in fetch_list("unbilled"))
