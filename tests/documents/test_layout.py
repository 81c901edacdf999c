"""Nothing is printed over anything else, and nothing beside the paper, however long words and numbers are."""

from typing import Any

import pypdfium2
import pytest

from mainstay.documents.pdf import render_document
from mainstay.documents.snapshot import Snapshot
from mainstay.values.totals import Discount
from support.snapshots import BUYER, SELLER, VAT7, SnapshotItem, make_random_snapshot, make_rate, make_snapshot

Box = tuple[float, float, float, float]
WIDTH, HEIGHT = 595.3, 841.9


def find_letter_boxes(page: Any) -> list[Box]:
    """Where each letter stands: left, bottom, right, top."""
    text = page.get_textpage()
    found = (text.get_charbox(place) for place in range(text.count_chars()))
    # Letters that are drawn as one stand at one place.
    return sorted({box for box in found if box[2] - box[0] > 0.1 and box[3] - box[1] > 0.1})


def find_overlaps(letters: list[Box]) -> list[tuple[Box, Box]]:
    """Letters that cover half of another one; neighbours that lean on each other do not."""
    found = []
    for place, one in enumerate(letters):
        for other in letters[place + 1 :]:
            if other[0] >= one[2]:
                break
            across = min(one[2], other[2]) - other[0]
            along = min(one[3], other[3]) - max(one[1], other[1])
            smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
            if along > 0 and across * along > smaller / 2:
                found.append((one, other))
    return found


LONG = "International Plumbing, Heating and Refrigeration Company of the Greater Rhineland and Neighbouring Lands " * 2
WORD = "W" * 180
MAILBOX = "office-of-the-very-long-mailbox-that-never-ends@subdomain.of-a-very-long-domain-name.example"


def make_extreme_snapshot(text: str) -> Snapshot:
    place = {"line1": text, "line2": text, "city": text, "region": text, "postalCode": "LL61 5UJ", "country": "GB"}
    party = {"name": text, "legalName": text, "contactName": text, "address": place, "email": MAILBOX, "phone": text}
    return make_snapshot(
        SnapshotItem(f"{text}\n{text}", "9007199254.7409", "1234.5678", make_rate("19", name=text), unit=text),
        f"# {text}",
        text,
        SnapshotItem("Short", "1", "80000000000.55", VAT7, discount_percent="33.3333"),
        discount=Discount(percent=33_333),
        seller={**SELLER, **party, "registrationNumber": text, "bank": {**SELLER["bank"], "name": text}},
        buyer={**BUYER, **party, "taxNumber": text},
        title=text,
        reference=text,
        orderNumber=text,
        notes=text,
        terms=text,
        site={"name": text, "address": place},
        job={"number": text},
    )


DOCUMENTS = {
    "long names": make_extreme_snapshot(LONG),
    "long words": make_extreme_snapshot(WORD),
    "sixty lines": make_snapshot(
        *[SnapshotItem(f"Position {place}\nwith more words", price="1234.5") for place in range(60)]
    ),
    "a quote": make_snapshot(
        SnapshotItem(optional=True, chosen=False), SnapshotItem(LONG, optional=True), kind="quote", terms=LONG
    ),
    "by chance": make_random_snapshot(11),
}


@pytest.mark.parametrize("snapshot", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_nothing_is_printed_over_anything_else_or_beside_the_paper(snapshot: Snapshot, language: str) -> None:
    document = pypdfium2.PdfDocument(render_document(snapshot.model_copy(update={"language": language})))
    for page in document:
        letters = find_letter_boxes(page)
        assert len(letters) > 50
        assert find_overlaps(letters) == []
        assert all(box[0] > 0 and box[1] > 0 and box[2] < WIDTH and box[3] < HEIGHT for box in letters)
    document.close()


def test_what_is_printed_over_something_else_is_noticed() -> None:
    assert find_overlaps([(0, 0, 5, 8), (1, 0, 6, 8)]) != []
    assert find_overlaps([(0, 0, 5, 8), (4.6, 0, 10, 8), (0, 9, 5, 17)]) == []
