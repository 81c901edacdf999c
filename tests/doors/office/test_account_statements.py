"""Statements of account in the office: sent from a customer's page, kept beside it, downloaded as a PDF."""

import re

from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.invoices import issue_invoice, make_invoice
from support.servers import RunningServer


def test_one_is_sent_from_the_customer_s_page_and_is_there_as_a_pdf(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, email="ann@calder.example")
    issue_invoice(cast, make_invoice(cast, customerId=customer))
    office = sign_in_new_person(server, cast, Role.OFFICE)
    page = office.get(f"/customers/{customer}").text
    path = f"/customers/{customer}/send-statement"
    assert f'href="{path}"' in page
    shown = office.submit_form(path, deliver="none")
    assert "will get a statement of account from" in visible_text(shown.text)
    done = office.follow_redirect(office.submit_page(shown.text, path, deliver="none", confirmed="yes"))
    assert "Statement sent." in visible_text(done.text)
    [statement] = set(re.findall(r'href="(/statements/statement_\w+)"', done.text))
    text = visible_text(office.get(statement).text)
    assert "Balance" in text
    assert "Statement sent" in visible_text(office.get(f"/customers/{customer}").text)
    pdf = office.get(f"{statement}/pdf")
    assert (pdf.status_code, pdf.content[:5]) == (200, b"%PDF-")
    assert "Statements" in visible_text(office.get("/statements").text)


def test_one_is_downloaded_through_the_api(server: RunningServer, cast: Cast) -> None:
    customer = issue_invoice(cast)["customerId"]
    key = cast.make_key()
    given = {"deliver": "none", "confirmed": True}
    path = f"/api/v1/customers/{customer}/send-statement"
    preview = server.request("POST", path, key, json={"deliver": "none"}).json()
    assert preview["object"] == "preview"
    made = server.request("POST", path, key, json=given).json()
    assert (made["object"], made["balance"]) == ("accountStatement", "1000.00")
    pdf = server.request("GET", f"/api/v1/statements/{made['id']}/pdf", key)
    assert (pdf.status_code, pdf.headers["content-type"], pdf.content[:5]) == (200, "application/pdf", b"%PDF-")
    assert server.request("GET", "/api/v1/statements", key).json()["data"][0]["id"] == made["id"]
