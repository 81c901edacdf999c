"""Statements of account in the office: sent from a customer's page, kept beside it, downloaded as a PDF."""

import re

from billing import an_invoice, issued
from cast import Cast
from mainstay.terms.rights import Role
from running import RunningServer
from trade import a_customer
from visiting import visit, words


def test_one_is_sent_from_the_customer_s_page_and_is_there_as_a_pdf(server: RunningServer, cast: Cast) -> None:
    customer = a_customer(cast, email="ann@calder.example")
    issued(cast, an_invoice(cast, customerId=customer))
    office = visit(server, cast, Role.OFFICE)
    page = office.get(f"/customers/{customer}").text
    path = f"/customers/{customer}/send-statement"
    assert f'href="{path}"' in page
    shown = office.submit(path, deliver="none")
    assert "is sent a statement of account from" in words(shown.text)
    done = office.follow(office.answer(shown.text, path, deliver="none", confirmed="yes"))
    assert "The statement is issued." in words(done.text)
    [statement] = set(re.findall(r'href="(/statements/statement_\w+)"', done.text))
    told = words(office.get(statement).text)
    assert "Balance" in told
    assert "Statement of account sent" in words(office.get(f"/customers/{customer}").text)
    pdf = office.get(f"{statement}/pdf")
    assert (pdf.status_code, pdf.content[:5]) == (200, b"%PDF-")
    assert "Statements" in words(office.get("/statements").text)


def test_one_is_downloaded_through_the_api(server: RunningServer, cast: Cast) -> None:
    customer = issued(cast)["customerId"]
    key = cast.key()
    given = {"deliver": "none", "confirmed": True}
    path = f"/api/v1/customers/{customer}/send-statement"
    preview = server.request("POST", path, key, json={"deliver": "none"}).json()
    assert preview["object"] == "preview"
    made = server.request("POST", path, key, json=given).json()
    assert (made["object"], made["balance"]) == ("accountStatement", "1000.00")
    pdf = server.request("GET", f"/api/v1/statements/{made['id']}/pdf", key)
    assert (pdf.status_code, pdf.headers["content-type"], pdf.content[:5]) == (200, "application/pdf", b"%PDF-")
    assert server.request("GET", "/api/v1/statements", key).json()["data"][0]["id"] == made["id"]
