"""Settings → Import: a file is brought along, its columns told apart, its rows looked at, and then brought over."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mainstay.backing.contents import plain_name
from mainstay.backing.deadline import begin_anew
from mainstay.backing.log import log_error
from mainstay.backing.tables import MOST_BYTES, MOST_ROWS, NotATable
from mainstay.business.importing import store
from mainstay.business.importing.amounts import DECIMAL_SIGNS
from mainstay.business.importing.import_run import ImportWork
from mainstay.business.importing.model import KINDS, Kind
from mainstay.business.importing.run import CHECKING, IMPORTING, UNDOING, Run, RunStatus, Stay
from mainstay.business.importing.steps import pace_for
from mainstay.business.importing.store import PREFIX, Columns, Fresh
from mainstay.doors.http import Response
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest
from mainstay.doors.pages.door import Route, form_at
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.uploads import Limit, Received
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Conflict, refuse
from mainstay.terms.shapes import State
from mainstay.values.ids import is_id

PATH = "/settings/import"
# So many faults are shown at once; whoever mends them sees the others.
_SHOWN_FAULTS = 300
_AGAIN_SECONDS = "2"
# What is done so soon is shown at once.
_MOMENT_SECONDS = 0.5
_SHOWN_RUNS = 20
# So many records are named that stay for the same reason.
_SHOWN_STAYS = 20


@dataclass(frozen=True)
class ImportPages:
    """The pages, and the work behind them."""

    desk: Desk
    # What is being done in this process, so that nobody takes it for over.
    _working: set["asyncio.Future[None]"] = field(default_factory=set)

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, one = self.desk.signed_in, f"{PATH}/{{id}}"
        return [
            Route("GET", PATH, enter(self.ask)),
            Route("POST", PATH, enter(self.receive)),
            Route("GET", one, enter(self.show)),
            *form_at(f"{one}/check", enter(self.check), one),
            *form_at(f"{one}/confirm", enter(self.confirm), one),
            *form_at(f"{one}/undo", enter(self.undo), one),
        ]

    async def ask(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What is brought over, and from which file."""
        admit(KINDS["customers"].makes, guest.actor)
        return await self._asking(guest)

    async def receive(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Take a file apart; nothing is brought over yet."""
        admit(KINDS["customers"].makes, guest.actor)
        fields = await self.desk.form_with_files(guest, {"file": Limit(MOST_BYTES)})
        kind, files = KINDS.get(fields.get("kind", "")), guest.received.get("file", [])
        if kind is None or not files:
            return await self._asking(guest, "Choose what is in the file, and the file.")
        admit(kind.makes, guest.actor)
        await self.desk.count_file(guest, "imports")
        try:
            identity = await self._receive(guest, kind, files[0])
        except NotATable as fault:
            return await self._asking(guest, str(fault), kind.name)
        return see_other(f"{PATH}/{identity}")

    async def show(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """How far it is: columns to tell apart, rows to look at, or what was done."""
        run, done = await self._find_run(guest, at)
        # While it goes on there is nothing to fill in: a browser loads the page anew by itself, with script or without.
        again = (("refresh", _AGAIN_SECONDS),) if done is not None else ()
        shown = _shown(run, done)
        if guest.typed and shown["asks_columns"]:
            typed = {"mapping": _mapping(run, guest.typed), "signs": _signs(run, guest.typed)}
            shown |= typed | {"notice": AS_LEFT}
        return self.desk.page("import_run.html", guest, headers=again, area="Settings", run=run, **shown)

    async def check(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Check every row, with the columns as they were chosen."""
        fields = await self.desk.form(guest)
        run = await self._find_idle(guest, at)
        refuse(run.not_checkable())
        mapping, signs = _mapping(run, fields), _signs(run, fields)
        if missing := run.kind.missing(mapping):
            problem = f"Choose the column of: {', '.join(column.label for column in missing)}."
            shown = _shown(run, None) | {"mapping": mapping, "signs": signs, "problem": problem}
            return self.desk.page("import_run.html", guest, 422, area="Settings", run=run, **shown)
        return await self._begin(guest, run, CHECKING, ImportWork.check, Columns(mapping, signs))

    async def confirm(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Import all rows, or those that are left after an interruption."""
        await self.desk.form(guest)
        run = await self._find_idle(guest, at)
        refuse(run.not_importable())
        return await self._begin(guest, run, IMPORTING, ImportWork.import_rows)

    async def undo(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Undo what was imported."""
        await self.desk.form(guest)
        run = await self._find_idle(guest, at)
        refuse(run.not_undoable())
        return await self._begin(guest, run, UNDOING, ImportWork.undo)

    async def _find_idle(self, guest: Guest, at: Mapping[str, str]) -> Run:
        """A run that nobody works on, for somebody who may."""
        run, done = await self._find_run(guest, at)
        admit(run.kind.makes, guest.actor)
        if done is not None:
            raise Conflict(_BEING_DONE)
        return run

    async def _begin(
        self,
        guest: Guest,
        run: Run,
        status: RunStatus,
        work: Callable[[ImportWork], None],
        columns: Columns | None = None,
    ) -> Response:
        """Begin the work once; it goes on behind the answer unless it is quick."""
        runner = self.desk.visitors.runner
        self.desk.visitors.passing.note(run.id, run.undone.count if status == UNDOING else run.done_rows)
        organisation = guest.actor.organisation
        if not await runner.change(organisation, self._store_begin, guest, run, status, columns):
            raise Conflict(_BEING_DONE)
        begun, _ = await self._find_run(guest, {"id": run.id})
        doing = asyncio.ensure_future(runner.run_in_background(organisation, self._work, guest, begun, work))
        self._working.add(doing)
        doing.add_done_callback(self._working.discard)
        await asyncio.wait({doing}, timeout=_MOMENT_SECONDS)
        return see_other(f"{PATH}/{run.id}")

    async def _asking(self, guest: Guest, problem: str | None = None, kind: str = "") -> Response:
        recent = await self.desk.visitors.runner.read(self._recent, guest)
        return self.desk.page(
            "import.html",
            guest,
            422 if problem else 200,
            area="Settings",
            kinds=KINDS.values(),
            kind=kind,
            most_rows=MOST_ROWS,
            most_bytes=MOST_BYTES,
            problem=problem,
            recent=[(run, self._state(run)) for run in recent],
        )

    async def _find_run(self, guest: Guest, at: Mapping[str, str]) -> tuple[Run, int | None]:
        """A run and, while somebody works on it, how many rows are done."""
        # Looked at first: it goes when what became of the run is kept, so what is read behind it is known then.
        done = self.desk.visitors.passing.noted(at["id"]) if is_id(at["id"], PREFIX) else None
        run = await self.desk.visitors.runner.read(self._find, guest, at["id"])
        return run, done if run.is_working else None

    def _state(self, run: Run) -> State:
        return run.state(interrupted=run.is_working and self.desk.visitors.passing.noted(run.id) is None)

    def _recent(self, guest: Guest) -> list[Run]:
        with self.desk.visitors.stage.database.reading(guest.actor.organisation) as rows:
            rows.me = guest.actor.id
            return store.recent(rows, _SHOWN_RUNS)

    def _find(self, guest: Guest, identity: str) -> Run:
        with self.desk.visitors.stage.database.reading(guest.actor.organisation) as rows:
            rows.me = guest.actor.id
            return store.fetch(rows, identity)

    async def _receive(self, guest: Guest, kind: Kind, file: Received) -> str:
        """Read the file and keep its rows; the id of the run."""
        visitors, organisation = self.desk.visitors, guest.actor.organisation
        table = await visitors.runner.read_content(organisation, visitors.content.read_table, file.path)
        # Reading it may have taken longer than a change may wait.
        begin_anew()
        fresh = Fresh(kind, plain_name(file.called)[:_LONGEST_NAME], table.remarks, table.headings, table.rows)
        return await visitors.runner.change(organisation, self._insert, guest, fresh)

    def _insert(self, guest: Guest, fresh: Fresh) -> str:
        stage = self.desk.visitors.stage
        with stage.database.changing(guest.actor.organisation) as rows:
            rows.me = guest.actor.id
            return store.insert(rows, fresh, stage.clock())

    def _store_begin(self, guest: Guest, run: Run, status: RunStatus, columns: Columns | None) -> bool:
        with self.desk.visitors.stage.database.changing(guest.actor.organisation) as rows:
            return store.begin(rows, run, status, columns)

    def _work(self, guest: Guest, run: Run, work: Callable[[ImportWork], None]) -> None:
        """Do it. Where it fails, the page says how far it came: nobody works on it any more."""
        stage, passing, here = self.desk.visitors.stage, self.desk.visitors.passing, guest.here
        pace = pace_for(stage.database.engine)
        try:
            report = partial(passing.note, run.id)
            work(ImportWork(stage, guest.actor, run, here.country, here.currency, report, pace))
        except Exception as fault:
            log_error("import failed", fault, request=guest.request.id)
        finally:
            passing.forget(run.id)


_LONGEST_NAME = 200
_BEING_DONE = "Somebody is already working on this import. Wait until that is over."


def _shown(run: Run, done: int | None) -> dict[str, Any]:
    result = run.result or {}
    faults = result.get("faults", [])
    stopped = run.is_working and done is None
    return {
        "mapping": run.mapping,
        "signs": run.signs,
        # Asked for where nothing in the file tells, and where it was chosen before.
        "asks_sign": {*result.get("unclear", ()), *run.signs},
        "done_rows": done,
        "result": result,
        "faults_shown": faults[:_SHOWN_FAULTS],
        "faults_left": max(len(faults) - _SHOWN_FAULTS, 0),
        "stays": _stays(run),
        "goes_on": done is not None,
        "stopped": stopped,
        # Columns are chosen before anything is imported, and again after a check.
        "asks_columns": run.is_new or run.is_right or run.is_wrong or (stopped and run.is_checking),
    }


def _stays(run: Run) -> list[dict[str, Any]]:
    """The records that undoing the import has left, by the reason for it."""
    by_reason: dict[str, list[Stay]] = {}
    for stay in run.undone.stays:
        by_reason.setdefault(stay.reason, []).append(stay)
    place = run.kind.gets.output.place or ""
    return [
        {
            "reason": reason,
            "count": len(stays),
            "records": [(stay.name, place.format(id=stay.record)) for stay in stays[:_SHOWN_STAYS]],
            "left": max(len(stays) - _SHOWN_STAYS, 0),
        }
        for reason, stays in by_reason.items()
    ]


def _mapping(run: Run, fields: Mapping[str, str]) -> dict[str, int]:
    """Which column is which field, as someone chose it."""
    chosen: dict[str, int] = {}
    for column in run.kind.columns:
        at = fields.get(f"column {column.field}", "")
        if at.isdecimal() and len(at) < _DIGITS and int(at) < len(run.headings):
            chosen[column.field] = int(at)
    return chosen


def _signs(run: Run, fields: Mapping[str, str]) -> dict[str, str]:
    """The decimal signs of columns, as someone chose them."""
    chosen = {column.field: fields.get(f"decimal {column.field}", "") for column in run.kind.columns}
    return {name: sign for name, sign in chosen.items() if sign in DECIMAL_SIGNS}


_DIGITS = 4
