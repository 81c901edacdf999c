"""Invoices and credit notes that the operations issue pass the official rules of e-invoices, in both forms."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from cast import Cast, assemble
from chances import Firm, open_firm, story
from mainstay.kernel.perform import Stage
from mainstay.paper import cii, ubl
from mainstay.paper.einvoice import standing, terms_of
from mainstay.paper.snapshot import Snapshot
from norms import faults

# What is written does not depend on where it is kept.
pytestmark = pytest.mark.engines("sqlite")

LONG_PARTS, LONG_DOCUMENTS = 10, 50
# There is nothing to say of the delivery where nobody said when the work was done; the schema wants the element anyway.
EMPTY_DELIVERY = "PEPPOL-EN16931-R008"


@pytest.fixture(scope="session")
def firm(stage: Stage) -> Firm:
    """A firm that bills what e-invoices have words for."""
    return open_firm(assemble(stage))


def snapshots(cast: Cast, *records: dict[str, Any]) -> Iterator[Snapshot]:
    """What was frozen of invoices and credit notes."""
    with cast.stage.database.reading(cast.organisation) as rows:
        for record in records:
            table = "invoice" if record["object"] == "invoice" else "credit_note"
            sql = f"SELECT snapshot FROM {table} WHERE organisation_id = :organisation AND id = :id"
            row = rows.one(sql, id=record["id"])
            assert row is not None
            yield Snapshot.model_validate_json(str(row[0]))


def check(firm: Firm, wanted: int, seeds: Iterator[int]) -> set[str]:
    """So many documents are e-invoices and pass; which kinds there were."""
    kinds: list[str] = []
    while len(kinds) < wanted:
        seed = next(seeds)
        told = story(firm, seed, e_invoices=True)
        notes = [note for notes in told.notes.values() for note in notes]
        for record, snapshot in zip(
            [*told.invoices, *notes], snapshots(firm.cast, *told.invoices, *notes), strict=True
        ):
            assert standing(snapshot).e_invoice.status == "included", (seed, record["number"])
            for written in (cii.written(terms_of(snapshot)), ubl.written(terms_of(snapshot))):
                wrong = [fault for fault in faults(written) if EMPTY_DELIVERY not in fault]
                assert wrong == [], (seed, record["number"])
            kinds.append(record.get("kind", "creditNote"))
    return {*kinds}


def test_what_is_issued_passes(firm: Firm) -> None:
    assert check(firm, 36, count()) == {"deposit", "progress", "final", "standard", "creditNote"}


@pytest.mark.long
@pytest.mark.parametrize("part", range(LONG_PARTS))
def test_five_hundred_that_are_issued_pass(firm: Firm, part: int) -> None:
    check(firm, LONG_DOCUMENTS, count(1000 * (part + 1)))
