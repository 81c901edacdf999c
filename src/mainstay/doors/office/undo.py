"""Undoing a change, by the button beside its notice or in a history."""

from dataclasses import dataclass

from mainstay.business.records.undo import undo_change
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.rendering import redirect
from mainstay.doors.pages.session import is_local_path

_PATH = "/changes/undo"


@dataclass(frozen=True, slots=True)
class UndoPages:
    """The form that undoes a change; it has no page of its own."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the route of the form."""
        return Form(self.office, find_by_path, self._undo).routes(_PATH, "/")

    async def _undo(self, form: OpenForm[PathValues]) -> Response:
        back = form.fields.get("back", "")
        await self.office.perform(form.request, undo_change, {"changeIds": form.fields.get("change", "").split()})
        back = back if is_local_path(back) else "/"
        return redirect(f"{back}{'&' if '?' in back else '?'}done={undo_change.name}")
