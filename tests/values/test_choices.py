"""Labels that are made from the names that programs use."""

import pytest

from mainstay.values.choices import to_label


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("inProgress", "In progress"),
        ("in_progress", "In progress"),
        ("apiKey", "API key"),
        ("customer_id", "Customer ID"),
        ("personIds", "Person IDs"),
        ("get_invoice_pdf", "Get invoice PDF"),
        ("paid", "Paid"),
        ("superseded", "Replaced"),
    ],
)
def test_a_label_is_the_words_of_a_name_with_abbreviations_in_capitals(name: str, label: str) -> None:
    assert to_label(name) == label
