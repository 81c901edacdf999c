"""Operations that are alike for many kinds of records, declared from the kind: list, get, file, archive, restore."""

from collections.abc import Callable, Mapping
from types import GenericAlias
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Unpack, cast, get_type_hints

from pydantic import Field, create_model
from pydantic.alias_generators import to_pascal

from mainstay.kernel.context import Context
from mainstay.kernel.event import Event
from mainstay.kernel.inverse import declare_inverse
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import (
    ALL_DOORS,
    BlockedBy,
    Effect,
    HasOutput,
    OperationOptions,
    OperationReturning,
    R,
    R_co,
    operation,
)
from mainstay.values.choices import to_label
from mainstay.values.descriptions import describe
from mainstay.values.fields import STARTING_AFTER, make_id_validator
from mainstay.values.search_words import SearchText
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.roles import RefersTo, find_marks
from mainstay.vocabulary.schemas import Input, ListInput, PageResult, RecordPage, StoredRecord


class KindShowing(Protocol[R_co]):
    """A kind of record that goes out as this model: a `Kind`, with the type that checkers know."""

    @property
    def record_type(self) -> type[HasOutput[R_co]]:
        """The class of its records."""
        ...


def declare_list(
    shown_kind: KindShowing[R],
    text: str,
    permission: Permission,
    filters: Mapping[str, str],
    name: str = "",
    **options: Unpack[OperationOptions],
) -> OperationReturning[RecordPage[R]]:
    """Declare an operation that lists the records of a kind. The first sentence of the text is its title.

    The filters have their descriptions; their types follow from the fields of the model. Besides these, `text` searches
    and `order` names an order of the kind.
    """
    kind = cast("Kind[Any]", shown_kind)

    def list_records(ctx: Context, given: ListInput) -> PageResult[Any]:
        return kind.page(ctx, given)

    name = name or f"list_{kind.plural.replace(' ', '_')}"
    fields: dict[str, Any] = {
        "starting_after": (Annotated[str | None, make_id_validator(kind.prefix, f"a {kind.noun}")], STARTING_AFTER)
    } | {field: _build_filter(kind, field, description) for field, description in filters.items()}
    model = create_model(to_pascal(name), __base__=ListInput, __doc__=f"Which {kind.plural} to list.", **fields)
    hints = {"ctx": Context, "given": model, "return": GenericAlias(PageResult, (kind.output,))}
    declare = operation(permission=permission, effect=Effect.READ, **options)
    return declare(_describe(list_records, kind, name, text, hints))


def declare_get(
    shown_kind: KindShowing[R],
    text: str,
    permission: Permission,
    **options: Unpack[OperationOptions],
) -> OperationReturning[R]:
    """Declare an operation that gets a record of a kind. The first sentence of the text is its title.

    On the API it reads with one statement, unless the options say no.
    """
    kind = cast("Kind[Any]", shown_kind)

    def get_record(_ctx: Context, _given: Input, record: StoredRecord) -> StoredRecord:
        return record

    name = f"get_{kind.noun.replace(' ', '_')}"
    hints = {"ctx": Context, "given": Input} | _record_hints(kind)
    options["on"] = kind
    options.setdefault("single_statement", "api_path" in options)
    declare = operation(permission=permission, effect=Effect.READ, **options)
    return declare(_describe(get_record, kind, name, text, hints))


def declare_file(
    kind: Kind[Any],
    read: Callable[[Any], R],
    text: str,
    permission: Permission,
    **options: Unpack[OperationOptions],
) -> OperationReturning[R]:
    """Declare an operation that answers with a file of a record, which `read` names; its route ends with the form."""

    def get_file(_ctx: Context, _given: Input, record: StoredRecord) -> R:
        return read(record)

    form = options["api_path"].rpartition("/")[2]
    name = f"get_{kind.noun.replace(' ', '_')}_{form}"
    hints = {"ctx": Context, "given": Input, "record": kind.record_type, "return": get_type_hints(read)["return"]}
    options["on"] = kind
    declare = operation(permission=permission, effect=Effect.READ, **options)
    return declare(_describe(get_file, kind, name, text, hints))


class ArchivingStep(NamedTuple):
    """Archiving or restoring: what people should know of it, the rule against it, and the event that it emits."""

    description: str
    blocked_by: BlockedBy
    event: type[Event] | None = None


def declare_archiving(
    shown_kind: KindShowing[R],
    permission: Permission,
    archive: ArchivingStep,
    restore: ArchivingStep,
    doors: frozenset[Door] = ALL_DOORS,
) -> tuple[OperationReturning[R], OperationReturning[R]]:
    """Declare the operations that archive and restore a record of a kind.

    On the API they are below the address that the kind has in the office, which is the same there.
    """
    kind = cast("Kind[Any]", shown_kind)

    def declare(verb: str, opposite: str, status: str, step: ArchivingStep) -> OperationReturning[R]:
        def set_status(ctx: Context, _given: Input, record: StoredRecord) -> StoredRecord:
            updated: StoredRecord = kind.save(ctx, record, {"status": status})
            if step.event:
                ctx.emit(step.event(updated, record))
            return updated

        name, inverse = (f"{word}_{kind.noun.replace(' ', '_')}" for word in (verb, opposite))
        hints = {"ctx": Context, "given": Input} | _record_hints(kind)
        return operation(
            permission=permission,
            effect=Effect.CHANGE,
            on=kind,
            api_path=f"POST {kind.path}/{{{kind.id_field}}}/{verb}",
            blocked_by=step.blocked_by,
            doors=doors,
            undone_by=declare_inverse(inverse, kind.id_alias),
            past_text=f"{kind.noun.capitalize()} {verb.removesuffix('e')}ed",
        )(_describe(set_status, kind, name, f"{to_label(name)}. {step.description}", hints))

    return declare("archive", "restore", "archived", archive), declare("restore", "archive", "active", restore)


def _describe(
    function: Callable[..., Any], kind: Kind[Any], name: str, text: str, hints: Mapping[str, Any]
) -> Callable[..., Any]:
    """Give a function its name, docstring and types, as if it was written in the area of a kind."""
    title, _, description = text.partition(". ")
    function.__name__, function.__doc__, function.__annotations__ = name, f"{title}.\n\n{description}", dict(hints)
    function.__module__ = kind.record_type.__module__
    return function


def _record_hints(kind: Kind[Any]) -> dict[str, Any]:
    return {"record": kind.record_type, "return": kind.record_type}


def _build_filter(kind: Kind[Any], name: str, description: str) -> tuple[Any, Any]:
    """Return the type of a filter, and its field."""
    if name == "text":
        return SearchText | None, Field(None, title="Search", description=describe(description))
    if name == "order":
        orders = tuple(kind.orders)
        return Literal[orders], Field(orders[0], description=describe(description))
    field = kind.output.model_fields[name]
    if reference := find_marks(kind.output, RefersTo).get(name):
        title = to_label(name.removesuffix("_id"))
        marks = [mark for mark in field.metadata if isinstance(mark, RequiresPermission)]
        filter_type = Annotated[(str | None, make_id_validator(reference.prefix), *marks)]
        return filter_type, Field(None, title=title, description=describe(description))
    field_type: Any = field.annotation
    return field_type | None, Field(None, description=describe(description))
