"""The address of a list: which records it shows, in which order, and how far one has gone through it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

# Where a list begins, among the places that one has come from; and so many of those are remembered.
_BEGINNING = "-"
_REMEMBERED = 20


@dataclass(frozen=True, slots=True)
class ListAddress:
    """Where one is in a list; everything of it stands in the address, so that it can be kept, sent and gone back to."""

    path: str
    # The filters and the order, as far as they were chosen.
    chosen: Mapping[str, str]
    after: str | None = None
    # What the pages before this one began after.
    trail: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: str, words: Mapping[str, str], names: frozenset[str]) -> "ListAddress":
        """The list at a path that can be narrowed by these names, with what stands behind the `?`."""
        chosen = {name: value for name, value in words.items() if name in names and value}
        trail = tuple(words.get("trail", "").split()[-_REMEMBERED:])
        return cls(path, chosen, words.get("startingAfter") or None, trail)

    @property
    def asked(self) -> dict[str, object]:
        """What the list's operation is given."""
        return {**self.chosen, **({"startingAfter": self.after} if self.after else {})}

    def with_(self, **chosen: str) -> str:
        """The same list narrowed or ordered otherwise, from its beginning; an empty word takes a choice back."""
        kept = {name: value for name, value in {**self.chosen, **chosen}.items() if value}
        return str(ListAddress(self.path, kept))

    def next(self, last: str) -> str:
        """The page behind this one, whose last record this is."""
        return str(replace(self, after=last, trail=(*self.trail, self.after or _BEGINNING)))

    @property
    def previous(self) -> str | None:
        """The page before this one, if one came from there."""
        if not self.trail:
            return None
        before = self.trail[-1]
        return str(replace(self, after=None if before == _BEGINNING else before, trail=self.trail[:-1]))

    @property
    def first(self) -> str | None:
        """Where the list begins, for whoever is behind that and cannot go back page by page."""
        return self.with_() if self.after and not self.trail else None

    @property
    def export(self) -> str:
        """All of the list as a file."""
        return str(ListAddress(f"{self.path}/export.csv", self.chosen))

    @property
    def query(self) -> str:
        """What stands behind the path."""
        words = {**self.asked, "trail": " ".join(self.trail)}
        asked = urlencode({name: value for name, value in words.items() if value})
        return f"?{asked}" if asked else ""

    def __str__(self) -> str:
        return self.path + self.query
