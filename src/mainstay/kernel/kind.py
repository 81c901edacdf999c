"""Kinds of records that people see: one value for each, with its names and its addresses in the office."""

from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote

from mainstay.kernel.record_store import K, RecordStore
from mainstay.values.message import Message


@dataclass(frozen=True)
class Kind(RecordStore[K]):
    """One kind of record: besides how it is stored, what people call it and where they find it."""

    # What people call several of them in a sentence, by default with an "s"; and above their list, if that differs.
    plural: str = field(default="", kw_only=True)
    heading: str = field(default="", kw_only=True)
    # The area of the sidebar that their pages belong to.
    area: str = field(kw_only=True)
    # The end of the address of the form for a new one.
    new: str = field(default="new", kw_only=True)

    def __post_init__(self) -> None:
        """Fill in what follows from the other names."""
        super().__post_init__()
        object.__setattr__(self, "plural", self.plural or f"{self.label}s")

    @property
    def title(self) -> str:
        """The title of their list."""
        return self.heading or f"{self.plural[0].upper()}{self.plural[1:]}"

    @property
    def plural_noun(self) -> Message:
        """What people call several of them, within a message."""
        return Message.from_template(self.plural)

    @property
    def path(self) -> str:
        """The address of their list, or of the only one. The model has it, because each answer contains its address."""
        return (self.output.office_path or "").removesuffix("/{id}")

    @property
    def new_path(self) -> str:
        """The address of the form for a new one."""
        return f"{self.path}/{self.new}"

    def has_column(self, name: str) -> bool:
        """Return whether a field of the model is a column of the table, and not read from elsewhere."""
        column = f"{self.table}.{name}"
        return self.columns.get(name, column) == column

    def path_of(self, record_id: str) -> str:
        """Return the address of one of them."""
        return f"{self.path}/{_quote_id(record_id)}" if self.id_field else self.path


# A page has the addresses of many records, and the next one those of the same records.
@lru_cache(4096)
def _quote_id(record_id: str) -> str:
    return quote(record_id, safe="{}")
