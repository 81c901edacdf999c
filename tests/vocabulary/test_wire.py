"""JSON is built from rows without the models; these tests check it against the models."""

from collections.abc import Callable
from dataclasses import is_dataclass
from enum import EnumType
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import orjson
import pytest
from pydantic import BaseModel

from mainstay.business.organisation.email_texts import MailTexts
from mainstay.business.organisation.settings import Numbering
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.business.people.model import MeOut
from mainstay.catalogue import CATALOGUE
from mainstay.infrastructure.database import Row, Value
from mainstay.values.address import Address
from mainstay.values.bank import Bank
from mainstay.vocabulary.record_json import MessageText, MoneyText, PriceText, to_json
from mainstay.vocabulary.schemas import Output, PageResult, Record, RecordResult, StoredRecord

IBAN = "DE89370400440532013000"
TEXT = "Zoë “x” \\ </script>"
SCALARS: dict[object, tuple[Value, object]] = {
    PriceText: (325_000, "32.50"),
    MoneyText: (325_000, "3250.00"),
    # Stores have rendered it before.
    MessageText: ("No such mailbox.", "No such mailbox."),
    str: (TEXT, TEXT),
    int: (7, 7),
    bool: (1, True),
}
OUTPUTS = sorted({operation.output for operation in CATALOGUE.operations}, key=lambda model: model.__name__)


# The output about the actor is not read from a row; its model is made by hand.
ROW_OUTPUTS = [model for model in OUTPUTS if model is not MeOut]


def sample_value(kind: Any, *, empty: bool) -> tuple[Value, object]:
    """Return a value as it is stored, and as it must be shown."""
    if type(None) in get_args(kind):
        if empty:
            return None, None
        kind = get_args(kind)[0]
    if kind in SCALARS:
        return SCALARS[kind]
    if words := get_args(kind) if get_origin(kind) is Literal else kind if isinstance(kind, EnumType) else ():
        word = str(next(iter(words)))
        return word, word
    shown = sample_inner(kind, empty=empty)
    return orjson.dumps(shown).decode(), shown


# Types with the same rules on their way in and out, filled with this text where any text will do.
SPECIAL_SAMPLES: dict[Any, Callable[[str | None], object]] = {
    Address: lambda text: dict.fromkeys(("line1", "line2", "city", "region", "postalCode"), text) | {"country": "GB"},
    Bank: lambda text: (
        dict.fromkeys(("name", "iban", "bic", "account", "sortCode"), text) | {"iban": IBAN, "bic": "COBADEFF370"}
    ),
    WorkingHours: lambda _: {day: [{"from": "08:00", "until": "17:00"}] for day in WorkingHours.model_fields},
    Numbering: lambda _: {"prefix": "J-", "digits": 4, "next": 7},
    MailTexts: lambda text: dict.fromkeys(MailTexts.model_fields, text and {"subject": text, "text": text}),
}


def sample_inner(kind: Any, *, empty: bool) -> object:
    if get_origin(kind) is list:
        return [] if empty else [sample_value(get_args(kind)[0], empty=False)[1]] * 2
    if get_origin(kind) is dict:
        of_each = get_args(kind)[1]
        is_structured = get_origin(of_each) is list or (isinstance(of_each, type) and issubclass(of_each, BaseModel))
        either = sample_inner(of_each, empty=False) if is_structured else TEXT
        return {} if empty else {"x": either, "y": either if is_structured or of_each is str else [None]}
    if kind in SPECIAL_SAMPLES:
        return SPECIAL_SAMPLES[kind](None if empty else TEXT)
    if issubclass(kind, Output):
        return sample_record(kind, empty=empty)[1]
    if issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return {of.alias or name: sample_value(of.annotation, empty=empty)[1] for name, of in fields}
    assert is_dataclass(kind)
    parts = {name: part for name, part in get_type_hints(kind).items() if get_origin(part) is not ClassVar}
    return {name: sample_value(part, empty=empty)[1] for name, part in parts.items()}


def sample_record(model: type[Output], *, empty: bool) -> tuple[Row, dict[str, object]]:
    """Return a row of such a record, and the JSON it must become."""
    row: list[Value] = []
    shown: dict[str, object] = {"object": model.noun}
    for name, field in model.model_fields.items():
        if name != "object":
            # The record names the currency of its amounts, so it cannot be any text.
            pair = ("GBP", "GBP") if name == "currency" else sample_value(field.annotation, empty=empty)
            stored, shown[field.alias or name] = pair
            row.append(stored)
    return tuple(row), shown


EMPTY_OR_FULL = pytest.mark.parametrize("empty", [True, False], ids=["empty", "full"])
EVERY_OUTPUT = pytest.mark.parametrize("model", ROW_OUTPUTS, ids=lambda model: model.__name__)


@EVERY_OUTPUT
@EMPTY_OR_FULL
def test_a_row_becomes_the_record(model: type[Output], *, empty: bool) -> None:
    row, shown = sample_record(model, empty=empty)
    assert orjson.loads(to_json(RecordResult(model, row))) == shown


@EVERY_OUTPUT
@EMPTY_OR_FULL
def test_an_entry_of_a_page_is_byte_for_byte_the_record_itself(model: type[Output], *, empty: bool) -> None:
    row, _ = sample_record(model, empty=empty)
    record = to_json(RecordResult(model, row))
    page = to_json(PageResult(model, [row, row], has_more=True))
    assert page == b'{"object":"list","data":[%s,%s],"hasMore":true}' % (record, record)


@EVERY_OUTPUT
@EMPTY_OR_FULL
def test_the_model_reads_it_and_would_write_the_same(model: type[Output], *, empty: bool) -> None:
    row, _ = sample_record(model, empty=empty)
    written = to_json(RecordResult(model, row))
    assert to_json(model.model_validate_json(written, strict=True, extra="forbid")) == written


@EVERY_OUTPUT
def test_a_row_with_a_column_too_many_or_too_few_is_a_bug(model: type[Output]) -> None:
    row, _ = sample_record(model, empty=False)
    for wrong in (row[:-1], (*row, None)):
        with pytest.raises(ValueError, match="unpack"):
            to_json(RecordResult(model, wrong))


@pytest.mark.parametrize("model", [model for model in OUTPUTS if issubclass(model, Record)])
def test_the_version_is_found_in_the_row(model: type[Record]) -> None:
    row, shown = sample_record(model, empty=False)
    assert StoredRecord(row, "x").version == shown["version"] == 7


def test_an_empty_page_is_an_empty_list() -> None:
    assert to_json(PageResult(OUTPUTS[0], [], has_more=False)) == b'{"object":"list","data":[],"hasMore":false}'


def test_a_page_is_cut_out_of_one_row_more() -> None:
    rows: list[Row] = [(1,), (2,), (3,)]
    cut = [
        (len(page.rows), page.has_more)
        for page in (PageResult.from_rows(OUTPUTS[0], rows, limit) for limit in (2, 3, 4))
    ]
    assert cut == [(2, True), (3, False), (3, False)]
