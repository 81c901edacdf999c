"""The base models of inputs and outputs, from which every door derives its schema."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo
from pydantic.alias_generators import to_camel

from mainstay.infrastructure.database import Row
from mainstay.values.choices import to_label
from mainstay.values.fields import STARTING_AFTER, Day, WholeNumber
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Stamp
from mainstay.vocabulary.refusal import Fault, Invalid, Reason


class Input(BaseModel):
    """The input of an operation. Unknown fields are refused, so that a mistyped name is not ignored."""

    # Models are built when they are first used, because a process uses only a few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)

    def sent_fields(self, *excluded: str) -> dict[str, Any]:
        """Return the fields that were sent, by name, except these: the changes, including null."""
        return {name: getattr(self, name) for name in self.model_fields_set if name not in excluded}

    def require(self, *names: str) -> None:
        """Refuse an input without these fields, which only the change of an existing record can leave out."""
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            fields = type(self).model_fields
            problem = Message("is required for a new record")
            raise Invalid([Fault(fields[name].alias or name, problem) for name in missing])


# The error of a last date that is before the first one.
BACKWARDS = Message("is before the first date")


def _check_not_before(first: str) -> AfterValidator:
    """Return a validator that refuses a date before the date in another field of the same input."""

    def check(last: str, info: ValidationInfo) -> str:
        begins = info.data.get(first)
        if begins and last < begins:
            raise ValueError(BACKWARDS)
        return last

    return AfterValidator(check)


# The last date of a range that begins with the field `from_` of the same input; and that of a range of due dates.
LastDay = Annotated[Day, _check_not_before("from_")]
LastDueDay = Annotated[Day, _check_not_before("due_from")]


class IrreversibleInput(Input):
    """The input of an irreversible operation: without `confirmed: true` it only returns a preview."""

    confirmed: bool = Field(
        default=False,
        description="True performs it, which cannot be undone. Otherwise you get a preview.",
    )
    # Not part of what is asked for, so it is neither in the audit trail nor in the fingerprint of the request.
    preview_token: str | None = Field(
        default=None,
        exclude=True,
        description="With confirmed: the token of the preview. Refused with a new preview if that would differ now.",
    )


class ListInput(Input):
    """The input of a list."""

    limit: WholeNumber = Field(default=25, ge=1, le=100, description="Maximum number of records.")
    starting_after: str | None = STARTING_AFTER

    def fixed_order(self) -> str | None:
        """Return the order that these filters force on the list, if any."""
        return None


Tone = Literal["waiting", "begun", "good", "bad", "over"]


class StateLabel(NamedTuple):
    """The label of a state, and its tone: not begun, under way, done well, late or failed, or over."""

    label: str
    tone: Tone


def make_states(**tones: Tone) -> Mapping[str, StateLabel]:
    """Return the labels of states by their names, in this order."""
    return MappingProxyType({name: StateLabel(to_label(name), tone) for name, tone in tones.items()})


class Output(BaseModel):
    """The output of an operation. It always has all fields; unknown ones are null."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True, defer_build=True)

    # The value of its field `object`.
    noun: ClassVar[str]
    is_versioned: ClassVar[bool] = False
    # The path of its page in the office, with `{id}` in it.
    office_path: ClassVar[str | None] = None
    # Whether its author and its time belong to what it says, so that short lists have them too.
    shows_author: ClassVar[bool] = False
    # The labels of its states.
    states: ClassVar[Mapping[str, StateLabel]] = MappingProxyType({})

    object: str

    @property
    def available_actions(self) -> Sequence[str]:
        """The names of the operations that the actor can do to it now, if it is the answer to them."""
        actions: Sequence[str] = self._extra_value("availableActions", ())
        return actions

    @property
    def change_warnings(self) -> Sequence[str]:
        """What to check after the change that it is the answer to."""
        warnings: Sequence[str] = self._extra_value("warnings", ())
        return warnings

    def _extra_value(self, name: str, default: Any) -> Any:
        return (self.__pydantic_extra__ or {}).get(name, default)


class Record(Output):
    """The output of a stored record, as every door and every event shows it."""

    is_versioned: ClassVar[bool] = True

    id: str
    created_at: str = Field(description="When it was created.", json_schema_extra={"format": "date-time"})
    created_by: Stamp = Field(description="Who created it, and through which app or key.")
    updated_at: str = Field(description="When it was last changed.", json_schema_extra={"format": "date-time"})
    updated_by: Stamp = Field(description="Who changed it last, and through which app or key.")
    version: int = Field(description="Increases with each change; the record's ETag.")


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A stored record: the row with its output columns and, as fields, the values that its rules need.

    Each kind of record has a class of its own. Its fields are output columns, or rule columns of its RecordStore.
    """

    output: ClassVar[type[Output]]

    row: Row
    id: str

    @property
    def version(self) -> int:
        """The version of the record."""
        return cast("int", self.row[_VERSION_COLUMN])

    @property
    def display_name(self) -> str:
        """The name that people use for it: its name if its rules know it, or else its id."""
        name: str = getattr(self, "name", self.id)
        return name

    @property
    def name_in_messages(self) -> Message | str:
        """The name that messages use for it."""
        return self.display_name

    @property
    def detail(self) -> str | None:
        """A detail that tells it apart from records with the same name: its customer, if its rules know that."""
        name: str | None = getattr(self, "customer_name", None)
        return name

    @property
    def is_replaced(self) -> bool:
        """Whether another record has replaced it."""
        return False

    def find_default_part(self, _name: str) -> str | None:
        """Return the default of a part that the record lacks, as JSON; a change of the part is merged with it."""
        return None

    def additions_blocked_by(self) -> Sequence[Reason]:
        """Return the reasons why no more notes and files can be added."""
        return ()


R = TypeVar("R", bound=Output)


@dataclass(frozen=True, slots=True)
class RecordResult(Generic[R]):
    """One record without rules: a row whose columns are the fields of the model after `object`."""

    model: type[R]
    row: Row


@dataclass(frozen=True, slots=True)
class RecordPage(Generic[R]):
    """One page of a list as its reader gets it."""

    data: list[R]
    has_more: bool
    # The number of records in the list, if they were read with their available actions. Counting stops at a limit.
    count: int
    # Sums over all records of the list, if they were asked for.
    totals: Any


@dataclass(frozen=True, slots=True)
class PageResult(Generic[R]):
    """One page of a list: one such row for each record."""

    model: type[R]
    rows: Sequence[Row]
    has_more: bool
    # Makes records of the rows, if they were read with their rule columns to find the available actions.
    from_row: Callable[[Row], StoredRecord] | None = None
    # The number of records in the list, if there is `from_row`. Counting stops at a limit.
    count: int | None = None
    # Sums over all records of the list, not only those of the page, if they were asked for.
    totals: BaseModel | None = None

    @classmethod
    def from_rows(
        cls, model: type[R], rows: Sequence[Row], limit: int, from_row: Callable[[Row], StoredRecord] | None = None
    ) -> "PageResult[R]":
        """Make a page from the rows of a query for one row more than the limit."""
        return cls(model, rows[:limit], len(rows) > limit, from_row)


_VERSION_COLUMN = list(Record.model_fields).index("version") - 1
