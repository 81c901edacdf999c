from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from mainstay.values.fields import Day, StoredDay


@pytest.mark.parametrize("kind", [Day, StoredDay])
@pytest.mark.parametrize("text", ["", " ", "20261115", "2026-W46-7", "2026-02-30", "2026-11-15 ", "15.11.2026", "None"])
def test_only_a_date_as_it_is_written_here_is_one(kind: Any, text: str) -> None:
    with pytest.raises(ValidationError, match="is not a date such as 2026-11-15"):
        TypeAdapter(kind).validate_python(text)
    assert TypeAdapter(kind).validate_python("2026-11-15") == "2026-11-15"
