"""Saved views of a list: the tabs that open them, and the form that saves, changes and deletes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from mainstay.business.saved_views.model import SHARING, SavedViewOut
from mainstay.business.saved_views.operations import (
    MAX_VIEWS,
    create_saved_view,
    delete_saved_view,
    list_saved_views,
    update_saved_view,
)
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.operation import Operation

_VIEWS_PATH = "/views"


class ViewTab(NamedTuple):
    """A saved view as a tab of its list."""

    view: SavedViewOut
    to: str
    # Whether the list shows exactly what the view filters.
    here: bool


@dataclass(frozen=True)
class ViewPages:
    """The saved views of the list at a path."""

    office: OfficePages
    path: str
    list_operation: Operation

    def routes(self) -> list[Route]:
        """Return the routes of the form; it has no page of its own."""
        return Form(self.office, find_by_path, self._submit).routes(f"{self.path}{_VIEWS_PATH}", self.path)

    async def build_tabs(self, request: OfficeRequest, address: ListAddress) -> Sequence[ViewTab]:
        """Return the tabs of the views that the person sees, in the order in which they were saved."""
        if not request.can_perform(list_saved_views):
            return ()
        given = {"listName": self._list_name, "limit": MAX_VIEWS}
        page = await self.office.perform(request, list_saved_views, given)
        return [
            ViewTab(view, self._address_of(view.query), dict(parse_qsl(view.query)) == address.chosen)
            for view in reversed(page.data)
        ]

    def describe_form(self, request: OfficeRequest, address: ListAddress, tabs: Sequence[ViewTab]) -> dict[str, object]:
        """Return the template variables of the form: for the view that is open, or for a new one."""
        opened = next((tab.view for tab in tabs if tab.here), None)
        can_save = request.can_perform(update_saved_view if opened else create_saved_view)
        return {
            "path": f"{self.path}{_VIEWS_PATH}",
            "view": opened,
            "query": urlencode(address.chosen),
            "can_save": can_save and bool(opened or address.chosen),
            "can_share": request.actor.can(SHARING),
        }

    async def _submit(self, form: OpenForm[PathValues]) -> Response:
        """Save the filters as a view, or change or delete the view that is open."""
        request, fields = form.request, form.fields
        view_input = {"savedViewId": fields["view"]} if fields.get("view") else {}
        if form.button == "delete":
            await self.office.perform(request, delete_saved_view, view_input, form.version)
            return redirect(f"{self.path}?{urlencode({'done': delete_saved_view.name})}")
        query = urlencode(parse_qsl(fields.get("query", "")))
        given: dict[str, object] = {"name": fields.get("name", "")}
        given |= {"shared": "shared" in fields} if request.actor.can(SHARING) else {}
        if view_input:
            await self.office.perform(request, update_saved_view, given | view_input, form.version)
            return redirect(self._address_of(query, update_saved_view))
        new_view = given | {"listName": self._list_name, "query": query}
        await self.office.perform(request, create_saved_view, new_view)
        return redirect(self._address_of(query, create_saved_view))

    @property
    def _list_name(self) -> str:
        return self.list_operation.name.removeprefix("list_")

    def _address_of(self, query: str, done: Operation | None = None) -> str:
        parameters = [*parse_qsl(query), *([("done", done.name)] if done else [])]
        return f"{self.path}?{urlencode(parameters)}" if parameters else self.path
