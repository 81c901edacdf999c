"""An organisation's settings for invoices: terms, notes, numbers and email texts."""

import re
from typing import Any

import pytest

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.settings import Settings
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.issued_invoices import insert_credit_note, insert_invoice
from support.violations import find_violations

WORDS = {"subject": "{number}: {due}", "text": "Dear {customer}, {due} of {total} by {dueOn}. {title} {organisation}"}
NAMED = r"\{customer\}, \{organisation\}, \{number\}, \{title\}, \{total\}, \{due\}, \{dueOn\}, \{link\}"


def test_they_are_as_usual_until_someone_decides_otherwise(cast: Cast) -> None:
    result = cast.perform(get_settings, Role.OFFICE)
    assert (result["paymentTermsDays"], result["invoiceNotes"]) == (14, None)
    assert result["invoiceNumbers"] == {"prefix": "INV-", "digits": 4, "next": 1}
    assert result["creditNoteNumbers"] == {"prefix": "CN-", "digits": 4, "next": 1}
    assert result["mailTexts"] == {"quote": None, "invoice": None, "reminder": None}


@pytest.mark.parametrize(
    "given",
    [
        {"paymentTermsDays": 0},
        {"paymentTermsDays": 365},
        {"invoiceNotes": "Thank you.\nPay soon."},
        {"invoiceNumbers": {"prefix": "R-2026-", "digits": 6, "next": 500}},
        {"creditNoteNumbers": {"prefix": "", "digits": 1, "next": 2}},
    ],
)
def test_each_can_be_decided_alone(cast: Cast, given: dict[str, Any]) -> None:
    before = cast.perform(get_settings)
    after = cast.perform(update_settings, Role.ADMIN, **given)
    stamped = {"updatedAt", "updatedBy", "version", "availableActions"}
    assert {name: after[name] for name in after if after[name] != before[name] and name not in stamped} == given
    assert cast.perform(get_settings) == after


def test_an_agent_decides_them_with_the_organisation(cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr", paymentTermsDays=30, invoiceNumbers={"next": 7})
    result = cast.perform(get_settings)
    assert (result["paymentTermsDays"], result["invoiceNumbers"]["next"]) == (30, 7)


@pytest.mark.parametrize("days", [-1, 366, 1.5, "14", None, True])
def test_terms_are_whole_days_of_a_year(cast: Cast, days: object) -> None:
    with pytest.raises(Invalid, match=r"^paymentTermsDays: "):
        cast.perform(update_settings, paymentTermsDays=days)


def test_notes_are_cleared_by_null(cast: Cast) -> None:
    cast.perform(update_settings, invoiceNotes="Thank you.")
    assert cast.perform(update_settings, invoiceNotes=None)["invoiceNotes"] is None


def test_the_next_number_is_raised_only_before_the_first_is_given(cast: Cast) -> None:
    insert_invoice(cast, None)
    # A draft has no number, so nothing has begun.
    assert cast.perform(update_settings, invoiceNumbers={"next": 41})["invoiceNumbers"]["next"] == 41
    invoice = insert_invoice(cast, "INV-0041")
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_settings, invoiceNumbers={"next": 42})
    assert refusal.value.text == (
        "invoiceNumbers.next: must stay 41, because these numbers have no gaps and are already in use"
    )
    # The other series has not begun by that.
    assert cast.perform(update_settings, creditNoteNumbers={"next": 5})["creditNoteNumbers"]["next"] == 5
    insert_credit_note(cast, invoice)
    with pytest.raises(Invalid, match=r"^creditNoteNumbers\.next: must stay 5, because these numbers have no gaps"):
        cast.perform(update_settings, creditNoteNumbers={"next": 6})


@pytest.mark.parametrize("field", ["invoiceNumbers", "creditNoteNumbers"])
def test_a_raised_series_leaves_no_gap_that_check_reports(settings: Settings, cast: Cast, field: str) -> None:
    cast.perform(update_settings, **{field: {"next": 7}})
    cast.perform(update_settings, **{field: {"next": 12}})
    assert find_violations(settings, cast) == []


SHARED = r"would give an invoice and a credit note the same number, {}, choose another prefix"


@pytest.mark.parametrize(
    ("given", "field", "number"),
    [
        ({"invoiceNumbers": {"prefix": "CN-"}}, "invoiceNumbers", "CN-0001"),
        ({"creditNoteNumbers": {"prefix": "INV-", "digits": 6}}, "creditNoteNumbers", "INV-000001"),
        (
            {"invoiceNumbers": {"prefix": ""}, "creditNoteNumbers": {"prefix": "", "next": 500}},
            "invoiceNumbers",
            "0001",
        ),
    ],
)
def test_invoices_and_credit_notes_never_have_the_same_prefix(
    cast: Cast, given: dict[str, Any], field: str, number: str
) -> None:
    for operation in (update_settings, update_organisation):
        with pytest.raises(Invalid, match=rf"^{field}\.prefix: {SHARED.format(number)}"):
            cast.perform(operation, **given)


def test_no_prefix_brings_a_number_back_that_another_kind_has(cast: Cast) -> None:
    cast.perform(update_settings, invoiceNumbers={"prefix": "R-", "next": 7})
    insert_invoice(cast, "R-0007")
    cast.perform(update_settings, invoiceNumbers={"prefix": "INV-"})
    with pytest.raises(Invalid, match=r"^creditNoteNumbers\.prefix: " + SHARED.format("R-0007")):
        cast.perform(update_settings, creditNoteNumbers={"prefix": "R-"})
    # Numbers that are behind it already are not given again.
    assert (
        cast.perform(update_settings, creditNoteNumbers={"prefix": "R-", "next": 8})["creditNoteNumbers"]["next"] == 8
    )


def test_prefixes_that_were_the_same_before_can_be_told_apart(cast: Cast) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "INSERT INTO number_series (organisation_id, kind, prefix, padding, next)"
            " VALUES (:organisation, 'creditNote', 'INV-', 4, 1)"
        )
    cast.perform(update_settings, paymentTermsDays=3)
    assert cast.perform(update_settings, creditNoteNumbers={"prefix": "CN-"})["creditNoteNumbers"]["prefix"] == "CN-"


def test_how_numbers_look_may_change_at_any_time(cast: Cast) -> None:
    insert_invoice(cast)
    result = cast.perform(update_settings, invoiceNumbers={"prefix": "R-", "digits": 5, "next": 1})
    assert result["invoiceNumbers"] == {"prefix": "R-", "digits": 5, "next": 1}


def test_no_number_is_given_twice(cast: Cast) -> None:
    cast.perform(update_settings, invoiceNumbers={"next": 41})
    with pytest.raises(Invalid, match=r"^invoiceNumbers\.next: is below 41, numbers can't be used twice$"):
        cast.perform(update_settings, invoiceNumbers={"next": 40})


def test_another_organisation_s_invoices_count_for_nothing(cast: Cast, other_cast: Cast) -> None:
    insert_invoice(other_cast)
    assert cast.perform(update_settings, invoiceNumbers={"next": 9})["invoiceNumbers"]["next"] == 9


def test_jobs_and_quotes_may_have_gaps(cast: Cast) -> None:
    insert_invoice(cast)
    result = cast.perform(update_settings, jobNumbers={"next": 90}, quoteNumbers={"next": 80})
    assert (result["jobNumbers"]["next"], result["quoteNumbers"]["next"]) == (90, 80)


def test_each_kind_of_mail_has_words_of_its_own(cast: Cast) -> None:
    cast.perform(update_settings, mailTexts={"invoice": WORDS})
    mails_by_address = cast.perform(update_settings, mailTexts={"reminder": WORDS | {"subject": "Oh"}})
    assert mails_by_address["mailTexts"] == {"quote": None, "invoice": WORDS, "reminder": WORDS | {"subject": "Oh"}}
    # What is not sent stays, and null brings the usual words back: of one, or of all.
    mails_by_address = cast.perform(update_settings, mailTexts={"invoice": None})
    assert mails_by_address["mailTexts"] == {"quote": None, "invoice": None, "reminder": WORDS | {"subject": "Oh"}}
    mails_by_address = cast.perform(update_settings, mailTexts=None)
    assert mails_by_address["mailTexts"] == {"quote": None, "invoice": None, "reminder": None}


@pytest.mark.parametrize("kind", ["invoice", "reminder"])
@pytest.mark.parametrize("part", ["subject", "text"])
@pytest.mark.parametrize("name", ["validUntil", "secret", "0", "", " due"])
def test_they_name_only_what_such_a_mail_knows(cast: Cast, kind: str, part: str, name: str) -> None:
    given = {kind: WORDS | {part: f"x {{{name}}}"}}
    with pytest.raises(
        Invalid, match=rf"^mailTexts\.{kind}\.{part}: has the unknown placeholder \{{{name}\}}, use {NAMED}$"
    ):
        cast.perform(update_settings, mailTexts=given)


@pytest.mark.parametrize("name", ["due", "dueOn"])
def test_the_mail_of_a_quote_knows_nothing_that_is_due(cast: Cast, name: str) -> None:
    with pytest.raises(
        Invalid, match=r"^mailTexts\.quote\.text: has the unknown placeholder .* \{validUntil\}, \{link\}$"
    ):
        cast.perform(update_settings, mailTexts={"quote": {"subject": "x", "text": f"{{{name}}}"}})


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        ({"invoice": {"subject": "x"}}, "mailTexts.invoice.text"),
        ({"invoice": {"subject": "", "text": "x"}}, "mailTexts.invoice.subject"),
        ({"invoice": {"subject": "a\nb", "text": "x"}}, "mailTexts.invoice.subject"),
        ({"reminder": "x"}, "mailTexts.reminder"),
        ({"order": WORDS}, "mailTexts.order"),
        ([], "mailTexts"),
    ],
)
def test_what_is_no_mail_text_is_refused(cast: Cast, texts: object, field: str) -> None:
    with pytest.raises(Invalid, match=f"^{re.escape(field)}: "):
        cast.perform(update_settings, mailTexts=texts)
