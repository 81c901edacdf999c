"""The address of a list: its filters, its order, and the current page."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

# The first page in the trail of earlier pages, and how many of those are remembered.
_FIRST_PAGE = "-"
_MAX_TRAIL = 20


@dataclass(frozen=True, slots=True)
class ListAddress:
    """The state of a list page. All of it is in the address, so that it can be bookmarked and shared."""

    path: str
    # The chosen filters and order.
    chosen: Mapping[str, str]
    starting_after: str | None = None
    # The start positions of the pages before this one.
    trail: tuple[str, ...] = ()

    @classmethod
    def parse(cls, path: str, parameters: Mapping[str, str], allowed: frozenset[str]) -> "ListAddress":
        """Read the state from the query parameters. `names` are the allowed filters."""
        filter_values = {name: value for name, value in parameters.items() if name in allowed and value}
        trail = tuple(parameters.get("trail", "").split()[-_MAX_TRAIL:])
        return cls(path, filter_values, parameters.get("startingAfter") or None, trail)

    @property
    def list_input(self) -> dict[str, object]:
        """The input of the list's operation."""
        return {**self.chosen, **({"startingAfter": self.starting_after} if self.starting_after else {})}

    def with_filters(self, **changes: str) -> str:
        """Return the address of the first page with other filters or another order. An empty value removes one."""
        filters = {name: value for name, value in {**self.chosen, **changes}.items() if value}
        return str(ListAddress(self.path, filters))

    def next(self, last: str) -> str:
        """Return the address of the next page, given the last record of this one."""
        return str(replace(self, starting_after=last, trail=(*self.trail, self.starting_after or _FIRST_PAGE)))

    @property
    def previous(self) -> str | None:
        """The address of the previous page, or None if the trail does not contain it."""
        if not self.trail:
            return None
        before = self.trail[-1]
        return str(replace(self, starting_after=None if before == _FIRST_PAGE else before, trail=self.trail[:-1]))

    @property
    def first(self) -> str | None:
        """The address of the first page, if this is a later one and has no trail. Otherwise None."""
        return self.with_filters() if self.starting_after and not self.trail else None

    @property
    def export(self) -> str:
        """The address of the whole list as a file."""
        return str(ListAddress(f"{self.path}/export.csv", self.chosen))

    @property
    def query(self) -> str:
        """The query string with its `?`, or nothing."""
        parameters = {**self.list_input, "trail": " ".join(self.trail)}
        encoded = urlencode({name: value for name, value in parameters.items() if value})
        return f"?{encoded}" if encoded else ""

    def __str__(self) -> str:
        return self.path + self.query
