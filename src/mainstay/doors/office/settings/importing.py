"""Settings → Import: upload a file, choose its columns, check its rows, then import them.

Rows with faults can be left out; they are a file of their own, with what is wrong with each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any
from urllib.parse import urlencode

from mainstay.business.customers.operations import create_customer
from mainstay.business.importing import store
from mainstay.business.importing.amounts import DECIMAL_SIGNS
from mainstay.business.importing.import_model import (
    CHECKING,
    IMPORTING,
    UNDOING,
    ImportRun,
    RemainingRecord,
    RowFault,
    RunStatus,
)
from mainstay.business.importing.import_run import ImportWork
from mainstay.business.importing.record_kinds import ImportKind, find_import_kinds
from mainstay.business.importing.steps import pace_for
from mainstay.business.importing.store import RUN_ID_PREFIX, ColumnChoice, NewImport
from mainstay.doors.http import Response
from mainstay.doors.office.kit.background_work import REFRESH_HEADERS, BackgroundWork
from mainstay.doors.office.kit.form import Form, OpenForm
from mainstay.doors.office.kit.list_export import write_download
from mainstay.doors.office.kit.office_pages import RESTORED_NOTICE, OfficePages, OfficeRequest
from mainstay.doors.office.kit.spreadsheet_rows import escape_formula, write_csv
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.doors.pages.uploads import UploadedFile, UploadLimit
from mainstay.infrastructure.deadline import reset_deadline
from mainstay.infrastructure.file_types import to_single_line_name
from mainstay.infrastructure.log import log_error
from mainstay.infrastructure.tables import MAX_BYTES, MAX_ROWS, UnreadableTable
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.kind import Kind
from mainstay.values.ids import is_id
from mainstay.values.message import Message, ShownMessage
from mainstay.vocabulary.refusal import Conflict, NotFound, raise_if_blocked
from mainstay.vocabulary.schemas import StateLabel

PATH = "/settings/import"
# The most faults shown at once. The others appear once these are corrected.
_MAX_FAULTS = 300
_MAX_RUNS = 20
# The most records named that remain for the same reason.
_MAX_NAMED = 20


def import_path_of(kind: Kind[Any]) -> str:
    """Return the address of the form that imports records of a kind."""
    return f"{PATH}?{urlencode({'kind': kind.plural})}"


@dataclass(frozen=True)
class ImportPages:
    """The pages of imports, and the background work."""

    office: OfficePages
    _work: BackgroundWork = field(default_factory=BackgroundWork)

    @cached_property
    def _kinds(self) -> Mapping[str, ImportKind]:
        return find_import_kinds(self.office.catalogue)

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in, one = self.office.require_sign_in, f"{PATH}/{{id}}"
        return [
            Route("GET", PATH, signed_in(self.show_form)),
            Route("POST", PATH, signed_in(self.receive_file)),
            Route("GET", one, signed_in(self.show)),
            Route("GET", f"{one}/faulty-rows.csv", signed_in(self.download_faulty_rows)),
            *Form(self.office, self._find_idle, self._check).routes(f"{one}/check", one),
            *Form(self.office, self._find_idle, self._confirm).routes(f"{one}/confirm", one),
            *Form(self.office, self._find_idle, self._undo).routes(f"{one}/undo", one),
        ]

    async def show_form(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the form to choose a kind of record and a file."""
        check_permission(create_customer, request.actor)
        return await self._render_form(request, kind=query_parameters(request.http_request).get("kind", ""))

    async def receive_file(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Read a file and store its rows. Nothing is imported yet."""
        check_permission(create_customer, request.actor)
        fields = await self.office.read_form_with_files(request, {"file": UploadLimit(MAX_BYTES)})
        kind, files = self._kinds.get(fields.get("kind", "")), request.uploaded_files.get("file", [])
        if kind is None or not files:
            return await self._render_form(request, Message("Choose what the file contains, then choose the file."))
        check_permission(kind.create_operation, request.actor)
        await self.office.count_upload(request, "imports")
        try:
            record_id = await self._read_file(request, kind, files[0])
        except UnreadableTable as error:
            return await self._render_form(request, error.message, kind.name)
        return redirect(f"{PATH}/{record_id}")

    async def show(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show the state of an import: columns to choose, rows to check, progress, or the result."""
        run, done_rows = await self._find_run(request, path_values)
        # While work goes on there is nothing to fill in, so the browser reloads the page, even without scripts.
        headers = REFRESH_HEADERS if done_rows is not None else ()
        variables = _run_variables(run, done_rows, request.display)
        if request.restored_fields and variables["asks_columns"]:
            typed = {
                "mapping": _read_mapping(run, request.restored_fields),
                "signs": _read_signs(run, request.restored_fields),
            }
            variables |= typed | {"notice": RESTORED_NOTICE}
        return self.office.render_page(
            "import_run.html", request, headers=headers, area="Settings", run=run, **variables
        )

    async def download_faulty_rows(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the rows with faults as a file, each with its problems, to be corrected and imported again."""
        run, _ = await self._find_run(request, path_values)
        if not run.faults:
            raise NotFound("file")
        visitors = self.office.visitors
        return await visitors.runner.run_long(
            request.actor.organisation,
            partial(
                write_download,
                visitors.temporary_files,
                translate_text("{file} to correct", file=PurePath(run.file_name).stem),
                lambda file: write_csv(file, self._read_faulty_rows(request, run)),
                compresses=request.http_request.accepts_gzip,
            ),
        )

    def _read_faulty_rows(self, request: OfficeRequest, run: ImportRun) -> Iterator[list[str]]:
        with self.office.visitors.performer.database.read_transaction(request.actor.organisation) as db:
            cells_by_row = dict(store.read_cells(db, run.id))
        return generate_faulty_rows(run, cells_by_row, request.display)

    async def _check(self, form: OpenForm[ImportRun]) -> Response:
        """Check every row, with the chosen columns."""
        request, run, fields = form.request, form.subject, form.fields
        raise_if_blocked(run.not_checkable())
        mapping, signs = _read_mapping(run, fields), _read_signs(run, fields)
        if missing := run.kind.missing_columns(mapping):
            message = Message("Choose a column for {fields}.", fields=[column.label for column in missing])
            problem = PageFormat(request.display).render(message)
            variables = _run_variables(run, None, request.display) | {
                "mapping": mapping,
                "signs": signs,
                "problem": problem,
            }
            return self.office.render_page("import_run.html", request, 422, area="Settings", run=run, **variables)
        return await self._start_work(request, run, CHECKING, ImportWork.check, ColumnChoice(mapping, signs))

    async def _confirm(self, form: OpenForm[ImportRun]) -> Response:
        """Import all rows, those without faults, or those that are left after an interruption."""
        raise_if_blocked(form.subject.not_importable(leaves_out=form.button == _LEAVE_OUT))
        return await self._start_work(form.request, form.subject, IMPORTING, ImportWork.import_rows)

    async def _undo(self, form: OpenForm[ImportRun]) -> Response:
        """Undo what was imported."""
        raise_if_blocked(form.subject.not_undoable())
        return await self._start_work(form.request, form.subject, UNDOING, ImportWork.undo)

    async def _find_idle(self, request: OfficeRequest, path_values: Mapping[str, str]) -> ImportRun:
        """Return a run that is not being worked on. Raise Conflict if it is, and Forbidden without permission."""
        run, done_rows = await self._find_run(request, path_values)
        check_permission(run.kind.create_operation, request.actor)
        if done_rows is not None:
            raise Conflict(_ALREADY_RUNNING)
        return run

    async def _start_work(
        self,
        request: OfficeRequest,
        run: ImportRun,
        status: RunStatus,
        work: Callable[[ImportWork], None],
        columns: ColumnChoice | None = None,
    ) -> Response:
        """Start the work, unless it is running already. Work that takes longer continues after the response."""
        runner = self.office.visitors.runner
        self.office.visitors.temporary_files.set_progress(
            run.id, run.undo_outcome.count if status == UNDOING else run.done_rows
        )
        organisation = request.actor.organisation
        if not await runner.run_change(organisation, self._store_start, request, run, status, columns):
            raise Conflict(_ALREADY_RUNNING)
        started, _ = await self._find_run(request, {"id": run.id})
        await self._work.start(runner.run_in_background(organisation, self._run_work, request, started, work))
        return redirect(f"{PATH}/{run.id}")

    async def _render_form(
        self, request: OfficeRequest, problem: ShownMessage | None = None, kind: str = ""
    ) -> Response:
        recent = await self.office.visitors.runner.run_read(self._read_recent, request)
        return self.office.render_page(
            "import.html",
            request,
            422 if problem else 200,
            area="Settings",
            kinds=self._kinds.values(),
            kind=kind,
            most_rows=MAX_ROWS,
            most_bytes=MAX_BYTES,
            problem=PageFormat(request.display).render(problem) if problem else None,
            recent=[(run, *self._state_of(run)) for run in recent],
        )

    async def _find_run(self, request: OfficeRequest, path_values: Mapping[str, str]) -> tuple[ImportRun, int | None]:
        """Return a run and, while work on it goes on, the number of rows that are done."""
        # Read the progress first: it is removed after the result is stored, so a run read after it has the result.
        done_rows = (
            self.office.visitors.temporary_files.progress_of(path_values["id"])
            if is_id(path_values["id"], RUN_ID_PREFIX)
            else None
        )
        run = await self.office.visitors.runner.run_read(self._fetch_run, request, path_values["id"])
        return run, done_rows if run.is_working else None

    def _state_of(self, run: ImportRun) -> tuple[StateLabel, int | None]:
        """Return the state of a run and, while work on it goes on, the number of rows that are done."""
        done_rows = self.office.visitors.temporary_files.progress_of(run.id) if run.is_working else None
        return run.state_label(interrupted=run.is_working and done_rows is None), done_rows

    def _read_recent(self, request: OfficeRequest) -> list[ImportRun]:
        with self.office.visitors.performer.database.read_transaction(request.actor.organisation) as rows:
            rows.me = request.actor.id
            return store.find_recent(rows, self._kinds, _MAX_RUNS)

    def _fetch_run(self, request: OfficeRequest, record_id: str) -> ImportRun:
        with self.office.visitors.performer.database.read_transaction(request.actor.organisation) as rows:
            rows.me = request.actor.id
            return store.fetch(rows, self._kinds, record_id)

    async def _read_file(self, request: OfficeRequest, kind: ImportKind, file: UploadedFile) -> str:
        """Read the file and store its rows. Return the id of the run."""
        visitors, organisation = self.office.visitors, request.actor.organisation
        table = await visitors.runner.run_content_work(organisation, visitors.content_reader.read_table, file.path)
        # Reading the file may have taken longer than a change may wait, so the deadline starts again.
        reset_deadline()
        fresh = NewImport(
            kind, to_single_line_name(file.file_name)[:_MAX_NAME_LENGTH], table.remarks, table.headings, table.rows
        )
        return await visitors.runner.run_change(organisation, self._insert_run, request, fresh)

    def _insert_run(self, request: OfficeRequest, fresh: NewImport) -> str:
        performer = self.office.visitors.performer
        with performer.database.write_transaction(request.actor.organisation) as rows:
            rows.me = request.actor.id
            return store.insert(rows, fresh, performer.clock())

    def _store_start(
        self, request: OfficeRequest, run: ImportRun, status: RunStatus, columns: ColumnChoice | None
    ) -> bool:
        with self.office.visitors.performer.database.write_transaction(request.actor.organisation) as db:
            return store.begin_run(db, run, status, columns)

    def _run_work(self, request: OfficeRequest, run: ImportRun, work: Callable[[ImportWork], None]) -> None:
        """Run the work. If it fails, its progress is removed, so that the page shows that it stopped."""
        performer, temporary_files, display = (
            self.office.visitors.performer,
            self.office.visitors.temporary_files,
            request.display,
        )
        pace = pace_for(performer.database.engine)
        try:
            report = partial(temporary_files.set_progress, run.id)
            work(ImportWork(performer, request.actor, run, display.country, display.currency, report, pace))
        except Exception as error:
            log_error("import failed", error, request=request.http_request.id)
        finally:
            temporary_files.clear_progress(run.id)


_MAX_NAME_LENGTH = 200
# The value of the button that imports only the rows without faults.
_LEAVE_OUT = "leave out"
_ALREADY_RUNNING = Message("Someone is already working on this import. Wait until they have finished.")


def _run_variables(run: ImportRun, done_rows: int | None, display: DisplaySettings) -> dict[str, Any]:
    result, page_format = run.result or {}, PageFormat(display)
    faults = run.faults
    is_stopped = run.is_working and done_rows is None
    return {
        "mapping": run.mapping,
        "signs": run.signs,
        # Columns whose decimal sign is unclear from the file, or was chosen before.
        "asks_sign": {*result.get("unclear", ()), *run.signs},
        "done_rows": done_rows,
        "result": result,
        "refused": _show_fault(RowFault(*result["refused"]), page_format) if "refused" in result else None,
        "remarks": [*map(page_format.render, run.remarks)],
        "faults_shown": [_show_fault(fault, page_format) for fault in faults[:_MAX_FAULTS]],
        "fault_count": len(faults),
        "left_out": len(run.faulty_rows),
        "leave_out": _LEAVE_OUT,
        "faults_left": max(len(faults) - _MAX_FAULTS, 0),
        "stays": _list_remaining(run, page_format),
        "goes_on": done_rows is not None,
        "stopped": is_stopped,
        # Columns are chosen before anything is imported, and again after a check.
        "asks_columns": run.is_new or run.is_ready or run.has_errors or (is_stopped and run.is_checking),
    }


def _show_fault(fault: RowFault, page_format: PageFormat) -> tuple[int, str, str]:
    return fault.row, fault.label, page_format.render(fault.message)


def generate_faulty_rows(
    run: ImportRun, cells_by_row: Mapping[int, Sequence[str]], display: DisplaySettings
) -> Iterator[list[str]]:
    """Yield the headings of the file, then its rows with faults; the last column says what is wrong with each."""
    page_format, problems = PageFormat(display), dict[int, list[str]]()
    for fault in run.faults:
        label = display.language.translate(fault.label)
        problems.setdefault(fault.row, []).append(f"{label} {page_format.render(fault.message)}".strip())
    heading = page_format.render(Message("Problems"))
    # A file that was corrected once already has the column.
    width = len(run.headings) - (run.headings[-1] == heading)
    yield [*map(escape_formula, run.headings[:width]), heading]
    for row, row_problems in sorted(problems.items()):
        yield [*map(escape_formula, cells_by_row[row][:width]), escape_formula("; ".join(row_problems))]


def _list_remaining(run: ImportRun, page_format: PageFormat) -> list[dict[str, Any]]:
    """Return the records that remain after undoing an import, grouped by reason."""
    by_reason: dict[str, list[RemainingRecord]] = {}
    for stay in run.undo_outcome.remaining:
        by_reason.setdefault(page_format.render(stay.message), []).append(stay)
    return [
        {
            "reason": reason,
            "count": len(stays),
            "records": [(stay.name, run.kind.record_kind.path_of(stay.record)) for stay in stays[:_MAX_NAMED]],
            "left": max(len(stays) - _MAX_NAMED, 0),
        }
        for reason, stays in by_reason.items()
    ]


def _read_mapping(run: ImportRun, fields: Mapping[str, str]) -> dict[str, int]:
    """Return the chosen column of each field."""
    chosen: dict[str, int] = {}
    for column in run.kind.columns:
        position = fields.get(f"column {column.field}", "")
        if position.isdecimal() and len(position) < _MAX_DIGITS and int(position) < len(run.headings):
            chosen[column.field] = int(position)
    return chosen


def _read_signs(run: ImportRun, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the chosen decimal signs of columns."""
    chosen = {column.field: fields.get(f"decimal {column.field}", "") for column in run.kind.columns}
    return {name: sign for name, sign in chosen.items() if sign in DECIMAL_SIGNS}


_MAX_DIGITS = 4
