"""The declaration of an operation: everything that doors need to know about it, in one place."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import (
    Annotated,
    Any,
    Generic,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import orjson
from pydantic import BaseModel, Field, create_model
from pydantic.alias_generators import to_pascal

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import UndoneBy
from mainstay.kernel.program_links import ProgramLinks
from mainstay.kernel.record_store import RecordStore
from mainstay.values.descriptions import Description, describe
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.merging import make_change_input
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import Result
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.schemas import (
    Input,
    IrreversibleInput,
    Output,
    PageResult,
    RecordPage,
    RecordResult,
    StoredRecord,
)
from mainstay.vocabulary.toolsets import ToolChoice, Toolset, area_of_module
from mainstay.vocabulary.typed_records import to_record

R = TypeVar("R", bound=Output)
R_co = TypeVar("R_co", bound=Output, covariant=True)

# Returns all reasons against an operation on a record.
BlockedBy = Callable[[Any, Actor], Sequence[Reason]]

ALL_DOORS = frozenset(Door) - {Door.SYSTEM, Door.LINK}


class Effect(Enum):
    """What an operation does to the records."""

    READ = auto()
    CHANGE = auto()
    IRREVERSIBLE = auto()


@dataclass(frozen=True, slots=True)
class Preparation:
    """What an operation can use before its transaction begins, while it blocks nobody yet."""

    actor: Actor
    guard: AddressGuard
    # Calls a function with a Context, in a read transaction that ends before the change begins.
    read: Callable[[Callable[[Context], Any]], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One thing that the product can do."""

    name: str
    title: str
    description: Description
    input: type[Input]
    output: type[Output]
    # Whether it answers with a page of `output` instead of one; and if with one, whether with its available actions.
    returns_page: bool
    shows_actions: bool
    permission: Permission
    effect: Effect
    # Whether it can change anything; and whether it only adds something, so that nothing is ended or overwritten.
    changes: bool
    only_adds: bool
    # The fields that need a permission of their own.
    field_permissions: dict[str, Permission]
    function: Callable[..., Result]
    # The kind of record it is done to, one of which its input names; and the rule that returns reasons against it.
    on: RecordStore[Any] | None = None
    blocked_by: BlockedBy | None = None
    # Whether the record is already as requested: then nothing changes, and the answer is the record.
    is_already_done: Callable[[Any, Any], bool] | None = None
    # The kind of record that offers it, if it is done to several records or to one that its input need not name.
    offered_on: RecordStore[Any] | None = None
    # Whether it creates a record if its input names none.
    creates_without_id: bool = False
    # Slow work before the transaction, such as hashing or a look-up of a name. The context gets its result.
    prepare: Callable[[Preparation, Any], Any] | None = None
    api_path: str | None = None
    doors: frozenset[Door] = ALL_DOORS
    open_when_lapsed: bool = False
    # The area of the catalogue that declares it, and the toolset that offers it to agents, if that is another.
    area: Toolset | None = None
    extra_toolset: Toolset | None = None
    # Whether it helps in every area, so that no choice of toolsets leaves it out.
    is_always_offered: bool = False
    # Whether it sends an email to someone outside the organisation.
    emails_outside: bool = False
    # Whether it can commit the organisation to an amount, so that it may wait for the person of a limited program.
    commits_amount: bool = False
    # Whether it lets someone into the organisation, or further: the assistant, and programs with limits, never do that
    # without a click of their person.
    gives_access: bool = False
    # Whether it performs operations that were stored before, some of which are irreversible.
    performs_stored: bool = False
    # Whether it reads with a single statement, and so needs no transaction.
    single_statement: bool = False
    # Whether it reads so much that it must not run on the threads for quick operations.
    is_slow: bool = False
    # Whether the office asks people to confirm it, although it has no preview.
    asks_again: bool = False
    # If it answers with a stored file, the kind of the file; its output then names the file.
    returns_file: str | None = None
    # Completes the answer with the secret of a link, which is not stored with it for repeats.
    complete_answer: Callable[[ProgramLinks, bytes], bytes] | None = None
    # The model of the sums over all records of a list, if its input has `totals`.
    totals_model: type[BaseModel] | None = None
    # How it is undone, or why it cannot be; see `kernel/inverse.py`.
    undone_by: UndoneBy | None = None
    not_undone: Message | None = None
    # What it did, in the past tense, for timelines; and if that depends on an input field, its texts by value.
    past_text: str = ""
    past_text_by: tuple[str, Mapping[str, str]] | None = None
    # The notice after it is done; and whether it deletes the record.
    done_message: str = ""
    deletes: bool = False
    # The other records that its answer can include, by their names in `ctx.extra_records`.
    extra_records: Mapping[str, type[Output]] = field(default_factory=dict)

    @property
    def is_irreversible(self) -> bool:
        """Whether it cannot be undone, and so has a preview."""
        return self.effect is Effect.IRREVERSIBLE

    def is_in(self, choice: ToolChoice) -> bool:
        """Return whether a choice of toolsets includes it."""
        return self.is_always_offered or choice.has(self.extra_toolset or self.area, self.area)

    @property
    def may_need_person(self) -> bool:
        """Whether the person of a program may have to confirm it."""
        return self.is_irreversible or self.commits_amount or self.performs_stored

    def parse_answer(self, body: bytes) -> Any:
        """Return the typed answer of its JSON: a record, or a page of records."""
        answer = orjson.loads(body)
        if not self.returns_page:
            return to_record(self.output, answer)
        totals = to_record(self.totals_model, answer["totals"]) if self.totals_model and "totals" in answer else None
        data = [to_record(self.output, values) for values in answer["data"]]
        return RecordPage(data, answer["hasMore"], answer.get("count", 0), totals)


A_co = TypeVar("A_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class OperationReturning(Operation, Generic[A_co]):
    """An operation whose answer is of a type that is known where it is declared."""

    def read_answer(self, body: bytes) -> A_co:
        """Return the typed answer of its JSON."""
        answer: A_co = self.parse_answer(body)
        return answer


class HasOutput(Protocol[R_co]):
    """A record as rules see it, with the model of what goes out."""

    @property
    def output(self) -> type[R_co]:
        """The output model."""
        ...


class Declare(Protocol):
    """Declares a function as an operation, whose answer has the type of what the function returns."""

    @overload
    def __call__(self, function: Callable[..., HasOutput[R]], /) -> OperationReturning[R]: ...
    @overload
    def __call__(self, function: Callable[..., RecordResult[R]], /) -> OperationReturning[R]: ...
    @overload
    def __call__(self, function: Callable[..., PageResult[R]], /) -> OperationReturning[RecordPage[R]]: ...
    @overload
    def __call__(self, function: Callable[..., R], /) -> OperationReturning[R]: ...


class OperationOptions(TypedDict, total=False):
    """The optional arguments of a declaration; the comments in Operation say what each means."""

    on: RecordStore[Any]
    offered_on: RecordStore[Any]
    blocked_by: BlockedBy
    is_already_done: Callable[[Any, Any], bool]
    creates_without_id: bool
    prepare: Callable[[Preparation, Any], Any]
    api_path: str
    doors: frozenset[Door]
    open_when_lapsed: bool
    extra_toolset: Toolset
    is_always_offered: bool
    emails_outside: bool
    commits_amount: bool
    gives_access: bool
    performs_stored: bool
    single_statement: bool
    is_slow: bool
    asks_again: bool
    returns_file: str
    complete_answer: Callable[[ProgramLinks, bytes], bytes]
    totals_model: type[BaseModel]
    undone_by: UndoneBy
    not_undone: Message
    past_text: str
    past_text_by: tuple[str, Mapping[str, str]]
    done_message: str
    deletes: bool
    extra_records: Mapping[str, type[Output]]


def operation(
    *, permission: Permission, effect: Effect, only_adds: bool | None = None, **options: Unpack[OperationOptions]
) -> Declare:
    """Declare a function as an operation; its types and its docstring are part of the declaration.

    By default, an operation on a record overwrites some of it, and any other operation only adds records.
    """
    on = options.get("on")

    def declare(function: Callable[..., Any], /) -> OperationReturning[Any]:
        hints = get_type_hints(function)
        _context, input_model, *record, answer = hints.values()
        if input_model in {Input, IrreversibleInput}:
            input_model = _derive_input(function.__name__, input_model, on)
        _check_declaration(function.__name__, effect, input_model, on, takes_record=bool(record))
        if effect is not Effect.READ:
            if "past_text" not in options:
                raise TypeError(f"{function.__name__}: a change needs a past_text")
            if ("undone_by" in options) == ("not_undone" in options):
                raise TypeError(f"{function.__name__}: a change needs either undone_by or not_undone")
            options.setdefault("done_message", f"{options['past_text']}.")
        return OperationReturning(
            name=function.__name__,
            **_title_and_description(function),
            input=make_change_input(input_model) if on and effect is not Effect.READ else input_model,
            output=_output_model(answer),
            returns_page=get_origin(answer) is PageResult,
            shows_actions=isinstance(answer, type) and issubclass(answer, StoredRecord),
            permission=permission,
            effect=effect,
            changes=effect is not Effect.READ,
            only_adds=on is None if only_adds is None else only_adds,
            field_permissions=_field_permissions(input_model),
            function=function,
            area=area_of_module(function.__module__),
            **options,
        )

    return declare


def _check_declaration(
    name: str, effect: Effect, input_model: type[Input], on: RecordStore[Any] | None, *, takes_record: bool
) -> None:
    if (effect is Effect.IRREVERSIBLE) != issubclass(input_model, IrreversibleInput):
        raise TypeError(f"{name}: an irreversible operation takes an IrreversibleInput, and no other operation does")
    if on and on.id_field and on.id_field not in input_model.model_fields:
        raise TypeError(f"{name}: its input does not say which {on.label}: {on.id_field}")
    if (on is not None) != takes_record:
        raise TypeError(f"{name}: an operation on a record takes it, and no other does")


def _derive_input(name: str, base: type[Input], on: RecordStore[Any] | None) -> type[Input]:
    """Return the input model of an operation that needs nothing but its record, if it has one."""
    class_name = to_pascal(name)
    if on is None or on.id_field is None:
        return create_model(class_name, __base__=base, __doc__="Nothing.")
    fields: dict[str, Any] = {
        on.id_field: on.id_type or Annotated[str, Field(description=describe(f"[[The {on.noun}'s ID.]]"))]
    }
    return create_model(class_name, __base__=base, __doc__=f"Which {on.noun}.", **fields)


def _title_and_description(function: Callable[..., Result]) -> dict[str, Any]:
    title, _, description = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    return {"title": title.rstrip("."), "description": describe(" ".join(description.split()))}


def _output_model(answer: Any) -> type[Output]:
    result_type: Any = get_args(answer)[0] if get_origin(answer) else answer
    output: type[Output] = result_type.output if issubclass(result_type, StoredRecord) else result_type
    return output


def _field_permissions(input_model: type[Input]) -> dict[str, Permission]:
    return {
        name: mark.permission
        for name, field in input_model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, RequiresPermission)
    }
