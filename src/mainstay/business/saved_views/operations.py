"""Operations on saved views."""

from typing import Annotated, Any
from urllib.parse import parse_qsl

from pydantic import Field

from mainstay.business.saved_views.model import SHARING, SavedView, SavedViewOut
from mainstay.business.saved_views.store import SAVED_VIEWS, count_own_views
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import declare_inverse, restore_values
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import STARTING_AFTER, TextLine, make_id_validator, omittable_field
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, raise_if_blocked
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

MAX_VIEWS = 50
_MAX_QUERY_LENGTH = 1000
# What an address of a list has besides filters.
_POSITION_FIELDS = {"startingAfter", "limit"}

_ListName = Annotated[
    str,
    Field(
        pattern="^[a-z_]{1,40}$",
        title="List",
        description=describe("[[The list: `invoices` for that of `GET /invoices`.]]"),
        examples=["invoices"],
    ),
]
_Query = Annotated[
    str,
    Field(
        max_length=_MAX_QUERY_LENGTH,
        title="Filters",
        description=describe(
            "[[Filters and order, as in the address of the list's page: `status=overdue&order=due`.]]"
        ),
    ),
]
_Shared = Annotated[bool, RequiresPermission(SHARING)]


class ListSavedViews(ListInput):
    """Which views to list."""

    starting_after: Annotated[str | None, make_id_validator("view", "a saved view")] = STARTING_AFTER
    list_name: _ListName | None = Field(
        None, title="List", description=describe("[[Only views of this list, such as `invoices`.]]")
    )


class CreateSavedView(Input):
    """The list, and its filters."""

    list_name: _ListName
    name: TextLine = Field(description="E.g. Landlords over £1,000.")
    query: _Query
    shared: _Shared = Field(default=False, description="Whether the office sees it too.")


class UpdateSavedView(Input):
    """The fields to change."""

    saved_view_id: Annotated[str, make_id_validator("view", "saved view")] = Field(description="The view to change.")
    name: TextLine = omittable_field(description="A short name.")
    query: _Query = omittable_field()
    shared: _Shared = omittable_field(description="Whether the office sees it too.")


@operation(permission=Permission.ME_READ, effect=Effect.READ, api_path="GET /saved-views")
def list_saved_views(ctx: Context, given: ListSavedViews) -> PageResult[SavedViewOut]:
    """List saved views.

    Filters of lists that you saved under a name; and for the office, those that others share.
    """
    return SAVED_VIEWS.page(ctx, given)


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /saved-views",
    undone_by=declare_inverse("delete_saved_view", "savedViewId"),
    past_text="View saved",
)
def create_saved_view(ctx: Context, given: CreateSavedView) -> SavedView:
    """Save view.

    Saves the filters of a list under a name, for yourself or shared with the office.
    """
    if ctx.actor.id is None:
        raise Conflict(Message("Only a person can save a view."))
    _check_query(ctx, given.list_name, given.query)
    if count_own_views(ctx) >= MAX_VIEWS:
        raise Conflict(Message("You already have {count} saved views, the maximum. Delete one first.", count=MAX_VIEWS))
    return SAVED_VIEWS.insert(ctx, {"person_id": ctx.actor.id, "status": "active", **given.model_dump()})


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    api_path="PATCH /saved-views/{saved_view_id}",
    on=SAVED_VIEWS,
    undone_by=restore_values,
    past_text="View changed",
)
def update_saved_view(ctx: Context, given: UpdateSavedView, view: SavedView) -> SavedView:
    """Change saved view.

    Changes its name, its filters, or whether the office sees it.
    """
    values = given.sent_fields("saved_view_id")
    if given.query:
        _check_query(ctx, view.list_name, given.query)
    if values.get("shared") is False:
        raise_if_blocked(view.not_private(ctx.actor))
    return SAVED_VIEWS.save(ctx, view, values)


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /saved-views/{saved_view_id}/delete",
    on=SAVED_VIEWS,
    blocked_by=SavedView.not_deletable,
    undone_by=declare_inverse("restore_saved_view", "savedViewId"),
    past_text="View deleted",
)
def delete_saved_view(ctx: Context, _given: Input, view: SavedView) -> SavedView:
    """Delete saved view.

    The records stay. A shared view is gone for everyone.
    """
    return SAVED_VIEWS.save(ctx, view, {"status": "archived"})


@operation(
    permission=Permission.ME_CHANGE,
    effect=Effect.CHANGE,
    api_path="POST /saved-views/{saved_view_id}/restore",
    on=SAVED_VIEWS,
    blocked_by=SavedView.not_restorable,
    undone_by=declare_inverse("delete_saved_view", "savedViewId"),
    past_text="View restored",
)
def restore_saved_view(ctx: Context, _given: Input, view: SavedView) -> SavedView:
    """Restore saved view.

    Brings a deleted view back into its list.
    """
    return SAVED_VIEWS.save(ctx, view, {"status": "active"})


OPERATIONS = (list_saved_views, create_saved_view, update_saved_view, delete_saved_view, restore_saved_view)


def _check_query(ctx: Context, list_name: str, query: str) -> None:
    """Refuse an unknown list, and a filter that the list does not have."""
    listing: Any = ctx.catalogue.find_operation(f"list_{list_name}") if ctx.catalogue else None
    if listing is None or not listing.returns_page:
        raise Invalid([Fault("listName", Message("is not a list"))])
    known = {field.alias or name for name, field in listing.input.model_fields.items()} - _POSITION_FIELDS
    unknown = [name for name, _ in parse_qsl(query) if name not in known]
    if unknown:
        problem = Message("has a filter that this list does not have: {name}", name=unknown[0])
        raise Invalid([Fault("query", problem)])
