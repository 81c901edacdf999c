"""Working hours for tests."""

from typing import Any

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def make_working_hours(**days: list[dict[str, str]]) -> dict[str, Any]:
    """Make working hours of these days alone; the others are days off."""
    return {day: [] for day in DAYS} | days
