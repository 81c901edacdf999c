"""The diary of a job: everything that happened on it and to what belongs to it, newest first.

It is read from the audit trail, from the notes and files, and from the emails that were sent. Nothing is stored for it,
so what is added to a visit is in the diary of its job at once, and nobody sees more in a diary than elsewhere.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.jobs.store import JOBS
from mainstay.business.organisation.sent_emails import list_messages
from mainstay.business.overview.model import DiaryKind, JobDiaryEntryOut
from mainstay.business.records.activity import find_titles
from mainstay.business.records.attachments import add_document, list_documents
from mainstay.business.records.audit_reader import LIST_COLUMNS, undoable_since
from mainstay.business.records.notes import add_note, list_notes
from mainstay.business.records.store import DOCUMENTS, NOTES
from mainstay.business.schedule.store import VISITS
from mainstay.changes.outbox import TASK_PREFIX
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import Row, Value
from mainstay.infrastructure.rehashing import HASH_ROWS
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import record_stores_of
from mainstay.values.descriptions import describe
from mainstay.values.fields import WholeNumber
from mainstay.values.message import Message
from mainstay.values.stored_message import load_message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import ListInput, PageResult
from mainstay.vocabulary.toolsets import Toolset

DiaryFilter = Literal["photos", "notes", "hours", "emails", "documents"]


class ListJobDiary(ListInput):
    """The job, and what of its diary."""

    starting_after: Annotated[str | None, Field(pattern=f"^([0-9]{{1,15}}|{TASK_PREFIX}_[0-9A-Z]{{26}})$")] = Field(
        None, description="Continue after this ID, the last one of the previous page."
    )
    job_id: str = Field(title="Job", description="The job's ID or number.")
    show: DiaryFilter | None = Field(
        None,
        description=describe(
            "[[Only `photos`, `notes`, `hours`, `emails`, or `documents`: quotes, invoices, "
            "orders, bills and other files.]]"
        ),
    )
    limit: WholeNumber = Field(default=25, ge=1, le=100, description="Maximum number of entries.")


@operation(permission=Permission.JOBS_READ, effect=Effect.READ, api_path="GET /job-diary", extra_toolset=Toolset.NEWS)
def list_job_diary(ctx: Context, given: ListJobDiary) -> PageResult[JobDiaryEntryOut]:
    """List job diary.

    What happened on a job, newest first: visits, hours, notes, photos, documents, emails, changes by apps. Some roles
    see only their own changes, and the notes and files.
    """
    job_id = JOBS.fetch_fully_visible(ctx, given.job_id).id
    query = _DiaryQuery(ctx, job_id, given.show)
    # Any entry of the diary, whatever the filter.
    start = _DiaryQuery(ctx, job_id, None).find_start(given.starting_after) if given.starting_after else None
    found = [*query.read_changes(start, given.limit + 1), *query.read_emails(start, given.limit + 1)]
    found.sort(key=lambda entry: entry.order, reverse=True)
    return PageResult.from_rows(JobDiaryEntryOut, _complete_rows(ctx, job_id, found[: given.limit + 1]), given.limit)


OPERATIONS = (list_job_diary,)


class _Place(NamedTuple):
    """The place of an entry in the diary: by moment, and emails after the change that sent them."""

    at: str
    is_email: bool
    sequence: int
    email_id: str


class _Entry(NamedTuple):
    """An entry that was found, with the record that it is about."""

    order: _Place
    record_id: str
    # The note or the file that came with it, if one did.
    added_id: str | None
    # The columns of a change after its moment, or those of an email.
    columns: Sequence[Value]


class _DiaryQuery:
    """Reads what happened on one job and the actor may see.

    Each statement starts from the few records of the job. `CROSS JOIN` keeps SQLite from starting at the other end:
    with all notes or the whole audit trail.
    """

    def __init__(self, ctx: Context, job_id: str, show: DiaryFilter | None) -> None:
        self._ctx, self._job_id, self._show = ctx, job_id, show
        stores = {
            prefix: store
            for prefix, (store, permission) in record_stores_of(ctx).items()
            if "job_id" in store.output.model_fields and ctx.actor.can(permission)
        }
        belonging = [
            store.visible_rows_query(
                ctx,
                f"{store.table}.id, '{prefix}' AS prefix",
                f"{store.columns.get('job_id', f'{store.table}.job_id')} = :job",
            )
            for prefix, store in stores.items()
        ]
        # The job, and everything that names it.
        own = f"SELECT CAST(:job AS text) AS id, '{JOBS.prefix}' AS prefix"
        self._belonging_sql = f"WITH belonging AS ({' UNION ALL '.join([own, *belonging])})"
        documents = {*stores} - {TIME_ENTRIES.prefix, VISITS.prefix}
        self._prefixes: Collection[str] = {
            None: {JOBS.prefix, *stores},
            "hours": {TIME_ENTRIES.prefix},
            "documents": documents,
        }.get(show, set())

    def find_start(self, entry_id: str) -> _Place:
        """Return the place of the entry after which a page starts. It must be an entry of this diary."""
        if entry_id.isdecimal():
            found = self.read_changes(None, 1, sequence=int(entry_id))
        else:
            found = self.read_emails(None, 1, email_id=entry_id)
        if not found:
            raise Invalid([Fault("startingAfter", Message("was not found; start again without it"))])
        return found[0].order

    def read_changes(self, start: _Place | None, limit: int, sequence: int | None = None) -> list[_Entry]:
        """Return the newest changes, from the audit trail."""
        if self._show == "emails":
            return []
        can_see_all = self._ctx.actor.can(Permission.HISTORY_READ)
        is_added = f"a.operation IN ('{add_note.name}', '{add_document.name}')"
        # Who sees a note or a file sees what added it. If it is hidden or removed, nothing is said of its being added.
        changed = f"NOT {is_added}" if can_see_all else f"NOT {is_added} AND a.person_id || '' = :me"
        conditions = [f"found.ranked >= '{_ADDED_RANK}' OR ({changed})"]
        about = f"CASE WHEN {is_added} THEN found.ranked ELSE coalesce(found.changed, found.ranked) END"
        values: dict[str, Value] = {"limit": limit, "undoable_since": undoable_since(self._ctx)}
        if sequence is not None:
            conditions.append("a.sequence = :only")
            values["only"] = sequence
        if start is not None:
            conditions.append("a.at <= :at" if start.is_email else "(a.at, a.sequence) < (:at, :sequence)")
            values |= {"at": start.at} | ({} if start.is_email else {"sequence": start.sequence})
        rows = self._ctx.db.all(
            f"{self._belonging_sql}, shown AS ({' UNION ALL '.join(self._list_id_queries())})"
            f" SELECT {LIST_COLUMNS}, substr({about}, 2), found.ranked"
            f" FROM (SELECT t.sequence, max(shown.ranked) AS ranked,"
            f" max(CASE WHEN shown.ranked < '{_ADDED_RANK}' THEN shown.ranked END) AS changed"
            " FROM shown CROSS JOIN audit_record t WHERE t.organisation_id = :organisation AND t.record_id = shown.id"
            " GROUP BY t.sequence) AS found"
            " CROSS JOIN audit a WHERE a.organisation_id = :organisation AND a.sequence = found.sequence"
            f" AND a.operation <> '{HASH_ROWS}'{''.join(f' AND ({condition})' for condition in conditions)}"
            " ORDER BY a.at DESC, a.sequence DESC LIMIT :limit",
            job=self._job_id,
            **values,
        )
        return [
            _Entry(
                _Place(str(at), is_email=False, sequence=int(str(number)), email_id=""),
                str(record_id),
                str(ranked)[1:] if str(ranked).startswith(_ADDED_RANK) else None,
                columns,
            )
            for number, at, *columns, record_id, ranked in rows
        ]

    def read_emails(self, start: _Place | None, limit: int, email_id: str | None = None) -> list[_Entry]:
        """Return the newest emails about the job and what belongs to it."""
        if self._show not in {None, "emails"} or not self._ctx.actor.can(list_messages.permission):
            return []
        conditions: list[str] = []
        values: dict[str, Value] = {}
        if email_id is not None:
            conditions, values = ["message.id = :only"], {"only": email_id}
        if start is not None:
            conditions.append(
                "(message.created_at, message.id) < (:at, :email)" if start.is_email else "message.created_at < :at"
            )
            values |= {"at": start.at} | ({"email": start.email_id} if start.is_email else {})
        rows = self._ctx.db.all(
            f"{self._belonging_sql} SELECT message.id, message.created_at, message.record_id, message.subject,"
            " message.recipient, message.status, message.problem FROM belonging"
            " CROSS JOIN message WHERE message.organisation_id = :organisation AND message.record_id = belonging.id"
            f"{''.join(f' AND {condition}' for condition in conditions)}"
            " ORDER BY message.created_at DESC, message.id DESC LIMIT :limit",
            job=self._job_id,
            limit=limit,
            **values,
        )
        return [
            _Entry(
                _Place(str(at), is_email=True, sequence=0, email_id=str(email_id)),
                str(record_id),
                None,
                (*columns, problem and self._ctx.request.message_format.render(load_message(str(problem)))),
            )
            for email_id, at, record_id, *columns, problem in rows
        ]

    def _list_id_queries(self) -> list[str]:
        """Return the queries for the ids of the records whose changes are shown, each after its rank."""
        queries = []
        if self._prefixes:
            names = ", ".join(f"'{prefix}'" for prefix in sorted(self._prefixes))
            rank = f"CASE prefix WHEN '{JOBS.prefix}' THEN '{_JOB_RANK}' ELSE '{_BELONGING_RANK}' END"
            queries.append(f"SELECT {rank} || id AS ranked, id FROM belonging WHERE prefix IN ({names})")
        if self._show in {None, "notes"} and self._ctx.actor.can(list_notes.permission):
            queries.append(self._added_query(NOTES.table))
        if self._show in {None, "photos", "documents"} and self._ctx.actor.can(list_documents.permission):
            kind = {"photos": "photo", "documents": "file"}.get(self._show or "")
            queries.append(self._added_query(DOCUMENTS.table, f" AND document.kind = '{kind}'" if kind else ""))
        # Without any, as for someone who may not see files: no id at all.
        return queries or ["SELECT '' AS ranked, '' AS id"]

    def _added_query(self, table: str, condition: str = "") -> str:
        if not self._ctx.actor.can(Permission.OFFICE_NOTES_READ):
            condition += f" AND {table}.visibility = 'field'"
        return (
            f"SELECT '{_ADDED_RANK}' || {table}.id AS ranked, {table}.id FROM belonging CROSS JOIN {table}"
            f" WHERE {table}.organisation_id = :organisation AND {table}.record_id = belonging.id{condition}"
        )


# A change touches several records. It is shown with the one of the highest rank: a note rather than its visit, and a
# visit rather than the job.
_JOB_RANK, _BELONGING_RANK, _ADDED_RANK = "0", "1", "2"


class _Added(NamedTuple):
    """A note or a file."""

    record_id: str
    text: str
    visibility: str
    # What a file is; a note has no kind.
    kind: str | None


def _complete_rows(ctx: Context, job_id: str, entries: Sequence[_Entry]) -> list[Row]:
    """Return the rows of entries, with the names of their records and the texts of notes."""
    added = _read_added(ctx, [entry.added_id for entry in entries if entry.added_id])
    titles = find_titles(ctx, {entry.record_id for entry in entries} - {job_id} - added.keys())
    return [_make_row(entry, job_id, added.get(entry.added_id or ""), titles) for entry in entries]


def _read_added(ctx: Context, ids: Iterable[str]) -> dict[str, _Added]:
    """Return the notes and files with these ids, with one statement for both."""
    chosen = f"WHERE organisation_id = :organisation AND id IN {BATCH_VALUES}"
    rows = select_batched(
        ctx.db,
        f"SELECT id, body, visibility, NULL FROM note {chosen}"
        f" UNION ALL SELECT id, name, visibility, kind FROM document {chosen}",
        ids,
    )
    return {
        str(row[0]): _Added(str(row[0]), str(row[1]), str(row[2]), None if row[3] is None else str(row[3]))
        for row in rows
    }


def _make_row(entry: _Entry, job_id: str, added: _Added | None, titles: Mapping[str, str]) -> Row:
    """Return the row of an entry, with the columns of the output model."""
    record_id, place = entry.record_id, entry.order
    if place.is_email:
        subject, recipient, status, problem = entry.columns
        email = orjson.dumps({"recipient": recipient, "status": status, "problem": problem}).decode()
        nothing_changed = (None, None, None, None, 0)
        named = (record_id, titles.get(record_id), subject, None, email)
        return (place.email_id, place.at, "email", *nothing_changed, *named)
    actor, operation_name, given, undoable, _request, _records, changed = entry.columns
    fields = orjson.loads(str(changed)).get(record_id) if changed else None
    change = (actor, operation_name, given, orjson.dumps(fields).decode() if fields else None, undoable)
    is_about_added = added is not None and added.record_id == record_id
    kind = ((added and added.kind) or "note") if is_about_added else _kind_of(record_id, job_id)
    file_name = added.text if added and added.kind else None
    note = added.text if added and not added.kind else None
    called = file_name if is_about_added else titles.get(record_id)
    visibility = added.visibility if added else None
    return (str(place.sequence), place.at, kind, *change, record_id, called, note, visibility, None)


def _kind_of(record_id: str, job_id: str) -> DiaryKind:
    """Return what an entry is about, by the record that it names."""
    if record_id == job_id:
        return "job"
    return _KINDS.get(record_id.partition("_")[0], "document")


_KINDS: Mapping[str, DiaryKind] = {VISITS.prefix: "visit", TIME_ENTRIES.prefix: "hours"}
