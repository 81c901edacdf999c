"""What a model writes, as HTML on the page of a conversation."""

import pytest

from mainstay.doors.office.kit.markdown import MAX_LENGTH, render_markdown

BASE_URL = "http://localhost:8000"


@pytest.mark.parametrize("rule", ["|---|---|", "--- | ---", " | :-- | --: | ", "-|-|"])
def test_a_table_is_shown_as_one(rule: str) -> None:
    shown = render_markdown(f"| Name | Due |\n{rule}\n| Calder | £5 |", BASE_URL)
    assert "<thead><tr><th>Name</th><th>Due</th></tr></thead>" in shown
    assert "<tbody><tr><td>Calder</td><td>£5</td></tr></tbody>" in shown


@pytest.mark.parametrize("line", ["---", "| Name |", "|", "| - - |", "|::|"])
def test_lines_with_a_bar_are_no_table_without_its_rule(line: str) -> None:
    assert "<table>" not in render_markdown(f"| Name | Due |\n{line}\n| Calder | £5 |", BASE_URL)


# Nobody measures time here: when the search for tables took cubic time, these did not come to an end.
@pytest.mark.parametrize("text", ["a|\n-|{}x", "a|\n{}x", "a|\n-{}x"])
def test_long_lines_are_shown_at_once(text: str) -> None:
    blanks = " " * (MAX_LENGTH - len(text))
    assert render_markdown(text.format(blanks), BASE_URL).startswith("<p>a|")
