"""What tells a phone which of the visits that it has stored have changed."""

import hashlib
from collections import defaultdict

from pydantic import Field

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.overview.model import VisitVersionsOut
from mainstay.business.schedule.visit_times import bounds_of_days
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.fields import Day
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Input, LastDay

_MAX_VISITS = 50
_DIGEST_BYTES = 8
_CREW = (
    "SELECT own.visit, crew.id FROM own CROSS JOIN visit AS crew"
    " WHERE crew.organisation_id = :organisation AND crew.group_id = own.group_id"
)
# What the page of a visit shows, by table: the visit itself and those of its crew, its job with the site and people,
# and what was added to it.
_RELATED = (
    "SELECT visit, visit AS id FROM own",
    _CREW,
    "SELECT visit, job_id FROM own WHERE job_id IS NOT NULL",
    "SELECT visit, customer_id FROM placed",
    "SELECT visit, site_id FROM placed WHERE site_id IS NOT NULL",
    "SELECT visit, contact_id FROM placed WHERE contact_id IS NOT NULL",
    *(
        f"SELECT own.visit, added.id FROM own CROSS JOIN {table} AS added WHERE added.organisation_id = :organisation"
        f" AND added.{column} = own.visit"
        for table, column in (("note", "record_id"), ("document", "record_id"), ("time_entry", "visit_id"))
    ),
)
# Of each record, the number of its last change. `CROSS JOIN` keeps SQLite from starting at the other end.
_LAST_CHANGES = (
    "WITH own AS (SELECT visit.id AS visit, visit.job_id, visit.group_id FROM visit"
    " WHERE visit.organisation_id = :organisation AND visit.person_id = :me AND visit.begins_at >= :begin"
    " AND visit.begins_at < :end AND visit.status <> 'cancelled'"
    f" ORDER BY visit.begins_at, visit.id LIMIT {_MAX_VISITS}),"
    " placed AS (SELECT own.visit, job.customer_id, job.site_id, site.contact_id FROM own"
    " CROSS JOIN job LEFT JOIN site ON site.organisation_id = :organisation AND site.id = job.site_id"
    " WHERE job.organisation_id = :organisation AND job.id = own.job_id),"
    f" related AS ({' UNION ALL '.join(_RELATED)})"
    " SELECT related.visit, related.id, (SELECT max(audit_record.sequence) FROM audit_record"
    " WHERE audit_record.organisation_id = :organisation AND audit_record.record_id = related.id) FROM related"
)


class GetVisitVersions(Input):
    """The days."""

    from_: Day = Field(alias="from", description="The first day.")
    until: LastDay = Field(description="The last day.")


@operation(permission=Permission.SCHEDULE_READ, effect=Effect.READ, doors=frozenset({Door.OFFICE}))
def get_visit_versions(ctx: Context, given: GetVisitVersions) -> VisitVersionsOut:
    """Get visit versions.

    For each of your visits on some days, a text that changes when its page does: with the visit, its crew, job, site or
    customer, or their notes, files and hours.
    """
    changes: dict[str, list[str]] = defaultdict(list)
    begin, end = bounds_of_days(given.from_, given.until, settings_of(ctx).time_zone)
    for visit, record, sequence in ctx.db.all(_LAST_CHANGES, begin=begin, end=end):
        changes[str(visit)].append(f"{record} {sequence}")
    versions = {visit: _digest(sorted(records)) for visit, records in changes.items()}
    return VisitVersionsOut(object=VisitVersionsOut.noun, versions=versions)


OPERATIONS = (get_visit_versions,)


def _digest(records: list[str]) -> str:
    return hashlib.blake2b("\n".join(records).encode(), digest_size=_DIGEST_BYTES).hexdigest()
