"""What goes into an operation and what comes out: the one source of every door's schema."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo
from pydantic.alias_generators import to_camel

from mainstay.backing.database import Row
from mainstay.terms.actor import Stamp
from mainstay.terms.refusal import Fault, Invalid, Reason
from mainstay.values.fields import LAST_SEEN, Day, WholeNumber
from mainstay.values.words import words_of


class Input(BaseModel):
    """What an operation is given. Unknown fields are refused, so a mistyped name is never silently ignored."""

    # Built when it is first used: a process uses few of all there are.
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)

    def sent(self, *but: str) -> dict[str, Any]:
        """The fields that were sent, by name, without these: what a change changes, null included."""
        return {name: getattr(self, name) for name in self.model_fields_set if name not in but}

    def needs(self, *names: str) -> None:
        """Refuse what lacks these, where they may be left out only because another record than a new one is meant."""
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            fields = type(self).model_fields
            raise Invalid([Fault(fields[name].alias or name, "is required for a new one") for name in missing])


# What people are told of the last date of a range that ends before it begins.
BACKWARDS = "is before the first date"


def _not_before(first: str) -> AfterValidator:
    """Return what refuses a date before the one in another field of the same input."""

    def check(last: str, asked: ValidationInfo) -> str:
        begins = asked.data.get(first)
        if begins and last < begins:
            raise ValueError(BACKWARDS)
        return last

    return AfterValidator(check)


# The last date of a range, behind the field `from_` of the same input; and that of a range of due dates.
LastDay = Annotated[Day, _not_before("from_")]
LastDueDay = Annotated[Day, _not_before("due_from")]


class Irrevocable(Input):
    """What an operation that cannot be undone is given: nothing happens until it is confirmed."""

    confirmed: bool = Field(
        default=False,
        description="Only true does it, for good; otherwise a preview is answered.",
    )


class ListInput(Input):
    """What every list is given."""

    limit: WholeNumber = Field(default=25, ge=1, le=100, description="How many at most.")
    starting_after: str | None = LAST_SEEN

    def fixed_order(self) -> str | None:
        """Return the order that the list always has when it is narrowed like this, if there is one."""
        return None


Tone = Literal["good", "bad", "over", "waiting"]


class State(NamedTuple):
    """A state as people are told it: a word, and whether it is good news, bad news, over, or on its way."""

    word: str
    tone: Tone


def states(**tones: Tone) -> Mapping[str, State]:
    """The states of a kind of record, in the order in which they are told; the words are their names."""
    return MappingProxyType({name: State(words_of(name), tone) for name, tone in tones.items()})


class Shown(BaseModel):
    """What an operation answers with. It always has every field; what is not known is null."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True, defer_build=True)

    # What it calls itself in its `object` field.
    noun: ClassVar[str]
    versioned: ClassVar[bool] = False
    # Where people see it in the office, with `{id}` in it.
    place: ClassVar[str | None] = None
    # How people are told the states it can be in.
    states: ClassVar[Mapping[str, State]] = MappingProxyType({})

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


@dataclass(frozen=True, slots=True)
class Kept:
    """A record as it is kept: the row of what is shown of it and, by name, what its rules need to know.

    Each kind is a class of its own, whose fields are columns of what is shown or facts of its Listing.
    """

    shown: ClassVar[type[Shown]]

    row: Row
    id: str

    @property
    def version(self) -> int:
        """The version of a Record."""
        return cast("int", self.row[_VERSION_AT])

    @property
    def called(self) -> str:
        """What people call it."""
        return self.id

    @property
    def detail(self) -> str | None:
        """What else tells it apart from others that are called alike."""
        return None

    @property
    def is_replaced(self) -> bool:
        """Whether another record has taken its place."""
        return False

    def find_usual_part(self, _name: str) -> str | None:
        """Return what applies where it has no such part of its own, as JSON; a change of the part begins with that."""
        return None

    def not_added_to(self) -> Sequence[Reason]:
        """Why no note and no file is put beside it any more."""
        return ()


R = TypeVar("R", bound=Shown)


@dataclass(frozen=True, slots=True)
class One(Generic[R]):
    """One record that has no rules: a row whose columns are the fields of the model behind `object`, in its order."""

    model: type[R]
    row: Row


@dataclass(frozen=True, slots=True)
class Page(Generic[R]):
    """One page of a list: such rows, one for each record."""

    model: type[R]
    rows: Sequence[Row]
    has_more: bool
    # Makes records of rows that were read with their facts, where someone asked what can be done with each.
    keep: Callable[[Row], Kept] | None = None
    # And then, how many there are in all, as far as they are counted.
    count: int | None = None
    # Sums over all records of the list, not only those of the page, if they were asked for.
    totals: BaseModel | None = None

    @classmethod
    def cut(
        cls, model: type[R], rows: Sequence[Row], limit: int, keep: Callable[[Row], Kept] | None = None
    ) -> "Page[R]":
        """The page out of a query for one row more than the limit."""
        return cls(model, rows[:limit], len(rows) > limit, keep)


_VERSION_AT = list(Record.model_fields).index("version") - 1
