"""What goes into an operation and what comes out: the one source of every door's schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from mainstay.backing.database import Row
from mainstay.kernel.actor import Stamp
from mainstay.values.fields import LAST_SEEN, WholeNumber


class Input(BaseModel):
    """What an operation is given. Unknown fields are refused, so a mistyped name is never silently ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    def sent(self) -> dict[str, Any]:
        """The fields that were sent, by name: what a change changes, null included."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Irrevocable(Input):
    """What an operation that cannot be undone is given: nothing happens until it is confirmed."""

    confirmed: bool = Field(
        default=False,
        description="Without true, nothing happens and a preview is answered. True does it, and it cannot be undone.",
    )


class ListInput(Input):
    """What every list is given."""

    limit: WholeNumber = Field(default=25, ge=1, le=100, description="How many records at most.")
    starting_after: str | None = LAST_SEEN


class Shown(BaseModel):
    """What an operation answers with. It always has every field; what is not known is null."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True)

    # What it calls itself in its `object` field.
    noun: ClassVar[str]
    versioned: ClassVar[bool] = False

    object: str


class Record(Shown):
    """A record of the organisation, as every door and every event shows it."""

    versioned: ClassVar[bool] = True

    id: str
    created_at: str = Field(description="When it was made.", json_schema_extra={"format": "date-time"})
    created_by: Stamp = Field(description="Who made it, and through what.")
    updated_at: str = Field(description="When it was last changed.", json_schema_extra={"format": "date-time"})
    updated_by: Stamp = Field(description="Who changed it last, and through what.")
    version: int = Field(description="Goes up by one with each change; the record's ETag.")


R = TypeVar("R", bound=Shown)


@dataclass(frozen=True, slots=True)
class One(Generic[R]):
    """One record: a row whose columns are the fields of the model behind `object`, in the model's order."""

    model: type[R]
    row: Row

    @property
    def version(self) -> int:
        """The version of a Record."""
        return cast("int", self.row[_VERSION_AT])


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """One page of a list: such rows, one for each record."""

    model: type[R]
    rows: Sequence[Row]
    has_more: bool

    @classmethod
    def cut(cls, model: type[R], rows: Sequence[Row], limit: int) -> "Page[R]":
        """The page out of a query for one row more than the limit."""
        return cls(model, rows[:limit], len(rows) > limit)


_VERSION_AT = list(Record.model_fields).index("version") - 1
