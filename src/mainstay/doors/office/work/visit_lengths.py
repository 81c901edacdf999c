"""How long the next visit of a job should be: what is left of its quoted hours, or as long as the one before."""

from decimal import Decimal

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.quotes.operations import get_quote, list_quotes
from mainstay.business.schedule.model import VisitOut
from mainstay.business.schedule.operations import list_visits
from mainstay.documents.codes import unit_code
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.values.moments import Period, parse_moment

# Of a job of which nothing is known, and the most.
USUAL_MINUTES, _LONGEST_MINUTES = 120, 480
_QUARTER = 15
_HOURS = unit_code("h")
# The most accepted quotes of a job whose hours are added up.
_MAX_QUOTES = 5


def find_length(visit: VisitOut) -> int | None:
    """Return how many minutes a visit takes in the plan, or None if it has only a date."""
    if visit.starts_at is None or visit.ends_at is None:
        return None
    return Period(parse_moment(visit.starts_at), parse_moment(visit.ends_at)).minutes


async def find_usual_minutes(office: OfficePages, request: OfficeRequest, job_id: str) -> int:
    """Return how many minutes to propose for the next visit of a job."""
    if not job_id:
        return USUAL_MINUTES
    left = await _count_quoted_minutes_left(office, request, job_id)
    return left or await _find_last_length(office, request, job_id) or USUAL_MINUTES


async def _count_quoted_minutes_left(office: OfficePages, request: OfficeRequest, job_id: str) -> int:
    """Return the quoted hours of a job that are not worked yet, in quarters of an hour, at most a working day."""
    if not (request.can_perform(list_quotes) and request.can_perform(get_job_costing)):
        return 0
    page = await office.perform(request, list_quotes, {"jobId": job_id, "status": "accepted", "limit": _MAX_QUOTES})
    hours = Decimal()
    for listed in page.data:
        quote = await office.perform(request, get_quote, {"quoteId": listed.id})
        hours += sum(
            (
                Decimal(line.quantity)
                for line in quote.lines
                if (line.chosen or not line.optional) and line.unit and unit_code(line.unit) == _HOURS
            ),
            Decimal(),
        )
    if not hours:
        return 0
    costing = await office.perform(request, get_job_costing, {"jobId": job_id})
    left = int(hours * 60) - costing.worked_minutes
    return min(-(-left // _QUARTER) * _QUARTER, _LONGEST_MINUTES) if left > 0 else 0


async def _find_last_length(office: OfficePages, request: OfficeRequest, job_id: str) -> int:
    """Return how many minutes the last visit of a job took in the plan, or 0 if there was none with times."""
    page = await office.perform(request, list_visits, {"jobId": job_id, "order": "latest", "limit": 1})
    return next((find_length(visit) or 0 for visit in page.data), 0)
