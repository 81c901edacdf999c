"""The life of a form: it is shown, read, performed once, and shown again with what was typed if it is refused."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import (
    RESTORED_NOTICE,
    OfficePages,
    OfficeRequest,
    check_form_access,
    form_version,
    refusal_variables,
    status_of,
)
from mainstay.doors.pages.door import Route, form_routes
from mainstay.doors.pages.edit_conflicts import EditConflict
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.refusal import NotFound, Refusal, Stale

PathValues = Mapping[str, str]
T = TypeVar("T")
# What a form showed of its record and what was typed, merged with what someone else changed meanwhile.
MergedFields = tuple[dict[str, str], EditConflict]


@dataclass(frozen=True)
class OpenForm(Generic[T]):
    """A form as it is shown or was sent: what it is about, its fields, and why it was refused."""

    request: OfficeRequest
    # What the form is about, such as a record.
    subject: T
    fields: dict[str, str]
    refusal: Refusal | None = None

    @property
    def button(self) -> str:
        """The value of the pressed button."""
        return self.fields.get("do", "")

    @property
    def version(self) -> int | None:
        """The version of the record that the form was opened on."""
        return form_version(self.fields)

    @property
    def status(self) -> int:
        """The HTTP status of the page that shows the form."""
        return status_of(self.refusal)

    @property
    def notice(self) -> str | None:
        """The notice that the fields were typed before the session ended."""
        return RESTORED_NOTICE if self.request.restored_fields and self.refusal is None else None

    @cached_property
    def faults(self) -> dict[str, str]:
        """What is wrong with each field."""
        faults: dict[str, str] = refusal_variables(self.refusal).get("faults", {})
        return faults

    @property
    def problem(self) -> str | None:
        """What is wrong with the form as a whole."""
        problem: str | None = refusal_variables(self.refusal).get("problem")
        return problem

    @property
    def variables(self) -> dict[str, Any]:
        """The template variables of the refusal and of the notice."""
        return refusal_variables(self.refusal) | ({"notice": self.notice} if self.notice else {})


async def find_by_path(_request: OfficeRequest, path_values: PathValues) -> PathValues:
    """Return the values of the address, for forms that are about nothing else."""
    return path_values


@dataclass(frozen=True)
class Form(Generic[T]):
    """One form of the office."""

    office: OfficePages
    # Finds what the form is about. A refusal here has a page of its own.
    find_subject: Callable[[OfficeRequest, PathValues], Awaitable[T]]
    # Does what was sent and returns the next page. A refusal shows the form again.
    perform: Callable[[OpenForm[T]], Awaitable[Response]]
    # Shows the form. Without it, as for a button, a refusal has a page of its own.
    render: Callable[[OpenForm[T]], Awaitable[Response]] | None = None
    # Returns the fields of a form that is opened.
    fill_in: Callable[[OfficeRequest, T], dict[str, str]] | None = None
    # Merges what was typed with what someone else has changed since the form was opened.
    merge: Callable[[OpenForm[T]], MergedFields] | None = None
    # Reads the fields, if not as texts only.
    read_fields: Callable[[OfficeRequest], Awaitable[dict[str, str]]] | None = None
    # The operation that a person must be able to perform to open the form.
    operation: Operation | None = None

    def routes(self, path: str, page_path: str | None = None) -> list[Route]:
        """Return the routes of the form, at an address of its own or below the page that shows it."""
        protect = self.office.require_sign_in
        if page_path is not None:
            return form_routes(path, protect(self.submit), page_path)
        return [Route("GET", path, protect(self.show)), Route("POST", path, protect(self.submit))]

    async def show(self, request: OfficeRequest, path_values: PathValues) -> Response:
        """Show the form to a person who may use it."""
        refusal = check_form_access(request, self.operation) if self.operation else None
        return await self.open(request, await self.find_subject(request, path_values), refusal)

    async def open(self, request: OfficeRequest, subject: T, refusal: Refusal | None = None) -> Response:
        """Show the form, with what was typed before the session ended if the person comes back to it."""
        if self.render is None:
            raise NotFound("page")
        fields = request.restored_fields or (self.fill_in(request, subject) if self.fill_in else {})
        return await self.render(OpenForm(request, subject, dict(fields), refusal))

    async def submit(self, request: OfficeRequest, path_values: PathValues) -> Response:
        """Perform the sent form once, or show it again with the reason why it was refused."""
        fields = await (self.read_fields or self.office.read_form)(request)
        request = request.with_form_token(fields)
        form = OpenForm(request, await self.find_subject(request, path_values), fields)
        try:
            return await self.perform(form)
        except Refusal as refusal:
            if self.render is None:
                raise
            if isinstance(refusal, Stale) and self.merge:
                merged, conflict = self.merge(form)
                form = replace(form, fields=merged, refusal=conflict)
            else:
                form = replace(form, refusal=refusal)
        return await self.render(form)
