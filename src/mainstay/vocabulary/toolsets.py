"""Toolsets: the areas of the catalogue by which people and programs choose what a program is offered."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from mainstay.values.choices import TextEnum


class Toolset(TextEnum):
    """A group of tools. Those from `EVENTS` on are listed only if they are asked for."""

    CUSTOMERS = "customers"
    EQUIPMENT = "equipment"
    JOBS = "jobs"
    SCHEDULE = "schedule"
    HOURS = "hours"
    PRICES = "prices"
    QUOTES = "quotes"
    PURCHASING = "purchasing"
    INVOICES = "invoices"
    REPORTS = "reports"
    PEOPLE = "people"
    SETTINGS = "settings"
    RECORDS = "records"
    EVENTS = "events"
    SINGLE_RECORDS = "single_records"
    STATEMENTS = "statements"
    NEWS = "news"
    SAVED_VIEWS = "saved_views"
    WEBHOOKS = "webhooks"

    @property
    def label(self) -> str:
        """The title that people read."""
        return _TITLES.get(self.value, super().label)


_TITLES = {
    "prices": "Price list",
    "invoices": "Invoices and payments",
    "reports": "Reports and job costs",
    "settings": "Organisation",
    "records": "Notes, files and history",
    "single_records": "One record of a list",
    "statements": "Sent statements",
    "news": "News and job diary",
}
EXTRA_TOOLSETS = frozenset(
    {Toolset.EVENTS, Toolset.SINGLE_RECORDS, Toolset.STATEMENTS, Toolset.NEWS, Toolset.SAVED_VIEWS, Toolset.WEBHOOKS}
)
DEFAULT_TOOLSETS = frozenset(Toolset) - EXTRA_TOOLSETS

# The areas of packages that are not named like a toolset.
_AREAS: Mapping[str, Toolset] = MappingProxyType(
    {
        "organisation": Toolset.SETTINGS,
        "pricelist": Toolset.PRICES,
        "costing": Toolset.REPORTS,
        "reporting": Toolset.REPORTS,
        "overview": Toolset.RECORDS,
    }
)
# What is declared outside the areas of the business.
_OTHER_PACKAGES: Mapping[str, Toolset] = MappingProxyType({"mainstay.webhooks.feed": Toolset.EVENTS})


def area_of_module(module: str) -> Toolset | None:
    """Return the area in which a module declares its operations; None for what programs never get."""
    match module.split("."):
        case ["mainstay", "business", "assistant", *_]:
            # Talk of people with the built-in assistant.
            return None
        case ["mainstay", "business", package, *_]:
            return _AREAS.get(package) or Toolset(package)
        case ["mainstay", "webhooks", *_]:
            return _OTHER_PACKAGES.get(module, Toolset.WEBHOOKS)
    return None


class ToolChoice(NamedTuple):
    """The toolsets that a request asks for, without those that its connection does not have."""

    asked: frozenset[Toolset] = DEFAULT_TOOLSETS
    # The areas that the connection or key is limited to; None if it is not.
    allowed: frozenset[Toolset] | None = None

    def has(self, toolset: Toolset | None, area: Toolset | None) -> bool:
        """Return whether it includes what belongs to this toolset and this area."""
        return toolset in self.asked and (self.allowed is None or {toolset, area} <= self.allowed)


DEFAULT_CHOICE = ToolChoice()


def choose_toolsets(asked: frozenset[Toolset] | None, allowed: frozenset[Toolset] | None) -> ToolChoice:
    """Return the choice of a request that asks for some toolsets, or for none by name."""
    return ToolChoice((DEFAULT_TOOLSETS if allowed is None else allowed) if asked is None else asked, allowed)


def parse_toolsets(names: str) -> frozenset[Toolset]:
    """Return the toolsets of names with commas between; raise ValueError, with the name, for one that is unknown."""
    toolsets = []
    for name in names.split(","):
        try:
            toolsets.append(Toolset(name.strip()))
        except ValueError:
            raise ValueError(name.strip()) from None
    return frozenset(toolsets)
