"""A snapshot is stored as JSON and can be read by a later version."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from mainstay.documents.snapshot import AddressSnapshot, Snapshot
from mainstay.values.address import Address
from support.snapshots import SnapshotItem, make_snapshot


def test_it_is_kept_as_json_and_is_the_same_when_it_is_read_again() -> None:
    snapshot = make_snapshot(SnapshotItem(), servicePeriod={"from": "2026-11-09", "until": "2026-11-10"})
    kept = snapshot.model_dump_json(by_alias=True)
    assert Snapshot.model_validate_json(kept) == snapshot
    assert json.loads(kept)["servicePeriod"] == {"from": "2026-11-09", "until": "2026-11-10"}
    assert json.loads(kept)["seller"]["eInvoiceAddress"]["scheme"] == "9930"


def test_what_it_does_not_know_is_passed_over_and_what_came_later_has_what_it_would_have_been() -> None:
    kept = {
        "kind": "quote",
        "number": "Q-1",
        "currency": "EUR",
        "issuedOn": "2020-01-01",
        "seller": {"name": "A", "slogan": "B"},
        "buyer": {"name": "C"},
        "lines": [{"id": "line1", "description": "Work", "colour": "red"}],
        "totals": {"net": "0", "total": "0"},
        "mood": "good",
    }
    snapshot = Snapshot.model_validate(kept)
    assert (snapshot.type, snapshot.language, snapshot.revision, str(snapshot.due)) == ("standard", "en", 1, "0")
    assert snapshot.lines[0].counted


def test_it_cannot_be_changed() -> None:
    unchecked: Any = make_snapshot(SnapshotItem())
    with pytest.raises(ValidationError):
        unchecked.number = "INV-1"


def test_it_takes_an_address_as_records_have_it() -> None:
    address = Address.model_validate({"city": "Bonn", "postalCode": "53113"})
    assert AddressSnapshot.model_validate(address) == AddressSnapshot(city="Bonn", postal_code="53113")


def test_an_order_is_sent_by_who_buys() -> None:
    order, invoice = make_snapshot(SnapshotItem(), kind="purchaseOrder"), make_snapshot(SnapshotItem())
    assert (order.issuer, order.recipient) == (order.buyer, order.seller)
    assert (invoice.issuer, invoice.recipient) == (invoice.seller, invoice.buyer)
