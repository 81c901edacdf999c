"""What stands in one text stays whole there, whichever way it is written."""

from mainstay.doors.pages.formatting import isolate_rtl, join_isolated

# "Roof", and a number behind it.
ROOF = "\u05d2\u05d2 12"


def test_a_text_from_right_to_left_is_held_apart() -> None:
    assert isolate_rtl(ROOF) == f"\u2068{ROOF}\u2069"
    assert isolate_rtl("Roof 12") == "Roof 12"


def test_parts_of_one_text_are_each_whole_and_those_that_are_not_there_leave_no_gap() -> None:
    assert join_isolated("J-0001", None, ROOF, "") == f"J-0001 \u2068{ROOF}\u2069"
    assert join_isolated(ROOF, "J-0001", separator=" · ") == f"\u2068{ROOF}\u2069 · J-0001"
